"""Documents and runtimes for the tests."""

from __future__ import annotations

from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage

from tests.contract.scripts import FAITHFUL, INVENTED, PASSAGES, QUESTION, judging

__all__ = ["FAITHFUL", "INVENTED", "QUESTION", "TURNS", "documents", "judging"]

TURNS = [HumanMessage("Tell me about the mill."), AIMessage("It is a tide mill."), HumanMessage("Who built it?")]


def documents() -> list[Document]:
    source = {"mill": {"source": "https://ellery.example/mill"}}
    return [Document(text, id=name, metadata={**meta, **source.get(name, {})}) for name, text, meta in PASSAGES]
