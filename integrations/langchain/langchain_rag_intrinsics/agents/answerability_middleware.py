"""Answerability middleware."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from langchain.agents.middleware import AgentMiddleware, AgentState, hook_config
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.runtime import Runtime

from langchain_rag_intrinsics._answering import verdict
from langchain_rag_intrinsics.agents._retrieved import conversation, retrieved
from langchain_rag_intrinsics.answerability_gate import AnswerabilityGate

CANNED = "I cannot answer that from the documents I have."


class AnswerabilityMiddleware(AgentMiddleware):
    """Ends an agent's run with a canned answer where what it retrieved does not answer the question.

    Before the model reads the results of its tools, the documents retrieved since the last user turn (artifacts that
    are lists of Document, else the tools' texts) are judged against the conversation. The canned answer carries the
    verdict in ``response_metadata["rag_intrinsics"]``. A tool that was asked and found nothing ends the run too; an
    agent that asked no tool goes on.

    Args:
        runtime: as for every component.
        answer: the canned answer.
        tools: names of the tools that retrieve; None for all. Name them where others (a calculator) are there too.
        on_error: ``"raise"``, ``"open"`` (the model goes on) or ``"closed"`` (the canned answer).
        profile: a profile or its name; the runtime's own where left out.

    Example:
        >>> from langchain.agents import create_agent
        >>> from langchain_core.language_models import FakeListChatModel
        >>> from langchain_rag_intrinsics import AnswerabilityMiddleware
        >>> agent = create_agent(FakeListChatModel(responses=["Hello!"]), middleware=[AnswerabilityMiddleware()])
        >>> agent.invoke({"messages": [("human", "Hello")]})["messages"][-1].text
        'Hello!'
    """

    def __init__(
        self,
        runtime: Any = None,
        *,
        answer: str = CANNED,
        tools: Collection[str] | None = None,
        on_error: str = "raise",
        profile: Any = None,
    ) -> None:
        super().__init__()
        self.answer = answer
        self.retrievers = None if tools is None else frozenset(tools)
        self.gate = AnswerabilityGate(runtime=runtime, profile=profile, on_error=on_error, return_result=True)

    @hook_config(can_jump_to=["end"])
    def before_model(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        given = self._given(state)
        if not given or not given["documents"]:
            return self._end({"rag_intrinsics": {"retrieved": 0}}) if given else None
        result = self.gate.invoke(given)
        return None if result.answerable else self._end(verdict(self.gate.intrinsic, result))

    @hook_config(can_jump_to=["end"])
    async def abefore_model(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        given = self._given(state)
        if not given or not given["documents"]:
            return self._end({"rag_intrinsics": {"retrieved": 0}}) if given else None
        result = await self.gate.ainvoke(given)
        return None if result.answerable else self._end(verdict(self.gate.intrinsic, result))

    def _given(self, state: AgentState[Any]) -> dict[str, Any] | None:
        messages = state["messages"]
        if not messages or not isinstance(messages[-1], ToolMessage):
            return None
        documents, turns = retrieved(messages, self.retrievers), conversation(messages)
        return None if documents is None or not turns else {"messages": turns, "documents": documents}

    def _end(self, metadata: dict[str, Any]) -> dict[str, Any]:
        return {"jump_to": "end", "messages": [AIMessage(self.answer, response_metadata=metadata)]}
