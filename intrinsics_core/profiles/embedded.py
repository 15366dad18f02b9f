"""``embedded``: requests for a small sentence encoder instead of text. The default; no language model, no network.

Rendering asks for the vectors of the texts at hand; parsing puts them together with lexical evidence by small fitted
heads (see :mod:`intrinsics_core.embedded`, where each module says what its method is, what it is not, and where a
language model does better).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from intrinsics_core.conversation import Document, Task
from intrinsics_core.errors import InvalidInput
from intrinsics_core.profiles import relevance
from intrinsics_core.profiles.base import Format, Profile
from intrinsics_core.profiles.embedded_judging import answering_the_question
from intrinsics_core.replies import sentence_ids
from intrinsics_core.requests import Embed, Embedded, Reply, Request
from intrinsics_core.results import (
    Answerability,
    Citations,
    ExpandedQuery,
    Faithfulness,
    HallucinationDetection,
    Judgement,
    QueryExpansion,
    QueryRewrite,
    Uncertainty,
)

if TYPE_CHECKING:
    from intrinsics_core.embedded.evidence import Sources
    from intrinsics_core.embedded.rewriting import Rewrite
    from intrinsics_core.embedded.support import ResponseSupport
    from intrinsics_core.evaluation.calibration import Calibration


@dataclass(frozen=True)
class Own:
    """What a caller set for their own data, by intrinsic."""

    calibrations: Mapping[str, Calibration]
    thresholds: Mapping[str, Mapping[str, float]]


# What asks of the answer and the last question alone.
_WITHOUT_HISTORY = ("hallucination-detection", "citations")

# What a caller may calibrate here.
CALIBRATED = ("answerability", "context-relevance", "hallucination-detection", "uncertainty")

# Names of the thresholds that a caller may set, each in 0..1; calibrating sets them too.
THRESHOLDS = {
    "context-relevance": ("relevant", "partial"),
    "answerability": ("answerable",),
    "hallucination-detection": ("faithful", "unfaithful", "response"),
}


def embedded_profile(
    calibrations: Mapping[str, Any] | None = None, thresholds: Mapping[str, Mapping[str, float]] | None = None
) -> Profile:
    """The profile, with the caller's own calibrations and thresholds by intrinsic.

    Raises:
        InvalidInput: one of them is of an intrinsic that has none, or cannot be read, or is out of range.
    """
    own = Own(_calibrations(calibrations or {}), _thresholds(thresholds or {}))
    judged = Format(_question_and_passages, partial(_context_relevance, own))
    return Profile(
        "embedded",
        {
            "query-rewrite": Format(_nothing, _query_rewrite),
            "query-expansion": Format(_nothing, _query_expansion),
            "pointwise": Format(_question_and_passages, partial(_pointwise, own)),
            "context-relevance": judged,
            "relevance": relevance.of_judgement(judged),
            "answerability": Format(_question_and_passages, partial(_answerability, own)),
            "uncertainty": Format(_everything, partial(_uncertainty, own)),
            "hallucination-detection": Format(_sentences, partial(_hallucination, own)),
            "citations": Format(_sentences, _citations),
            "entailment": Format(_claim_and_sentences, _entailment),
            "answer-relevance": answering_the_question(_question),
        },
        retries=0,  # vectors are never malformed
        cut=turns_cut,
        made_by=(embedded_profile, (calibrations, thresholds)),
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
    """The question as it stands alone: an encoder sees no history.

    Without the keywords that a rewrite adds for retrieval: they draw the vector towards what was said before. (150
    MT-RAG tasks with a history, ELSER's top 5: answerability AUROC .64 with the plain question, .57 with keywords.)
    For ranking either will do: .478 against .471 nDCG on those tasks, .550 against .560 on others.
    """
    turns = _turns(task)
    return _rewritten(turns).question if turns else ""


def _turns(task: Task) -> tuple[tuple[str, str], ...]:
    """(role, text) up to the last user turn."""
    turns = [(m.role, m.content) for m in task.messages]
    while turns and turns[-1][0] != "user":
        turns.pop()
    return tuple(turns)


def turns_cut(task: Task) -> int:
    """Earlier turns of which a rewrite of the question reads the end alone, or nothing where the last is too long."""
    if task.intrinsic in _WITHOUT_HISTORY:
        return 0
    from intrinsics_core.embedded.rewriting import LONGEST_TURN

    *earlier, last = _turns(task) or (("user", ""),)
    whole = 0 if len(last[1]) > LONGEST_TURN else LONGEST_TURN
    return sum(role in ("user", "assistant") and len(text) > whole for role, text in earlier)


@lru_cache(maxsize=32)
def _rewritten(turns: tuple[tuple[str, str], ...]) -> Rewrite:
    """One dialogue is rewritten once, though context relevance and the fact check ask for it with every document."""
    from intrinsics_core.embedded.rewriting import rewrite

    return rewrite(turns)


def _passage(document: Document) -> str:
    return f"{document.title}\n{document.text}" if document.title else document.text


def _claim(task: Task) -> str:
    return f"The answer to the question {task.query} is {task.response}"


# --- what the vectors say -----------------------------------------------------------------------------------------


def _query_rewrite(task: Task, replies: Sequence[Reply]) -> QueryRewrite:
    found = _rewritten(_turns(task))
    return QueryRewrite(
        query=found.question,
        original=task.query,
        changed=found.question != task.query,
        retrieval_query=found.retrieval_query,
        terms=found.terms,
    )


def _query_expansion(task: Task, replies: Sequence[Reply]) -> QueryExpansion:
    from intrinsics_core.embedded.expanding import expand

    queries = expand(_turns(task), [_passage(d) for d in task.documents])
    return QueryExpansion(queries=tuple(ExpandedQuery(text=text, strategy=strategy) for text, strategy in queries))


def _support(
    task: Task, replies: Sequence[Reply], thresholds: Mapping[str, float] = MappingProxyType({})
) -> ResponseSupport:
    from intrinsics_core.embedded.support import load_head, support

    response, documents = _vectors(replies)
    head = load_head()
    if thresholds:
        head = replace(head, thresholds={**head.thresholds, **thresholds})
    sentences = [s.text for s in task.response_sentences]
    return support(sentences, response, _sources(task, documents), head, given=task.query)


def _hallucination(own: Own, task: Task, replies: Sequence[Reply]) -> HallucinationDetection:
    """Sentence verdicts as `support` gives them; the response's label by `support.response_label`.

    A calibration fitted on the caller's own labelled responses decides alone what is faithful, whatever the sentences
    look like; what is not is ``unfaithful`` or ``partial`` as the sentences say.
    """
    from intrinsics_core.embedded.support import response_label

    found = _support(task, replies, own.thresholds.get("hallucination-detection", {}))
    verdicts = [(i, (s.label, s.probability, s.explanation)) for i, s in enumerate(found.sentences)]
    if found.label == "NA":
        return sentence_ids.hallucination(task, verdicts, label="NA")
    score, label = found.faithfulness, cast("Faithfulness", found.label)
    if fitted := own.calibrations.get("hallucination-detection"):
        score = fitted.apply(score)
        doubt = response_label([s.label for s in found.sentences], enough=False)
        label = "faithful" if score >= fitted.threshold else doubt
    return sentence_ids.hallucination(task, verdicts, score=score, label=label)


def _citations(task: Task, replies: Sequence[Reply]) -> Citations:
    found = _support(task, replies)
    return sentence_ids.citations(task, [(r, c) for r, s in enumerate(found.sentences) for c in s.citations])


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


def _pointwise(own: Own, task: Task, replies: Sequence[Reply]) -> list[tuple[float, float]]:
    """For each passage the probability that it is relevant, and what to order by.

    The probability is that of context relevance and knows this passage alone, so a threshold fits it. The order may use
    more: how the list differs in words and meaning, and the retriever's scores.
    """
    from intrinsics_core.embedded.answering import passage_score
    from intrinsics_core.embedded.ranking import rerank_scores

    (question,), passages = _vectors(replies)
    asked = _question(task)
    probabilities = [
        passage_score(asked, _passage(document), question, rows)
        for document, rows in zip(task.documents, passages, strict=True)
    ]
    if fitted := own.calibrations.get("context-relevance"):
        probabilities = [fitted.apply(probability) for probability in probabilities]
    places = rerank_scores(
        _question(task),
        [d.text for d in task.documents],
        question,
        passages,
        titles=[d.title for d in task.documents],
        prior=[d.score for d in task.documents],
    )
    return list(zip(probabilities, places, strict=True))


def _context_relevance(own: Own, task: Task, replies: Sequence[Reply]) -> Judgement:
    from intrinsics_core.embedded.answering import context_relevance

    (question,), (passage,) = _vectors(replies)
    limits = own.thresholds.get("context-relevance", {})
    found = context_relevance(
        _question(task),
        _passage(task.documents[0]),
        question,
        passage,
        relevant=limits.get("relevant"),
        partial=limits.get("partial"),
    )
    label, score = found.label, found.score
    if fitted := own.calibrations.get("context-relevance"):
        score = fitted.apply(score)
        # One threshold was fitted, for what helps; half of it is as far as a doubt goes.
        half = fitted.threshold / 2
        label = "relevant" if score >= fitted.threshold else "partially relevant" if score >= half else "irrelevant"
    return Judgement(index=0, document_id=task.document_id(0), label=label, score=score)


def _answerability(own: Own, task: Task, replies: Sequence[Reply]) -> Answerability:
    from intrinsics_core.embedded.answering import answerability

    (question,), passages = _vectors(replies)
    limit = own.thresholds.get("answerability", {}).get("answerable")
    found = answerability(_question(task), [_passage(d) for d in task.documents], question, passages, threshold=limit)
    answerable, probability = found.answerable, found.probability
    if fitted := own.calibrations.get("answerability"):
        probability = fitted.apply(probability)
        answerable = probability >= fitted.threshold
    return Answerability(label="answerable" if answerable else "unanswerable", probability=probability)


def _uncertainty(own: Own, task: Task, replies: Sequence[Reply]) -> Uncertainty:
    from intrinsics_core.embedded.certainty import certainty, quantised

    answerable, supported = None, None
    if task.documents:
        answerable = _answerability(own, task, replies[:2]).probability if _turns(task) else None
        supported = _support(task, replies[2:]).faithfulness if task.response else None
    found = certainty(answerable, supported)
    score = found.expected
    if fitted := own.calibrations.get("uncertainty"):
        score = fitted.apply(score)
    return Uncertainty(certainty=quantised(score), expected=score)


def _calibrations(given: Mapping[str, Any]) -> dict[str, Calibration]:
    from intrinsics_core.evaluation.calibration import Calibration

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


def _thresholds(given: Mapping[str, Mapping[str, float]]) -> dict[str, Mapping[str, float]]:
    for name, values in given.items():
        known = THRESHOLDS.get(name, ())
        if not known or not isinstance(values, Mapping) or (wrong := set(values) - set(known)):
            names = "; ".join(f"{key}: {', '.join(value)}" for key, value in THRESHOLDS.items())
            raise InvalidInput(f"thresholds.{name} is unknown", expected=names, got=repr(wrong if known else name))
        for key, value in values.items():
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
                raise InvalidInput(f"thresholds.{name}.{key}", expected="a number in 0..1", got=repr(value))
    return dict(given)


PROFILE = embedded_profile()
