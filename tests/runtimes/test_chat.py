"""What is the same in every runtime over a framework's chat model."""

from __future__ import annotations

import asyncio
import signal
import threading
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from enum import Enum
from typing import Any

import pytest

from intrinsics_core import (
    ContextTooLong,
    IntrinsicsError,
    InvalidInput,
    Message,
    RequestTimeout,
    RuntimeUnavailable,
    answerability,
    run_many,
)
from intrinsics_core.protocol.requests import Embed, Generate, Generated, JsonSchema, Outcome
from intrinsics_core.protocol.results import Answerability
from intrinsics_core.runtimes.chat import LOGPROBS, SCHEMA, ChatRuntime, ended, token_logprobs

BOTH = frozenset({SCHEMA, LOGPROBS})
LIMIT, FILTER = "ended at the token limit", "was ended by a content filter"


class Script(ChatRuntime):
    """Answers by a function of the question and the features; reading the reply "unreadable" fails."""

    called = "script"

    def __init__(self, answer: Callable[[str, frozenset[str]], str], concurrency: int = 4) -> None:
        super().__init__(self, {SCHEMA: True, LOGPROBS: True}, profile=None, concurrency=concurrency)
        self.answer = answer
        self.lock, self.busy, self.most = threading.Lock(), 0, 0

    def count(self, by: int) -> None:
        with self.lock:
            self.busy += by
            self.most = max(self.most, self.busy)

    def ask(self, request: Generate, features: frozenset[str]) -> str:
        assert request.messages
        self.count(1)
        try:
            time.sleep(0.01)
            return self.answer(request.messages[-1].content, features)
        finally:
            self.count(-1)

    async def aask(self, request: Generate, features: frozenset[str]) -> str:
        assert request.messages
        self.count(1)
        try:
            await asyncio.sleep(0.01)
            return self.answer(request.messages[-1].content, features)
        finally:
            self.count(-1)

    def read(self, reply: Any, seconds: float) -> Outcome:
        if reply == "unreadable":
            raise KeyError(reply)
        return Generated(reply)


def asking(text: str, **settings: Any) -> Generate:
    return Generate("answerability", messages=(Message(role="user", content=text),), **settings)


def wave(runtime: ChatRuntime, requests: list[Any], way: str) -> list[Outcome]:
    return runtime.handle(requests) if way == "sync" else asyncio.run(runtime.ahandle(requests))


def echo(text: str, _: frozenset[str]) -> str:
    if text == "down":
        raise ConnectionError("refused")
    return text


def test_ctrl_c_ends_a_wave_though_the_model_is_silent() -> None:
    silent, asked = threading.Event(), list[str]()

    def press(text: str, _: frozenset[str]) -> str:
        asked.append(text)
        if len(asked) == 2:  # both places are taken, the others wait
            signal.pthread_kill(threading.get_ident(), signal.SIGINT)  # a system may give it to any thread
        silent.wait(60)
        return text

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            Script(press, concurrency=2).handle([asking(text) for text in "abcde"])
        assert not silent.is_set()
    finally:
        signal.signal(signal.SIGINT, before)
        silent.set()
    assert sorted(asked) == ["a", "b"]


@pytest.mark.parametrize("way", ["sync", "async"])
def test_no_request_of_a_wave_takes_the_others_with_it(way: str) -> None:
    requests = [asking("a"), asking("down"), asking("unreadable"), Embed("answerability", ("x",)), asking("b")]
    first, down, unreadable, embed, last = wave(Script(echo), requests, way)
    assert (first, last) == (Generated("a"), Generated("b"))
    assert isinstance(down, RuntimeUnavailable) and isinstance(down.__cause__, ConnectionError)
    assert isinstance(unreadable, IntrinsicsError)
    assert isinstance(embed, IntrinsicsError) and "script" in str(embed)
    assert wave(Script(echo), [], way) == []


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize(
    "words",
    [
        "400: Unsupported value: 'temperature' does not support 0.3 with this model. Only the default is supported.",
        "litellm.UnsupportedParamsError: this model does not support parameters: ['temperature']",
        "Unknown parameter: 'seed'.",
    ],
)
def test_a_temperature_that_is_refused_is_given_up_once_and_said(words: str, way: str) -> None:
    class Drawn(Script):
        """Sends what a request is drawn by, as it stands."""

        def ask(self, request: Generate, features: frozenset[str]) -> str:
            self.drawn.append((request.temperature, request.seed))
            if request.temperature:
                raise ValueError(words)
            return super().ask(request, features)

        async def aask(self, request: Generate, features: frozenset[str]) -> str:
            return self.ask(request, features)

        drawn: list[tuple[float, int | None]]

    runtime = Drawn(echo)
    runtime.drawn = []
    with pytest.warns(RuntimeWarning, match="Drawn refuses a temperature and is asked without from now on"):
        assert wave(runtime, [asking("a", temperature=0.3, seed=1)], way) == [Generated("a")]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert wave(runtime, [asking("b", temperature=0.7, seed=2)], way) == [Generated("b")]
    assert runtime.drawn == [(0.3, 1), (0.0, None), (0.0, None)]


def test_a_temperature_that_a_filter_quotes_is_no_refusal() -> None:
    document = "On the Moon the temperature is not supported by an atmosphere."

    class Filtered(Script):
        def ask(self, request: Generate, features: frozenset[str]) -> str:
            raise ValueError(f"blocked: {document}")

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (outcome,) = Filtered(echo).handle([asking(document, temperature=0.7)])
    assert isinstance(outcome, RuntimeUnavailable)


def test_synchronous_callers_meet_no_event_loop_of_ours() -> None:
    """A client may belong to its owner's loop: `run_many` asked it on another, and it was of no use afterwards."""

    class OfItsLoop(Script):
        async def aask(self, request: Generate, features: frozenset[str]) -> str:
            raise RuntimeError("bound to a different event loop")

    def answer(text: str, _: frozenset[str]) -> str:
        if "down" in text:
            raise ConnectionError("refused")
        return '{"answerability": "answerable", "confidence": 1}'

    engine, told = OfItsLoop(answer, concurrency=3), list[int]()
    asked = ["a", "b", "down", "c", "d", "e", "f"]
    calls: list[Any] = [answerability([{"role": "user", "content": text}], ["Ada."]) for text in asked]
    calls.insert(1, InvalidInput("a row that was bad from the start"))
    results = run_many(iter(calls), engine, on_result=lambda index, _: told.append(index))
    assert [type(result) for result in results] == [
        Answerability, InvalidInput, Answerability, RuntimeUnavailable, *[Answerability] * 4
    ]  # fmt: skip
    assert sorted(told) == list(range(8)) and engine.most == 3
    assert run_many(calls, engine, keep=False) == [] and run_many([], engine) == []
    with pytest.raises(ZeroDivisionError):
        run_many(calls, engine, on_result=lambda *_: 1 // 0)


@pytest.mark.parametrize("way", ["sync", "async"])
def test_a_refused_feature_is_given_up_once_for_all(way: str) -> None:
    seen: list[frozenset[str]] = []

    def refusing(text: str, features: frozenset[str]) -> str:
        seen.append(features)
        if LOGPROBS in features:
            raise ValueError("Unknown parameter: top_logprobs")
        return text

    runtime = Script(refusing)
    full = asking("a", logprobs=True, constraint=JsonSchema({"type": "object"}))
    assert wave(runtime, [asking("plain")], way) == [Generated("plain")]
    with pytest.warns(RuntimeWarning, match="refuses log-probabilities") as warned:
        assert wave(runtime, [full], way) + wave(runtime, [full], way) == [Generated("a")] * 2
    assert len(warned) == 1
    assert seen == [frozenset(), BOTH, frozenset({SCHEMA}), frozenset({SCHEMA})]


API = "Set response_format to json_schema, guided by top_logprobs, and the reply has its log-probabilities."


@pytest.mark.parametrize(
    "said",
    [
        f"Your request was flagged by the content policy: {API!r}",
        f"400 content_filter. Flagged text: '...{API[4:60]}...'",
        "The prompt was blocked: Set response_format to json_schema, guided [shortened]",
    ],
)
def test_an_error_that_quotes_what_was_asked_refuses_no_feature(said: str) -> None:
    def filtering(text: str, _: frozenset[str]) -> str:
        if "Set" in text:
            raise ValueError(said)
        return text

    runtime = Script(filtering)
    settings: dict[str, Any] = {"logprobs": True, "constraint": JsonSchema({"type": "object"})}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (error,) = runtime.handle([asking(f'{{"documents": ["{API}"]}}', **settings)])
    assert isinstance(error, RuntimeUnavailable) and "JSON schema, log-probabilities" in repr(runtime)


@pytest.mark.parametrize(
    "said",
    [
        "Unknown field response_format", "response_format is not supported", "400: unsupported: 'json_schema'",
        f"json_schema cannot be used with this model. The request was: {API}", "guided decoding is off",
    ],
)  # fmt: skip
def test_an_error_that_names_a_feature_refuses_it_whatever_was_asked(said: str) -> None:
    def refusing(text: str, features: frozenset[str]) -> str:
        if SCHEMA in features:
            raise ValueError(said)
        return text

    runtime = Script(refusing)
    with pytest.warns(RuntimeWarning, match="refuses JSON schema"):
        (reply,) = runtime.handle([asking(API, constraint=JsonSchema({"type": "object"}))])
    assert reply == Generated(API) and "JSON schema" not in repr(runtime)


def test_the_bound_holds_over_threads_and_over_loops() -> None:
    requests = [asking(str(n)) for n in range(6)]
    for way in ("sync", "async"):
        runtime = Script(echo, concurrency=2)
        with ThreadPoolExecutor(3) as callers:
            waves = list(callers.map(lambda _, r=runtime, w=way: wave(r, requests, w), range(3)))
        assert waves == [[Generated(str(n)) for n in range(6)]] * 3
        assert runtime.most == 2


@pytest.mark.parametrize("concurrency", [0, -1, 1.5, True, "4"])
def test_a_bound_that_is_none_is_refused(concurrency: Any) -> None:
    with pytest.raises(InvalidInput, match="concurrency"):
        Script(echo, concurrency=concurrency)


class ContextOverflowError(Exception):
    """As some frameworks call it; the message says nothing."""


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ContextOverflowError(), ContextTooLong),
        (ValueError("This model's maximum context length is 8192 tokens"), ContextTooLong),
        (ValueError("prompt is too long: too many input tokens"), ContextTooLong),
        (ValueError("ThrottlingException: Too many tokens, please wait before trying again."), RuntimeUnavailable),
        (ValueError("429: you sent too many tokens per minute"), RuntimeUnavailable),
        (TimeoutError(), RequestTimeout),
        (ValueError("504 Deadline Exceeded"), RequestTimeout),
        (ValueError("401 Unauthorized"), RuntimeUnavailable),
        (InvalidInput("the core's own"), InvalidInput),
    ],
)
def test_errors_of_frameworks_find_their_place(error: Exception, kind: type[IntrinsicsError]) -> None:
    def failing(*_: Any) -> str:
        raise error

    (got,) = Script(failing).handle([asking("a")])
    assert type(got) is kind
    assert got is error or got.__cause__ is error


class Finish(Enum):
    """As Google's clients tell it."""

    MAX_TOKENS = 2
    SAFETY = 3


@pytest.mark.parametrize(
    ("told", "cut"),
    [({"finish_reason": "length"}, LIMIT), ({"stop_reason": "max_tokens"}, LIMIT),
     ({"done_reason": "length"}, LIMIT), ({"finish_reason": Finish.MAX_TOKENS}, LIMIT),
     ({"finish_reason": None, "stop_reason": "refusal"}, FILTER),
     ({"finish_reason": Finish.SAFETY}, FILTER), ({"finish_reason": "stop"}, None),
     ({"stop_reason": "end_turn"}, None), ({"finish_reason": 7}, None), ({"finish_reason": None}, None), ({}, None)],
)  # fmt: skip
def test_how_a_reply_ended_is_told_under_many_names(told: dict[str, Any], cut: str | None) -> None:
    assert Generated("Ada", finish_reason=ended(told)).cut_off == cut
    assert Generated("Ada", finish_reason=ended({}, told)).cut_off == cut


def test_log_probabilities_must_spell_the_reply() -> None:
    rows = [{"token": "un", "logprob": -0.5, "top_logprobs": [{"token": "un", "logprob": -0.5}]},
            {"token": "sure", "logprob": -1}]  # fmt: skip
    tokens = token_logprobs({"content": rows}, "unsure")
    assert tokens is not None
    assert [(t.token, t.logprob, t.top) for t in tokens] == [("un", -0.5, (("un", -0.5),)), ("sure", -1.0, ())]
    assert token_logprobs([rows[:1], rows[1:]], "unsure") == tokens
    for given, text in ((rows, "sure"), ([{"token": "a"}], "a"), ([{"token": None, "logprob": 0}], ""), (None, "a")):
        assert token_logprobs(given, text) is None
