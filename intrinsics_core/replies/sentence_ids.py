"""From sentence ids to results with exact offsets. Ids that do not exist, or come twice, are dropped and counted.

A sentence without a verdict is counted as ``missing``: it is never taken for the best case. Of several verdicts on one
sentence the worst counts: a sentence is as true as the weakest of its claims.

A model that was shown ``r0`` and ``r1`` and speaks of ``r1`` and ``r2`` counts from 1. Each thing that it says would be
taken for its neighbour's, so none of it is read. One id too many, as ``r99``, is no such sign: it is dropped by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from intrinsics_core.protocol.requests import Generated
from intrinsics_core.protocol.results import Citation, Citations, Faithfulness, HallucinationDetection, SentenceVerdict
from intrinsics_core.protocol.task import Task
from intrinsics_core.replies.json_reply import malformed

Verdict = tuple[Faithfulness, float | None, str | None]  # label, score, explanation
_SEVERITY: dict[Faithfulness, int] = {"NA": 0, "faithful": 1, "partial": 2, "unfaithful": 3}
FAITHFULNESS_SCORES: Mapping[Faithfulness, float | None] = {
    "faithful": 1.0,
    "partial": 0.5,
    "unfaithful": 0.0,
    "NA": None,
}


def hallucination(
    task: Task,
    verdicts: Iterable[tuple[Any, Verdict]],
    *,
    score: float | None = None,
    label: Faithfulness | None = None,
) -> HallucinationDetection:
    """Verdicts by sentence number to a result. A sentence without one is NA, not ``judged``, and counted as missing.

    Args:
        verdicts: (sentence number, verdict). An explanation of dots or nothing is none.
        score: the response's faithfulness; by default the lowest sentence's: as true as its weakest claim.
        label: the response's label; by default the most severe sentence's. Where a sentence is missing, neither is more
            than the verdicts given allow: a worse label stands, else it is NA without a score.
    """
    sentences = task.response_sentences
    found: dict[int, Verdict] = {}
    dropped = 0
    for number, verdict in verdicts:
        exists = _exists(number, len(sentences))
        dropped += not exists or number in found
        if exists and (number not in found or _badness(verdict) > _badness(found[number])):
            found[number] = verdict
    rows = []
    for i, sentence in enumerate(sentences):
        own, value, why = found.get(i, ("NA", None, None))
        value = FAITHFULNESS_SCORES[own] if value is None or own == "NA" else value
        why = why if why and why.strip().strip(" .…") else None
        rows.append(SentenceVerdict(**sentence._asdict(), label=own, score=value, explanation=why, judged=i in found))
    claims = [row.score for row in rows if row.score is not None]
    label = label or _most_severe([row.label for row in rows])
    score = score if score is not None else min(claims, default=None)
    missing = sum(not row.judged for row in rows)
    if missing and _SEVERITY[label] <= _SEVERITY["faithful"]:
        label, score = "NA", None
    return HallucinationDetection(
        label=label,
        score=score,
        sentences=tuple(rows),
        dropped=dropped,
        missing=missing,
        degraded=f"{missing} of {len(rows)} sentences were not judged" if missing else None,
    )


def nothing_judged(task: Task) -> HallucinationDetection:
    """Every sentence NA: for an answer that no judge was asked about. The caller says why."""
    return hallucination(task, ((i, ("NA", None, None)) for i in range(len(task.response_sentences))))


def all_missing(task: Task) -> HallucinationDetection:
    """Every sentence without a verdict: for an answer whose judge failed. The caller says why."""
    return hallucination(task, ())


def _most_severe(labels: Sequence[Faithfulness]) -> Faithfulness:
    return max(labels, key=_SEVERITY.__getitem__) if labels else "NA"


def _badness(verdict: Verdict) -> tuple[int, float]:
    label, score, _ = verdict
    return _SEVERITY[label], -(FAITHFULNESS_SCORES[label] or 0.0 if score is None else score)


def citations(
    task: Task, links: Iterable[tuple[Any, Any]], *, dropped: int = 0, told: Iterable[Any] | None = None
) -> Citations:
    """Links (response sentence number, document sentence number) to a result.

    Document sentences are numbered through all documents, from 0, in document order. Adjacent cited sentences of one
    document are merged, with the text between them, so that ``document_text`` is one exact span.

    Args:
        told: the numbers of the response sentences whose sources the reply tells, if only that there are none; the
            others are counted as missing. Left out where a reply need not name a sentence without sources.
    """
    where = [(d, s) for d, sentences in enumerate(task.document_sentences) for s in range(len(sentences))]
    seen: set[tuple[int, int]] = set()
    for r, c in links:
        if _exists(r, len(task.response_sentences)) and _exists(c, len(where)) and (r, c) not in seen:
            seen.add((r, c))
        else:
            dropped += 1
    spans: list[list[int]] = []  # the response sentence, and the first and last document sentence
    for r, c in sorted(seen):
        if spans and spans[-1][::2] == [r, c - 1] and where[c][1] > 0:
            spans[-1][2] = c
        else:
            spans.append([r, c, c])
    found = tuple(_citation(task, r, *where[first], where[last][1]) for r, first, last in spans)
    count = len(task.response_sentences)
    missing = 0 if told is None else count - len({number for number in told if _exists(number, count)})
    return uncited(task, missing).model_copy(update={"citations": found, "dropped": dropped})


def uncited(task: Task, missing: int) -> Citations:
    """No citations, and so many response sentences whose sources are not known."""
    count = len(task.response_sentences)
    why = f"the sources of {missing} of {count} sentences are not known" if missing else None
    return Citations(citations=(), missing=missing, degraded=why)


def _exists(number: Any, count: int) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and 0 <= number < count


def _citation(task: Task, r: int, document: int, first: int, last: int) -> Citation:
    response, sentences = task.response_sentences[r], task.document_sentences[document]
    begin, end = sentences[first].begin, sentences[last].end
    return Citation(
        response_begin=response.begin,
        response_end=response.end,
        response_text=response.text,
        document_index=document,
        document_id=task.document_id(document),
        document_begin=begin,
        document_end=end,
        document_text=task.documents[document].text[begin:end],
    )


# --- numbers ----------------------------------------------------------------------------------------------------------


_MOST = 10  # numbers in an error


def check_numbers(named: Iterable[Any], shown: Sequence[int], reply: Generated) -> None:
    """Refuse a reply whose numbers are those that were shown, moved up by one or down.

    Args:
        named: the numbers in the reply's ids; what is no number is passed over.
        shown: the numbers that were shown, ascending.

    Raises:
        MalformedReply: the first one that was shown is not named but the one past the last is, or the other way round.
    """
    numbers = {number for number in named if isinstance(number, int) and not isinstance(number, bool)}
    if not shown or not numbers:
        return
    first, last = shown[0], shown[-1]
    moved_up = last + 1 in numbers and first not in numbers
    moved_down = last not in numbers and any(0 <= number < first for number in numbers)
    if moved_up or moved_down:
        named = sorted(numbers)
        # A model that is asked again is shown those alone that have no verdict.
        told = f"{_listed(named)} in place of {_listed(shown)}" if first else f"numbered from {named[0]}"
        expected = f"ids from {first} to {last}, as they were shown"
        raise malformed(f"the ids in the reply are {told}", reply.text, expected, named)


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers[:_MOST])) + (", …" if len(numbers) > _MOST else "")
