"""The most used provider's own class, over real HTTP."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("langchain_openai", reason="langchain-openai is not installed")

from langchain_core.load import dumps
from langchain_core.messages import AIMessage
from langchain_openai import ChatOpenAI
from langchain_rag_intrinsics import AnswerabilityGate, AnswerCheck, ChatModelRuntime

from integrations.langchain.tests.scripts import FAITHFUL, QUESTION, documents, judging
from intrinsics_core import RuntimeUnavailable, query_rewrite, run
from tests.contract.openai import ASKED, KEY, RefusingTests, Server, server

__all__ = ["server"]  # a fixture


def model(server: Server, **settings: Any) -> ChatOpenAI:
    return ChatOpenAI(model="m", base_url=server.url, api_key=KEY, max_retries=0, temperature=0, **settings)  # type: ignore[arg-type]


class TestChatOpenAI(RefusingTests):
    temperature = 0.0  # it is told

    def runtime(self, server: Server, *, timeout: float = 120.0) -> ChatModelRuntime:
        return ChatModelRuntime(model(server, timeout=timeout))


def test_nobody_listens() -> None:
    away = ChatOpenAI(model="m", base_url="http://127.0.0.1:9/v1", api_key=KEY, max_retries=0)  # type: ignore[arg-type]
    with pytest.raises(RuntimeUnavailable):
        run(query_rewrite(ASKED), ChatModelRuntime(away))


def test_its_key_is_not_shown(server: Server) -> None:
    gate = AnswerabilityGate(runtime=model(server))
    for text in (repr(gate), str(gate), dumps(gate), repr(gate.engine), repr(gate.model_dump())):
        assert KEY not in text


def test_a_configurable_model_is_constrained_as_the_config_of_each_call_chooses(server: Server) -> None:
    chat_models = pytest.importorskip("langchain.chat_models", reason="the extra [agents] is not installed")
    chosen = chat_models.init_chat_model(
        "openai:m", configurable_fields=["model"], base_url=server.url, api_key=KEY, max_retries=0
    )
    gate = AnswerabilityGate(runtime=chosen.with_retry(stop_after_attempt=2), on_error="open")
    for name in ("m", "another"):
        config: Any = {"configurable": {"model": f"openai:{name}"}}
        gate.invoke({"question": QUESTION, "documents": documents()}, config)
        asked = server.seen[-1]
        assert asked["model"] == name
        assert asked["logprobs"] is True and asked["response_format"]["type"] == "json_schema"


def test_an_annotated_answer_is_taken_back_as_history(server: Server) -> None:
    given = {"question": QUESTION, "documents": documents(), "answer": AIMessage(FAITHFUL)}
    answer = AnswerCheck(checks="citations", runtime=judging()).invoke(given)
    assert answer.content_blocks[0]["annotations"]
    model(server).invoke([("human", QUESTION), answer, ("human", "Are you sure?")])
    assert server.seen[0]["messages"][1]["content"] in (FAITHFUL, [{"type": "text", "text": FAITHFUL}])
