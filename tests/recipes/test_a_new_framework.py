"""AGENTS.md, "A new framework": an adapter in plain values, and the contract suite runs on it."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable
from typing import Any

import pytest

from intrinsics_core import INTRINSICS, Runtime, arun, as_runtime, run
from intrinsics_core.intrinsics import TABLE
from intrinsics_core.runtimes import check
from tests.contract import ContractTests


class Component:
    """What a framework without manners would have: a dictionary in, the core's JSON out."""

    def __init__(self, intrinsic: str, runtime: Any = None, on_error: str = "raise") -> None:
        check(runtime)
        self.intrinsic, self.on_error = intrinsic, TABLE[intrinsic].chosen(on_error)
        self.spec = {k: v for k, v in runtime.items() if k != "api_key"} if isinstance(runtime, dict) else runtime
        self._key = runtime.get("api_key") if isinstance(runtime, dict) else None

    def _call(self, inputs: dict[str, Any]) -> Any:
        return INTRINSICS[self.intrinsic](inputs["messages"], inputs["documents"], on_error=self.on_error)

    @property
    def runtime(self) -> Runtime:
        keyed = {**self.spec, "api_key": self._key} if self._key else self.spec
        return as_runtime(keyed)


class Plain:
    intrinsics = frozenset(INTRINSICS)

    def build(self, intrinsic: str, **settings: Any) -> Component:
        return Component(intrinsic, **settings)

    def inputs(self, intrinsic: str, messages: Any, documents: Any) -> dict[str, Any]:
        titled = [{**d, "title": d["metadata"].get("title")} for d in documents]
        return {"messages": messages, "documents": titled}

    def snapshot(self, inputs: Any) -> Any:
        return copy.deepcopy(inputs)

    def call(self, component: Component, inputs: dict[str, Any]) -> dict[str, Any]:
        result = run(component._call(inputs), component.runtime)
        return {"result": result, "given": inputs["documents"]}

    async def acall(self, component: Component, inputs: dict[str, Any]) -> dict[str, Any]:
        return {"result": await arun(component._call(inputs), component.runtime), "given": inputs["documents"]}

    def result(self, intrinsic: str, inputs: Any, output: dict[str, Any]) -> dict[str, Any]:
        from tests.contract.suite import shown

        return shown(intrinsic, output["result"])

    def documents(self, output: dict[str, Any]) -> list[dict[str, Any]]:
        rows = getattr(output["result"], "ranking", None) or getattr(output["result"], "judgements", ())
        kept = [row for row in rows if getattr(row, "label", "") != "irrelevant"]
        return [{"id": None, **copy.deepcopy(output["given"][row.index])} for row in kept]

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
