"""Haystack's own OpenAI generators, over real HTTP."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

import pytest
from haystack.components.generators.chat import OpenAIChatGenerator, OpenAIResponsesChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.tools import Tool
from haystack.utils import Secret
from haystack_integrations.common.rag_intrinsics import ChatGeneratorRuntime
from haystack_integrations.components.evaluators.rag_intrinsics import RagIntrinsicsEvaluator
from haystack_integrations.components.routers.rag_intrinsics import RagIntrinsicsAnswerabilityRouter

from integrations.haystack.tests.scripts import QUESTION, documents
from tests.contract.openai import KEY, OpenAITests, RefusingTests, Server, server

__all__ = ["server"]  # a fixture


def generator(server: Server, kind: Any, timeout: float = 120.0) -> Any:
    key = Secret.from_token(KEY)
    return kind(api_key=key, model="m", api_base_url=server.url, max_retries=0, timeout=timeout)


class TestChat(RefusingTests):
    kind: ClassVar[Any] = OpenAIChatGenerator

    def runtime(self, server: Server, *, timeout: float = 120.0) -> ChatGeneratorRuntime:
        return ChatGeneratorRuntime(generator(server, self.kind, timeout))


class TestResponses(OpenAITests):
    kind: ClassVar[Any] = OpenAIResponsesChatGenerator

    def runtime(self, server: Server, *, timeout: float = 120.0) -> ChatGeneratorRuntime:
        return ChatGeneratorRuntime(generator(server, self.kind, timeout))


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("kind", [OpenAIChatGenerator, OpenAIResponsesChatGenerator])
def test_a_component_takes_the_generator(server: Server, kind: Any, asynchronous: bool) -> None:
    router = RagIntrinsicsAnswerabilityRouter(generator(server, kind))

    async def main() -> Any:
        found = await router.run_async(query=QUESTION, documents=documents())
        await router.close_async()
        return found

    found = asyncio.run(main()) if asynchronous else router.run(query=QUESTION, documents=documents())
    assert found["unanswerable"] == QUESTION
    assert found["result"]["probability"] == pytest.approx(0.25)


def lookup(topic: str) -> str:
    """The opening hours of a place."""
    raise AssertionError("a judge calls no tool")


TOOL = Tool(name="lookup", description="Opening hours.", function=lookup,
            parameters={"type": "object", "properties": {"topic": {"type": "string"}}})  # fmt: skip


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("kind", [OpenAIChatGenerator, OpenAIResponsesChatGenerator])
def test_a_judge_has_nothing_of_what_is_set_for_the_writer(server: Server, kind: Any, asynchronous: bool) -> None:
    heard: list[Any] = []
    own = {"tool_choice": "required", "temperature": 0.5}
    writer = kind(api_key=Secret.from_token(KEY), model="m", api_base_url=server.url, max_retries=0, tools=[TOOL],
                  streaming_callback=heard.append, generation_kwargs=own)  # fmt: skip
    router = RagIntrinsicsAnswerabilityRouter(writer)
    given: dict[str, Any] = {"query": QUESTION, "documents": documents()}
    found = asyncio.run(router.run_async(**given)) if asynchronous else router.run(**given)
    assert found["result"]["probability"] == pytest.approx(0.25)
    (sent,) = server.seen
    assert not {"tools", "tool_choice", "stream"} & {name for name, value in sent.items() if value}
    assert sent["temperature"] == 0.5 and heard == []
    assert (writer.tools, writer.streaming_callback, writer.generation_kwargs) == ([TOOL], heard.append, own)


def test_one_generator_writes_and_judges_on_any_loop_and_thread(server: Server) -> None:
    """Judges ran its `run_async` on a loop of their own, after which its owner could not use it on another."""
    shared = generator(server, OpenAIChatGenerator)
    router = RagIntrinsicsAnswerabilityRouter(shared)
    checker = RagIntrinsicsEvaluator("context-relevance", shared)
    rows = {"questions": [QUESTION] * 3, "contexts": [documents()] * 3}

    def judged(found: Any) -> bool:
        return found["result"]["probability"] == pytest.approx(0.25)

    async def on_a_loop() -> None:
        written = await shared.run_async([ChatMessage.from_user("Who?")])
        assert written["replies"]
        assert judged(await router.run_async(query=QUESTION, documents=documents()))
        assert (await checker.run_async(**rows))["results"]

    for _ in range(2):
        asyncio.run(on_a_loop())
        assert judged(router.run(query=QUESTION, documents=documents()))
        checker.run(**rows)
        assert shared.run([ChatMessage.from_user("Who?")])["replies"]
    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(lambda _: judged(router.run(query=QUESTION, documents=documents())), range(8)))
