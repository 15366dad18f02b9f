"""What a response says and what it was given from, whichever of LlamaIndex's classes it is."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from llama_index.core.agent.workflow import AgentOutput
from llama_index.core.base.llms.types import TextBlock
from llama_index.core.base.response.schema import AsyncStreamingResponse, PydanticResponse, Response, StreamingResponse
from llama_index.core.chat_engine.types import StreamingAgentChatResponse
from llama_index.core.llms import ChatMessage
from llama_index.core.schema import BaseNode, NodeWithScore, TextNode
from llama_index.core.tools import ToolOutput
from llama_index.rag_intrinsics._inputs import distinct, same, text_of
from pydantic import BaseModel

from intrinsics_core import InvalidInput
from intrinsics_core.chains import scores
from intrinsics_core.chains.evidence import evidence, tool_names
from intrinsics_core.chains.fields import as_lines, object_in
from intrinsics_core.chains.notes import underscored, with_verdicts, without_verdicts
from intrinsics_core.chains.transcript import MadeCall


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


def sources_of(response: Any, tools: Collection[str] | None = None, question: str = "") -> list[NodeWithScore]:
    """The nodes that it was given from, each once and without sub-answers; an agent's are what its tools returned.

    Args:
        tools: names of an agent's tools whose texts are sources beside the nodes; None: those of all, where no tool
            returned nodes (`chains.evidence`).
        question: what was asked.
    """
    if not isinstance(response, AgentOutput):
        return distinct(judged_by(response.source_nodes))
    direct = judged_by(_nodes(response.raw) or ())  # where a tool with return_direct gave the answer
    now = [call for call in calls_of(response) if call.done]
    return evidence(direct, now, (), tool_names(tools), text_of=text_of,
                    from_text=_as_node, question=question, key=same)  # fmt: skip


def calls_of(response: Any) -> list[MadeCall]:
    """The tool calls of an agent that have answered, each with the nodes that it returned."""
    if not isinstance(response, AgentOutput):
        return []
    calls: list[Any] = list(response.tool_calls)
    return [_made(call, call.tool_output) for call in calls if getattr(call, "tool_output", None) is not None]


def _made(call: Any, output: ToolOutput) -> MadeCall:
    nodes = _nodes(output.raw_output)
    returned = None if nodes is None else tuple(judged_by(nodes))
    return MadeCall(call.tool_name, call.tool_kwargs, str(call.tool_id), output.content, output.is_error, returned)


def _nodes(raw: Any) -> list[NodeWithScore] | None:
    """Of a tool's output: a response's sources, or the nodes themselves. Other tools ("sent") return none."""
    if isinstance(raw, AgentOutput):
        return sources_of(raw)
    found = getattr(raw, "source_nodes", raw)
    found = found if isinstance(found, list | tuple) else [found]
    nodes = [NodeWithScore(node=node) if isinstance(node, BaseNode) else node for node in found]
    kept = [node for node in nodes if isinstance(node, NodeWithScore)]
    return kept if kept or not nodes else None


def _as_node(call: MadeCall, title: str | None) -> NodeWithScore:
    metadata = {"title": title} if title else {}
    return NodeWithScore(node=TextNode(id_=call.id or call.name, text=call.result or "", metadata=metadata))


def noted_on(response: Any) -> Mapping[str, Any]:
    """Where verdicts are written: a response's metadata, of an agent's output what its message has beside the text."""
    if isinstance(response, AgentOutput):
        return response.response.additional_kwargs
    return getattr(response, "metadata", None) or {}


def noted(response: Any, verdicts: Mapping[str, Any]) -> Any:
    """A copy of any response, streaming ones too, with verdicts beside those that are there."""
    metadata = with_verdicts(noted_on(response), {underscored(name): verdict for name, verdict in verdicts.items()})
    if isinstance(response, AgentOutput):
        message = response.response.model_copy(update={"additional_kwargs": metadata})
        return response.model_copy(update={"response": message})
    return replace(response, metadata=metadata)


def saying(response: Any, text: str) -> Any:
    """A copy that says this, without the verdicts on what it said before."""
    kept = without_verdicts(noted_on(response))
    if isinstance(response, AgentOutput):
        said = response.response
        # Calls of tools beside the text stay.
        blocks: list[Any] = [block for block in said.blocks if not isinstance(block, TextBlock)]
        first = next((i for i, block in enumerate(said.blocks) if isinstance(block, TextBlock)), 0)
        blocks.insert(first, TextBlock(text=text))
        message = ChatMessage(blocks=blocks, role=said.role, additional_kwargs=kept)
        return response.model_copy(update={"response": message, "structured_response": None})
    if isinstance(response, PydanticResponse):
        return StructuredRefusal(None, response.source_nodes, kept, text)
    field = "response_txt" if hasattr(response, "response_txt") else "response"
    return replace(response, **{field: text}, metadata=kept)


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


def under_way(response: Any) -> bool:
    """Whether its tokens are still to come, or are coming."""
    if isinstance(response, StreamingResponse | AsyncStreamingResponse):
        return response.response_txt is None
    return isinstance(response, StreamingAgentChatResponse)


def as_stream(response: Any) -> Any:
    """A stream that has metadata: that of a chat engine, whose class has none, as a query engine's."""
    if not isinstance(response, StreamingAgentChatResponse):
        return response
    if response.achat_stream is None:
        return StreamingResponse(response.response_gen, response.source_nodes)
    return AsyncStreamingResponse(response.async_response_gen(), response.source_nodes)


# --- sub-answers ----------------------------------------------------------------------------------------------------
# ``SubQuestionQueryEngine`` and ``MultiStepQueryEngine`` give a synthesizer questions of their own, answered by an LLM.
# Such an answer is no source: what it was given from comes beside it.

# How each engine writes a node: what stands in front of the question, and in front of the answer.
_SUB_QUESTION = ("Sub question: ", "\nResponse: ")
_MULTI_STEP = ("\nQuestion: ", "\nAnswer: ")


def sub_answers(nodes: Iterable[NodeWithScore]) -> list[tuple[str, str]]:
    """The sub-questions among the nodes, each with its answer, in order."""
    return [part for part in map(_sub_answer, nodes) if part is not None]


def judged_by(nodes: Iterable[NodeWithScore], behind: Sequence[NodeWithScore] | None = None) -> list[NodeWithScore]:
    """The nodes by which an answer is judged that was given from these: all but the sub-answers.

    Args:
        behind: what sub-answers were given from, if there are any.
    """
    given = list(nodes)
    sources = [node for node in given if _sub_answer(node) is None]
    return sources if len(sources) == len(given) else [*sources, *(behind or ())]


def _sub_answer(item: NodeWithScore) -> tuple[str, str] | None:
    text, node = text_of(item), item.node
    # A node that is cut out of a document may be a list of questions and answers.
    of_a_document = bool(node.relationships or node.embedding or node.metadata.keys() - set(scores.KEYS))
    asked, answered = _MULTI_STEP if text.startswith(_MULTI_STEP[0]) and not of_a_document else _SUB_QUESTION
    question, behind, answer = text.removeprefix(asked).partition(answered)
    return (question, answer) if behind and text.startswith(asked) else None
