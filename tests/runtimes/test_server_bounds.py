"""What a server may do to its client: endless bodies, compressed bombs, redirects to elsewhere, bytes that drip."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import textwrap

import pytest

from intrinsics_core import InvalidInput, MalformedReply, RequestTimeout, RuntimeUnavailable
from intrinsics_core.protocol.requests import Generate, Generated
from intrinsics_core.runtimes.server import ServerRuntime
from tests.loopback import Loopback, Received, Reply, completion, listing

PROMPT = Generate("answerability", prompt="a prompt")
MB = 2**20


def gzipped(body: bytes) -> Reply:
    return Reply(gzip.compress(body), headers={"content-encoding": "gzip"})


def test_a_long_reply_is_refused_once_and_not_fetched_again(serve, runtime):
    server = serve(lambda received: Reply(completion("x" * 3 * MB)))
    (outcome,) = runtime(server, model="base", max_reply_bytes=MB).handle([PROMPT])
    assert isinstance(outcome, RuntimeUnavailable)
    assert "longer than 1048576 bytes" in str(outcome)
    assert "max_reply_bytes" in str(outcome)
    assert len(server.bodies()) == 1
    (outcome,) = runtime(server, model="base", max_reply_bytes=4 * MB).handle([PROMPT])
    assert isinstance(outcome, Generated)


def test_the_bound_is_on_decoded_bytes(serve, runtime):
    server = serve(lambda received: gzipped(json.dumps(completion("x" * 3 * MB)).encode()))
    (outcome,) = runtime(server, model="base", max_reply_bytes=MB).handle([PROMPT])
    assert isinstance(outcome, RuntimeUnavailable)
    (outcome,) = runtime(server, model="base").handle([PROMPT])
    assert isinstance(outcome, Generated)
    assert len(outcome.text) == 3 * MB


def test_an_encoding_that_was_not_asked_for_is_refused(serve, runtime):
    server = serve(lambda received: Reply(b"\x00" * 100, headers={"content-encoding": "br"}))
    (outcome,) = runtime(server, model="base").handle([PROMPT])
    assert isinstance(outcome, RuntimeUnavailable)
    assert "compressed" in str(outcome)


@pytest.mark.parametrize("status", [200, 400, 500])
def test_the_list_of_models_and_error_bodies_are_bounded_too(serve, runtime, status):
    models = listing(*(f"model-{i}" for i in range(50_000)))
    server = serve(lambda received: Reply(completion("x")), models=models)
    (outcome,) = runtime(server, max_reply_bytes=MB).handle([PROMPT])
    assert isinstance(outcome, RuntimeUnavailable)
    server = serve(lambda received: Reply({"error": {"message": "m" * 2 * MB}}, status=status))
    (outcome,) = runtime(server, model="base", max_reply_bytes=MB, max_retries=0).handle([PROMPT])
    assert isinstance(outcome, RuntimeUnavailable)
    assert "longer than" in str(outcome)


@pytest.mark.slow
def test_memory_for_a_compressed_bomb_stays_small():
    """In a process of its own: 300 MB in 0.3 MB of gzip."""
    script = """
        import resource, sys, zlib
        from tests.loopback import Loopback, Reply, completion
        from intrinsics_core.protocol.requests import Generate, Generated
        from intrinsics_core.runtimes.server import ServerRuntime
        packer = zlib.compressobj(wbits=31)
        body = b"".join(packer.compress(b" " * 2**20) for _ in range(300)) + packer.flush()
        bomb = Reply(body, headers={"content-encoding": "gzip"})
        replies = iter([Reply(completion("x")), bomb])
        with Loopback(lambda received: next(replies)) as server, ServerRuntime(server.url, model="base") as runtime:
            assert isinstance(runtime.handle([Generate("answerability", prompt="p")])[0], Generated)
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            print(runtime.handle([Generate("answerability", prompt="q")])[0])
            print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
    """
    ended = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr[-2000:]
    said, grown = ended.stdout.strip().splitlines()
    assert "longer than" in said
    assert int(grown) < 180, f"{grown} MiB"


def test_what_an_error_holds_of_a_reply_is_cut(serve, runtime):
    server = serve(lambda received: Reply(b"{" + b"x" * MB))
    (outcome,) = runtime(server, model="base", max_retries=0).handle([PROMPT])
    assert isinstance(outcome, RuntimeUnavailable)
    assert outcome.raw is not None
    assert len(outcome.raw) < 25_000
    assert len(str(outcome)) < 5_000
    error = MalformedReply("no", raw="y" * MB, got="z" * MB)
    assert len(error.raw) < 25_000
    assert error.raw.endswith("(1048576 characters in all)")
    assert len(error.got) < 25_000


# --- redirects ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_documents_are_not_carried_to_another_host(serve, runtime, status):
    elsewhere = serve("stolen")
    server = serve(lambda received: Reply(status=status, headers={"location": elsewhere.url + "/completions"}))
    (outcome,) = runtime(server, model="base").handle([PROMPT])
    assert isinstance(outcome, RuntimeUnavailable)
    assert "redirects" in str(outcome)
    assert elsewhere.received == []
    assert len(server.received) == 1


def test_a_redirect_on_the_same_origin_is_followed(serve, runtime):
    def answer(received: Received) -> Reply:
        if received.path == "/v1/completions":
            return Reply(status=307, headers={"location": "/v2/completions"})
        return Reply(completion("moved"))

    server = serve(answer)
    (outcome,) = runtime(server, model="base").handle([PROMPT])
    assert outcome.text == "moved"
    assert server.received[-1].body["prompt"] == "a prompt"


def test_an_endless_redirect_ends(serve, runtime):
    server = serve(lambda received: Reply(status=307, headers={"location": received.path}))
    (outcome,) = runtime(server, model="base").handle([PROMPT])
    assert isinstance(outcome, RuntimeUnavailable)
    assert len(server.received) < 10


# --- the deadline -------------------------------------------------------------------------------------------------


class Dripping(Loopback):
    """Sends the head of a reply and then a space now and again."""

    async def _reply(self, reply, reader, writer):
        import asyncio

        writer.write(b"HTTP/1.1 200 -\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n")
        while True:
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.05)


@pytest.mark.parametrize("model", ["base", None])
def test_a_deadline_ends_what_drips(model):
    with (
        Dripping(lambda received: Reply()) as server,
        ServerRuntime(server.url, model=model, timeout=2, deadline=0.5) as runtime,
    ):
        (outcome,) = runtime.handle([PROMPT])
        assert isinstance(outcome, RequestTimeout)
        assert ("deadline of 0.5 s" if model else "its list of models in time") in str(outcome)
        assert runtime._limiter.busy == 0


def test_a_deadline_counts_all_tries(serve, runtime):
    server = serve(lambda received: Reply({}, status=500))
    (outcome,) = runtime(server, model="base", max_retries=50, deadline=1.0).handle([PROMPT])
    assert isinstance(outcome, RequestTimeout)
    assert "deadline of 1 s" in str(outcome)


def test_waiting_for_a_place_is_not_counted(serve, runtime):
    server = serve(lambda received: Reply(completion("x"), delay=0.6))
    requests = [Generate("answerability", prompt=f"p{i}") for i in range(8)]
    outcomes = runtime(server, model="base", concurrency=1, deadline=4.0).handle(requests)
    assert all(isinstance(outcome, Generated) for outcome in outcomes)


@pytest.mark.parametrize(
    ("config", "name"),
    [({"deadline": 0}, "deadline"), ({"deadline": "1"}, "deadline"), ({"max_reply_bytes": 0}, "max_reply_bytes")],
)
def test_bad_bounds_are_named(config, name):
    with pytest.raises(InvalidInput, match=name):
        ServerRuntime("http://localhost:1", **config)


# --- odd accounts -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [b"1e999", b"-1", b"null", b'"7"', b"NaN", b"[]"])
def test_an_account_that_is_no_number_costs_no_reply(serve, runtime, count):
    body = b'{"choices": [{"text": "hello"}], "usage": {"prompt_tokens": %s, "completion_tokens": 2}}' % count
    (outcome,) = runtime(serve(lambda received: Reply(body)), model="base", max_retries=0).handle([PROMPT])
    assert isinstance(outcome, Generated), outcome
    assert (outcome.text, outcome.usage.prompt_tokens, outcome.usage.completion_tokens) == ("hello", 0, 2)


# --- the key in what a model says ---------------------------------------------------------------------------------


@pytest.mark.parametrize("before", ["", "a", "ab", "Bearer "])
def test_a_key_that_a_model_repeats_is_in_no_result_and_no_error(serve, runtime, before):
    import base64

    key = "sk-a-long-secret-of-mine-1234567"
    encoded = base64.b64encode(f"{before}{key}:tail".encode()).decode()
    server = serve(lambda received: Reply(completion(f"it is {key}, or {encoded}")))
    (outcome,) = runtime(server, model="base", api_key=key).handle([PROMPT])
    assert isinstance(outcome, Generated)
    assert key not in outcome.text
    for begin in range(0, len(encoded) - 15, 4):  # no stretch of it that tells a good part of the key
        told = base64.b64decode(encoded[begin : begin + 16])
        assert told.decode() not in key or encoded[begin : begin + 16] not in outcome.text
    assert "it is ***" in outcome.text
