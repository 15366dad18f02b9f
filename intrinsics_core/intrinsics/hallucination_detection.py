"""Hallucination detection: a verdict for each sentence of the response."""

from __future__ import annotations

from intrinsics_core.intrinsics._common import Documents, Messages, OnError, call
from intrinsics_core.program import Call
from intrinsics_core.results import HallucinationDetection


def hallucination_detection(
    messages: Messages, documents: Documents, *, on_error: OnError = "raise", date: str | None = None
) -> Call[HallucinationDetection]:
    """Judge each sentence of the last assistant turn against the documents.

    Args:
        messages: a conversation that ends with an assistant turn.
        documents: one or more.
        on_error: there is no fallback; a failure is always raised.
        date: date text for prompts that carry one; the day of the call where left out.

    Returns:
        A call whose result has one verdict per response sentence with exact offsets, NA where the model gave none, and
        one verdict for the response as a whole.

    Raises:
        InvalidInput: at once, where the input is wrong.

    Source: *A Library of LLM Intrinsics for RAG* (2025), hallucination detection.
    """
    return call("hallucination-detection", messages, documents, ends_with=["assistant"], needs_documents=True,
                date=date, on_error=on_error)  # fmt: skip
