"""Citations: which document spans each response sentence rests on."""

from __future__ import annotations

from intrinsics_core.intrinsics.calling import Documents, Messages, OnError, call
from intrinsics_core.intrinsics.table import register, without_verdict
from intrinsics_core.protocol.call import Call
from intrinsics_core.protocol.results import Citations


@register(
    "citations",
    result=Citations,
    ends_with=("assistant",),
    needs_documents=True,
    needs="answer, documents",
    gives="spans of documents per sentence, with offsets",
    **without_verdict(lambda task: Citations(citations=())),
)
def citations(
    messages: Messages, documents: Documents, *, on_error: OnError = "raise", date: str | None = None
) -> Call[Citations]:
    """Cite the document spans that each sentence of the last assistant turn rests on.

    Args:
        messages: a conversation that ends with an assistant turn.
        documents: any number; without them, or where the answer is empty, there are no citations, and a reason.
        on_error: ``"fallback"`` gives no citations, marked as degraded.
        date: date text for prompts that carry one; the day of the call where left out.

    Returns:
        A call whose result lists the citations in response order, then document order. Adjacent cited sentences of a
        document are one citation. All offsets are exact in the caller's texts. ``missing`` counts the sentences that a
        language model's reply leaves out: their sources are not known. A sentence without sources is not missing.

    Raises:
        InvalidInput: if the input is invalid. It is raised by this function, not by `run`.

    Source: *A Library of LLM Intrinsics for RAG* (2025), citation generation.

    Example:

        >>> from intrinsics_core import citations, run
        >>> question = [{"role": "user", "content": "Who built the lighthouse?"}]
        >>> documents = ["Ada Brink built the lighthouse in 1911.", "Fog is common in May."]
        >>> answer = [*question, {"role": "assistant", "content": "Ada Brink built the lighthouse in 1911."}]
        >>> [citation.document_text for citation in run(citations(answer, documents)).citations]
        ['Ada Brink built the lighthouse in 1911.']
    """
    return call("citations", messages, documents, date=date, on_error=on_error)
