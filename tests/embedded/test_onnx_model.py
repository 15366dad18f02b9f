"""What the bi-encoder and the cross-encoder have in common: work that is given up, and what is remembered."""

import asyncio
import threading

import onnxruntime
import pytest

from intrinsics_core import arun, context_relevance
from intrinsics_core.embedded.models.cross_encoder import CrossEncoder
from intrinsics_core.embedded.runtime import SHIPPED_READER, EmbeddedRuntime

QUESTION = [{"role": "user", "content": "Who built the mill?"}]
DOCUMENTS, GIVEN_UP_AFTER = 300, 60


async def test_a_reader_that_nobody_waits_for_stops(monkeypatch):
    """Given up after 60 of 300 reads, the reader ends with the runs that are under way."""
    runtime = EmbeddedRuntime(threads=1)
    documents = [f"Mill {i} was built by Ada Brink." for i in range(DOCUMENTS)]
    reads, given_up = 0, threading.Event()
    real = onnxruntime.InferenceSession.run
    loop = asyncio.get_running_loop()

    def counted(self, names, *rest):
        nonlocal reads
        if names == ["logits"]:
            reads += 1
            if reads == GIVEN_UP_AFTER:
                loop.call_soon_threadsafe(task.cancel)
                assert given_up.wait(60)
        return real(self, names, *rest)

    monkeypatch.setattr(onnxruntime.InferenceSession, "run", counted)
    task = asyncio.create_task(arun(context_relevance(QUESTION, documents), runtime))
    with pytest.raises(asyncio.CancelledError):
        await task
    given_up.set()
    await loop.shutdown_default_executor()  # waits for its threads
    assert reads == 64  # the end of the group of 32 that is under way


def test_what_is_remembered_is_bounded_in_bytes(monkeypatch):
    reads = 0
    real = onnxruntime.InferenceSession.run

    def counted(self, *arguments):
        nonlocal reads
        reads += 1
        return real(self, *arguments)

    monkeypatch.setattr(onnxruntime.InferenceSession, "run", counted)
    some, others = (
        [("Who built it?", f"Mill {i} was built by Ada Brink.") for i in part] for part in (range(4), range(4, 14))
    )
    for size, expected in ((2**20, [4, 0, 10, 0]), (2**11, [4, 0, 10, 4]), (0, [4, 4, 10, 4])):
        with CrossEncoder(SHIPPED_READER, threads=1, cache_size=size) as reader:
            found = []
            for pairs in (some, some, others, some):
                reads = 0
                reader.logits("answers", pairs)
                found.append(reads)
            assert found == expected
