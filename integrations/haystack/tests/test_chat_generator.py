"""A chat generator as a runtime."""

import asyncio
import threading
from types import MappingProxyType
from typing import Any

import pytest
from haystack.dataclasses import ChatMessage
from haystack_integrations.common.rag_intrinsics import ChatGeneratorRuntime
from haystack_integrations.components.rankers.rag_intrinsics import RagIntrinsicsRanker
from haystack_integrations.components.routers.rag_intrinsics import RagIntrinsicsAnswerabilityRouter
from haystack_integrations.components.validators.rag_intrinsics import RagIntrinsicsAnswerCheck

from integrations.haystack.tests.generators import (
    AsyncGenerator,
    OpenAILike,
    SyncGenerator,
    judging,
)
from integrations.haystack.tests.scripts import FAITHFUL, QUESTION, documents
from intrinsics_core import (
    RuntimeUnavailable,
    answerability,
    arun,
    query_rewrite,
    run,
    self_consistency,
)
from intrinsics_core.profiles.asking import data_of
from intrinsics_core.running.flows import rag
from intrinsics_core.runtimes.tools import Tools
from tests.contract.chat_model import DOCUMENTS as TEXTS
from tests.contract.chat_model import QUESTION as TURNS
from tests.contract.chat_model import YES, ChatModelTests, always


class TestChatGenerator(ChatModelTests):
    def model(self, reply: Any, *, pause: float = 0.0) -> AsyncGenerator:
        return AsyncGenerator(reply, pause)

    def constrained(self, reply: Any) -> OpenAILike:
        return OpenAILike(reply)

    def set_to(self, reply: Any, own: dict[str, Any]) -> AsyncGenerator:
        generator = AsyncGenerator(lambda messages, settings: reply(messages, own | settings))
        generator.generation_kwargs = dict(own)
        return generator

    def said(self, text: str, rows: list[dict[str, Any]]) -> ChatMessage:
        usage = {"prompt_tokens": 50, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 40}}
        meta = {"logprobs": {"content": rows}, "finish_reason": "stop", "usage": usage}
        return ChatMessage.from_assistant(text, meta=meta)

    def runtime(self, model: Any, **settings: Any) -> ChatGeneratorRuntime:
        return ChatGeneratorRuntime(model, **settings)


def test_turns_reach_the_generator_with_their_roles() -> None:
    generator = SyncGenerator(always(YES))
    run(answerability(TURNS, TEXTS), ChatGeneratorRuntime(generator))
    system, user = generator.seen[0]["messages"]
    assert (system.role.value, user.role.value) == ("system", "user")
    assert data_of(user.text)["documents"][0]["text"] == TEXTS[0]


@pytest.mark.parametrize(
    "meta",
    [{"finish_reason": "length"}, {"stop_reason": "max_tokens"}, {"done_reason": "length"},
     {"finish_reason": None, "done_reason": "length"}],
)  # fmt: skip
def test_how_a_reply_ended_is_told(meta: dict[str, Any]) -> None:
    reply = ChatMessage.from_assistant("1911", meta=meta)
    chain = Tools(ChatGeneratorRuntime(SyncGenerator(always(reply))), retrieve=lambda query: TEXTS)
    found = run(rag(TURNS, rewrite=False, gate=False, cite=False, detect=False, answer="model"), chain)
    assert (found.answer, found.degraded) == ("1911", "the answer ended at the token limit")


def test_no_reply_is_an_error() -> None:
    class Mute:
        def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
            return {"replies": []}

    with pytest.raises(RuntimeUnavailable, match="no reply"):
        run(answerability(TURNS, TEXTS), ChatGeneratorRuntime(Mute()))


async def test_the_loop_is_free_while_a_generator_works() -> None:
    asked, released = threading.Event(), threading.Event()

    def reply(*_: Any) -> Any:
        asked.set()
        assert released.wait(120), "the loop was blocked while the generator worked"
        return {"rewritten_question": "Who built it?"}

    task = asyncio.create_task(arun(query_rewrite(TURNS), ChatGeneratorRuntime(SyncGenerator(reply))))
    await asyncio.to_thread(asked.wait, 120)
    released.set()
    assert (await task).query == "Who built it?"


@pytest.mark.parametrize("kind", [SyncGenerator, AsyncGenerator])
def test_components_take_a_chat_generator_as_it_is(kind: Any) -> None:
    runtime = ChatGeneratorRuntime(kind(judging), structured_output=True)
    ranked = RagIntrinsicsRanker(runtime).run(query=QUESTION, documents=documents())
    assert ranked["documents"][0].id == "mill"
    routed = RagIntrinsicsAnswerabilityRouter(kind(always(YES))).run(query=QUESTION, documents=documents())
    assert routed["result"]["probability"] == pytest.approx(0.8)
    checked = RagIntrinsicsAnswerCheck(runtime, checks="hallucination-detection").run(
        query=QUESTION, replies=[FAITHFUL], documents=documents()
    )
    assert checked["results"][0]["hallucination_detection"]["label"] == "faithful"


def test_a_generator_that_takes_no_settings_is_given_none() -> None:
    class Fixed:
        generation_kwargs = MappingProxyType({"temperature": 0.0})

        def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
            return {"replies": [ChatMessage.from_assistant('{"reasoning": "", "answer": "1911"}')]}

    assert run(self_consistency(TURNS), ChatGeneratorRuntime(Fixed())).answer == "1911"


def test_life_of_a_generator() -> None:
    generator = SyncGenerator(always(YES))
    router = RagIntrinsicsAnswerabilityRouter(generator)
    assert generator.life == []
    router.warm_up()
    router.warm_up()
    router.run(query=QUESTION, documents=documents())
    assert generator.life == ["warm_up"]
    router.close()
    assert generator.life == ["warm_up", "close"]
    router.run(query=QUESTION, documents=documents())  # it may be used again
    assert generator.life == ["warm_up", "close", "warm_up"]


async def test_life_of_an_async_generator() -> None:
    generator = AsyncGenerator(always(YES))
    router = RagIntrinsicsAnswerabilityRouter(generator)
    await router.warm_up_async()
    await router.run_async(query=QUESTION, documents=documents())
    await router.close_async()
    assert generator.life == ["warm_up_async", "close_async"]


def test_it_is_saved_with_its_settings() -> None:
    runtime = ChatGeneratorRuntime(SyncGenerator(pause=0.5), concurrency=3, structured_output=True)
    again = ChatGeneratorRuntime.from_dict({
        **runtime.to_dict(),
        "init_parameters": {**runtime.to_dict()["init_parameters"], "chat_generator": SyncGenerator(pause=0.5)},
    })  # fmt: skip
    assert again.to_dict() == runtime.to_dict()
    assert again.concurrency == 3
    assert "JSON schema" in repr(again)
