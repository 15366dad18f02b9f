"""LlamaIndex, as the contract sees it."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from llama_index.core.agent.workflow import AgentOutput, ToolCallResult
from llama_index.core.base.response.schema import Response
from llama_index.core.llms import ChatMessage
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.core.tools import ToolOutput
from llama_index.evaluation.rag_intrinsics import IntrinsicEvaluator
from llama_index.postprocessor.rag_intrinsics import ContextRelevancePostprocessor, IntrinsicsRerank
from llama_index.postprocessor.rag_intrinsics.postprocessors import JudgingPostprocessor
from llama_index.query_transform.rag_intrinsics import QueryExpansionTransform, QueryRewriteTransform
from llama_index.rag_intrinsics import ConversationQuery
from llama_index.response_synthesizers.rag_intrinsics import AnswerCheck, Reviser, cited

from intrinsics_core.chains.transcript import MadeCall
from intrinsics_core.protocol.query_form import embedding_query
from tests.contract import decisions
from tests.contract.suite import shown

CHECKED = ("citations", "audit", "check-citations")
EVALUATED = ("answerability", "uncertainty", "hallucination-detection", "fact-check", "answer-relevance", "evaluate")
COMPONENTS: dict[str, Any] = {
    "query-rewrite": QueryRewriteTransform,
    "query-expansion": QueryExpansionTransform,
    "context-relevance": ContextRelevancePostprocessor,
    "reranking": IntrinsicsRerank,
    **{name: partial(AnswerCheck, name) for name in CHECKED},
    "revise": Reviser,
    **{name: partial(IntrinsicEvaluator, name) for name in EVALUATED},
}


@dataclass
class Inputs:
    query: ConversationQuery
    response: Response
    scores: dict[str, float | None]  # what the retriever gave, by text


class LlamaIndexAdapter:
    intrinsics = tuple(COMPONENTS)

    def build(self, intrinsic: str, *, runtime: Any = None, on_error: str = "raise") -> Any:
        return COMPONENTS[intrinsic](runtime=runtime, on_error=on_error)

    def inputs(
        self, intrinsic: str, messages: Sequence[Mapping[str, Any]], documents: Sequence[Mapping[str, Any]]
    ) -> Inputs:
        turns = [ChatMessage(m["content"], role=m["role"]) for m in messages]
        answer = turns.pop().content if messages[-1]["role"] == "assistant" else None
        nodes = [
            NodeWithScore(
                node=TextNode(
                    text=d["text"],
                    metadata=d["metadata"],
                    # The contract's core is given the titles alone: nothing else of the metadata is to be shown.
                    excluded_llm_metadata_keys=hidden(d["metadata"]),
                    excluded_embed_metadata_keys=hidden(d["metadata"]),
                    **({"id_": d["id"]} if "id" in d else {}),
                ),
                score=d.get("score"),
            )
            for d in documents
        ]
        query = ConversationQuery(str(turns[-1].content), chat_history=turns[:-1])
        given = {d["text"]: d.get("score") for d in documents}
        return Inputs(query, Response(answer, source_nodes=nodes, metadata={"kept": True}), given)

    def snapshot(self, inputs: Inputs) -> Any:
        nodes = [n.model_dump() for n in inputs.response.source_nodes]
        turns = [m.model_dump() for m in inputs.query.chat_history]
        metadata = copy.deepcopy(inputs.response.metadata)
        return nodes, turns, inputs.query.query_str, inputs.query.embedding_strs, inputs.response.response, metadata

    def call(self, component: Any, inputs: Inputs) -> Any:
        method, given = _asking(component, inputs)
        return getattr(component, method)(*given)

    async def acall(self, component: Any, inputs: Inputs) -> Any:
        method, given = _asking(component, inputs)
        return await getattr(component, f"a{method}")(*given)

    def result(self, intrinsic: str, inputs: Inputs, output: Any) -> dict[str, Any]:
        return {
            "query-rewrite": lambda: _rewritten(output),
            "query-expansion": lambda: _expanded(output),
            "reranking": lambda: _judged(output, inputs, intrinsic, "ranking", "rank", "score"),
            "context-relevance": lambda: _judged(output, inputs, intrinsic, "judgements", "label", "score"),
            "citations": lambda: _annotated(output),
            "audit": lambda: _annotated(output),
            "check-citations": lambda: _annotated(output),
            "revise": lambda: _annotated(output),
        }.get(intrinsic, lambda: _evaluated(output))()

    def documents(self, output: Any) -> list[dict[str, Any]]:
        return [{"id": n.node_id, "text": n.node.get_content(), "metadata": n.node.metadata} for n in output]

    def dump(self, component: Any) -> Any:
        return component.to_dict()

    def load(self, dumped: Any) -> Any:
        kinds = [*(kind for kind in COMPONENTS.values() if isinstance(kind, type)), AnswerCheck, IntrinsicEvaluator]
        return {kind.class_name(): kind for kind in kinds}[dumped["class_name"]].from_dict(dumped)

    def check(self, **settings: Any) -> Any:
        return AnswerCheck(**settings)

    def answered(self, output: Any) -> tuple[str, Mapping[str, Any]]:
        return str(output.response), output.metadata.get("rag_intrinsics", {})

    def cited(self, inputs: Any) -> str:
        return cited(self.call(AnswerCheck("citations"), inputs), "inline")

    def again(self, inputs: Inputs, output: Any) -> Inputs:
        response = output if isinstance(output, Response) else replace(inputs.response, source_nodes=output)
        return replace(inputs, response=response)

    def guarded(self, question: str, calls: Sequence[MadeCall], answer: str, **settings: Any) -> tuple[str, Any]:
        output = AgentOutput(response=ChatMessage(answer, role="assistant"), current_agent_name="Agent")
        output.tool_calls = [_called(call) for call in calls]
        check = AnswerCheck(checks="hallucination-detection", text=decisions.BLOCKED, **settings)
        message = check.check(question, output).response
        return str(message.content), message.additional_kwargs.get("rag_intrinsics", {})

    def renderings(self, component: Any) -> Iterable[str]:
        yield repr(component)
        yield str(component)
        yield component.to_json()
        yield repr(component.model_dump())
        yield component.model_dump_json()
        yield repr(component.model_dump(mode="python", round_trip=True))
        yield repr(vars(component))


def _asking(component: Any, inputs: Inputs) -> tuple[str, tuple[Any, ...]]:
    """The method that a component of this kind is asked by, and what it is given."""
    if isinstance(component, JudgingPostprocessor):
        return "postprocess_nodes", (inputs.response.source_nodes, inputs.query)
    methods = {IntrinsicEvaluator: "evaluate_response", AnswerCheck: "check", Reviser: "revise"}
    for kind, method in methods.items():
        if isinstance(component, kind):
            return method, (inputs.query, inputs.response)
    return "run", (inputs.query, {"nodes": inputs.response.source_nodes})


def _called(call: MadeCall) -> Any:
    nodes = [NodeWithScore(node=TextNode(text=text)) for text in call.documents or ()]
    told = ToolOutput(
        content=call.result or "",
        tool_name=call.name,
        raw_input=dict(call.arguments),
        raw_output=nodes or call.result,
        is_error=call.failed,
    )
    return ToolCallResult(tool_name=call.name, tool_kwargs=dict(call.arguments), tool_id=str(call.id),
                          tool_output=told, return_direct=False)  # fmt: skip


def hidden(metadata: Mapping[str, Any]) -> list[str]:
    return [key for key in metadata if key != "title"]


def _why(degraded: str | None) -> dict[str, Any]:
    return {"degraded": degraded} if degraded else {}


def _rewritten(output: QueryBundle) -> dict[str, Any]:
    assert output.embedding_strs == [embedding_query(output.rewrite)]
    return {"query": output.query_str, **_why(output.rewrite.degraded)}


def _expanded(output: QueryBundle) -> dict[str, Any]:
    whole = shown("query-expansion", output.expansion)
    assert whole["queries"] == output.embedding_strs
    return whole


def _judged(output: list[NodeWithScore], inputs: Inputs, intrinsic: str, rows: str, *names: str) -> dict[str, Any]:
    found, why = [], {}
    for item in output:
        flat = intrinsic.replace("-", "_")
        verdict = {name: item.metadata.get(flat if name == "label" else f"{flat}_{name}") for name in names}
        given = inputs.scores[item.node.get_content()]
        assert item.metadata.get("retrieval_score") == given
        assert item.score == (given if verdict["score"] is None else verdict["score"])
        if reason := item.metadata.get(f"{flat}_degraded"):
            why[item.node_id] = reason
        found.append({"document_id": item.node_id, **verdict})
    if intrinsic == "context-relevance":  # to each node its own reason
        return {rows: found, **_why("; ".join(f"document {name!r} kept: {reason}" for name, reason in why.items()))}
    assert len(set(why.values())) <= 1  # one result, one reason
    return {rows: found, **_why(next(iter(why.values()), None))}


def _evaluated(output: Any) -> dict[str, Any]:
    assert output.invalid_reason == output.verdict.get("degraded")
    assert output.invalid_result == ("degraded" in output.verdict)
    return output.verdict


def _annotated(output: Response) -> dict[str, Any]:
    assert output.metadata["kept"] is True
    (whole,) = (verdict for name, verdict in output.metadata["rag_intrinsics"].items() if name != "about")
    return whole
