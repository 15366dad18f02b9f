"""Haystack's own OpenAI generators, over real HTTP."""

import asyncio
from typing import Any, ClassVar

import pytest
from haystack.components.generators.chat import OpenAIChatGenerator, OpenAIResponsesChatGenerator
from haystack.utils import Secret
from haystack_integrations.common.rag_intrinsics import ChatGeneratorRuntime
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
