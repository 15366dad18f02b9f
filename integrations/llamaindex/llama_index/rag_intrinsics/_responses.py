"""What a response says and what it was given from, whichever of LlamaIndex's classes it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from llama_index.core.agent.workflow import AgentOutput
from llama_index.core.base.response.schema import AsyncStreamingResponse, StreamingResponse
from llama_index.core.chat_engine.types import StreamingAgentChatResponse
from llama_index.core.schema import NodeWithScore


def answer_of(response: Any) -> str:
    """The response's text: of a structured one its JSON, of a stream what has come; ``""`` where there is none."""
    if isinstance(response, AgentOutput):
        return response.response.content or ""
    if isinstance(response, StreamingResponse | AsyncStreamingResponse):
        return response.response_txt or ""
    said = response.response
    return said if isinstance(said, str) else "" if said is None else str(response)


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
