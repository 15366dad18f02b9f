"""LangChain, as the contract sees it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from langchain_core.documents import Document
from langchain_core.load import dumpd, dumps, load
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage, convert_to_messages
from langchain_rag_intrinsics import (
    AnswerabilityGate,
    AnswerCheck,
    ContextRelevanceFilter,
    IntrinsicsReranker,
    QueryExpander,
    QueryRewriter,
    Reviser,
)

from intrinsics_core.chains.transcript import MadeCall
from intrinsics_core.protocol.results import Result
from tests.contract import decisions
from tests.contract.suite import shown

CHECKS = ("uncertainty", "hallucination-detection", "citations", "fact-check", "audit", "evaluate", "answer-relevance",
          "check-citations")  # fmt: skip
COMPONENTS = {
    "query-rewrite": QueryRewriter,
    "query-expansion": QueryExpander,
    "context-relevance": ContextRelevanceFilter,
    "answerability": AnswerabilityGate,
    "reranking": IntrinsicsReranker,
    **{check: partial(AnswerCheck, checks=check) for check in CHECKS},
    "revise": Reviser,
}


CLASSES = [getattr(made, "func", made) for made in COMPONENTS.values()]


class LangChainAdapter:
    intrinsics = tuple(COMPONENTS)

    def build(self, intrinsic: str, *, runtime: Any = None, on_error: str = "raise") -> Any:
        # A query is a plain string, which cannot say that it is a fallback; the result object can.
        whole = on_error != "raise" and intrinsic in ("query-rewrite", "query-expansion")
        return COMPONENTS[intrinsic](runtime=runtime, on_error=on_error, return_result=whole)

    def inputs(
        self, intrinsic: str, messages: Sequence[Mapping[str, Any]], documents: Sequence[Mapping[str, Any]]
    ) -> dict[str, Any]:
        return {
            "messages": convert_to_messages([dict(m) for m in messages]),
            "documents": [Document(d["text"], id=d.get("id"), metadata=_scored(d)) for d in documents],
        }

    def snapshot(self, inputs: Any) -> Any:
        return {name: [item.model_dump() for item in value] for name, value in inputs.items()}

    def call(self, component: Any, inputs: Any) -> Any:
        return component.invoke(inputs)

    async def acall(self, component: Any, inputs: Any) -> Any:
        return await component.ainvoke(inputs)

    def result(self, intrinsic: str, inputs: Any, output: Any) -> dict[str, Any]:
        if isinstance(output, Result):
            return shown(intrinsic, output)
        return {
            "query-rewrite": lambda: {"query": output},
            "query-expansion": lambda: {"queries": output},
            "reranking": lambda: _ranked(inputs["documents"], output),
            "context-relevance": lambda: _judged(output),
            "answerability": lambda: output["answerability"],
            "citations": lambda: _cited(output),
        }.get(intrinsic, lambda: output.response_metadata["rag_intrinsics"][intrinsic.replace("-", "_")])()

    def documents(self, output: Any) -> list[dict[str, Any]]:
        return [{"id": d.id, "text": d.page_content, "metadata": d.metadata} for d in output]

    def dump(self, component: Any) -> Any:
        return dumpd(component)

    def load(self, dumped: Any) -> Any:
        return load(dumped, allowed_objects=CLASSES, valid_namespaces=["langchain_rag_intrinsics"])

    def check(self, **settings: Any) -> Any:
        return AnswerCheck(**settings)

    def answered(self, output: Any) -> tuple[str, Mapping[str, Any]]:
        return str(output.text), output.response_metadata.get("rag_intrinsics", {})

    def cited(self, inputs: Any) -> str:
        return str(AnswerCheck(checks="citations", citations="inline").invoke(inputs).text)

    def again(self, inputs: Any, output: Any) -> Any:
        if isinstance(output, AIMessage):
            return {**inputs, "messages": [*inputs["messages"][:-1], output]}
        return {**inputs, "documents": output}

    def guarded(self, question: str, calls: Sequence[MadeCall], answer: str, **settings: Any) -> tuple[str, Any]:
        from langchain_rag_intrinsics import GroundednessMiddleware

        asking = [{"name": call.name, "args": call.arguments, "id": call.id} for call in calls]
        told = [
            ToolMessage(
                call.result or "",
                name=call.name,
                tool_call_id=call.id,
                status="error" if call.failed else "success",
                artifact=[Document(text) for text in call.documents] if call.documents else None,
            )
            for call in calls
        ]
        working = [AIMessage("", tool_calls=asking), *told] if calls else []
        messages = [HumanMessage(question), *working, AIMessage(answer)]
        guard = GroundednessMiddleware(answer=decisions.BLOCKED, **settings)
        update = guard.after_agent({"messages": messages}, None)  # type: ignore[arg-type, typeddict-item]
        return self.answered(update["messages"][-1] if update else messages[-1])

    def retried(self, answers: Sequence[str], *, asynchronous: bool, mode: Any) -> tuple[Sequence[str], Any, str]:
        from langchain.agents import create_agent
        from langchain_rag_intrinsics import GroundednessMiddleware

        from integrations.langchain.tests.agents import search
        from integrations.langchain.tests.programs.test_agents import Script, ask, call

        model = Script(says=[call("search", query="mill"), *answers])
        guard = GroundednessMiddleware(mode=mode, answer=decisions.BLOCKED)
        agent = create_agent(model, [search([Document(decisions.MILL)])], middleware=[guard])
        messages = ask(agent, "Who built the tide mill?", asynchronous=asynchronous)["messages"]
        return ([str(m.text) for m in messages], *self.answered(messages[-1])[1:], model.seen[2][-1].text)

    def renderings(self, component: Any) -> Iterable[str]:
        yield repr(component)
        yield str(component)
        yield dumps(component)
        yield repr(component.model_dump())
        yield component.model_dump_json()
        yield repr(component.get_graph().to_json(with_schemas=True))


def _scored(document: Mapping[str, Any]) -> dict[str, Any]:
    return {**document["metadata"], **({"relevance_score": document["score"]} if "score" in document else {})}


def _degraded(output: list[Document]) -> dict[str, Any]:
    why = {d.metadata.get("reranking_degraded") for d in output}
    assert len(why) <= 1  # one result, one reason
    return {"degraded": told} if (told := next(iter(why), None)) else {}


def _ranked(given: list[Document], output: list[Document]) -> dict[str, Any]:
    rows = []
    for d in output:
        score = d.metadata.get("reranking_score")
        assert score == d.metadata.get("relevance_score")
        rows.append({"document_id": d.id, "rank": d.metadata["reranking_rank"], "score": score})
    return {"ranking": rows, **_degraded(output)}


def _judged(output: list[Document]) -> dict[str, Any]:
    rows = []
    for d in output:
        score = d.metadata.get("context_relevance_score")
        assert score == d.metadata.get("relevance_score")
        rows.append({"document_id": d.id, "label": d.metadata["context_relevance"], "score": score})
    # Each document tells its own failure; the result tells all.
    why = {d.id: d.metadata.get("context_relevance_degraded") for d in output}
    told = "; ".join(f"document {identity!r} kept: {each}" for identity, each in why.items() if each)
    return {"judgements": rows, **({"degraded": told} if told else {})}


def _cited(output: AIMessage) -> dict[str, Any]:
    """Read back from the annotations alone."""
    rows = []
    for block in output.content_blocks:
        for c in block.get("annotations", []):
            rows.append(
                {
                    "response_begin": c["start_index"],
                    "response_end": c["end_index"],
                    "response_text": block["text"][c["start_index"] : c["end_index"]],
                    "document_id": c["extras"]["document_id"],
                    "document_index": c["extras"]["document_index"],
                    "document_begin": c["extras"]["document_begin"],
                    "document_end": c["extras"]["document_end"],
                    "document_text": c["cited_text"],
                }
            )
    whole = output.response_metadata["rag_intrinsics"]["citations"]
    assert rows == whole["citations"]
    return whole
