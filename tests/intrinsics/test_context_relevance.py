"""A fallback keeps a document with its own reason alone, and in short."""

from intrinsics_core import MalformedReply, context_relevance, run
from tests.scripted import Scripted


def test_each_document_that_was_kept_has_its_own_short_reason():
    def script(request):
        shown = request.messages[-1].content
        return (
            MalformedReply("no verdict " * 1000)
            if "fog" in shown
            else {"context_relevance": "relevant", "confidence": 1}
        )

    documents = [
        {"id": "mill", "text": "A mill."},
        {"id": "fog", "text": "Much fog."},
        {"id": "more", "text": "More fog."},
    ]
    result = run(
        context_relevance([{"role": "user", "content": "What is there?"}], documents, on_error="fallback"),
        Scripted(script),
    )
    assert [j.label for j in result.judgements] == ["relevant"] * 3
    assert [j.failure is None for j in result.judgements] == [True, False, False]
    assert all(len(j.failure) <= 200 and "no verdict" in j.failure for j in result.judgements[1:])
    assert len(result.degraded) < 600 and "'fog' kept" in result.degraded and "'more' kept" in result.degraded
    assert "failure" not in str(result.model_dump())
