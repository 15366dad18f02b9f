"""Haystack, as the contract sees it."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from haystack import Document, Pipeline
from haystack.components.agents import Agent
from haystack.components.agents.state import State
from haystack.core.serialization import component_from_dict, component_to_dict
from haystack.dataclasses import ChatMessage, ToolCall
from haystack_integrations.components.query.rag_intrinsics import RagIntrinsicsQueryExpander, RagIntrinsicsQueryRewriter
from haystack_integrations.components.rankers.rag_intrinsics import (
    RagIntrinsicsContextRelevanceFilter,
    RagIntrinsicsRanker,
)
from haystack_integrations.components.routers.rag_intrinsics import RagIntrinsicsAnswerabilityRouter
from haystack_integrations.components.validators.rag_intrinsics import RagIntrinsicsAnswerCheck, RagIntrinsicsReviser
from haystack_integrations.hooks.rag_intrinsics import RagIntrinsicsGroundednessHook

from integrations.haystack.tests.agents import search
from integrations.haystack.tests.generators import AsyncGenerator
from intrinsics_core.chains.checks import known_checks
from intrinsics_core.chains.transcript import MadeCall
from tests.contract import decisions

CHECKS = tuple(known_checks())
COMPONENTS: dict[str, Any] = {
    "query-rewrite": RagIntrinsicsQueryRewriter,
    "query-expansion": RagIntrinsicsQueryExpander,
    "context-relevance": RagIntrinsicsContextRelevanceFilter,
    "answerability": RagIntrinsicsAnswerabilityRouter,
    "reranking": RagIntrinsicsRanker,
    **dict.fromkeys(CHECKS, RagIntrinsicsAnswerCheck),
    "revise": RagIntrinsicsReviser,
}
FROM_CHAT = {
    "user": ChatMessage.from_user,
    "assistant": ChatMessage.from_assistant,
    "system": ChatMessage.from_system,
}


def built(intrinsic: str, **settings: Any) -> Any:
    """The component that serves an intrinsic."""
    checks = {"checks": intrinsic} if intrinsic in CHECKS else {}
    return COMPONENTS[intrinsic](**checks, **settings)


class HaystackAdapter:
    intrinsics = tuple(COMPONENTS)

    def build(self, intrinsic: str, *, runtime: Any = None, on_error: str = "raise") -> Any:
        return built(intrinsic, runtime=runtime, on_error=on_error)

    def inputs(
        self, intrinsic: str, messages: Sequence[Mapping[str, Any]], documents: Sequence[Mapping[str, Any]]
    ) -> dict[str, Any]:
        turns = [FROM_CHAT[m["role"]](m["content"]) for m in messages]
        replies = [turns.pop()] if turns[-1].role.value == "assistant" else None
        found = [
            Document(id=d.get("id", ""), content=d["text"], meta=copy.deepcopy(d["metadata"]), score=d.get("score"))
            for d in documents
        ]
        given = {"query": turns.pop().text, "history": turns}
        return (
            given
            | ({} if replies is None else {"replies": replies})
            | ({} if intrinsic == "query-rewrite" else {"documents": found})
        )

    def snapshot(self, inputs: Any) -> Any:
        return copy.deepcopy({
            name: [item.to_dict() for item in value] if isinstance(value, list) else value
            for name, value in inputs.items()
        })  # fmt: skip

    def call(self, component: Any, inputs: Any) -> Any:
        return component.run(**inputs)

    async def acall(self, component: Any, inputs: Any) -> Any:
        return await component.run_async(**inputs)

    def result(self, intrinsic: str, inputs: Any, output: Any) -> dict[str, Any]:
        if "replies" in output:
            return _replied(intrinsic, inputs, output)
        return {
            "query-rewrite": lambda: {"query": output["standalone_query"], **_degraded(output["result"])},
            "query-expansion": lambda: {"queries": output["queries"], **_degraded(output["result"])},
            "reranking": lambda: _ranked(output),
            "context-relevance": lambda: _judged(output),
            "answerability": lambda: _routed(inputs, output),
        }[intrinsic]()

    def documents(self, output: Any) -> list[dict[str, Any]]:
        return [{"id": d.id, "text": d.content, "metadata": d.meta} for d in output["documents"]]

    def dump(self, component: Any) -> Any:
        return component_to_dict(component, "component")

    def load(self, dumped: Any) -> Any:
        kinds = {f"{kind.__module__}.{kind.__name__}": kind for kind in COMPONENTS.values()}
        return component_from_dict(kinds[dumped["type"]], dumped, "component")

    def check(self, **settings: Any) -> Any:
        return RagIntrinsicsAnswerCheck(citations=None, **settings)

    def answered(self, output: Any) -> tuple[str, Mapping[str, Any]]:
        [reply] = output["replies"]
        return str(reply.text), reply.meta.get("rag_intrinsics", {})

    def cited(self, inputs: Any) -> str:
        [reply] = self.call(RagIntrinsicsAnswerCheck(checks="citations", citations="inline"), inputs)["replies"]
        return str(reply.text)

    def again(self, inputs: Any, output: Any) -> Any:
        return {**inputs, **{name: output[name] for name in ("replies", "documents") if name in output}}

    def guarded(self, question: str, calls: Sequence[MadeCall], answer: str, **settings: Any) -> tuple[str, Any]:
        asked = [ToolCall(call.name, dict(call.arguments), id=call.id) for call in calls]
        told = [
            ChatMessage.from_tool(call.result or "", origin=made, error=call.failed)
            for call, made in zip(calls, asked, strict=True)
        ]
        working = [ChatMessage.from_assistant(tool_calls=asked), *told] if calls else []
        messages = [ChatMessage.from_user(question), *working, ChatMessage.from_assistant(answer)]
        found = [Document(content=text) for call in calls for text in call.documents or ()]
        state = State({"documents": {"type": list[Document]}}, {"messages": messages, "documents": found})
        RagIntrinsicsGroundednessHook(text=decisions.BLOCKED, **settings).run(state)
        return self.answered({"replies": state.data["messages"][-1:]})

    def retried(self, answers: Sequence[str], *, asynchronous: bool, mode: Any) -> tuple[Sequence[str], Any, str]:
        calls = [ChatMessage.from_assistant(tool_calls=[ToolCall("search", {"query": "mill"}, id="1")])]
        said, seen = iter([*calls, *answers]), list[str]()
        model = AsyncGenerator(lambda messages, _: seen.append(messages[-1].text) or next(said))
        hook = RagIntrinsicsGroundednessHook(mode=mode, text=decisions.BLOCKED)
        agent = Agent(chat_generator=model, tools=[search], hooks=hook.hooks)
        turns = [ChatMessage.from_user("Who built the tide mill?")]
        found = asyncio.run(agent.run_async(messages=turns)) if asynchronous else agent.run(messages=turns)
        verdicts = self.answered({"replies": found["messages"][-1:]})[1]
        return [message.text or "" for message in found["messages"]], verdicts, seen[2]

    def renderings(self, component: Any) -> Iterable[str]:
        yield repr(component)
        yield str(component)
        yield repr(vars(component))
        pipeline = Pipeline()
        pipeline.add_component("component", component)
        yield pipeline.dumps()
        yield repr(pipeline)
        yield repr(pipeline.to_dict())


def _degraded(result: Mapping[str, Any]) -> dict[str, Any]:
    return {"degraded": result["degraded"]} if "degraded" in result else {}


def _ranked(output: Mapping[str, Any]) -> dict[str, Any]:
    rows, result = [], output["result"]
    for document in output["documents"]:
        meta = document.meta
        assert meta.get("reranking_score") == document.score
        assert meta.get("reranking_degraded") == result.get("degraded")
        rows.append({"document_id": document.id, "rank": meta["reranking_rank"], "score": document.score})
    return {"ranking": rows, **_degraded(result)}


def _judged(output: Mapping[str, Any]) -> dict[str, Any]:
    rows = []
    for document in output["documents"]:
        meta = document.meta
        label, score = meta["context_relevance"], meta.get("context_relevance_score")
        assert score == document.score or "context_relevance_degraded" in meta
        rows.append({"document_id": document.id, "label": label, "score": score})
    return {"judgements": rows, **_degraded(output["result"])}


def _routed(inputs: Mapping[str, Any], output: dict[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = output["result"]
    expected = {"answerable": inputs["documents"], "unanswerable": inputs["query"]}[result["label"]]
    assert output == {result["label"]: expected, "result": result}  # one way, never both
    return result


def _replied(intrinsic: str, inputs: Mapping[str, Any], output: Mapping[str, Any]) -> dict[str, Any]:
    [result], [reply], name = output["results"], output["replies"], intrinsic.replace("-", "_")
    if intrinsic in CHECKS:
        result = result[name]
    assert reply.meta["rag_intrinsics"][name] == result
    if intrinsic == "revise":
        assert reply.text == (result["answer"] if result["changes"] else inputs["replies"][0].text)
    elif intrinsic not in ("citations", "audit"):
        assert reply.text == inputs["replies"][0].text
    return dict(result)
