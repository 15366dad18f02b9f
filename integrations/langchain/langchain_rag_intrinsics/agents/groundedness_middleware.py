"""Groundedness middleware."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Literal

from langchain.agents.middleware import AgentMiddleware, AgentState
from langchain_core.messages import AIMessage
from langgraph.runtime import Runtime

from intrinsics_core import InvalidInput
from intrinsics_core.results import Faithfulness
from langchain_rag_intrinsics.agents._retrieved import conversation, retrieved
from langchain_rag_intrinsics.hallucination_detector import HallucinationDetector

BLOCKED = "I had an answer, but the documents I have do not support it."


class GroundednessMiddleware(AgentMiddleware):
    """Judges an agent's final answer, sentence by sentence, by what the agent retrieved for it.

    After the run, the verdict is put into the answer's ``response_metadata["rag_intrinsics"]``; the message keeps its
    id and its place. An agent that retrieved nothing is not judged: there is nothing to judge by.

    Args:
        runtime: as for every component.
        mode: ``"annotate"`` leaves the answer as it is; ``"block"`` puts the canned text in the place of one with a
            label in ``labels``. The verdict is kept either way.
        labels: which labels of the answer as a whole block it.
        answer: the canned text.
        tools: names of the tools that retrieve; None for all.
        profile: a profile or its name; the runtime's own where left out.

    Streams of an agent show the model's tokens before this judgement; show ``"values"`` or ``"updates"`` to people who
    must not see a blocked answer.

    Example:
        >>> from langchain.agents import create_agent
        >>> from langchain_core.language_models import FakeListChatModel
        >>> from langchain_rag_intrinsics import GroundednessMiddleware
        >>> model = FakeListChatModel(responses=["Hello!"])
        >>> agent = create_agent(model, middleware=[GroundednessMiddleware(mode="block")])
        >>> agent.invoke({"messages": [("human", "Hello")]})["messages"][-1].text
        'Hello!'
    """

    def __init__(
        self,
        runtime: Any = None,
        *,
        mode: Literal["annotate", "block"] = "annotate",
        labels: Sequence[Faithfulness] = ("unfaithful",),
        answer: str = BLOCKED,
        tools: Collection[str] | None = None,
        profile: Any = None,
    ) -> None:
        super().__init__()
        if mode not in ("annotate", "block"):
            raise InvalidInput("mode is unknown", expected="'annotate' or 'block'", got=repr(mode))
        self.mode, self.labels, self.answer = mode, frozenset(labels), answer
        self.retrievers = None if tools is None else frozenset(tools)
        self.detector = HallucinationDetector(runtime=runtime, profile=profile)

    def after_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        given = self._given(state)
        return None if given is None else self._judged(self.detector.invoke(given))

    async def aafter_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        given = self._given(state)
        return None if given is None else self._judged(await self.detector.ainvoke(given))

    def _given(self, state: AgentState[Any]) -> dict[str, Any] | None:
        messages = state["messages"]
        answer = messages[-1] if messages else None
        if not isinstance(answer, AIMessage) or answer.tool_calls or not str(answer.text).strip():
            return None
        if "rag_intrinsics" in answer.response_metadata:  # a gate's canned answer claims nothing
            return None
        documents = retrieved(messages, self.retrievers)
        return {"messages": conversation(messages), "documents": documents, "answer": answer} if documents else None

    def _judged(self, answer: AIMessage) -> dict[str, Any]:
        found = answer.response_metadata["rag_intrinsics"][self.detector.intrinsic]
        if self.mode == "block" and found["label"] in self.labels:
            answer = answer.model_copy(update={"content": self.answer})
        return {"messages": [answer]}  # the same id: it takes the place of the answer
