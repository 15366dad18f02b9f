"""Tools: LangChain's own suites, and what they return."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from langchain_core.tools import BaseTool, create_retriever_tool
from langchain_rag_intrinsics import FactChecker, FactCheckTool, IntrinsicsReranker, IntrinsicsRetriever
from langchain_tests.integration_tests import ToolsIntegrationTests
from langchain_tests.unit_tests import ToolsUnitTests

from integrations.langchain.tests.scripts import FAITHFUL, INVENTED, QUESTION, documents, judging
from integrations.langchain.tests.test_chat_model import Spans
from integrations.langchain.tests.test_retriever import store

EXAMPLE = {"question": QUESTION, "answer": FAITHFUL, "sources": [d.page_content for d in documents()]}


class FactCheckParams:
    @property
    def tool_constructor(self) -> type[BaseTool]:
        return FactCheckTool

    @property
    def tool_constructor_params(self) -> dict[str, Any]:
        return {"checker": FactChecker(runtime={"kind": "embedded"})}

    @property
    def tool_invoke_params_example(self) -> dict[str, Any]:
        return EXAMPLE


class RetrieverParams:
    @property
    def tool_constructor(self) -> BaseTool:
        retriever = IntrinsicsRetriever(retriever=store(), compressors=[IntrinsicsReranker()])
        return create_retriever_tool(retriever, "search", "Search it.", response_format="content_and_artifact")

    @property
    def tool_invoke_params_example(self) -> dict[str, Any]:
        return {"query": QUESTION}


class TestFactCheckUnit(FactCheckParams, ToolsUnitTests):
    pass


class TestFactCheckIntegration(FactCheckParams, ToolsIntegrationTests):
    pass


class TestRetrieverToolUnit(RetrieverParams, ToolsUnitTests):
    pass


class TestRetrieverToolIntegration(RetrieverParams, ToolsIntegrationTests):
    pass


@pytest.mark.parametrize("asynchronous", [False, True])
def test_fact_check_tells_the_model_and_the_program(asynchronous: bool) -> None:
    spans, tool = Spans(), FactCheckTool(checker=FactChecker(runtime=judging()))
    call = {"name": "fact_check", "args": EXAMPLE, "id": "1", "type": "tool_call"}
    config: Any = {"callbacks": [spans]}
    message = asyncio.run(tool.ainvoke(call, config)) if asynchronous else tool.invoke(call, config)
    assert json.loads(message.content) == message.artifact
    worse = tool.invoke({**call, "args": {**EXAMPLE, "answer": INVENTED}})
    assert message.artifact["score"] > worse.artifact["score"]
    assert spans.names(spans.roots[0]) == {"fact_check": ["FactChecker"]}


def test_no_sources_is_a_result_with_a_reason() -> None:
    found = json.loads(FactCheckTool().invoke({**EXAMPLE, "sources": []}))
    assert (found["score"], found["reason"]) == (None, "nothing retrieved")
