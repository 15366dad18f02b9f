"""Documents and runtimes for the tests."""

from __future__ import annotations

from langchain_core.documents import Document

from tests.contract.judge import judge
from tests.scripted import Scripted

QUESTION = "Who built the mill, and when?"
FAITHFUL = "Ada Brink built the mill in 1911."
INVENTED = "The bakery sold purple umbrellas."


def documents() -> list[Document]:
    return [
        Document("Port Ellery has two cranes.", id="cranes", metadata={"page": 3}),
        Document(
            "The tide mill stands on the east quay. Ada Brink built the mill in 1911.",
            id="mill",
            metadata={"page": 7, "title": "The mill", "source": "https://ellery.example/mill"},
        ),
        Document("Fog is common from March to May.", id="fog"),
    ]


def judging() -> Scripted:
    return Scripted(judge)
