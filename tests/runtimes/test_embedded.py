"""The embedded runtime as an embedding model, and what several of them share."""

import gc
from weakref import WeakValueDictionary

import pytest

from intrinsics_core import context_relevance, run
from intrinsics_core.embedded.models import onnx_model
from intrinsics_core.embedded.runtime import EmbeddedRuntime


def test_embed_gives_one_unit_vector_a_text_near_to_what_says_the_same():
    runtime = EmbeddedRuntime()
    dog, puppy, tax, long, nothing = runtime.embed(
        ["A dog barks.", "The puppy is barking.", "Tax is due in May.", "A dog barks at night. " * 200, ""]
    )
    assert [round(sum(x * x for x in v), 4) for v in (dog, puppy, tax, long, nothing)] == [1] * 5
    cosine = {name: sum(x * y for x, y in zip(dog, v, strict=True)) for name, v in
              (("puppy", puppy), ("tax", tax), ("long", long))}  # fmt: skip
    assert abs(sum(x * y for x, y in zip(dog, nothing, strict=True))) < 0.1  # far from every text
    assert cosine["tax"] < 0.2 < 0.3 < min(cosine["long"], cosine["puppy"])


def test_runtimes_of_one_folder_hold_one_model():
    first, second = EmbeddedRuntime(), EmbeddedRuntime(threads=1)
    for runtime in (first, second):
        assert runtime.embed(["a"])
    assert first.encoder._loaded() is second.encoder._loaded()
    first.close()
    assert second.embed(["still there"])


def live_sessions():
    gc.collect()
    return sum(isinstance(each, onnx_model.OnnxSession) for each in gc.get_objects())


@pytest.mark.slow
def test_five_runtimes_hold_two_sessions(monkeypatch):
    """One of each of the two models, however many runtimes of equal arguments there are; freed with the last."""
    monkeypatch.setattr(onnx_model, "_sessions", WeakValueDictionary())  # those of other tests stay loaded: conftest.py
    others = live_sessions()
    call = context_relevance([{"role": "user", "content": "Who built the mill?"}], ["Ada Brink built the mill."])
    runtimes = [EmbeddedRuntime(threads=1, cache_size=0) for _ in range(5)]
    for runtime in runtimes:
        assert run(call, runtime).judgements
    assert live_sessions() == others + 2
    for runtime in runtimes[1:]:
        runtime.close()
    assert run(call, runtimes[0]).judgements
    runtimes[0].close()
    assert live_sessions() == others
