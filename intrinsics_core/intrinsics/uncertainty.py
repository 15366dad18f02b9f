"""Uncertainty: how likely the answer is right, before or after it was given."""

from __future__ import annotations

from intrinsics_core.intrinsics.calling import Documents, Messages, OnError, call
from intrinsics_core.intrinsics.table import register, without_verdict
from intrinsics_core.protocol.apply_calibration import certainty_score
from intrinsics_core.protocol.call import Call
from intrinsics_core.protocol.results import Uncertainty


@register(
    "uncertainty",
    result=Uncertainty,
    ends_with=("user", "assistant"),
    score=certainty_score,
    judges="the answer is right",
    needs="question or answer",
    gives="the probability of being right: .05, .15 … .95",
    **without_verdict(lambda task: Uncertainty(certainty=None)),
)
def uncertainty(
    messages: Messages, documents: Documents = (), *, on_error: OnError = "raise", date: str | None = None
) -> Call[Uncertainty]:
    """Certainty in .05, .15 … .95 that a question will be, or was, answered correctly.

    Args:
        messages: ends with a user turn (certainty before answering) or an assistant turn (after).
        documents: what the answer rests on, if anything. Without them the embedded default, an encoder with no
            knowledge of its own, is indifferent: ``expected`` is .5 and ``certainty`` the .55 that .5 falls into.
        on_error: ``"fallback"`` gives no certainty, marked as degraded.
        date: date text for prompts that carry one; the day of the call where left out.

    Returns:
        A call whose result has ``certainty``, one of .05, .15 … .95.

    Raises:
        InvalidInput: if the input is invalid. It is raised by this function, not by `run`.

    Source: *A Library of LLM Intrinsics for RAG* (2025), uncertainty quantification.

    Example:

        >>> from intrinsics_core import run, uncertainty
        >>> question = [{"role": "user", "content": "Who built the lighthouse?"}]
        >>> documents = ["Ada Brink built the lighthouse in 1911.", "Fog is common in May."]
        >>> answer = [*question, {"role": "assistant", "content": "Ada Brink built the lighthouse in 1911."}]
        >>> run(uncertainty(answer, documents)).certainty
        0.95
    """
    return call("uncertainty", messages, documents, date=date, on_error=on_error)
