"""A real language model of 270 million parameters, asked through the doors that are here.

It needs the weights in the folder that RAG_INTRINSICS_MODELS names (`python -m benchmarks.fetch_models --only gemma`).
The model was never taught to follow instructions: what it says is not judged here, but that it is heard.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from benchmarks.fetch_models import FOLDER, MODELS, folder
from benchmarks.real_models import DOORS, door, plainest, tables
from intrinsics_core import IntrinsicsError, MalformedReply, run_many
from intrinsics_core.protocol.requests import Generate, Outcome, Request
from intrinsics_core.runtimes.base import BlockingRuntime, Runtime

pytestmark = [
    pytest.mark.slow,
    pytest.mark.model,
    pytest.mark.skipif(folder() is None, reason=f"{FOLDER} names no folder with a model"),
]
NEEDS = {"llama_cpp": "xllamacpp", "vllm": "vllm", "transformers": "torch"}


class Bounded(BlockingRuntime):
    """Another runtime, with few tokens for each reply: this model goes on up to the limit."""

    def __init__(self, other: Runtime, most: int = 32) -> None:
        self.other, self.profile, self.concurrency, self.most = other, other.profile, other.concurrency, most

    def handle(self, requests: Sequence[Request]) -> list[Outcome]:
        return self.other.handle([
            replace(one, max_tokens=min(one.max_tokens, self.most)) if isinstance(one, Generate) else one
            for one in requests
        ])  # fmt: skip


@pytest.fixture(scope="module", params=DOORS)
def runtime(request: pytest.FixtureRequest) -> Iterator[Runtime]:
    pytest.importorskip(NEEDS[request.param])
    to = folder()
    assert to is not None
    model = MODELS["gemma"]
    weights = model.gguf(to) if request.param == "llama_cpp" else model.safetensors(to)
    if not weights.exists():
        pytest.skip(f"{weights} is not there")
    with door(request.param, "gemma", None) as made:
        yield made


@pytest.mark.parametrize("name", ["answerability", "context-relevance", "uncertainty"])
def test_a_verdict_of_one_label_is_read_with_its_probability(runtime: Runtime, name: str) -> None:
    (table,) = (table for table in tables("plain", 6) if table.name == name)
    assert table.score is not None
    results = run_many([table.call(item) for item in table.items], runtime)
    scores = [table.score(result) for result in results if not isinstance(result, IntrinsicsError)]
    assert len(scores) == len(results), results
    assert all(score is not None and 0 < score < 1 for score in scores) and len(set(scores)) > 1
    assert all(result.usage.prompt_tokens > 100 for result in results)


def test_what_cannot_be_read_is_a_malformed_reply_and_nothing_else(runtime: Runtime) -> None:
    for table in tables("plain", 1):
        for result in run_many([table.call(item) for item in table.items[:1]], Bounded(runtime)):
            assert not isinstance(result, IntrinsicsError) or isinstance(result, MalformedReply), (table.name, result)


def test_the_plainest_question_is_weighed_by_its_first_token(runtime: Runtime) -> None:
    (table,) = (table for table in tables("plain", 2) if table.name == "answerability")
    assert len(plainest(table, runtime)) == 2
