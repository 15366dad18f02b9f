"""``embedded``: requests for a small sentence encoder instead of text. The default; no language model, no network.

Rendering asks for the vectors of the texts at hand; parsing puts them together with lexical evidence by small fitted
heads (see :mod:`intrinsics_core.embedded`, where each module says what its method is, what it is not, and where a
language model does better).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from intrinsics_core import assembly
from intrinsics_core.conversation import Document, Task
from intrinsics_core.errors import InvalidInput
from intrinsics_core.exchange import Embed, Embedded, Reply, Request
from intrinsics_core.profile import Format, Profile
from intrinsics_core.results import (
    Answerability,
    Citations,
    ExpandedQuery,
    HallucinationDetection,
    Judgement,
    QueryExpansion,
    QueryRewrite,
    Uncertainty,
)

if TYPE_CHECKING:
    from intrinsics_core.embedded.calibration import Calibration
    from intrinsics_core.embedded.evidence import Sources
    from intrinsics_core.embedded.support import ResponseSupport

Calibrations = Mapping[str, "Calibration"]


def embedded_profile(calibrations: Mapping[str, Any] | None = None) -> Profile:
    """The profile, with the caller's own calibrations by intrinsic.

    Raises:
        InvalidInput: a calibration is of an intrinsic that has none, or cannot be read.
    """
    fitted = _calibrations(calibrations) if calibrations else {}
    return Profile(
        "embedded",
        {
            "query-rewrite": Format(_nothing, _query_rewrite),
            "query-expansion": Format(_nothing, _query_expansion),
            "pointwise": Format(_question_and_passages, _pointwise),
            "context-relevance": Format(_question_and_passages, partial(_context_relevance, fitted)),
            "answerability": Format(_question_and_passages, partial(_answerability, fitted)),
            "uncertainty": Format(_everything, partial(_uncertainty, fitted)),
            "hallucination-detection": Format(_sentences, partial(_hallucination, fitted)),
            "citations": Format(_sentences, _citations),
            "entailment": Format(_claim_and_sentences, _entailment),
        },
        retries=0,  # vectors are never malformed
    )


# --- what the encoder is asked for --------------------------------------------------------------------------------


def _nothing(task: Task) -> Sequence[Request]:
    return []


def _question_and_passages(task: Task) -> Sequence[Request]:
    return [
        Embed(task.intrinsic, (_question(task),), kind="query"),
        Embed(task.intrinsic, tuple(map(_passage, task.documents)), kind="passage"),
    ]


def _sentences(task: Task) -> Sequence[Request]:
    return [
        Embed(task.intrinsic, tuple(s.text for s in task.response_sentences), kind="sentence"),
        Embed(task.intrinsic, tuple(s.text for each in task.document_sentences for s in each), kind="sentence"),
    ]


def _claim_and_sentences(task: Task) -> Sequence[Request]:
    return [Embed(task.intrinsic, (_claim(task),), kind="sentence"), _sentences(task)[1]]


def _everything(task: Task) -> Sequence[Request]:
    if not task.documents:
        return []
    after = _sentences(task) if task.response else []
    return [*_question_and_passages(task), *after]


def _question(task: Task) -> str:
    """The question as it stands alone: an encoder sees no history."""
    from intrinsics_core.embedded.rewriting import rewrite

    turns = _turns(task)
    return rewrite(turns).query if turns else ""


def _turns(task: Task) -> list[tuple[str, str]]:
    """(role, text) up to the last user turn."""
    turns = [(m.role, m.content) for m in task.messages]
    while turns and turns[-1][0] != "user":
        turns.pop()
    return turns


def _passage(document: Document) -> str:
    return f"{document.title}\n{document.text}" if document.title else document.text


def _claim(task: Task) -> str:
    return f"The answer to the question {task.query} is {task.response}"


# --- what the vectors say -----------------------------------------------------------------------------------------


def _query_rewrite(task: Task, replies: Sequence[Reply]) -> QueryRewrite:
    from intrinsics_core.embedded.rewriting import rewrite

    found = rewrite(_turns(task))
    return QueryRewrite(
        query=found.query,
        original=task.query,
        changed=found.changed,
        question=found.question,
        retrieval_query=found.retrieval_query,
        terms=found.terms,
    )


def _query_expansion(task: Task, replies: Sequence[Reply]) -> QueryExpansion:
    from intrinsics_core.embedded.expanding import expand

    queries = expand(_turns(task), [_passage(d) for d in task.documents])
    return QueryExpansion(queries=tuple(ExpandedQuery(text=text, strategy=strategy) for text, strategy in queries))


def _support(task: Task, replies: Sequence[Reply]) -> ResponseSupport:
    from intrinsics_core.embedded.support import support

    response, documents = _vectors(replies)
    return support([s.text for s in task.response_sentences], response, _sources(task, documents), given=task.query)


def _hallucination(fitted: Calibrations, task: Task, replies: Sequence[Reply]) -> HallucinationDetection:
    found = _support(task, replies)
    verdicts = [(i, (s.label, s.probability, s.explanation)) for i, s in enumerate(found.sentences)]
    if found.label == "NA":
        return assembly.hallucination(task, verdicts, label="NA")
    score, label = found.faithfulness, found.label
    if own := fitted.get("hallucination-detection"):
        score = own.apply(score)
        label = "faithful" if score >= own.threshold else "unfaithful"
    return assembly.hallucination(task, verdicts, score=score, label=label)


def _citations(task: Task, replies: Sequence[Reply]) -> Citations:
    found = _support(task, replies)
    return assembly.citations(task, [(r, c) for r, s in enumerate(found.sentences) for c in s.citations])


def _entailment(task: Task, replies: Sequence[Reply]) -> float:
    from intrinsics_core.embedded.support import entailment

    claim, documents = _vectors(replies)
    return entailment(task.response, claim[0], _sources(task, documents), given=task.query)


def _sources(task: Task, vectors: Sequence[Any]) -> Sources:
    from intrinsics_core.embedded.evidence import Sources

    owners = [d for d, sentences in enumerate(task.document_sentences) for _ in sentences]
    return Sources([s.text for each in task.document_sentences for s in each], vectors, owners)


def _vectors(replies: Sequence[Reply]) -> list[Sequence[Any]]:
    return [reply.vectors for reply in replies if isinstance(reply, Embedded)]


def _cosines(replies: Sequence[Reply]) -> list[float]:
    (question,), passages = _vectors(replies)
    return [float((question @ rows.T).max()) for rows in passages]


def _pointwise(task: Task, replies: Sequence[Reply]) -> list[float]:
    from intrinsics_core.embedded.ranking import rerank_scores

    (question,), passages = _vectors(replies)
    return rerank_scores(
        _question(task),
        [d.text for d in task.documents],
        question,
        passages,
        titles=[d.title for d in task.documents],
        prior=[d.score for d in task.documents],
    )


def _context_relevance(fitted: Calibrations, task: Task, replies: Sequence[Reply]) -> Judgement:
    (score,) = _cosines(replies)
    label = "relevant" if score > 0.5 else "partially relevant" if score > 0.3 else "irrelevant"
    return Judgement.model_validate(
        {"document_id": task.document_id(0), "label": label, "score": min(1.0, max(0.0, score))}
    )


def _answerability(fitted: Calibrations, task: Task, replies: Sequence[Reply]) -> Answerability:
    score = min(1.0, max(0.0, max(_cosines(replies))))
    return Answerability(label="answerable" if score > 0.5 else "unanswerable", probability=score)


def _uncertainty(fitted: Calibrations, task: Task, replies: Sequence[Reply]) -> Uncertainty:
    if not replies:
        return Uncertainty(certainty=0.45, expected=0.5, degraded="no documents: nothing to weigh")
    answerable = max(_cosines(replies[:2]))
    supported = _support(task, replies[2:]).faithfulness if task.response else 1.0
    expected = min(1.0, max(0.0, answerable * supported))
    return Uncertainty(certainty=min(0.95, int(expected * 10) / 10 + 0.05), expected=expected)


def _calibrations(given: Mapping[str, Any]) -> dict[str, Calibration]:
    from intrinsics_core.calibrating import CALIBRATED
    from intrinsics_core.embedded.calibration import Calibration

    fitted = {}
    for name, value in given.items():
        if name not in CALIBRATED:
            raise InvalidInput("calibrations: no such intrinsic", expected=f"some of {', '.join(CALIBRATED)}", got=name)
        if isinstance(value, Mapping):
            value = Calibration.from_json(json.dumps(dict(value)))
        elif isinstance(value, str | Path):
            try:
                value = Calibration.from_json(Path(value).read_text(encoding="utf-8"))
            except (OSError, UnicodeDecodeError) as error:
                raise InvalidInput(f"calibrations.{name} cannot be read: {error}") from error
        fitted[name] = value
    return fitted


PROFILE = embedded_profile()
