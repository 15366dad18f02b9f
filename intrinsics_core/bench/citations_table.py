"""Citations: precision, recall and F1 over the gold sentences; and ALCE's, by a judge of entailment.

ALCE (Gao et al. 2023): a response sentence is recalled where its cited passages together entail it; a citation is
precise where it does so alone, or where the others do not without it. Here the measured runtime's own fact check is the
judge; :func:`alce` takes any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from intrinsics_core.bench.base import Case, Observed, Table
from intrinsics_core.bench.datasets import SetsOf
from intrinsics_core.bench.plain import nearest_sentence
from intrinsics_core.bench.support_sets import Answered, each_answer
from intrinsics_core.intrinsics import citations, fact_check
from intrinsics_core.protocol.call import Call, merge
from intrinsics_core.protocol.errors import raised
from intrinsics_core.protocol.profile import Profile
from intrinsics_core.protocol.requests import Program
from intrinsics_core.protocol.results import Citations
from intrinsics_core.protocol.task import Task

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


def judged(name: str, row: Answered) -> Case:
    """The same citations by ALCE."""

    def call() -> Call[dict[str, float]]:
        made = citations(row.messages, row.sources)
        return Call(made.task, partial(_cited_and_judged, made, row), composite=True)

    return Case(f"{name}, ALCE", call, Observed)


def _cited_and_judged(made: Call[Citations], row: Answered, task: Task, profile: Profile) -> Program[dict[str, float]]:
    result = yield from made.start(profile)
    cited: dict[str, list[str]] = {span.text: [] for span in task.split_by(profile.split).response_sentences}
    for citation in result.citations:
        cited.setdefault(citation.response_text, []).append(citation.document_text)
    sentences = list(cited.items())
    asked = list(dict.fromkeys(question for sentence, passages in sentences for question in _asked(sentence, passages)))
    checks = [
        fact_check([row.messages[0], {"role": "assistant", "content": sentence}], [text]) for text, sentence in asked
    ]
    found = yield from merge((check.start(profile) for check in checks), width=max(1, len(checks)))
    entailed = {pair: (raised(one).score or 0.0) >= 0.5 for pair, one in zip(asked, found, strict=True)}
    return alce(sentences, lambda text, sentence: entailed[text, sentence])


def _asked(sentence: str, passages: Sequence[str]) -> Iterator[tuple[str, str]]:
    """All that ALCE may ask of a sentence: its passages together, each alone, and all but each."""
    if passages:
        yield "\n".join(passages), sentence
    for i, passage in enumerate(passages):
        yield passage, sentence
        if len(passages) > 1:
            yield "\n".join([*passages[:i], *passages[i + 1 :]]), sentence


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


CITED = each_answer(case, lambda row: bool(row.gold))  # where nothing is due, F1 says nothing
TABLE = Table("citations", SetsOf(("citations", "", CITED), ("citations, ALCE", ", ALCE", each_answer(judged))))
