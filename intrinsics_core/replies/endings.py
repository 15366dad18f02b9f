"""How a reply ended, by the names that servers and frameworks have for it."""

from __future__ import annotations

from intrinsics_core.protocol.requests import Generated

_BY_A_FILTER = frozenset({
    "content_filter", "content_filtered", "guardrail_intervened", "prohibited_content", "recitation", "refusal",
    "safety",
})  # fmt: skip


def cut_off(reply: Generated) -> str | None:
    """What ended a text before it was whole, as the end of a sentence; None where the model ended it."""
    if reply.ended_at_limit:
        return "ended at the token limit"
    return "was ended by a content filter" if str(reply.finish_reason).lower() in _BY_A_FILTER else None
