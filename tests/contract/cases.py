"""Conversations and documents for the contract, written for it."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from intrinsics_core.intrinsics import TABLE

ENDS_WITH_ANSWER = tuple(name for name, record in TABLE.items() if record.judges_answers)
NEEDS_DOCUMENTS = tuple(name for name, record in TABLE.items() if record.needs_documents)
RETURNS_DOCUMENTS = ("reranking", "context-relevance")

QUESTION = [
    {"role": "user", "content": "Tell me about the tide mill at Port Ellery."},
    {"role": "assistant", "content": "It stands on the east quay and still grinds barley."},
    {"role": "user", "content": "Who built the mill, and when?"},
]
ANSWER = {
    "role": "assistant",
    "content": "Ada Brink built the tide mill in 1911. 🌾 它仍在运转。\r\nIt burned down in the great storm of 1954.",
}
DOCUMENTS: list[dict[str, Any]] = [
    {
        "id": "cranes",
        "text": "Port Ellery has two cranes.\r\nThe larger one lifts forty tonnes.",
        "metadata": {"page": 3},
    },
    {
        "id": "mill",
        "text": "The tide mill stands on the east quay. Ada Brink built the mill in 1911. It has two wheels.",
        "metadata": {
            "page": 7,
            "tags": ["history", "mill"],
            "source": "https://ellery.example/mill",
            "title": "The mill",
        },
    },
    {"id": "weather", "text": "Fog is common from March to May.", "metadata": {"page": 9, "nested": {"a": [1, 2]}}},
    {"id": "kiln", "text": "The mill's kiln was rebuilt after a fire. 🌾 磨坊由艾达建造。", "metadata": {"page": 4}},
    {
        "id": "wages",
        "text": "In 1911 the mill paid its carters nine shillings; who drove at night had ten.",
        "metadata": {"page": 2},
    },
]


def messages(intrinsic: str) -> list[dict[str, Any]]:
    """A conversation that ends as the intrinsic needs it."""
    return copy.deepcopy([*QUESTION, ANSWER] if intrinsic in ENDS_WITH_ANSWER else QUESTION)


def documents() -> list[dict[str, Any]]:
    return copy.deepcopy(DOCUMENTS)


def for_core(documents: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Documents as the core takes them: frameworks keep a document's title in its metadata."""
    return [{**d, "title": d["metadata"].get("title")} for d in documents]


# What has no meaning without a language model; whose replies are any words; what asks another intrinsic first.
NEEDS_A_MODEL = frozenset({"hyde", "self-consistency"})
ANSWERS_FREELY = frozenset({"self-consistency"})
ASKS_FIRST = {"revise": "hallucination-detection", "check-citations": "audit"}
