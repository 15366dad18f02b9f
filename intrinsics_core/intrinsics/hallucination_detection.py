"""Hallucination detection: a verdict for each sentence of the response."""

from __future__ import annotations

from intrinsics_core.intrinsics.calling import Documents, Messages, OnError, call
from intrinsics_core.intrinsics.table import register, telling
from intrinsics_core.protocol.call import Call
from intrinsics_core.protocol.results import HallucinationDetection
from intrinsics_core.replies import sentence_ids


@register(
    "hallucination-detection",
    result=HallucinationDetection,
    ends_with=("assistant",),
    needs_documents=True,
    empty=telling("reason", sentence_ids.nothing_judged),
    fallbacks={"fallback": telling("degraded", sentence_ids.all_missing)},
    score=lambda result: result.score,
    judges="the response is faithful to the documents",
    needs="answer, documents",
    gives="a verdict per sentence, with offsets",
)
def hallucination_detection(
    messages: Messages, documents: Documents, *, on_error: OnError = "raise", date: str | None = None
) -> Call[HallucinationDetection]:
    """Judge each sentence of the last assistant turn against the documents.

    Args:
        messages: a conversation that ends with an assistant turn.
        documents: any number; without them every sentence is NA, and there is a reason.
        on_error: ``"fallback"`` gives NA for every sentence, marked as degraded; all of them are ``missing``.
        date: date text for prompts that carry one; the day of the call where left out.

    Returns:
        A call whose result has one verdict per response sentence with exact offsets, and one verdict for the response
        as a whole. Where the model gives scores, each label is read from its score, and the response of one claim has
        the claim's score. Where a reply holds labels alone, each score is its label's. A response with an *unfaithful*
        sentence is *unfaithful*. A sentence that the model left out is NA and not ``judged``; ``missing`` counts them,
        and while there is one the response is never *faithful*.

    Raises:
        InvalidInput: if the input is invalid. It is raised by this function, not by `run`.

    Source: *A Library of LLM Intrinsics for RAG* (2025), hallucination detection.

    Example:

        >>> from intrinsics_core import hallucination_detection, run
        >>> question = [{"role": "user", "content": "Who built the lighthouse?"}]
        >>> documents = ["Ada Brink built the lighthouse in 1911.", "Fog is common in May."]
        >>> answer = [*question, {"role": "assistant", "content": "Ada Brink built the lighthouse in 1911."}]
        >>> run(hallucination_detection(answer, documents)).label
        'faithful'
    """
    return call("hallucination-detection", messages, documents, date=date, on_error=on_error)
