"""A tool for agents that retrieves."""

from __future__ import annotations

from langchain_core.documents import Document
from langchain_core.tools import BaseTool, create_retriever_tool

from integrations.langchain.tests.scripts import documents
from integrations.langchain.tests.test_retriever import WordRetriever


def search(passages: list[Document] | None = None) -> BaseTool:
    retriever = WordRetriever(passages=documents() if passages is None else passages)
    return create_retriever_tool(retriever, "search", "Search.", response_format="content_and_artifact")
