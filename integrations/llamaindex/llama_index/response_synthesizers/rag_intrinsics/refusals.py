"""No answer, in the form in which there would have been one."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator
from dataclasses import dataclass
from typing import Any

from llama_index.core.base.response.schema import (
    RESPONSE_TYPE,
    AsyncStreamingResponse,
    PydanticResponse,
    Response,
    StreamingResponse,
)
from llama_index.core.schema import NodeWithScore
from pydantic import BaseModel

Canned = str | BaseModel | Callable[[str], Any]


@dataclass
class PlainRefusal(Response):
    """A response that is shown as it is, also where it is empty (LlamaIndex's own shows ``None`` then)."""

    def __str__(self) -> str:
        return self.response or ""


@dataclass
class StructuredRefusal(PydanticResponse):
    """A structured response without an object: every field of it reads as None, and its text is the canned one."""

    canned: str = ""

    def __str__(self) -> str:
        return self.canned

    def get_response(self) -> Response:
        return PlainRefusal(self.canned, self.source_nodes, self.metadata)


def refusal(
    canned: str | BaseModel, nodes: list[NodeWithScore], metadata: dict[str, Any], how: str, structured: bool
) -> RESPONSE_TYPE:
    """
    Args:
        how: ``"whole"``, or ``"stream"`` or ``"astream"`` for a stream that says it.
        structured: whether the answer would have been an object.
    """
    if isinstance(canned, BaseModel):
        return PydanticResponse(canned, nodes, metadata)
    if structured:
        return StructuredRefusal(None, nodes, metadata, canned)
    if how == "stream":
        return StreamingResponse(tokens(canned), nodes, metadata)
    if how == "astream":
        return AsyncStreamingResponse(atokens(canned), nodes, metadata)
    return PlainRefusal(canned, nodes, metadata)


def tokens(text: str) -> Generator[str, None, None]:
    yield text


async def atokens(text: str) -> AsyncGenerator[str, None]:
    yield text
