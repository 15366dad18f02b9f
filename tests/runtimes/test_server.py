from __future__ import annotations

import asyncio
import copy
import io
import json
import logging
import pickle
import threading
import traceback

import pytest

from intrinsics_core import (
    ContextTooLong,
    InvalidInput,
    RequestTimeout,
    RuntimeUnavailable,
    UnknownAdapter,
    answerability,
    arun,
    as_runtime,
    context_relevance,
    run,
    run_many,
)
from intrinsics_core.protocol.requests import Choice, Embed, Generate, Generated, JsonSchema, Regex, TokenLogprob
from intrinsics_core.protocol.task import Document, Message
from intrinsics_core.runtimes.server import ServerRuntime
from tests.loopback import CUT, HANG, Loopback, Received, Reply, completion, failure, listing

YES = '{"answerability": "answerable", "confidence": 0.9}'


def prompt(text="a prompt", **more):
    return Generate("answerability", prompt=text, **more)


def chat(text="a question", **more):
    return Generate("answerability", messages=(Message("user", text),), **more)


def gate(text="Who?"):
    return answerability([{"role": "user", "content": text}], ["Ada."])


# --- what is sent -------------------------------------------------------------------------------------------------


def test_a_prompt_goes_to_completions_and_nothing_unasked_with_it(serve, runtime):
    server = serve()
    (reply,) = runtime(server).handle([prompt(max_tokens=5, stop=("END",), seed=7, top_p=0.5)])
    assert reply.text == "hello"
    assert server.received[-1].path == "/v1/completions"
    assert server.received[-1].body == {
        "model": "base", "prompt": "a prompt", "temperature": 0.0,
        "max_tokens": 5, "stop": ["END"], "seed": 7, "top_p": 0.5,
    }  # fmt: skip


def test_messages_go_to_chat_with_documents_and_template_arguments(serve, runtime):
    server = serve()
    documents = (Document("Ada.", id="x", title="T"), Document("Bob.", id="y", metadata={"a": 1}))
    runtime(server, documents="template").handle(
        [chat(documents=documents, template={"thinking": False}, max_tokens=5)]
    )
    assert server.received[-1].path == "/v1/chat/completions"
    assert server.received[-1].body == {
        "model": "base",
        "messages": [{"role": "user", "content": "a question"}],
        "temperature": 0.0,
        "max_tokens": 5,
        "documents": [{"doc_id": "x", "text": "Ada.", "title": "T"}, {"doc_id": "y", "text": "Bob."}],
        "chat_template_kwargs": {"thinking": False},
    }


@pytest.mark.parametrize(
    ("constraint", "structured", "format"),
    [
        (Choice(("yes", "no")), {"choice": ["yes", "no"]}, None),
        (Regex("[0-9]"), {"regex": "[0-9]"}, None),
        (
            JsonSchema({"type": "array", "title": "my list"}),
            {"json": {"type": "array", "title": "my list"}},
            {"name": "my_list", "schema": {"type": "array", "title": "my list"}, "strict": False},
        ),
    ],
)
def test_constraints_by_each_key_and_never_the_ignored_ones(serve, runtime, constraint, structured, format):
    server = serve("[]")
    for key in ("structured_outputs", "response_format", "none"):
        runtime(server, constraints=key).handle([prompt(constraint=constraint)])
    first, second, third = server.bodies()
    assert first["structured_outputs"] == structured
    assert second.get("response_format") == (format and {"type": "json_schema", "json_schema": format})
    assert not {"structured_outputs", "response_format"} & set(third)
    assert not any(key.startswith("guided") for body in server.bodies() for key in body)


def refusing(*keys):
    """A server that knows none of these keys."""

    def answer(received: Received) -> Reply:
        for key in keys:
            if key in received.body:
                return Reply(failure(f"Unrecognized request argument supplied: {key}"), status=400)
        return Reply(completion(YES))

    return answer


@pytest.mark.parametrize(
    ("keys", "tries", "left"),
    [
        ([], 1, "structured_outputs"),
        (["structured_outputs"], 2, "response_format"),
        (["structured_outputs", "response_format"], 3, None),
    ],
)
def test_a_rejected_key_is_said_otherwise_once_and_remembered(serve, runtime, keys, tries, left):
    server = serve(refusing(*keys))
    engine = runtime(server)
    assert run(gate(), engine).label == "answerable"
    assert len(server.bodies()) == tries
    run_many([gate(f"question {i}") for i in range(20)], engine)
    assert len(server.bodies()) == tries + 20
    last = server.bodies()[-1]
    assert {"structured_outputs", "response_format"} & set(last) == ({left} if left else set())


def test_fewer_log_probabilities_then_none_where_the_server_will_not_give_them(serve, runtime, caplog):
    def answer(received: Received) -> Reply:
        if received.body.get("logprobs", 0) > 5:
            return Reply(failure("at most 5", param="logprobs"), status=400)
        return Reply(completion("hello"))

    server = serve(answer)
    (reply,) = runtime(server).handle([prompt(logprobs=True)])
    assert reply.logprobs is None
    assert [body["logprobs"] for body in server.bodies()] == [20, 5]
    assert "no log-probabilities" in caplog.text

    server = serve(refusing("top_logprobs", "logprobs"))
    (reply,) = runtime(server).handle([chat(logprobs=True)])
    assert isinstance(reply, Generated)
    assert "logprobs" not in server.bodies()[-1]


def test_the_newer_name_of_max_tokens_where_the_old_one_is_refused(serve, runtime):
    def answer(received: Received) -> Reply:
        if "max_tokens" in received.body:
            return Reply(failure("Unsupported parameter: use 'max_completion_tokens' instead."), status=400)
        return Reply(completion("hello"))

    server = serve(answer)
    (reply,) = runtime(server).handle([chat(max_tokens=3)])
    assert isinstance(reply, Generated)
    assert server.bodies()[-1]["max_completion_tokens"] == 3


def test_a_bad_schema_is_an_error_and_teaches_nothing(serve, runtime):
    def answer(received: Received) -> Reply:
        structured = received.body.get("structured_outputs", {})
        if structured.get("json", {}).get("type") == "objekt":
            return Reply(
                failure('Failed to transform json schema into a grammar: Unsupported type "objekt"'), status=400
            )
        return Reply(completion("{}"))

    server = serve(answer)
    engine = runtime(server)
    bad, good = (prompt(constraint=JsonSchema({"type": kind})) for kind in ("objekt", "object"))
    (error,) = engine.handle([bad])
    assert isinstance(error, InvalidInput)
    assert "objekt" in str(error)
    engine.handle([good])
    assert "structured_outputs" in server.bodies()[-1]
    assert len(server.bodies()) == 2


def test_after_a_malformed_reply_the_request_is_not_sent_again_word_for_word(serve, runtime):
    """The server answers as greedy decoding does: the same to the same."""
    server = serve(lambda received: Reply(completion(YES if received.body["temperature"] else "um")))
    assert run(gate(), runtime(server, constraints="response_format")).label == "answerable"
    first, second = server.bodies()
    assert {key for key in second if second[key] != first.get(key)} == {"temperature", "seed"}


FAULTY = "Invalid structured_outputs: regex '(' has an unbalanced parenthesis, which is not supported"


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("structured_outputs", FAULTY),
        ("response_format", "Invalid schema for response_format 'bad': type objekt is not supported"),
        ("response_format", "JSON schema error: unknown keyword 'objekt'"),
        ("response_format", "failed to parse grammar: unknown field 'objekt'"),
        ("response_format", "Invalid response format: unknown type 'objekt' at properties.label"),
    ],
)
def test_a_complaint_about_what_the_key_says_costs_no_other_request_its_constraint(serve, runtime, key, said):
    def answer(received: Received) -> Reply:
        if "bad" in json.dumps(received.body.get(key, "")):
            return Reply(failure(said), status=400)
        return Reply(completion("{}"))

    server = serve(answer)
    engine = runtime(server, constraints=key)
    bad, good = (prompt(constraint=JsonSchema({"title": title, "type": "object"})) for title in ("bad", "good"))
    error, reply = engine.handle([bad, good])
    assert isinstance(error, InvalidInput)
    assert said in str(error)
    assert isinstance(reply, Generated)
    assert len(server.bodies()) == 2
    engine.handle([good])
    assert key in server.bodies()[-1]


def test_a_complaint_of_no_known_kind_changes_that_request_alone(serve, runtime):
    def answer(received: Received) -> Reply:
        if "odd" in json.dumps(received.body.get("structured_outputs", "")):
            return Reply(failure("structured_outputs: computer says no"), status=400)
        return Reply(completion("{}"))

    server = serve(answer)
    engine = runtime(server)
    odd, good = (prompt(constraint=JsonSchema({"title": title, "type": "object"})) for title in ("odd", "good"))
    (reply,) = engine.handle([odd])
    assert isinstance(reply, Generated)
    assert "response_format" in server.bodies()[-1]
    engine.handle([good])
    assert "structured_outputs" in server.bodies()[-1]


@pytest.mark.parametrize(
    "said",
    [
        "[{'type': 'extra_forbidden', 'loc': ('body', 'structured_outputs'), 'msg': 'Extra inputs are not permitted', "
        "'input': {'regex': 'a pattern'}}]",
        "Unknown parameter: 'structured_outputs'.",
        "structured_outputs is not supported by this model",
        "this deployment does not support structured_outputs",
    ],
)
def test_an_unknown_key_is_remembered_whatever_the_words(serve, runtime, said):
    def answer(received: Received) -> Reply:
        if "structured_outputs" in received.body:
            return Reply(failure(said), status=400)
        return Reply(completion("{}"))

    server = serve(answer)
    engine = runtime(server)
    for _ in range(2):
        (reply,) = engine.handle([prompt(constraint=JsonSchema({"type": "object"}))])
        assert isinstance(reply, Generated)
    assert len(server.bodies()) == 3


# --- what comes back ----------------------------------------------------------------------------------------------


def test_log_probabilities_usage_and_reason_of_both_endpoints(serve, runtime):
    completions = {
        "text": "yes no", "finish_reason": "length",
        "logprobs": {"tokens": ["yes", " no"], "token_logprobs": [-0.1, -0.2],
                     "top_logprobs": [{"yes": -0.1, "no": -3.0}, None]},
    }  # fmt: skip
    chats = {
        "message": {"content": "yes no"}, "finish_reason": "length",
        "logprobs": {"content": [
            {"token": "yes", "logprob": -0.1, "top_logprobs": [{"token": "yes", "logprob": -0.1},
                                                               {"token": "no", "logprob": -3.0}]},
            {"token": " no", "logprob": -0.2, "top_logprobs": []}]},
    }  # fmt: skip
    usage = {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 8}}

    def answer(received: Received) -> Reply:
        return Reply({"choices": [chats if "messages" in received.body else completions], "usage": usage})

    for reply in runtime(serve(answer)).handle([prompt(logprobs=True), chat(logprobs=True)]):
        assert reply.text == "yes no"
        assert reply.logprobs == (
            TokenLogprob("yes", -0.1, (("yes", -0.1), ("no", -3.0))),
            TokenLogprob(" no", -0.2, ()),
        )
        assert reply.finish_reason == "length"
        assert (reply.usage.requests, reply.usage.prompt_tokens, reply.usage.completion_tokens) == (1, 9, 2)
        assert reply.usage.cached_tokens == 8
        assert 0 < reply.usage.seconds < 5


def test_usage_of_a_result_is_the_sum_of_its_requests(serve, runtime):
    server = serve('{"context_relevance": "relevant", "confidence": 0.9}')
    found = run(context_relevance([{"role": "user", "content": "Who?"}], ["a", "b", "c"]), runtime(server))
    assert (found.usage.requests, found.usage.prompt_tokens, found.usage.cached_tokens) == (3, 21, 12)


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"null", b'"text"', b"[]", b"{}", b'{"choices": []}', b'{"choices": [null]}', b'{"choices": [{}]}',
     b'{"choices": [{"text": 3}]}', b'{"choices": [{"message": "hello"}]}', b'{"error": {"message": "overloaded"}}',
     b'{"choices": [{"message": {"content": {"text": "a"}}}]}', b"\xff\xfe", b"<html>"],
)  # fmt: skip
def test_a_200_that_cannot_be_read_is_tried_again_within_the_budget(serve, runtime, body):
    server = serve(lambda received: Reply(body))
    (error,) = runtime(server, max_retries=1).handle([prompt()])
    assert type(error) is RuntimeUnavailable
    assert len(server.bodies()) == 2
    assert error.raw == body.decode("utf-8", "replace")


@pytest.mark.parametrize(
    "odd",
    [
        "none", 3, [], [None], {"content": "yes"}, {"content": [None]}, {"content": [{}]},
        {"content": [{"token": "yes", "logprob": None}]},
        {"content": [{"token": None, "logprob": -0.1}]},
        {"content": [{"token": "yes", "logprob": "low"}]},
        {"content": [{"token": "yes", "logprob": 10**400}]},
        {"content": [{"token": "yes", "logprob": -0.1, "top_logprobs": [{"token": "no", "logprob": None}]}]},
        {"content": [{"token": "yes", "logprob": -0.1, "top_logprobs": "none"}]},
        {"tokens": ["yes"], "token_logprobs": [-0.1, -0.2]},
        {"tokens": ["yes"], "token_logprobs": ["low"]},
        {"tokens": ["yes"], "token_logprobs": [-0.1], "top_logprobs": [["no"]]},
    ],
)  # fmt: skip
def test_log_probabilities_of_an_odd_shape_cost_no_reply(serve, runtime, odd):
    server = serve(lambda received: Reply(completion("yes", logprobs=odd)))
    (reply,) = runtime(server).handle([chat(logprobs=True)])
    assert (reply.text, reply.logprobs or None, len(server.bodies())) == ("yes", None, 1)


@pytest.mark.parametrize(
    ("content", "text", "thought"),
    [
        ([{"type": "text", "text": "yes"}], "yes", None),
        ([{"type": "text", "text": "y"}, {"type": "text", "text": "es"}], "yes", None),
        ([{"type": "thinking", "thinking": [{"type": "text", "text": "no?"}]}, {"type": "text", "text": "yes"}],
         "yes", "no?"),
        ([{"type": "thinking", "thinking": "no?"}, {"type": "text", "text": "yes"}], "yes", "no?"),
        ([{"type": "image_url", "image_url": {}}, {"type": "text", "text": "yes"}, None, "no"], "yes", None),
        ([], "", None),
    ],
)  # fmt: skip
def test_a_text_in_parts_is_read(serve, runtime, content, text, thought):
    server = serve(lambda received: Reply({"choices": [{"message": {"content": content}}]}))
    (reply,) = runtime(server).handle([chat()])
    assert (reply.text, reply.reasoning, len(server.bodies())) == (text, thought, 1)


@pytest.mark.parametrize(
    ("indices", "read"), [((0,), "a"), ((0, 1), "a"), ((1, 0), "b"), ((2, 1, 0), "c"), ((None, None), "a"), ((1,), "a")]
)
def test_the_choice_of_index_0_is_read(serve, runtime, indices, read):
    choices = [{"index": at, "message": {"content": text}} for at, text in zip(indices, "abc", strict=False)]
    (reply,) = runtime(serve(lambda received: Reply({"choices": choices}))).handle([chat()])
    assert reply.text == read


def test_the_two_kinds_of_retry_share_one_budget(serve, runtime):
    replies = [Reply(status=500), Reply(b"{"), Reply(status=503), Reply(completion("late"))]
    server = serve(lambda received: replies[len(server.bodies()) - 1])
    (late,) = runtime(server, max_retries=3).handle([prompt()])
    assert late.text == "late"
    server = serve(lambda received: replies[len(server.bodies()) - 1])
    (error,) = runtime(server, max_retries=2).handle([prompt()])
    assert type(error) is RuntimeUnavailable
    assert len(server.bodies()) == 3
    assert "(tries: 3)" in str(error)


TOO_LONG = "This model's maximum context length is 2048 tokens. However, your prompt contains at least 2049."
MISSING = "The model `x` does not exist."


@pytest.mark.parametrize(
    ("reply", "kind", "says"),
    [
        (Reply(failure(TOO_LONG, param="input_tokens"), status=400), ContextTooLong, "2048"),
        (Reply(failure("something", param="input_tokens"), status=400), ContextTooLong, "something"),
        (Reply(failure("max_tokens=9 is greater than max_model_len=8"), status=400), ContextTooLong, "max_model_len"),
        (Reply(failure(MISSING, "NotFoundError", "model", 404), status=404), UnknownAdapter, "adapter of base"),
        (Reply({"detail": "Not Found"}, status=404), RuntimeUnavailable, "/v1"),
        (Reply(failure("bad regex"), status=400), InvalidInput, "bad regex"),
        (Reply({"detail": [{"msg": "extra"}]}, status=422), InvalidInput, "extra"),
        (Reply(failure("who are you"), status=401), RuntimeUnavailable, "API key"),
        (Reply(failure("go away"), status=403), RuntimeUnavailable, "forbids"),
        (Reply(failure("slow down"), status=429), RuntimeUnavailable, "rate"),
        (Reply(b"oops", status=500), RuntimeUnavailable, "failed with status 500 (tries: 1)"),
        (Reply(fault=CUT), RuntimeUnavailable, "closed the connection"),
        (Reply(fault=HANG), RequestTimeout, "did not answer within 0.3 s (tries: 1); expected a server that"),
    ],
)  # fmt: skip
def test_errors_in_the_words_of_the_exception_tree(serve, runtime, reply, kind, says):
    server = serve(lambda received: reply, models=listing("base", mine="base"))
    # A reply that comes at all comes in time, on a busy machine too; one that never does need not be waited for long.
    timeout = 0.3 if reply.fault == HANG else 120.0
    fine, broken = run_many([], runtime(server)), runtime(server, timeout=timeout, max_retries=0).handle([prompt()])
    assert fine == []
    assert type(broken[0]) is kind
    assert says in str(broken[0])
    if kind is not ContextTooLong and says != "adapter of base":
        assert f"the server at {server.url} " in str(broken[0])
    assert broken[0].intrinsic == "answerability"


def test_refused(runtime):
    with Loopback(lambda received: Reply()) as server:
        pass
    (error,) = runtime(server, max_retries=0).handle([prompt()])
    assert type(error) is RuntimeUnavailable
    assert "reached" in str(error)


def test_one_bad_request_costs_no_other(serve, runtime):
    server = serve(lambda r: Reply(status=400) if r.body["prompt"] == "bad" else Reply(completion(r.body["prompt"])))
    wave = [prompt("a"), prompt("bad"), Embed("answerability", ("x",)), prompt("half \ud800"), prompt("b")]
    a, bad, embed, half, b = runtime(server).handle(wave)
    assert (a.text, b.text) == ("a", "b")
    assert all(isinstance(error, InvalidInput) for error in (bad, embed, half))
    assert "surrogate" in str(half)


# --- which model answers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("models", "request_", "chosen"),
    [
        (listing("base"), prompt(), "base"),
        (listing("base", mine="base"), prompt(models=("owner/other",)), "base"),
        (listing("a", "owner/g"), prompt(models=("owner/g",)), "owner/g"),
        (listing("base", other="base", short="base"), prompt(adapter="gate", models=("short", "other")), "short"),
        (listing("base", other="base"), prompt(adapter="gate", models=("short", "other")), "other"),
        (listing("base", **{"ibm/x-lora": "base"}), prompt(adapter="gate", models=("x-lora",)), "ibm/x-lora"),
        (listing("base", my_gate="base"), prompt(adapter="my-gate"), "my_gate"),
        (listing("my/citations", **{"its/citations": "my/citations"}), prompt(adapter="citations"), "its/citations"),
        (listing("a", "owner/g", **{"x/g": "a"}), prompt(models=("g",)), "owner/g"),
        (listing("my/citations", "citations"), prompt(adapter="citations"), "citations"),
    ],
)  # fmt: skip
def test_models_are_found_on_the_servers_list(serve, runtime, models, request_, chosen):
    server = serve(models=models)
    runtime(server).handle([request_, request_])
    assert server.bodies()[-1]["model"] == chosen
    assert len(server.bodies("models")) == 1


def test_a_base_model_is_never_taken_for_an_adapter_by_a_part_of_its_name(serve, runtime):
    server = serve(models=listing("my/citations"))
    (error,) = runtime(server).handle([prompt(adapter="citations")])
    assert type(error) is UnknownAdapter


def test_where_a_server_tells_no_adapters_from_models_only_whole_names_count(serve, runtime):
    server = serve(models={"data": [{"id": "my/citations"}, {"id": "gate"}]})
    error, reply = runtime(server).handle([prompt(adapter="citations"), prompt(adapter="gate")])
    assert type(error) is UnknownAdapter
    assert isinstance(reply, Generated)
    assert [body["model"] for body in server.bodies()] == ["gate"]


def test_configured_names_cost_no_look_at_the_list(serve, runtime):
    server = serve()
    runtime(server, model="m", adapters={"answerability": "g"}).handle([prompt(), prompt(adapter="answerability")])
    assert sorted(body["model"] for body in server.bodies()) == ["g", "m"]
    assert not server.bodies("models")


def test_what_is_missing_is_told_with_what_is_there(serve, runtime):
    server = serve(models=listing("one", "two", mine="one"))
    base, adapter = runtime(server).handle([prompt(), prompt(adapter="gate", models=("published",))])
    assert type(base) is type(adapter) is UnknownAdapter
    assert "one, two, mine (adapter of one)" in str(base)
    assert "published" in str(adapter)
    assert "mine (adapter of one)" in str(adapter)
    assert not server.bodies()


def test_the_granite_adapters_are_found_by_listed_and_published_names(serve, runtime):
    names = ["answerability", "granite-3.2-8b-lora-rag-answerability-prediction"]
    for name in names:
        server = serve("answerable", models=listing("base", **{name: "base"}))
        assert run(gate(), runtime(server), profile="granite-3.2").label == "answerable"
        assert server.bodies()[-1]["model"] == name
    for name in ("answerability_prediction", "answerability_prediction_lora"):
        server = serve("answerable", models=listing("base", **{name: "base"}))
        assert run(gate(), runtime(server), profile="granite-3.3").label == "answerable"
        assert server.bodies()[-1]["model"] == name


# --- how much at once ---------------------------------------------------------------------------------------------


def test_the_bound_holds_within_a_wave_and_over_loops_and_threads(serve, runtime):
    server = serve(lambda received: Reply(completion("x"), delay=0.01))
    engine = runtime(server, concurrency=4)
    wave = [[prompt(f"{worker}-{i}") for i in range(25)] for worker in range(4)]

    async def ask(requests):
        return await engine.ahandle(requests)

    threads = [threading.Thread(target=lambda w=w: asyncio.run(ask(w))) for w in wave[:2]]
    threads += [threading.Thread(target=lambda w=w: engine.handle(w)) for w in wave[2:]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(server.bodies()) == 100
    assert 1 < server.peak <= 4
    engine.concurrency = 8
    engine.handle([prompt(f"again {i}") for i in range(40)])
    assert 1 < server.peak <= 8


def test_places_of_cancelled_requests_are_given_on(serve, runtime):
    server = serve(lambda received: Reply(completion("x"), delay=0.05))
    engine = runtime(server, concurrency=2)

    async def ask():
        tasks = [asyncio.create_task(engine.ahandle([prompt(str(i))])) for i in range(30)]
        await asyncio.sleep(0.12)
        for task in tasks[::2]:
            task.cancel()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        left = {task for task in asyncio.all_tasks() if task is not asyncio.current_task()}
        assert not left
        await engine.aclose()
        return outcomes

    outcomes = asyncio.run(ask())
    assert all(isinstance(outcome, list) and outcome[0].text == "x" for outcome in outcomes[1::2])
    assert server.peak <= 2
    assert engine._limiter.busy == 0


def test_identical_requests_under_way_are_one_and_counted_once(serve, runtime):
    server = serve(lambda received: Reply(completion("x"), delay=0.05))
    engine = runtime(server)
    replies = engine.handle([prompt("same")] * 5 + [prompt("same", attempt=1), prompt("other")])
    assert len(server.bodies()) == 3
    assert [reply.text for reply in replies] == ["x"] * 7
    assert sum(reply.usage.requests for reply in replies) == 3
    engine.handle([prompt("same")])
    assert len(server.bodies()) == 4  # under way, not for ever


def test_samples_are_never_merged(serve, runtime):
    server = serve(lambda received: Reply(completion("x"), delay=0.05))
    engine = runtime(server, cache=10)
    engine.handle([prompt("same", temperature=0.7)] * 3)
    assert len(server.bodies()) == 3
    engine.handle([prompt("same", temperature=0.7, seed=1)] * 3)
    assert len(server.bodies()) == 4


def test_a_merged_error_is_each_ones_own(serve, runtime):
    server = serve(lambda received: Reply(failure("no"), status=400, delay=0.05))
    requests = [Generate(name, prompt="same") for name in ("answerability", "citations")]
    one, other = runtime(server).handle(requests)
    assert len(server.bodies()) == 1
    assert one is not other
    assert (one.intrinsic, other.intrinsic) == ("answerability", "citations")


def test_one_who_waits_may_leave_without_harm_to_the_others(serve, runtime):
    asked, left = threading.Event(), threading.Event()

    def once_the_first_has_left(received):
        asked.set()
        assert left.wait(120)
        return Reply(completion("x"))

    server = serve(once_the_first_has_left)
    engine = runtime(server, cache=1)

    async def ask():
        first, second = (asyncio.create_task(engine.ahandle([prompt("same")])) for _ in range(2))
        await asyncio.to_thread(asked.wait, 120)
        first.cancel()
        left.set()
        (reply,) = await second
        (kept,) = await engine.ahandle([prompt("same")])
        await engine.aclose()
        return reply, kept, first.cancelled()

    reply, kept, cancelled = asyncio.run(ask())
    assert (reply.text, cancelled, len(server.bodies())) == ("x", True, 1)
    assert (reply.usage.requests, kept.usage.requests) == (1, 0)  # counted once, by one who is there to be told


def test_the_cache_is_off_by_default_bounded_and_never_answers_a_repeat(serve, runtime):
    server = serve()
    engine = runtime(server, cache=2)
    for text in ("a", "a", "b", "a", "c", "a", "b"):
        engine.handle([prompt(text)])
    assert [body["prompt"] for body in server.bodies()] == ["a", "b", "c", "b"]
    engine.handle([prompt("b", attempt=1)])
    assert len(server.bodies()) == 5
    plain = runtime(server)
    plain.handle([prompt("a")])
    plain.handle([prompt("a")])
    assert len(server.bodies()) == 7


def test_requests_that_begin_alike_are_sent_one_after_another(serve, runtime):
    server = serve()
    contexts, names = [letter * 50 for letter in "abcde"], ("uncertainty", "citations")
    wave = [prompt(f"{context} {i}", adapter=adapter) for i in range(3) for context in contexts for adapter in names]
    runtime(server, concurrency=1, adapters=dict.fromkeys(names, "x") | {names[0]: "y"}).handle(wave)
    sent = [(body["model"], body["prompt"]) for body in server.bodies()]
    assert sent == sorted(sent)


# --- loops and threads --------------------------------------------------------------------------------------------


def test_synchronous_use_inside_a_running_loop(serve, runtime):
    engine = runtime(serve(YES))

    async def notebook_cell():
        return run(gate(), engine)

    assert asyncio.run(notebook_cell()).label == "answerable"


def test_one_event_loop_after_another_leaves_no_connection_behind(serve, recwarn):
    server = serve(YES)
    engine = ServerRuntime(server.url)
    for _ in range(3):
        assert asyncio.run(arun(gate(), engine)).label == "answerable"
        for _ in range(100):
            if not server.connections:
                break
            threading.Event().wait(0.02)
        assert server.connections == 0
    assert not [w for w in recwarn if issubclass(w.category, ResourceWarning)]


def test_connections_are_kept_between_calls_and_closed_at_the_end(serve):
    server = serve(YES)
    with ServerRuntime(server.url) as engine:
        for _ in range(5):
            run(gate(), engine)
        assert server.connections == 1
    for _ in range(100):
        if not server.connections:
            break
        threading.Event().wait(0.02)
    assert server.connections == 0
    assert run(gate(), engine).label == "answerable"  # usable again
    engine.close()


# --- the key ------------------------------------------------------------------------------------------------------

KEY = "sk-very-secret-0123456789"


class Vault:
    """An object that keeps a secret, in the way of Haystack's ``Secret``."""

    def resolve_value(self):
        return KEY


@pytest.mark.parametrize("given", [KEY, Vault(), None])
def test_the_key_is_sent_and_shown_nowhere(serve, runtime, caplog, monkeypatch, given):
    if given is None:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    logging.getLogger().addHandler(handler)
    caplog.set_level(logging.DEBUG)
    for name in ("openai", "httpx", "httpcore", "httpx2", "httpcore2", "intrinsics_core"):
        caplog.set_level(logging.DEBUG, logger=name)

    quoting = [
        Reply(failure(f"Incorrect API key provided: {KEY}"), status=401),
        Reply(f"{KEY} {{".encode()),
        Reply(fault=CUT),
        Reply(failure(f"unknown model for {KEY}", "NotFoundError", "model", 404), status=404),
    ]
    try:
        server = serve(lambda received: quoting[received.number % len(quoting)])
        engine = runtime(server, api_key=given, max_retries=0, model="m")
        shown = [
            repr(engine),
            str(engine),
            repr(vars(engine)),
            repr(pickle.dumps(engine)),
            json.dumps(str(engine.__reduce__())),
        ]
        for i in range(8):
            try:
                run(gate(str(i)), engine)
            except Exception as error:
                below = error.__traceback__.tb_next  # without this test's own frame
                lines = traceback.TracebackException(type(error), error, below, capture_locals=True).format()
                shown += [
                    str(error),
                    repr(error),
                    repr(vars(error)),
                    "".join(lines),
                    repr(error.__cause__),
                    repr(error.__context__),
                ]
        assert all(r.headers["authorization"] == f"Bearer {KEY}" for r in server.received)
        assert len(server.received) >= 8
    finally:
        logging.getLogger().removeHandler(handler)
    for text in [*shown, stream.getvalue(), caplog.text]:
        assert KEY not in text
        assert KEY[3:] not in text


def test_a_copy_is_the_same_runtime_and_a_pickle_finds_its_own_key(serve, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    engine = ServerRuntime(
        "http://localhost:1/v1", api_key=KEY, adapters={"citations": "b"}, timeout=3, concurrency=5, cache=2
    )
    assert copy.deepcopy(engine) is copy.copy(engine) is engine
    again = pickle.loads(pickle.dumps(engine))  # noqa: S301
    assert again.base_url == engine.base_url
    assert (again.adapters, again.config.timeout, again.concurrency) == ({"citations": "b"}, 3.0, 5)
    assert again._key is None


# --- configuration ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("config", "names"),
    [
        ({"base_url": "localhost:8000"}, "base_url"),
        ({"base_url": "ftp://x"}, "base_url"),
        ({"base_url": None}, "base_url"),
        ({"base_url": "http://me:secret@host/v1"}, "base_url"),
        ({"model": 3}, "model"),
        ({"adapters": ["a"]}, "adapters"),
        ({"adapters": {"a": 1}}, "adapters"),
        ({"constraints": "guided_json"}, "constraints"),
        ({"timeout": 0}, "timeout"),
        ({"timeout": True}, "timeout"),
        ({"max_retries": -1}, "max_retries"),
        ({"max_retries": 1.5}, "max_retries"),
        ({"concurrency": 0}, "concurrency"),
        ({"cache": -1}, "cache"),
        ({"api_key": 3}, "api_key"),
        ({"api_key": "two words"}, "api_key"),
    ],
)
def test_bad_configuration_is_named(config, names):
    with pytest.raises(InvalidInput, match=names) as caught:
        as_runtime({"kind": "server", "base_url": "http://localhost:8000/v1", **config})
    assert "secret" not in str(caught.value)
    assert "two words" not in str(caught.value)


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("ftp://me:hidden1@host.org/v1?key=hidden2", "'ftp://host.org'"),
        ("me:hidden1@host.org/v1", "text without http://"),
        ("http://me:hid/den1@host.org/v1", "'http://...'"),
        ("http://[me:hidden1@host.org", "not an address"),
        ("sk-hidden1", "text without http://"),
    ],
)
def test_an_address_that_is_none_is_not_shown_in_full(address, shown):
    with pytest.raises(InvalidInput, match="base_url is not an address") as caught:
        as_runtime({"kind": "server", "base_url": address})
    assert shown in str(caught.value)
    assert "hid" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ("http://h:8000", "http://h:8000/v1"),
        ("http://h:8000/", "http://h:8000/v1"),
        ("http://h:8000/v1/", "http://h:8000/v1"),
        ("https://h/api/v2", "https://h/api/v2"),
    ],
)
def test_addresses(given, used):
    assert as_runtime({"kind": "server", "base_url": given}).base_url == used
