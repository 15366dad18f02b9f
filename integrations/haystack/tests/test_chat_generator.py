"""A chat generator as a runtime."""

import asyncio
import json
import threading
from typing import Any

import pytest
from haystack.dataclasses import ChatMessage
from haystack_integrations.common.rag_intrinsics import ChatGeneratorRuntime
from haystack_integrations.components.rankers.rag_intrinsics import RagIntrinsicsRanker
from haystack_integrations.components.routers.rag_intrinsics import RagIntrinsicsAnswerabilityRouter
from haystack_integrations.components.validators.rag_intrinsics import RagIntrinsicsGroundednessChecker

from integrations.haystack.tests.generators import (
    AsyncGenerator,
    OpenAILike,
    SyncGenerator,
    judging,
    with_logprobs,
)
from integrations.haystack.tests.scripts import FAITHFUL, QUESTION, documents
from intrinsics_core import (
    RuntimeUnavailable,
    UnsupportedIntrinsic,
    answerability,
    arun,
    query_rewrite,
    run,
)
from intrinsics_core.profiles.asking import data_of
from intrinsics_core.protocol.requests import Embed
from tests.contract.chat_model import DOCUMENTS as TEXTS
from tests.contract.chat_model import QUESTION as TURNS
from tests.contract.chat_model import YES, ChatModelTests, always


class TestChatGenerator(ChatModelTests):
    def model(self, reply: Any, *, pause: float = 0.0) -> AsyncGenerator:
        return AsyncGenerator(reply, pause)

    def constrained(self, reply: Any) -> OpenAILike:
        def said(messages: Any, settings: Any) -> Any:
            told = reply(messages, settings)
            return told if isinstance(told, Exception) else ChatMessage.from_assistant(json.dumps(told))

        return OpenAILike(said)

    def runtime(self, model: Any, **settings: Any) -> ChatGeneratorRuntime:
        return ChatGeneratorRuntime(model, **settings)


def test_a_plain_generator_is_asked_in_words_and_read_leniently() -> None:
    generator = SyncGenerator(always('Sure! ```json\n{"answerability": "answerable", "confidence": 0.8}\n```'))
    result = run(answerability(TURNS, TEXTS), ChatGeneratorRuntime(generator))
    assert result.probability == pytest.approx(0.8)
    assert generator.seen[0]["settings"] == {}
    system, user = generator.seen[0]["messages"]
    assert (system.role.value, user.role.value) == ("system", "user")
    assert data_of(user.text)["documents"][0]["text"] == TEXTS[0]


def test_an_openai_generator_is_constrained_and_its_logprobs_are_read() -> None:
    reply = with_logprobs(
        '{"answerability": "', {"answerable": 0.9, "unanswerable": 0.1}, "answerable", '", "confidence": 0.5}'
    )
    generator = OpenAILike(always(reply))
    result = run(answerability(TURNS, TEXTS), ChatGeneratorRuntime(generator))
    assert result.probability == pytest.approx(0.9)
    settings = generator.seen[0]
    assert settings["response_format"]["type"] == "json_schema"
    assert settings["response_format"]["json_schema"]["schema"]["properties"]["answerability"]["enum"]
    assert settings["logprobs"] is True and settings["top_logprobs"] == 20
    assert result.usage is not None
    assert (result.usage.prompt_tokens, result.usage.completion_tokens, result.usage.cached_tokens) == (50, 3, 40)


def test_no_reply_is_an_error() -> None:
    class Mute:
        def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
            return {"replies": []}

    with pytest.raises(RuntimeUnavailable, match="no reply"):
        run(answerability(TURNS, TEXTS), ChatGeneratorRuntime(Mute()))


def test_it_encodes_nothing() -> None:
    [outcome] = ChatGeneratorRuntime(SyncGenerator()).handle([Embed("reranking", ("text",))])
    assert isinstance(outcome, UnsupportedIntrinsic)


async def test_run_async_is_used_where_there_is_one() -> None:
    generator = AsyncGenerator(always(YES))
    await arun(answerability(TURNS, TEXTS), ChatGeneratorRuntime(generator))
    assert [call["how"] for call in generator.seen] == ["async"]


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
    checked = RagIntrinsicsGroundednessChecker(runtime).run(query=QUESTION, replies=[FAITHFUL], documents=documents())
    assert checked["results"][0]["label"] == "faithful"


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
