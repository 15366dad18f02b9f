"""Documents and runtimes for the tests."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import Runnable
from langchain_rag_intrinsics import AnswerCheck

from tests.contract.scripts import FAITHFUL, INVENTED, PASSAGES, QUESTION, judging

__all__ = ["FAITHFUL", "INVENTED", "QUESTION", "TURNS", "detecting", "documents", "judging"]

TURNS = [HumanMessage("Tell me about the mill."), AIMessage("It is a tide mill."), HumanMessage("Who built it?")]


def documents() -> list[Document]:
    source = {"mill": {"source": "https://ellery.example/mill"}}
    return [Document(text, id=name, metadata={**meta, **source.get(name, {})}) for name, text, meta in PASSAGES]


def detecting(**settings: Any) -> Runnable[Any, Any]:
    """The core's verdicts on the sentences of an answer."""
    found = AnswerCheck(checks="hallucination-detection", return_result=True, **settings)
    return found | itemgetter("hallucination_detection")
