"""Answerability middleware."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Literal

from langchain.agents.middleware import AgentState, hook_config
from langchain_core.messages import ToolMessage
from langgraph.runtime import Runtime

from intrinsics_core.chains.evidence import has_other_results, is_search, tell_of_texts
from intrinsics_core.chains.notes import with_verdicts
from intrinsics_core.chains.transcript import calls_made, last_question, shown_turns
from intrinsics_core.protocol.names import named
from intrinsics_core.protocol.results import Answerability
from langchain_rag_intrinsics._documents import documents_of
from langchain_rag_intrinsics._messages import as_turns, canned, made_call
from langchain_rag_intrinsics.agents._agent import Answer, JudgingMiddleware
from langchain_rag_intrinsics.answerability_gate import AnswerabilityGate

CANNED = "I cannot answer that from the documents I have."


class AnswerabilityMiddleware(JudgingMiddleware):
    """Ends an agent's run with a canned answer where what it retrieved does not answer the question, or says so.

    Before the model reads the results of its tools, the documents retrieved since the last user turn are judged. The
    canned answer carries the verdict in ``response_metadata["rag_intrinsics"]``. A tool that searched and found nothing
    ends the run too. A run goes on that searched nothing, or that another tool has told something. Tools retrieve that
    return documents (``create_retriever_tool(..., response_format="content_and_artifact")``), or that are named.

    Args:
        runtime, profile, metadata_fields: as for every component.
        mode: ``"block"`` ends the run; ``"annotate"`` leaves the verdict on the last message of a tool that retrieved:
            for agents that are given tasks, which no document answers.
        block_unsure: whether a verdict *unanswerable* that is ``unsure`` ends the run.
        answer: the canned answer, or a function of the agent's state that gives it.
        tools: names of tools that retrieve; their text counts where they return no documents.
        on_error: ``"raise"``, ``"open"`` (the model goes on) or ``"closed"`` (the canned answer).
        name: of this middleware; an agent takes two of one class only where their names differ.

    Example:
        >>> from langchain.agents import create_agent
        >>> from langchain_core.language_models import FakeListChatModel
        >>> from langchain_rag_intrinsics import AnswerabilityMiddleware
        >>> agent = create_agent(FakeListChatModel(responses=["Hello!"]), middleware=[AnswerabilityMiddleware()])
        >>> agent.invoke({"messages": [("human", "Hello")]})["messages"][-1].text
        'Hello!'
    """

    def __init__(self, runtime: Any = None, *, mode: Literal["annotate", "block"] = "block", block_unsure: bool = False,
                 answer: Answer = CANNED, tools: Collection[str] | str | None = None, on_error: str = "raise",
                 profile: Any = None, metadata_fields: Any = (), name: str | None = None) -> None:  # fmt: skip
        super().__init__(answer=answer, tools=tools, name=name)
        self.mode, self.block_unsure = named("mode", mode, ("annotate", "block")), block_unsure
        self.gate = AnswerabilityGate(on_error=on_error, return_result=True, runtime=runtime, profile=profile,
                                      metadata_fields=metadata_fields)  # fmt: skip

    @hook_config(can_jump_to=["end"])
    def before_model(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        given = self._given(state)
        return None if given is None else self._end(state, self.gate.invoke(given))

    @hook_config(can_jump_to=["end"])
    async def abefore_model(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        given = self._given(state)
        return None if given is None else self._end(state, await self.gate.ainvoke(given))

    def _given(self, state: AgentState[Any]) -> dict[str, Any] | None:
        messages = state["messages"]
        if not messages or not isinstance(messages[-1], ToolMessage):
            return None
        turns = as_turns(messages)
        now, asked = calls_made(turns), shown_turns(turns[: last_question(turns) + 1])
        searches = [call for call in now if is_search(call, self.retrievers)]
        tell_of_texts([call for call in now if call not in searches], [c.name for c in searches], self.retrievers)
        goes_on = self.mode == "block" and has_other_results(now, self.retrievers)
        if not searches or not asked or goes_on:
            return None
        found = documents_of(searches, (), self.retrievers or (), self.gate.metadata_fields)
        return {"messages": [turn.message for turn in asked], "documents": found}

    def _end(self, state: AgentState[Any], result: Answerability) -> dict[str, Any] | None:
        verdicts = {self.gate.intrinsic: result.model_dump(mode="json")}
        if self.mode == "annotate":
            tools = [m for m in state["messages"] if isinstance(m, ToolMessage)]
            found = next(m for m in reversed(tools) if is_search(made_call(m), self.retrievers))
            metadata = with_verdicts(found.response_metadata, verdicts)
            return {"messages": [found.model_copy(update={"response_metadata": metadata})]}
        if result.passes(block_unsure=self.block_unsure):
            return None
        return {"jump_to": "end", "messages": [canned(self._canned(state), verdicts)]}
