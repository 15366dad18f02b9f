"""What a response says and what it was given from, whichever of LlamaIndex's classes it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from llama_index.core.agent.workflow import AgentOutput
from llama_index.core.base.response.schema import AsyncStreamingResponse, PydanticResponse, StreamingResponse
from llama_index.core.chat_engine.types import StreamingAgentChatResponse
from llama_index.core.schema import NodeWithScore
from pydantic import BaseModel

from intrinsics_core import InvalidInput
from intrinsics_core.text.fields import as_lines


def answer_of(response: Any) -> str:
    """The response's text: of an object or dict its fields, a line each; of a stream what has come; ``""`` where there
    is none. Of an agent's output with an object it is what the agent said, unless that is the object as JSON, and the
    object's fields.

    Raises:
        InvalidInput: it is no response.
    """
    if isinstance(response, AgentOutput):
        said = response.response.content or ""
        if not response.structured_response:
            return said
        words = [] if said.lstrip().startswith(("{", "[")) else [*filter(str.strip, [said])]
        return "\n".join([*words, *as_lines(response.structured_response)])
    if isinstance(response, StreamingResponse | AsyncStreamingResponse):
        return response.response_txt or ""
    if not hasattr(response, "response"):
        raise InvalidInput("response is not a response", expected="Response, AgentChatResponse or AgentOutput",
                           got=type(response).__name__)  # fmt: skip
    answer = response.response
    return answer if isinstance(answer, str) else "\n".join(as_lines(answer))


def is_structured(response: Any) -> bool:
    """Whether the answer is an object, or has one beside its text."""
    if isinstance(response, AgentOutput):
        return bool(response.structured_response)
    return isinstance(response, PydanticResponse) or isinstance(
        getattr(response, "response", None), Mapping | BaseModel
    )


def sources_of(response: Any) -> list[NodeWithScore]:
    """The nodes that it was given from; an agent's are what its tools returned."""
    if isinstance(response, AgentOutput):
        outputs = [getattr(call, "tool_output", None) for call in response.tool_calls]
        return [node for output in outputs if output is not None for node in _nodes(output.raw_output)]
    return list(response.source_nodes)


def noted_on(response: Any) -> Mapping[str, Any]:
    """Where verdicts are written: a response's metadata, of an agent's output what its message has beside the text."""
    if isinstance(response, AgentOutput):
        return response.response.additional_kwargs
    return getattr(response, "metadata", None) or {}


def under_way(response: Any) -> bool:
    """Whether its tokens are still to come, or are coming."""
    if isinstance(response, StreamingResponse | AsyncStreamingResponse):
        return response.response_txt is None
    return isinstance(response, StreamingAgentChatResponse)


def _nodes(raw: Any) -> Iterable[NodeWithScore]:
    """Of a tool's output: a response's sources, or the nodes themselves. Other tools ("sent") return no sources."""
    found = getattr(raw, "source_nodes", raw)
    return [node for node in found if isinstance(node, NodeWithScore)] if isinstance(found, list | tuple) else []
