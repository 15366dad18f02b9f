"""Every intrinsic of every generating profile through the runtime: alone, many at once, and as it would be alone.

A random model writes nonsense. Where a constraint leaves only well-formed replies, a result must come; where a reply is
free or is cut for time, it may be malformed. Any other error is a defect of the runtime.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import intrinsics_core as ic
from intrinsics_core.protocol.requests import Generate, Outcome, Request

ASKED = [
    {"role": "user", "content": "Tell me of the bridge."},
    {"role": "assistant", "content": "Gladly."},
    {"role": "user", "content": "Who built it?"},
]
TOLD = [*ASKED, {"role": "assistant", "content": "Ada Brink built it in 1911. It has two towers."}]
DOCUMENTS = ["Ada Brink built the bridge in 1911. It spans the Lys.", "The harbour froze.", "Ships pass. Toll is due."]
CALLS = {
    "query-rewrite": lambda: ic.query_rewrite(ASKED),
    "query-expansion": lambda: ic.query_expansion(ASKED, DOCUMENTS),
    "context-relevance": lambda: ic.context_relevance(ASKED, DOCUMENTS),
    "answerability": lambda: ic.answerability(ASKED, DOCUMENTS),
    "reranking": lambda: ic.reranking(ASKED, DOCUMENTS),
    "uncertainty": lambda: ic.uncertainty(TOLD, DOCUMENTS),
    "hallucination-detection": lambda: ic.hallucination_detection(TOLD, DOCUMENTS),
    "citations": lambda: ic.citations(TOLD, DOCUMENTS),
    "fact-check": lambda: ic.fact_check(TOLD, DOCUMENTS),
}
FOLDERS = {
    "query-rewrite": "answerability",
    "context-relevance": "citations",
    "answerability": "answerability",
    "uncertainty": "uncertainty-alora",  # both Granite profiles open the reply with its invocation
    "hallucination-detection": "citations",
    "citations": "citations",
}
NOT_OFFERED = {("granite-3.2", "context-relevance"), ("granite-3.2", "fact-check")}
ALWAYS_WELL_FORMED = {  # constrained to a few tokens
    ("granite-3.2", "uncertainty"), ("granite-3.3", "uncertainty"), ("granite-3.3", "answerability"),
    ("prompted", "answerability"), ("prompted", "context-relevance"),
    ("prompted", "uncertainty"),
}  # fmt: skip
PROFILES = ("granite-3.2", "granite-3.3", "prompted")
GRID = [(profile, name) for profile in PROFILES for name in CALLS if (profile, name) not in NOT_OFFERED]


@pytest.fixture(scope="module")
def leashed(models: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The runtime on a model with a wide window, cutting every reply after 80 tokens."""
    from intrinsics_core.local.transformers import TransformersRuntime
    from tests.tiny_granite import build

    class Leashed(TransformersRuntime):
        def handle(self, requests: Sequence[Request]) -> list[Outcome]:
            return super().handle([_cut(request) for request in requests])

    def _cut(request: Request) -> Request:
        assert isinstance(request, Generate)
        return replace(request, max_tokens=min(request.max_tokens or 80, 80))

    wide = build(tmp_path_factory.mktemp("wide"), context=8192)
    with Leashed(str(wide / "base"), {name: str(wide / folder) for name, folder in FOLDERS.items()}) as runtime:
        yield runtime


@pytest.mark.parametrize(("profile", "name"), GRID)
def test_one_call(leashed: Any, profile: str, name: str) -> None:
    try:
        result = ic.run(CALLS[name](), leashed, profile=profile)
    except ic.MalformedReply as error:
        assert (profile, name) not in ALWAYS_WELL_FORMED, error
        assert error.raw and error.intrinsic
        return
    # A random model may name one sentence twice: the other's row is missing, and the result says so.
    assert bool(result.degraded) == bool(getattr(result, "missing", 0))
    if hasattr(result, "usage"):
        assert result.usage.completion_tokens > 0


@pytest.mark.parametrize("profile", PROFILES)
def test_many_calls_at_once_are_as_each_alone(leashed: Any, profile: str) -> None:
    names = [name for each, name in GRID if each == profile] * 2
    alone = ic.run_many([CALLS[name]() for name in names], leashed, profile=profile, concurrency=1)
    together = ic.run_many([CALLS[name]() for name in names], leashed, profile=profile, concurrency=32)
    assert [_told(outcome) for outcome in together] == [_told(outcome) for outcome in alone]


def _told(outcome: Any) -> Any:
    if isinstance(outcome, ic.IntrinsicsError):
        return type(outcome), outcome.raw
    return _rounded(outcome.model_dump())


def _rounded(value: Any) -> Any:
    """Scores come from sums whose order depends on the batch: equal to the fourth place."""
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    return value
