"""AGENTS.md, "A new framework": an adapter in plain values, and the contract suite runs on it."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from intrinsics_core import INTRINSICS, Call, Runtime, arun, arun_many, as_runtime, run, run_many
from intrinsics_core.chains.checks import AnswerChecks, CheckedAnswer
from intrinsics_core.chains.evidence import evidence
from intrinsics_core.chains.notes import known_detection, signed, verdicts_in
from intrinsics_core.chains.scores import marked, own_score, retrievers_score, verdict_on
from intrinsics_core.chains.transcript import ChatTurn, MadeCall, messages
from intrinsics_core.intrinsics import TABLE
from intrinsics_core.render.citations import labelled, view, write
from intrinsics_core.running.steps import Steps, arun_steps, run_steps
from intrinsics_core.runtimes import check
from tests.contract import ContractTests, decisions


class Component:
    """What a framework without manners would have: a dictionary in, the core's JSON out."""

    def __init__(self, intrinsic: str, runtime: Any = None, on_error: str = "raise") -> None:
        check(runtime)
        self.intrinsic, self.on_error = intrinsic, TABLE[intrinsic].chosen(on_error)
        self.spec = {k: v for k, v in runtime.items() if k != "api_key"} if isinstance(runtime, dict) else runtime
        self._key = runtime.get("api_key") if isinstance(runtime, dict) else None

    def _call(self, inputs: dict[str, Any]) -> Any:
        messages, documents, more = inputs["messages"], inputs["documents"], {}
        if self.intrinsic == "revise":
            more = {"verdicts": known_detection(inputs.get("metadata", {}), messages[-1]["content"], documents)}
        return INTRINSICS[self.intrinsic](messages, documents, on_error=self.on_error, **more)

    @property
    def runtime(self) -> Runtime:
        keyed = {**self.spec, "api_key": self._key} if self._key else self.spec
        return as_runtime(keyed)


class AnswerCheck:
    """The same framework's check of an answer. What becomes of the answer is decided by `chains`."""

    def __init__(self, checks: Any = ("audit",), runtime: Any = None, text: str = "", **settings: Any) -> None:
        self.checks, self.runtime, self.text = AnswerChecks(checks, **settings), as_runtime(runtime), text

    def judging(self, inputs: Mapping[str, Any]) -> Steps[CheckedAnswer]:
        return self.checks.judge(inputs["messages"], inputs["documents"])

    def output(self, inputs: Mapping[str, Any], judged: CheckedAnswer) -> dict[str, Any]:
        answer, act = inputs["messages"][-1]["content"], judged.decision.act
        metadata = {} if act == "pass" else signed({}, judged.dumped, answer, inputs["documents"])
        return {"answer": self.text if act == "replace" else answer, "metadata": metadata}


class Plain:
    intrinsics = frozenset(INTRINSICS)

    def build(self, intrinsic: str, **settings: Any) -> Component:
        return Component(intrinsic, **settings)

    def check(self, **settings: Any) -> AnswerCheck:
        return AnswerCheck(**settings)

    def inputs(self, intrinsic: str, messages: Any, documents: Any) -> dict[str, Any]:
        asked = messages[-1]["content"]
        scores = [retrievers_score(d.get("score"), d["metadata"], asked) for d in documents]
        titled = [{**d, "title": d["metadata"].get("title")} for d in documents]
        return {"messages": messages, "documents": [{**d, "score": s} for d, s in zip(titled, scores, strict=True)]}

    def snapshot(self, inputs: Any) -> Any:
        return copy.deepcopy(inputs)

    def call(self, component: Any, inputs: dict[str, Any]) -> dict[str, Any]:
        if isinstance(component, AnswerCheck):

            def judged(calls: Sequence[Call[Any]]) -> list[Any]:
                return list(run_many(calls, component.runtime))

            return component.output(inputs, run_steps(component.judging(inputs), {"run": judged}))
        result = run(component._call(inputs), component.runtime)
        return {"intrinsic": component.intrinsic, "result": result, "given": inputs}

    async def acall(self, component: Any, inputs: dict[str, Any]) -> dict[str, Any]:
        if isinstance(component, AnswerCheck):

            async def judged(calls: Sequence[Call[Any]]) -> list[Any]:
                return list(await arun_many(calls, component.runtime))

            return component.output(inputs, await arun_steps(component.judging(inputs), {"run": judged}))
        result = await arun(component._call(inputs), component.runtime)
        return {"intrinsic": component.intrinsic, "result": result, "given": inputs}

    def answered(self, output: dict[str, Any]) -> tuple[str, Mapping[str, Any]]:
        return output["answer"], verdicts_in(output["metadata"])

    def cited(self, inputs: dict[str, Any]) -> str:
        answer, documents = inputs["messages"][-1]["content"], inputs["documents"]
        found = self.call(self.build("citations"), inputs)["result"]
        return write(view(found, answer, documents, "inline"), label=labelled(documents))

    def again(self, inputs: dict[str, Any], output: dict[str, Any]) -> dict[str, Any]:
        if "answer" in output:
            return {**inputs, "metadata": output["metadata"]}
        return self.inputs(output["intrinsic"], inputs["messages"], self.documents(output))

    def guarded(self, question: str, calls: Sequence[MadeCall], answer: str, **settings: Any) -> tuple[str, Any]:
        tools, turns = settings.pop("tools"), [ChatTurn("user", question)]
        turns += [ChatTurn("assistant", "", (call,)) for call in calls]
        turns.append(ChatTurn("assistant", answer))
        made = [replace(call, documents=call.documents and tuple({"text": text} for text in call.documents))
                for call in calls if call.done]  # fmt: skip
        found = evidence([], made, [], tools, text_of=lambda d: d["text"],
                         from_text=lambda call, title: {"text": call.result, "title": title},
                         question=question)  # fmt: skip
        guard = AnswerCheck("hallucination-detection", text=decisions.BLOCKED, **settings)
        return self.answered(self.call(guard, {"messages": messages(turns), "documents": found}))

    def result(self, intrinsic: str, inputs: Any, output: dict[str, Any]) -> dict[str, Any]:
        from tests.contract.suite import shown

        return shown(intrinsic, output["result"])

    def documents(self, output: dict[str, Any]) -> list[dict[str, Any]]:
        result, asked = output["result"], output["given"]["messages"][-1]["content"]
        rows = getattr(result, "ranking", None) or getattr(result, "judgements", ())
        found = []
        for row in rows:
            if getattr(row, "label", "") != "irrelevant":
                given = output["given"]["documents"][row.index]
                verdict = verdict_on(output["intrinsic"], row, result)
                metadata = marked(given["metadata"], verdict, given["score"], asked)
                score = own_score(row, result, given["score"])
                found.append({"id": given.get("id"), "text": given["text"], "metadata": metadata, "score": score})
        return found

    def dump(self, component: Component) -> Any:
        return {"intrinsic": component.intrinsic, "runtime": component.spec, "on_error": component.on_error}

    def load(self, dumped: Any) -> Component:
        return Component(dumped["intrinsic"], dumped["runtime"], dumped["on_error"])

    def renderings(self, component: Component) -> Iterable[str]:
        yield repr(component)
        yield json.dumps(self.dump(component))


class Few(Plain):
    """One intrinsic of each kind: on the question, on documents, on an answer with offsets, with its own fallbacks."""

    intrinsics = frozenset({"query-rewrite", "reranking", "citations", "answerability"})


class TestContract(ContractTests):
    adapter = Few()


@pytest.mark.slow
class TestWholeContract(ContractTests):
    adapter = Plain()
