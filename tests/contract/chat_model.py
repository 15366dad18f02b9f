"""A framework's chat model as a runtime: what holds for all three. Subclass ``ChatModelTests``, set the two makers.

A maker takes ``reply(messages, settings)``, which returns text, an object for JSON, or an exception, and gives a model
of the framework's that counts: ``seen`` (its calls, each with ``how``: sync or async) and ``under_way`` (now, at most).
"""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from intrinsics_core import (
    ContextTooLong,
    MalformedReply,
    RequestTimeout,
    Runtime,
    RuntimeUnavailable,
    answerability,
    arun,
    arun_many,
    context_relevance,
    run,
    run_many,
)

QUESTION = [{"role": "user", "content": "Who built the mill?"}]
DOCUMENTS = ["Ada Brink built the mill.", "Fog is common in May.", "The quay has two cranes."]
YES = {"answerability": "answerable", "confidence": 0.8}
RELEVANT = {"context_relevance": "relevant", "confidence": 0.9}

Replying = Callable[[Any, Any], Any]


def always(reply: Any) -> Replying:
    return lambda messages, settings: reply


def ask(runtime: Runtime, asynchronous: bool = False) -> Any:
    call = answerability(QUESTION, DOCUMENTS)
    return asyncio.run(arun(call, runtime)) if asynchronous else run(call, runtime)


class ChatModelTests:
    refusable: ClassVar[tuple[str, ...]] = ("logprobs", "response_format")  # settings that a server may refuse

    def model(self, reply: Replying, *, pause: float = 0.0) -> Any:
        """One that is asked in words; each call takes ``pause`` seconds."""
        raise NotImplementedError

    def constrained(self, reply: Replying) -> Any:
        """One that takes a schema and gives log-probabilities; they arrive in the settings of ``reply``."""
        raise NotImplementedError

    def runtime(self, model: Any, **settings: Any) -> Runtime:
        raise NotImplementedError

    @pytest.mark.parametrize(
        "refused", [("logprobs",), ("response_format",), ("logprobs", "response_format")], ids="+".join
    )
    def test_a_refused_feature_is_given_up_once_and_said(self, refused: tuple[str, ...]) -> None:
        messages = {
            "logprobs": "400: logprobs are not supported with this model",
            "response_format": "Unknown field response_format",
        }

        told: list[Any] = []

        def reply(_: Any, settings: Any) -> Any:
            told.append(settings)
            given = [name for name in refused if settings.get(name)]
            return ValueError(messages[given[0]]) if given else YES

        model = self.constrained(reply)
        runtime = self.runtime(model)
        with pytest.warns(RuntimeWarning, match="now asked without|asked without from now on"):
            assert ask(runtime).label == "answerable"
        assert len(model.seen) == 1 + len(refused)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ask(runtime)
        assert len(model.seen) == 2 + len(refused)  # the decision is kept
        assert not [name for name in refused if told[-1].get(name)]

    @pytest.mark.parametrize(
        ("error", "kind"),
        [
            (ValueError("This model's maximum context length is 4096 tokens"), ContextTooLong),
            (TimeoutError("no answer"), RequestTimeout),
            (RuntimeError("Request timed out."), RequestTimeout),
            (type("APITimeoutError", (Exception,), {})("gave up"), RequestTimeout),
            (ConnectionError("refused"), RuntimeUnavailable),
            (type("InternalServerError", (Exception,), {})("500"), RuntimeUnavailable),
        ],
    )
    @pytest.mark.parametrize("asynchronous", [False, True])
    def test_errors_are_the_cores(self, error: Exception, kind: type[Exception], asynchronous: bool) -> None:
        with pytest.raises(kind) as caught:
            ask(self.runtime(self.model(always(error))), asynchronous)
        assert caught.value.__cause__ is error
        assert type(error).__name__ in str(caught.value) and str(error) in str(caught.value)

    def test_one_failing_request_costs_no_other(self) -> None:
        def reply(messages: Any, _: Any) -> Any:
            return ConnectionError("cut off") if "Fog" in str(messages[-1]) else RELEVANT

        call = context_relevance(QUESTION, DOCUMENTS, on_error="fallback")
        result = run(call, self.runtime(self.model(reply)))
        assert [j.score for j in result.judgements] == [pytest.approx(0.925), None, pytest.approx(0.925)]
        assert "document '1' kept: RuntimeUnavailable" in (result.degraded or "")

    def test_a_malformed_reply_is_asked_for_again_then_raised(self) -> None:
        model = self.model(always("Dunno."))
        with pytest.raises(MalformedReply) as caught:
            ask(self.runtime(model))
        assert caught.value.raw == "Dunno."
        assert len(model.seen) == 2

    def test_async_is_native_and_sync_is_sync(self) -> None:
        model = self.model(always(YES))
        runtime = self.runtime(model)
        ask(runtime, asynchronous=True)
        ask(runtime)
        assert [call["how"] for call in model.seen] == ["async", "sync"]

    @pytest.mark.parametrize("asynchronous", [False, True])
    def test_a_wave_is_concurrent_and_bounded(self, asynchronous: bool) -> None:
        model = self.model(always(RELEVANT), pause=0.05)
        runtime = self.runtime(model, concurrency=3)
        call = context_relevance(QUESTION, [f"Passage {i}" for i in range(9)])
        result = asyncio.run(arun(call, runtime)) if asynchronous else run(call, runtime)
        assert len(result.judgements) == 9
        assert model.under_way[0] == 0
        assert 2 <= model.under_way[1] <= 3

    def test_the_bound_holds_over_many_calls(self) -> None:
        model = self.model(always(RELEVANT), pause=0.01)
        runtime = self.runtime(model, concurrency=3)
        calls = [context_relevance(QUESTION, DOCUMENTS) for _ in range(6)]
        assert len(run_many(calls, runtime)) == 6
        assert len(asyncio.run(arun_many(calls, runtime))) == 6
        assert model.under_way[0] == 0
        assert 2 <= model.under_way[1] <= 3
