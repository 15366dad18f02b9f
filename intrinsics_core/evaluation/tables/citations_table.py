"""Citations: precision, recall and F1 over the gold sentences; and ALCE's, by a judge of entailment.

ALCE (Gao et al. 2023): a response sentence is recalled where its cited passages together entail it; a citation is
precise where it does so alone, or where the others do not without it. The judge is any fact check: see :func:`alce`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from intrinsics_core.evaluation.tables.base import Case, Observed, Table
from intrinsics_core.evaluation.tables.folder import DataFolder
from intrinsics_core.evaluation.tables.plain import nearest_sentence
from intrinsics_core.evaluation.tables.support_sets import SUPPORT, Answered
from intrinsics_core.intrinsics import citations
from intrinsics_core.results import Citations

SETS = ("wice", "clapnq", "scifact")
Judge = Callable[[str, str], bool]  # (passages as one text, sentence): do they entail it?
Place = tuple[int, int, int]  # document, begin, end


def case(name: str, row: Answered) -> Case:
    def observe(result: Citations) -> Observed:
        return found([(c.document_index, c.document_begin, c.document_end) for c in result.citations])

    def found(places: Sequence[Place]) -> Observed:
        return Observed(against(places, row.gold) | {"citations": float(len(places))})

    def nearest() -> Observed:
        best = nearest_sentence(row.answer, row.sources)
        return found([(best[0], best[1].begin, best[1].end)] if best else [])

    return Case(name, lambda: citations(row.messages, row.sources), observe, {"nearest sentence": nearest})


def against(places: Sequence[Place], gold: Sequence[Sequence[Place]]) -> dict[str, float]:
    """Precision, recall and F1 in characters against the alternative that fits best.

    Characters, since a citation may be of two gold sentences at once, or of half of one.
    """
    cited = {(d, i) for d, begin, end in places for i in range(begin, end)}
    best = {"precision": 0.0, "recall": 0.0, "F1": 0.0}
    for alternative in gold:
        due = {(d, i) for d, begin, end in alternative for i in range(begin, end)}
        hits = len(cited & due)
        if hits and 2 * hits / (len(cited) + len(due)) > best["F1"]:
            best = {"precision": hits / len(cited), "recall": hits / len(due), "F1": 2 * hits / (len(cited) + len(due))}
    return best


def alce(sentences: Sequence[tuple[str, Sequence[str]]], judge: Judge) -> dict[str, float]:
    """ALCE's citation recall and precision of one response.

    Args:
        sentences: each with the passages it cites.
        judge: whether a text entails a sentence.
    """
    recalled = [bool(cited) and judge("\n".join(cited), sentence) for sentence, cited in sentences]
    precise = [
        held and (judge(passage, sentence) or not judge("\n".join([*cited[:i], *cited[i + 1 :]]), sentence))
        for held, (sentence, cited) in zip(recalled, sentences, strict=True)
        for i, passage in enumerate(cited)
    ]
    return {
        "ALCE recall": sum(recalled) / len(recalled) if recalled else 0.0,
        "ALCE precision": sum(precise) / len(precise) if precise else 0.0,
    }


def cases(name: str) -> Callable[[DataFolder], Iterator[Case]]:
    """Those rows that rest on something: where nothing is due, F1 says nothing."""
    return lambda folder: (case(name, row) for row in SUPPORT[name](folder) if row.gold)


TABLE = Table("citations", {name: cases(name) for name in SETS})
