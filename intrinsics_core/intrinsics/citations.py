"""Citations: which document spans each response sentence rests on."""

from __future__ import annotations

from intrinsics_core.intrinsics._common import Documents, Messages, OnError, call
from intrinsics_core.program import Call
from intrinsics_core.results import Citations


def citations(
    messages: Messages, documents: Documents, *, on_error: OnError = "raise", date: str | None = None
) -> Call[Citations]:
    """Cite the document spans that each sentence of the last assistant turn rests on.

    Args:
        messages: a conversation that ends with an assistant turn.
        documents: one or more.
        on_error: there is no fallback; a failure is always raised.
        date: date text for prompts that carry one; the day of the call where left out.

    Returns:
        A call whose result lists the citations in response order, then document order. Adjacent cited sentences of a
        document are one citation. All offsets are exact in the caller's texts.

    Raises:
        InvalidInput: at once, where the input is wrong.

    Source: *A Library of LLM Intrinsics for RAG* (2025), citation generation.
    """
    return call("citations", messages, documents, ends_with=["assistant"], needs_documents=True,
                date=date, on_error=on_error)  # fmt: skip
