"""Fact check as a tool."""

from __future__ import annotations

import json
from typing import Any, Literal

from langchain_core.callbacks import AsyncCallbackManagerForToolRun, CallbackManagerForToolRun
from langchain_core.tools import BaseTool
from pydantic import BaseModel, Field

from langchain_rag_intrinsics.fact_checker import FactChecker


class FactCheckInput(BaseModel):
    """What a model fills in."""

    question: str = Field(description="The question that the answer answers.")
    answer: str = Field(description="The answer to check.")
    sources: list[str] = Field(description="The passages to check the answer against.")


class FactCheckTool(BaseTool):
    """Lets an agent check an answer against passages before it gives it.

    Content is the JSON of the core's FactCheck (a score from 0, contradicted or unsupported, to 1, and the sources that
    it rests on, by position from 0); the artifact is the same as a dict.

    Args:
        checker: the fact checker that does the work, with its runtime and selection of sources.

    Example:
        >>> from langchain_rag_intrinsics import FactCheckTool
        >>> tool = FactCheckTool()
        >>> print(tool.invoke({"question": "Who built the mill?", "answer": "Ada Brink.",
        ...                    "sources": ["Ada Brink built the tide mill in 1911."]})[:9])
        {"score":
    """

    name: str = "fact_check"
    description: str = (
        "Check an answer against source passages. Returns a factuality score from 0 to 1 and the sources it rests on."
    )
    args_schema: Any = FactCheckInput
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    checker: FactChecker = Field(default_factory=FactChecker)

    def _run(
        self, question: str, answer: str, sources: list[str], run_manager: CallbackManagerForToolRun | None = None
    ) -> tuple[str, dict[str, Any]]:
        given = {"question": question, "answer": answer, "documents": sources}
        config: Any = {"callbacks": run_manager.get_child()} if run_manager else None
        return _content_and_artifact(self.checker.returning_result().invoke(given, config))

    async def _arun(
        self, question: str, answer: str, sources: list[str], run_manager: AsyncCallbackManagerForToolRun | None = None
    ) -> tuple[str, dict[str, Any]]:
        given = {"question": question, "answer": answer, "documents": sources}
        config: Any = {"callbacks": run_manager.get_child()} if run_manager else None
        return _content_and_artifact(await self.checker.returning_result().ainvoke(given, config))


def _content_and_artifact(result: Any) -> tuple[str, dict[str, Any]]:
    found = result.model_dump(mode="json")
    return json.dumps(found), found
