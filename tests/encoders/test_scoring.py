"""Cross-encoders behind a score endpoint, as vLLM has it: an imitation over a real socket."""

from __future__ import annotations

import asyncio
import math
import pickle
import sys
from collections.abc import Callable
from typing import Any

import pytest

from intrinsics_core import (
    ContextTooLong,
    InvalidInput,
    MalformedReply,
    RuntimeUnavailable,
    UnknownAdapter,
    arun,
    as_runtime,
    context_relevance,
    fact_check,
    hallucination_detection,
    query_rewrite,
    reranking,
    run,
)
from intrinsics_core.encoders.scoring import halves
from intrinsics_core.protocol.requests import Score, Scored
from intrinsics_core.runtimes.server.transport import response_type
from tests.loopback import Loopback, Received, Reply, failure
from tests.tide_mill import ASKED, answered

ANSWERED = answered("Ada Brink built the tide mill. Forty sailors painted it gold.")
DOCUMENTS = ["Fog is common in May.", "Ada Brink built the tide mill in 1911."]
LONGEST = 600  # characters of a pair that the imitation's model reads


def logit(first: str, second: str) -> float:
    """Words in common: six times their share, less three."""
    a, b = ({word.strip(".?").lower() for word in text.split()} for text in (first, second))
    return 6 * len(a & b) / max(1, min(len(a), len(b))) - 3


def vllm(*, activated: bool = True, heeds: bool = True) -> Callable[[Received], Reply]:
    """``heeds``: knows ``use_activation``; ``activated``: the model has one."""

    def answer(received: Received) -> Reply:
        if received.path != "/v1/score":
            return Reply(failure("Not Found", "NotFoundError", code=404), 404)
        body = received.body
        if body["model"] not in ("judge", "ranker"):
            return Reply(failure(f"The model `{body['model']}` does not exist.", "NotFoundError", "model", 404), 404)
        pairs = list(zip(body["text_1"], body["text_2"], strict=True))
        if any(len(a) + len(b) > LONGEST for a, b in pairs):
            said = "This model's maximum context length is 128 tokens. Your input has more."
            return Reply(failure(said, param="input_tokens"), 400)
        squashed = activated and (body["use_activation"] or not heeds)
        rows = [
            {"index": i, "object": "score", "score": 1 / (1 + math.exp(-x)) if squashed else x}
            for i, x in enumerate(logit(a, b) for a, b in pairs)
        ]
        return Reply({"object": "list", "model": body["model"], "data": rows[::-1], "usage": {}})

    return answer


def config(server: Loopback, **more: Any) -> dict[str, Any]:
    return {"kind": "encoders", "base_url": server.url, "relevance": "ranker", "entailment": "judge", **more}


@pytest.mark.parametrize("kind", [vllm(), vllm(heeds=False), vllm(activated=False)], ids=["both", "deaf", "raw"])
def test_logits_are_the_same_whatever_a_server_tells(kind: Callable[[Received], Reply]) -> None:
    pairs = tuple((f"{a} mill", b) for a in ("The", "Who built the tide") for b in DOCUMENTS)
    with Loopback(kind) as server, as_runtime(config(server)) as runtime:
        (scored,) = runtime.handle([Score("reranking", pairs, "relevance")])
        assert isinstance(scored, Scored)
        assert [row[0] for row in scored.logits] == pytest.approx([logit(*pair) for pair in pairs], abs=1e-6)
        assert scored.read.share == 1.0
        asked = len(server.received)
        runtime.handle([Score("reranking", pairs, "relevance")])
        assert len(server.received) == asked + 1  # who it is is asked once


def test_intrinsics_are_served_and_the_rest_falls_to_the_base() -> None:
    with Loopback(vllm()) as server, as_runtime(config(server)) as runtime:
        assert [row.index for row in run(reranking(ASKED, DOCUMENTS), runtime).ranking] == [1, 0]
        assert [j.label for j in run(context_relevance(ASKED, DOCUMENTS), runtime).judgements] == [
            "irrelevant",
            "relevant",
        ]
        judged = run(hallucination_detection(ANSWERED, DOCUMENTS), runtime)
        assert [s.label for s in judged.sentences] == ["faithful", "unfaithful"]
        assert run(fact_check(ANSWERED, DOCUMENTS), runtime).claims[0].score > 0.8
        assert run(query_rewrite(ASKED), runtime).query == ASKED[0]["content"]
        assert run(reranking(ASKED, DOCUMENTS), runtime) == asyncio.run(arun(reranking(ASKED, DOCUMENTS), runtime))


@pytest.mark.parametrize("repeated", [125, pytest.param(1_250, marks=pytest.mark.slow)])
def test_a_fact_at_the_very_end_of_a_long_source_is_found_and_none_is_cut(repeated: int) -> None:
    source = "Fog is common in May, and rain in June. " * repeated + "Ada Brink built the tide mill in 1911."
    with Loopback(vllm()) as server, as_runtime(config(server)) as runtime:
        told = run(reranking(ASKED, ["Fog is common in May.", source]), runtime)
        assert told.ranking[0].index == 1 and told.ranking[0].score > 0.8 and told.read == 1.0
        claim = [*ASKED, {"role": "assistant", "content": "Ada Brink built the tide mill."}]
        judged = run(hallucination_detection(claim, [source]), runtime)
        assert (judged.label, judged.read) == ("faithful", 1.0)
        assert run(hallucination_detection(claim, [source[:-40]]), runtime).label == "unfaithful"
        held, lost = (run(fact_check(claim, [text]), runtime).score for text in (source, source[:-40]))
        assert held > 0.5 > lost


def test_a_claim_that_is_too_long_is_refused() -> None:
    claim = [*ASKED, {"role": "assistant", "content": "word " * 5_000}]
    with (
        Loopback(vllm()) as server,
        as_runtime(config(server)) as runtime,
        pytest.raises(ContextTooLong, match="never truncated"),
    ):
        run(hallucination_detection(claim, ["Fog is common in May."]), runtime)


@pytest.mark.parametrize("size", [201, 1_000, 9_999])
def test_halves_cover_the_whole_and_overlap(size: int) -> None:
    for text in (" ".join(str(n) for n in range(size))[:size], "x" * size):
        first, second = halves(text)
        assert text.startswith(first) and text.endswith(second) and len(first) + len(second) > len(text)
        assert max(len(first), len(second)) < 0.6 * len(text)


def test_only_the_http_library_that_openai_stands_on_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    other = {"httpx": "httpx2", "httpx2": "httpx"}[response_type().__module__.partition(".")[0]]
    monkeypatch.setitem(sys.modules, other, None)
    with Loopback(vllm()) as server, as_runtime(config(server)) as runtime:
        assert run(reranking(ASKED, DOCUMENTS), runtime).ranking[0].index == 1


def test_many_pairs_go_in_bounded_requests_side_by_side() -> None:
    def slow(received: Received) -> Reply:
        reply = vllm()(received)
        return Reply(reply.body, reply.status, delay=0.05)

    documents = [f"{n} mills." for n in range(200)]
    with Loopback(slow) as server, as_runtime(config(server, concurrency=3)) as runtime:
        assert len(run(reranking(ASKED, documents), runtime).ranking) == 200
        assert max(len(r.body["text_1"]) for r in server.received) <= 32
        assert 1 < server.peak <= 3


def test_failures_are_typed_and_tried_again() -> None:
    def flaky(received: Received) -> Reply:
        return Reply(failure("busy"), 503) if received.number == 0 else vllm()(received)

    with Loopback(flaky) as server, as_runtime(config(server)) as runtime:
        assert run(reranking(ASKED, DOCUMENTS), runtime).ranking[0].index == 1
    for answer, changes, error in (
        (lambda received: Reply(failure("busy"), 503), {"max_retries": 0}, RuntimeUnavailable),
        (vllm(), {"relevance": "nobody"}, UnknownAdapter),
    ):
        with (
            Loopback(answer) as server,
            as_runtime(config(server, **changes)) as runtime,
            pytest.raises(error, match="reranking"),
        ):
            run(reranking(ASKED, DOCUMENTS), runtime)


@pytest.mark.parametrize(
    "body",
    [
        {}, [], "no", {"data": None}, {"data": [{"index": 0, "score": 1.0}]},
        {"data": [{"index": 0, "score": None}, {"index": 1, "score": 0.5}]},
        {"data": [{"index": 0, "score": float("nan")}, {"index": 1, "score": 0.5}]},
        {"data": [{"index": 0, "score": float("inf")}, {"index": 1, "score": 0.5}]},
        {"data": [{"index": 0, "score": True}, {"index": 1, "score": 0.5}]},
        {"data": [{"index": 0, "score": 0.1}, {"index": 0, "score": 0.5}]},
        {"data": [{"index": [], "score": 0.1}, {"index": 1, "score": 0.5}]},
    ],
)  # fmt: skip
def test_a_reply_that_is_none_is_malformed(body: Any) -> None:
    with (
        Loopback(lambda received: Reply(body)) as server,
        as_runtime(config(server)) as runtime,
        pytest.raises(MalformedReply, match="scores cannot be read"),
    ):
        run(reranking(ASKED, DOCUMENTS), runtime)


def test_no_key_is_shown_and_a_runtime_travels() -> None:
    def quoting(received: Received) -> Reply:
        return Reply(failure(f"bad key {received.headers['authorization']}"), 401)

    with Loopback(quoting) as server, as_runtime(config(server, api_key="sk-0123456789abcdef")) as runtime:
        with pytest.raises(RuntimeUnavailable) as caught:
            run(reranking(ASKED, DOCUMENTS), runtime)
        assert "sk-0123" not in f"{caught.value!r} {caught.value} {runtime!r}"
        assert b"sk-0123" not in pickle.dumps(runtime)
        again = pickle.loads(pickle.dumps(runtime))  # noqa: S301  (our own)
        assert again.places == runtime.places and again.base_url == runtime.base_url


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"tokens": "tagger"}, "tokens"),
        ({"relevance": None, "entailment": None}, "names no model"),
        ({"base_url": "nowhere"}, "base_url"),
        ({"backend": "onnx"}, "backend"),
        ({"base_url": None, "concurrency": 3}, "concurrency"),
    ],
)
def test_what_does_not_go_together_is_named(changes: dict[str, Any], named: str) -> None:
    given = {"kind": "encoders", "base_url": "http://127.0.0.1:1/v1", "relevance": "a", "entailment": "b", **changes}
    with pytest.raises(InvalidInput, match=named):
        as_runtime({key: value for key, value in given.items() if value is not None})
