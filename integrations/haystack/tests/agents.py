"""A tool for agents, and what a hook says of their answers."""

from typing import Annotated, Any

from haystack.dataclasses import ChatMessage
from haystack.tools import tool

from integrations.haystack.tests.scripts import documents


@tool
def search(query: Annotated[str, "what to look for"]) -> str:
    """Search the town's archive."""
    return "\n".join(d.content or "" for d in documents())


def verdict(message: ChatMessage) -> Any:
    return message.meta.get("rag_intrinsics", {}).get("hallucination_detection")
