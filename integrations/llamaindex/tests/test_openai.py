"""LlamaIndex's OpenAI classes, over real HTTP."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("llama_index.llms.openai_like", reason="llama-index-llms-openai-like is not installed")

from llama_index.llms.openai_like import OpenAILike
from llama_index.postprocessor.rag_intrinsics import IntrinsicsRerank
from llama_index.rag_intrinsics import LLMRuntime

from tests.contract.openai import KEY, OpenAITests, Server, ask, server

__all__ = ["server"]  # a fixture

CONSTRAINED = "should_use_structured_outputs"


def llm(server: Server, timeout: float = 120.0, **settings: Any) -> OpenAILike:
    settings = {CONSTRAINED: True} | settings
    return OpenAILike(
        model="m", api_base=server.url, api_key=KEY, is_chat_model=True, max_retries=0, timeout=timeout, **settings
    )


class TestOpenAILike(OpenAITests):
    temperature = 0.1

    def runtime(self, server: Server, *, timeout: float = 120.0) -> LLMRuntime:
        return LLMRuntime(llm(server, timeout))

    @pytest.mark.skipif(CONSTRAINED not in OpenAILike.model_fields, reason="this OpenAILike has no JSON schema output")
    @pytest.mark.parametrize("asynchronous", [False, True])
    def test_schema_log_probabilities_and_usage(self, server: Server, asynchronous: bool) -> None:
        super().test_schema_log_probabilities_and_usage(server, asynchronous)


def test_without_structured_outputs_it_is_asked_in_words(server: Server) -> None:
    ask(LLMRuntime(llm(server, **{CONSTRAINED: False})))
    (body,) = server.seen
    assert "response_format" not in body and "tools" not in body and "logprobs" not in body


def test_the_key_of_an_llm_is_not_shown(server: Server) -> None:
    rerank = IntrinsicsRerank(runtime=llm(server))
    for text in (repr(rerank), str(rerank), rerank.to_json(), repr(rerank.to_dict()), repr(LLMRuntime(llm(server)))):
        assert KEY not in text
    assert rerank.to_dict()["runtime"] == {"kind": "OpenAILike"}
