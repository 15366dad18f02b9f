"""A chat model as a runtime."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.exceptions import ContextOverflowError, ModelRateLimitError, ModelTimeoutError
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.runnables import ConfigurableField, RunnableLambda
from langchain_core.tracers import BaseTracer
from langchain_rag_intrinsics import AnswerabilityGate, ChatModelRuntime, ContextRelevanceFilter

from integrations.langchain.tests.models import JudgeModel, SchemaModel, SetModel, said
from intrinsics_core import (
    ContextTooLong,
    Message,
    RequestTimeout,
    RuntimeUnavailable,
    answerability,
    arun,
    query_rewrite,
    run,
    self_consistency,
)
from intrinsics_core.profiles.asking import data_of
from intrinsics_core.protocol.requests import Generate
from tests.contract.chat_model import DOCUMENTS, QUESTION, RELEVANT, YES, ChatModelTests, always


class TestChatModel(ChatModelTests):
    def model(self, reply: Any, *, pause: float = 0.0) -> JudgeModel:
        return JudgeModel(reply=reply, pause=pause)

    def constrained(self, reply: Any) -> SchemaModel:
        return SchemaModel(reply=reply)

    def set_to(self, reply: Any, own: dict[str, Any]) -> SetModel:
        return SetModel(reply=reply, **own)

    def said(self, text: str, rows: list[dict[str, Any]]) -> AIMessage:
        return said(text, rows)

    def runtime(self, model: Any, **settings: Any) -> ChatModelRuntime:
        return ChatModelRuntime(model, **settings)


def test_turns_reach_the_model_with_their_roles() -> None:
    model = JudgeModel(reply=always(YES))
    run(answerability(QUESTION, DOCUMENTS), ChatModelRuntime(model))
    system, user = model.seen[0]["messages"]
    assert isinstance(system, SystemMessage)
    assert isinstance(user, HumanMessage)
    assert data_of(user.content)["documents"][0]["text"] == DOCUMENTS[0]
    assert model.seen[0]["settings"] == {}  # the user's own settings are left alone


def test_the_profile_of_a_model_counts() -> None:
    model = SchemaModel(reply=always(YES), profile={"structured_output": False, "reasoning_output": True})
    run(answerability(QUESTION, DOCUMENTS), ChatModelRuntime(model))
    assert model.seen[0]["settings"] == {"logprobs": None, "top_logprobs": None}


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ContextOverflowError("prompt has 9000 tokens"), ContextTooLong),
        (ModelTimeoutError("slow"), RequestTimeout),
        (ModelRateLimitError("429"), RuntimeUnavailable),
    ],
)
@pytest.mark.parametrize("asynchronous", [False, True])
def test_errors_of_langchain_are_the_cores(error: Exception, kind: type[Exception], asynchronous: bool) -> None:
    runtime = ChatModelRuntime(JudgeModel(reply=always(error)))
    with pytest.raises(kind) as caught:
        if asynchronous:
            asyncio.run(arun(answerability(QUESTION, DOCUMENTS), runtime))
        else:
            run(answerability(QUESTION, DOCUMENTS), runtime)
    assert caught.value.__cause__ is error
    assert type(error).__name__ in str(caught.value)


def test_structured_output_without_text_is_read() -> None:
    class Tooled(SchemaModel):
        def with_structured_output(self, schema: Any, *, method: str = "json_schema", **kwargs: Any) -> Any:
            return self | RunnableLambda(lambda raw: {"raw": raw, "parsed": YES, "parsing_error": None})

    model = Tooled(reply=always(AIMessage("")))
    assert run(answerability(QUESTION, DOCUMENTS), ChatModelRuntime(model)).label == "answerable"


def test_a_retry_is_not_answered_from_the_cache() -> None:
    replies = iter(["no json", json.dumps(YES)])
    model = JudgeModel(reply=lambda messages, settings: next(replies), cache=InMemoryCache())
    assert run(answerability(QUESTION, DOCUMENTS), ChatModelRuntime(model)).label == "answerable"
    assert len(model.seen) == 2


def test_no_sample_is_answered_from_the_cache() -> None:
    years, alone = iter(range(1911, 1960)), [["a0"], ["a1"], ["a2"]]
    reply = lambda *_: {"reasoning": "", "answer": str(next(years)), "groups": alone}  # noqa: E731
    runtime = ChatModelRuntime(JudgeModel(reply=reply, cache=InMemoryCache()))
    found = run(self_consistency(QUESTION, samples=3), runtime)
    assert len({sample.text for sample in found.samples}) == 3


@pytest.mark.parametrize("wrapped", [
    lambda model: model.bind(temperature=0.0),
    lambda model: model.with_retry(),
    lambda model: model.with_fallbacks([model]),
    lambda model: model.configurable_fields(temperature=ConfigurableField("t")),
])  # fmt: skip
def test_samples_of_a_model_in_a_wrapper_are_drawn(wrapped: Any) -> None:
    model = SetModel(reply=always({"reasoning": "", "answer": "1911"}), temperature=0.0)
    run(self_consistency(QUESTION), ChatModelRuntime(wrapped(model)))
    assert [each["settings"]["temperature"] for each in model.seen] == [0.7] * 5


def test_the_bound_holds_over_a_batch_of_a_component() -> None:
    model = JudgeModel(reply=always(RELEVANT), pause=0.01)
    runtime = ChatModelRuntime(model, concurrency=3)
    gate = ContextRelevanceFilter(runtime=runtime)
    gate.batch([{"question": "Who?", "documents": DOCUMENTS}] * 6)
    assert model.under_way[0] == 0
    assert 2 <= model.under_way[1] <= 3


async def test_a_wave_that_is_given_up_stops() -> None:
    model = JudgeModel(reply=always(YES), pause=3600)
    runtime = ChatModelRuntime(model, concurrency=2)
    wave = [Generate("answerability", messages=(Message("user", "Q?"),)) for _ in range(6)]
    asking = asyncio.create_task(runtime.ahandle(wave))
    async with asyncio.timeout(120):
        while model.under_way[0] < 2:  # noqa: ASYNC110  (it is the model that counts)
            await asyncio.sleep(0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert (model.seen, model.under_way) == ([], [2, 2])  # no other was begun
    model.pause = 0.0
    assert len(await asyncio.wait_for(runtime.ahandle(wave[:2]), timeout=120)) == 2  # the places are free again


def test_any_runnable_over_a_model_is_taken() -> None:
    replies = iter([ConnectionError("blip"), YES])
    model = JudgeModel(reply=lambda messages, settings: next(replies)).with_retry(wait_exponential_jitter=False)
    gate = AnswerabilityGate(runtime=model)
    assert (
        gate.invoke({"question": "Who built the mill?", "documents": DOCUMENTS})["answerability"]["label"]
        == "answerable"
    )


class Spans(BaseTracer):
    """The tree of runs, by name."""

    def __init__(self) -> None:
        super().__init__()
        self.roots: list[Any] = []

    def _persist_run(self, run: Any) -> None:
        self.roots.append(run)

    def names(self, run: Any) -> Any:
        return {run.name: [self.names(child) for child in run.child_runs]} if run.child_runs else run.name


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("kind", [JudgeModel, SchemaModel])
def test_model_calls_are_spans_inside_the_component(kind: type[JudgeModel], asynchronous: bool) -> None:
    spans = Spans()
    model = kind(reply=always({"context_relevance": "relevant", "confidence": 0.9}))
    keep = ContextRelevanceFilter(runtime=model)
    given = {"question": "Who built the mill?", "documents": DOCUMENTS}
    config: Any = {"callbacks": [spans], "tags": ["mine"]}
    if asynchronous:
        asyncio.run(keep.ainvoke(given, config))
    else:
        keep.invoke(given, config)
    (root,) = spans.roots
    assert root.name == "ContextRelevanceFilter"
    models = [r for r in _walk(root) if r.run_type == "llm"]
    assert [r.name for r in models] == [kind.__name__] * 3
    for r in models:
        assert {"mine", "nostream", "rag_intrinsics:context-relevance"} <= set(r.tags)


def test_a_constrained_call_is_one_span() -> None:
    spans = Spans()
    gate = AnswerabilityGate(runtime=SchemaModel(reply=always(YES)))
    gate.invoke({"question": "Who built the mill?", "documents": DOCUMENTS}, {"callbacks": [spans]})
    assert spans.names(spans.roots[0]) == {"AnswerabilityGate": ["SchemaModel"]}


@pytest.mark.parametrize(
    "reply",
    [
        AIMessage("", additional_kwargs={"parsed": YES}),
        AIMessage("", tool_calls=[{"name": "answerability", "args": YES, "id": "1"}]),
    ],
)
def test_a_constrained_reply_that_is_not_in_the_text_is_read(reply: AIMessage) -> None:
    gate = AnswerabilityGate(runtime=SchemaModel(reply=always(reply)))
    found = gate.invoke({"question": "Who built the mill?", "documents": DOCUMENTS})
    assert found["answerability"]["label"] == "answerable"


def _walk(run: Any) -> Any:
    yield run
    for child in run.child_runs:
        yield from _walk(child)


def test_sync_inside_a_running_loop() -> None:
    async def main() -> str:
        return run(
            query_rewrite(QUESTION), ChatModelRuntime(JudgeModel(reply=always({"rewritten_question": "Who?"})))
        ).query

    assert asyncio.run(main()) == "Who?"
