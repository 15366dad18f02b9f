"""How a reply ended, by the names that servers and frameworks have for it."""

from __future__ import annotations

from intrinsics_core.protocol.requests import Generated

_AT_THE_LIMIT = frozenset({"length", "max_tokens", "max_output_tokens", "model_length"})
_BY_A_FILTER = frozenset({
    "content_filter", "content_filtered", "guardrail_intervened", "prohibited_content", "recitation", "refusal",
    "safety",
})  # fmt: skip


def cut_off(reply: Generated) -> str | None:
    """What ended a text before it was whole, as the end of a sentence; None where the model ended it."""
    reason = str(reply.finish_reason).lower()
    if reason in _AT_THE_LIMIT:
        return "ended at the token limit"
    return "was ended by a content filter" if reason in _BY_A_FILTER else None
