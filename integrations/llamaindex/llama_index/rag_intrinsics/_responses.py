"""What a response says and what it was given from, whichever of LlamaIndex's classes it is."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from llama_index.core.agent.workflow import AgentOutput
from llama_index.core.base.response.schema import AsyncStreamingResponse, PydanticResponse, StreamingResponse
from llama_index.core.chat_engine.types import StreamingAgentChatResponse
from llama_index.core.schema import BaseNode, NodeWithScore, TextNode
from llama_index.core.tools import ToolOutput
from llama_index.rag_intrinsics._sub_questions import judged_by
from pydantic import BaseModel

from intrinsics_core import InvalidInput
from intrinsics_core.chains.fields import as_lines, object_in


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
        words = [] if object_in(said) is not None else [*filter(str.strip, [said])]
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


def sources_of(response: Any, tools: Collection[str] | None = ()) -> list[NodeWithScore]:
    """The nodes that it was given from, without sub-answers; an agent's are what its tools returned.

    Args:
        tools: names of an agent's tools whose texts are sources, too; None for all. They stand behind the nodes.
    """
    if not isinstance(response, AgentOutput):
        return judged_by(response.source_nodes)
    outputs = _outputs(response)
    nodes = [node for _, output in outputs for node in _nodes(output.raw_output)]
    nodes += _nodes(response.raw)  # where a tool with return_direct gave the answer
    return [*judged_by(nodes), *(_as_node(call, output) for call, output in outputs if _is_text(output, tools))]


def calls_of(response: Any) -> list[dict[str, Any]]:
    """The tool calls of an agent that did something other than return nodes, and did not fail, as the core takes them.

    By them the report of an action is told from a claim.
    """
    outputs = _outputs(response) if isinstance(response, AgentOutput) else ()
    return [
        {"name": call.tool_name, "arguments": call.tool_kwargs, "result": output.content}
        for call, output in outputs
        if not output.is_error and not _nodes(output.raw_output)
    ]


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


def _outputs(response: AgentOutput) -> list[tuple[Any, ToolOutput]]:
    """The calls that have returned something, each with that."""
    calls: list[Any] = list(response.tool_calls)
    return [(call, call.tool_output) for call in calls if getattr(call, "tool_output", None) is not None]


def _nodes(raw: Any) -> list[NodeWithScore]:
    """Of a tool's output: a response's sources, or the nodes themselves. Other tools ("sent") return no sources."""
    if isinstance(raw, AgentOutput):
        return sources_of(raw)
    found = getattr(raw, "source_nodes", raw)
    found = found if isinstance(found, list | tuple) else [found]
    nodes = [NodeWithScore(node=node) if isinstance(node, BaseNode) else node for node in found]
    return [node for node in nodes if isinstance(node, NodeWithScore)]


def _is_text(output: ToolOutput, tools: Collection[str] | None) -> bool:
    named = tools is None or output.tool_name in tools
    return named and not output.is_error and not _nodes(output.raw_output) and bool(output.content.strip())


def _as_node(call: Any, output: ToolOutput) -> NodeWithScore:
    return NodeWithScore(node=TextNode(id_=str(call.tool_id), text=output.content))
