"""How certain it is that an answer is (or will be) right: from answerability and from what supports it.

Before answering it is the probability that the question is answerable, drawn in from both ends. After answering it is a
weighted mean of the log-odds of that and of the support, and never more than the support. An answer that claims nothing
("I don't know.") is right where the passages do not hold one. The weights are set, not fitted.

What this is not: the uncertainty of the model that answered. A confident guess and a lucky one look the same, and
without passages it knows nothing (0.5). A language model's own log-probabilities or sampled answers tell more.
"""

from __future__ import annotations

from collections.abc import Sequence

from intrinsics_core.calibration.probabilities import logit, sigmoid, tenth
from intrinsics_core.embedded.answers import claims_and_documents, said_in, support_of
from intrinsics_core.embedded.overrides import Overrides
from intrinsics_core.embedded.relevance import answerable_by, look_at, question_and_passages
from intrinsics_core.embedded.rewrite.standing_alone import asked_alone, standing_alone, turns_of
from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.protocol.requests import Program, Reply
from intrinsics_core.protocol.results import Uncertainty
from intrinsics_core.protocol.task import Task

BEFORE, ANSWERABILITY, SUPPORT = 0.8, 0.35, 0.65
"""Exponents on the odds of answerability alone (before), and of answerability and support together (after)."""
_SUREST = 0.99  # neither score is ever surer than that


def uncertainty_of(own: Overrides, task: Task) -> Program[Uncertainty]:
    answerable, supported, claims = None, None, True
    if task.documents:
        alone = yield from standing_alone(own, task)
        text = (yield from asked_alone(own, task)) if alone is task else alone.query
        said = said_in(alone)
        of_answer = claims_and_documents(alone, said.looked_up) if task.response else ()
        wave = [*question_and_passages(task, text), *of_answer]
        replies: Sequence[Reply] = yield wave  # type: ignore[assignment]  # only replies come
        if turns_of(task):
            looked_at = yield from look_at(own, task, text, replies[:2])
            answerable = answerable_by(own, task, looked_at).probability
        if task.response:
            found = yield from support_of(own, alone, said, replies[2:])
            claims = found.label != "NA"
            supported = found.faithfulness if claims else None
    expected = certainty(answerable, supported, claims=claims)
    return Uncertainty(certainty=tenth(expected), expected=expected)


def certainty(answerability: float | None, support: float | None = None, *, claims: bool = True) -> float:
    """The probability that an answer is right, before answering (no support) or after.

    Args:
        answerability: probability that the passages answer the question; None: no passages.
        support: how far the passages support the answer, 0 to 1; None: not answered yet, or nothing to judge.
        claims: whether the answer claims anything.

    Raises:
        InvalidInput: a number outside 0..1.
    """
    asked = 0.0 if answerability is None else _log_odds("answerability", answerability)
    if support is None:
        return float(sigmoid(BEFORE * asked * (1 if claims else -1)))
    share = 0.0 if answerability is None else ANSWERABILITY
    return min(float(sigmoid(share * asked + SUPPORT * _log_odds("support", support))), support)


def _log_odds(name: str, probability: float) -> float:
    return logit(min(max(_checked(name, probability), 1 - _SUREST), _SUREST))


def _checked(name: str, probability: float) -> float:
    if not 0.0 <= probability <= 1.0:
        raise InvalidInput(f"{name} is not a probability", expected="a number from 0 to 1", got=repr(probability))
    return probability
