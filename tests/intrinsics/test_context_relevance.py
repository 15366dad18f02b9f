"""Context relevance: what a failed judgement leaves behind."""

from __future__ import annotations

from intrinsics_core import RuntimeUnavailable, context_relevance, run
from tests.scripted import Scripted

USER = [{"role": "user", "content": "Who built the mill?"}]


def test_a_kept_document_tells_its_own_failure_alone_and_briefly() -> None:
    def script(request):
        shown = request.messages[-1].content
        if "fog" in shown:
            return RuntimeUnavailable("cut off " + "x" * 5000)
        return {"context_relevance": "relevant", "confidence": 0.9}

    result = run(context_relevance(USER, ["the fog", "the mill", "a fog"], on_error="fallback"), Scripted(script))
    first, judged, third = result.judgements
    for kept in (first, third):
        assert kept.failure is not None and kept.failure.startswith("RuntimeUnavailable: ")
        assert len(kept.failure) < 350 and "document" not in kept.failure
    assert judged.failure is None and "failure" not in first.model_dump()
    assert result.degraded is not None and len(result.degraded) < 1000
    assert "document '0' kept" in result.degraded and "document '2' kept" in result.degraded
