"""A framework's chat model as a runtime: what holds for all three. Subclass ``ChatModelTests``, set the two makers.

A maker takes ``reply(messages, settings)``, which returns text, an object for JSON, or an exception, and gives a model
of the framework's that counts: ``seen`` (its calls, each with ``how``: sync or async) and ``under_way`` (now, at most).
"""

from __future__ import annotations

import asyncio
import json
import math
import threading
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from intrinsics_core import (
    ContextTooLong,
    MalformedReply,
    RequestTimeout,
    Runtime,
    RuntimeUnavailable,
    UnsupportedIntrinsic,
    answerability,
    arun,
    arun_many,
    context_relevance,
    run,
    run_many,
    self_consistency,
)
from intrinsics_core.protocol.requests import Embed, Generate
from intrinsics_core.running.flows import rag
from intrinsics_core.runtimes.tools import Tools

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


_COUNTING = threading.Lock()


class Counting:
    """A framework's model that counts. It has ``reply``, ``seen`` and ``under_way``: the calls now, and at most."""

    reply: Replying
    seen: list[dict[str, Any]]
    under_way: list[int]

    def entered(self) -> None:
        """A call begins."""
        with _COUNTING:
            self.under_way[0] += 1
            self.under_way[1] = max(self.under_way)

    def replied(self, messages: Any, settings: Any, how: str) -> Any:
        """The reply that ends a call: text, or the framework's own."""
        with _COUNTING:
            self.under_way[0] -= 1
        self.seen.append({"messages": messages, "settings": settings, "how": how})
        reply = self.reply(messages, settings)
        if isinstance(reply, Exception):
            raise reply
        return json.dumps(reply) if isinstance(reply, dict | list) else reply


def tokens_of(before: str, options: dict[str, float], chosen: str, after: str) -> tuple[str, list[dict[str, Any]]]:
    """A text and its tokens, as OpenAI-compatible models report them: how likely each option was at its place."""

    def row(token: str, probability: float, top: dict[str, float]) -> dict[str, Any]:
        tops = [{"token": t, "logprob": math.log(p)} for t, p in top.items()]
        return {"token": token, "logprob": math.log(probability), "top_logprobs": tops}

    rows = [row(before, 1.0, {before: 1.0}), row(chosen, options[chosen], options), row(after, 1.0, {after: 1.0})]
    return before + chosen + after, rows


class ChatModelTests:
    def model(self, reply: Replying, *, pause: float = 0.0) -> Any:
        """One that is asked in words; each call takes ``pause`` seconds."""
        raise NotImplementedError

    def constrained(self, reply: Replying) -> Any:
        """One that takes a schema and gives log-probabilities; they arrive in the settings of ``reply``."""
        raise NotImplementedError

    def set_to(self, reply: Replying, own: dict[str, Any]) -> Any:
        """One that is asked in words, with settings of its own by the names ``temperature`` and ``seed``; those that a
        call is made with arrive in the settings of ``reply``.
        """
        raise NotImplementedError

    def said(self, text: str, rows: list[dict[str, Any]]) -> Any:
        """The framework's reply with these tokens, for which 50 were read, 40 of them cached, and 3 written."""
        raise NotImplementedError

    def runtime(self, model: Any, **settings: Any) -> Runtime:
        raise NotImplementedError

    def test_a_plain_model_is_asked_in_words_and_read_leniently(self) -> None:
        model = self.model(always('Sure! ```json\n{"answerability": "answerable", "confidence": 0.8}\n```'))
        assert ask(self.runtime(model)).probability == pytest.approx(0.8)
        assert model.seen[0]["settings"] == {}  # the user's own settings are left alone

    def test_the_core_takes_the_model_itself(self) -> None:
        model = self.model(always(YES))
        call = answerability(QUESTION, DOCUMENTS)
        assert run(call, model).probability == asyncio.run(arun(call, model)).probability == pytest.approx(0.8)
        assert [each.label for each in run_many([call, call], {"kind": "mixed", "routes": {"*": model}})] == [
            "answerable",
            "answerable",
        ]
        tools = Tools(model, retrieve=lambda query: DOCUMENTS, generate=lambda messages, documents: "Ada Brink.")
        assert run(rag(QUESTION, rewrite=False, cite=False, detect=False), tools).answer == "Ada Brink."

    def test_a_schema_model_is_constrained(self) -> None:
        model = self.constrained(always(YES))
        assert ask(self.runtime(model)).label == "answerable"
        told = model.seen[0]["settings"]["response_format"]
        assert (told["type"], told["json_schema"]["name"]) == ("json_schema", "answerability")
        schema = told["json_schema"]["schema"]
        assert schema["properties"]["answerability"]["enum"] == ["answerable", "unanswerable"]

    def test_scores_come_from_log_probabilities(self) -> None:
        options = {"answerable": 0.3, "unanswerable": 0.6, "something": 0.1}
        tokens = tokens_of('{"answerability": "', options, "unanswerable", '", "confidence": 1.0}')
        model = self.constrained(always(self.said(*tokens)))
        result = ask(self.runtime(model))
        assert result.probability == pytest.approx(0.3 / 0.9)
        settings = model.seen[0]["settings"]
        assert (settings["logprobs"], settings["top_logprobs"]) == (True, 20)
        assert getattr(model, "logprobs", None) is None  # the caller's model keeps its settings
        assert (usage := result.usage) is not None
        assert (usage.requests, usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens) == (1, 50, 3, 40)
        assert usage.seconds > 0

    def test_log_probabilities_of_another_text_are_not_believed(self) -> None:
        options = {"answerable": 0.01, "unanswerable": 0.99}
        _, rows = tokens_of('{"answerability": "', options, "unanswerable", '"}')
        reply = self.said('{"answerability": "answerable", "confidence": 0.9}', rows)
        assert ask(self.runtime(self.constrained(always(reply)))).probability == pytest.approx(0.9)

    def test_the_caller_decides_over_all(self) -> None:
        model = self.constrained(always(YES))
        ask(self.runtime(model, structured_output=False, logprobs=False))
        assert not any(model.seen[0]["settings"].values())

    def test_what_it_cannot_answer_is_an_error_value(self) -> None:
        runtime = self.runtime(self.model(always("x")))
        for request in (
            Embed("answerability", ("text",)),
            Generate("answerability", prompt="<|start_of_role|>user"),
            Generate("answerability", messages=(), adapter="answerability"),
        ):
            (outcome,) = runtime.handle([request])
            assert isinstance(outcome, UnsupportedIntrinsic)

    def test_repr_shows_no_settings(self) -> None:
        model = self.constrained(always("x"))
        runtime = self.runtime(model)
        names = f"{type(runtime).__name__}({type(model).__name__}"
        assert repr(runtime) == f"{names}, JSON schema, log-probabilities)"

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

    @pytest.mark.parametrize("asynchronous", [False, True])
    @pytest.mark.parametrize(
        ("own", "drawn"),
        [
            ({"temperature": 0.0}, {0.7}),
            ({"temperature": 0}, {0.7}),
            ({"temperature": 0.1}, {0.7}),
            ({"temperature": 0.7}, {0.7}),
            ({"temperature": 1.0}, {1.0}),
            ({"temperature": None}, {None}),
        ],
    )
    def test_samples_are_drawn_and_a_judge_is_not(self, own: Any, drawn: Any, asynchronous: bool) -> None:
        seen: list[Any] = []

        def reply(_: Any, settings: Any) -> Any:
            seen.append(settings.get("temperature"))
            return {"reasoning": "", "answer": "1911"} | YES

        runtime = self.runtime(self.set_to(reply, own))
        call = self_consistency(QUESTION)
        found = asyncio.run(arun(call, runtime)) if asynchronous else run(call, runtime)
        assert found.answer == "1911" and len(seen) == 5 and set(seen) == drawn
        ask(runtime, asynchronous)
        assert seen[5:] == [own["temperature"]]

    def test_samples_of_a_model_with_a_seed_have_seeds_of_their_own(self) -> None:
        seeds: list[Any] = []

        def reply(_: Any, settings: Any) -> Any:
            seeds.append(settings.get("seed"))
            groups = [["a0"], ["a1"], ["a2"]]
            return {"reasoning": "", "answer": f"19{settings['seed']}", "groups": groups} | YES

        runtime = self.runtime(self.set_to(reply, {"temperature": 0.0, "seed": 11}), concurrency=1)
        assert len({sample.text for sample in run(self_consistency(QUESTION, samples=3), runtime).samples}) == 3
        assert seeds[:3] == [11, 12, 13]
        seeds.clear()
        ask(runtime)
        assert seeds == [11]

    def test_a_repeat_is_drawn_anew(self) -> None:
        seen: list[Any] = []

        def reply(_: Any, settings: Any) -> Any:
            seen.append(settings.get("temperature"))
            return YES if settings.get("temperature") else "Dunno."

        assert ask(self.runtime(self.set_to(reply, {"temperature": 0.0}))).label == "answerable"
        assert seen == [0.0, 0.3]

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
