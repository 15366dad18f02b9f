"""A calibration that was fitted on somebody's own data, put to work on what any profile says.

One rule for each kind of value: the score becomes the calibrated probability, and the label what the fitted threshold
makes of it. A value without a score (a fallback, an answer that claims nothing) stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import singledispatch
from typing import Any, Protocol

from intrinsics_core.protocol.results import (
    Answerability,
    AnswerRelevance,
    AuditParts,
    FactCheck,
    HallucinationDetection,
    Judgement,
    Result,
    SentenceVerdict,
    Uncertainty,
)

_POINTWISE = ("pointwise", "context-relevance")  # a format whose scores are those of an intrinsic


class Fitted(Protocol):
    """What was fitted on somebody's own data: :class:`intrinsics_core.calibration.fitting.Calibration`."""

    @property
    def threshold(self) -> float: ...
    def apply(self, score: float) -> float: ...
    def unsure(self, probability: float) -> bool: ...


Calibrations = Mapping[str, Fitted]


def recalibrated(name: str, value: Any, fitted: Calibrations) -> Any:
    """What a format of this name said, after calibration; as it is where there is none for it.

    Args:
        name: name of the intrinsic whose format gave the value.
        value: what the format's ``parse`` returned.
        fitted: the runtime's calibrations, by intrinsic.

    Returns:
        The value with calibrated scores.
    """
    if name == _POINTWISE[0] and (found := fitted.get(_POINTWISE[1])):
        return [found.apply(score) for score in value]
    return _recalibrated(value, fitted)


@singledispatch
def _recalibrated(value: Any, fitted: Calibrations) -> Any:
    return value


@_recalibrated.register(list)
def _(value: list[Any], fitted: Calibrations) -> Any:
    return [_recalibrated(each, fitted) for each in value]


@_recalibrated.register(Answerability)
def _(value: Answerability, fitted: Calibrations) -> Any:
    return _changed(value, fitted.get("answerability"), "probability", _gate)


@_recalibrated.register(Judgement | AnswerRelevance)
def _(value: Judgement | AnswerRelevance, fitted: Calibrations) -> Any:
    name = "context-relevance" if isinstance(value, Judgement) else "answer-relevance"
    return _changed(value, fitted.get(name), "score", _relevance)


@_recalibrated.register(HallucinationDetection)
def _(value: HallucinationDetection, fitted: Calibrations) -> Any:
    found = fitted.get("hallucination-detection")
    if found is None:
        return value
    rows = [_sentence(sentence, found) for sentence in value.sentences]
    labels = {row.label for row in rows}
    worst = next((label for label in ("unfaithful", "partial") if label in labels), None)

    def label(found: Fitted, p: float) -> str:
        passes = p >= found.threshold and not value.missing
        return worst or ("faithful" if passes else "partial")

    changed = _changed(value, found, "score", label)
    claims = [i for i, row in enumerate(rows) if row.score is not None]
    if changed.score is not None and len(claims) == 1:  # the one claim of an answer has the answer's verdict
        verdict = {"score": changed.score, "label": changed.label, "unsure": changed.unsure}
        rows[claims[0]] = rows[claims[0]].model_copy(update=verdict)
    return changed.model_copy(update={"sentences": tuple(rows)})


def _sentence(value: SentenceVerdict, found: Fitted) -> SentenceVerdict:
    """A sentence is judged by the answer's curve, so that it has one label alone, beside others, and in a stream."""
    if value.score is None:
        return value
    p = found.apply(value.score)
    label = "faithful" if p >= found.threshold else "partial" if value.label == "faithful" else value.label
    return value.model_copy(update={"score": p, "label": label, "unsure": found.unsure(p)})


@_recalibrated.register(Uncertainty)
def _(value: Uncertainty, fitted: Calibrations) -> Any:
    score = certainty_score(value)
    found = fitted.get("uncertainty")
    if found is None or score is None:
        return value
    expected = found.apply(score)
    tenth = (2 * min(9, int(expected * 10)) + 1) / 20  # the middle of the tenth it falls into
    return value.model_copy(update={"certainty": tenth, "expected": expected, "unsure": found.unsure(expected)})


@_recalibrated.register(FactCheck)
def _(value: FactCheck, fitted: Calibrations) -> Any:
    found = fitted.get("fact-check")
    if found is None or value.score is None:
        return value
    score = found.apply(value.score)
    parts = {name: tuple(_scored(part, found) for part in getattr(value, name)) for name in ("claims", "sources")}
    return value.model_copy(update={"score": score, "unsure": found.unsure(score)} | parts)


def _scored(part: Any, found: Fitted) -> Any:
    return part if part.score is None else part.model_copy(update={"score": found.apply(part.score)})


@_recalibrated.register(AuditParts)
def _(value: AuditParts, fitted: Calibrations) -> Any:
    parts = ("answerability", "hallucination", "uncertainty")
    update: dict[str, Any] = {name: _recalibrated(getattr(value, name), fitted) for name in parts}
    if value.answer_relevance is not None and (found := fitted.get("answer-relevance")):
        update["answer_relevance"] = found.apply(value.answer_relevance)
    return value.model_copy(update=update)


def certainty_score(value: Uncertainty) -> float | None:
    """What is calibrated of a certainty: its mean, or, where the model gives no probabilities, the tenth it stated."""
    return value.certainty if value.expected is None else value.expected


def _gate(found: Fitted, p: float) -> str:
    return "answerable" if p >= found.threshold else "unanswerable"


def _relevance(found: Fitted, p: float) -> str:
    # One threshold was fitted, for what helps; half of it is as far as a doubt goes.
    return "relevant" if p >= found.threshold else "partially relevant" if p >= found.threshold / 2 else "irrelevant"


def _changed(value: Any, found: Fitted | None, field: str, label: Callable[[Fitted, float], str]) -> Any:
    score = getattr(value, field)
    if found is None or score is None:
        return value
    probability = found.apply(score)
    unsure = {"unsure": found.unsure(probability)} if isinstance(value, Result) else {}
    return value.model_copy(update={field: probability, "label": label(found, probability)} | unsure)
