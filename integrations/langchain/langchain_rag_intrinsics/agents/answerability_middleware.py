"""Answerability middleware."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, Literal, cast

from langchain.agents.middleware import AgentState, hook_config
from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.documents import Document
from langchain_core.messages import AnyMessage, ToolCall, ToolMessage
from langgraph.runtime import Runtime
from langgraph.types import Command

from intrinsics_core import InvalidInput
from intrinsics_core.chains.evidence import has_other_results, is_search, tell_of_texts
from intrinsics_core.chains.notes import verdict_in, with_verdicts
from intrinsics_core.chains.transcript import MadeCall, calls_made, last_question, shown_turns, since_question
from intrinsics_core.protocol.results import Answerability
from intrinsics_core.running.steps import Steps, arun_steps, run_steps
from langchain_rag_intrinsics._messages import as_turns, canned, made_call
from langchain_rag_intrinsics.agents._agent import Answer, JudgingMiddleware, documents_of
from langchain_rag_intrinsics.answerability_gate import AnswerabilityGate
from langchain_rag_intrinsics.queries import QueryExpander

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
        retries: search again with the question in other words, up to so many times, before the model sees anything.
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
                 answer: Answer = CANNED, tools: Collection[str] | str | None = None, retries: int = 0,
                 on_error: str = "raise", profile: Any = None, metadata_fields: Any = (),
                 name: str | None = None) -> None:  # fmt: skip
        super().__init__(mode=mode, answer=answer, tools=tools, name=name)
        if isinstance(retries, bool) or not isinstance(retries, int) or retries < 0:
            raise InvalidInput("retries is out of range", expected="a whole number from 0", got=repr(retries))
        self.block_unsure, self.retries = block_unsure, retries
        shared: dict[str, Any] = {"runtime": runtime, "profile": profile, "metadata_fields": metadata_fields}
        self.gate = AnswerabilityGate(on_error=on_error, return_result=True, **shared)
        # Without other words there is no other search: that is no failure of the gate's.
        self.expander = QueryExpander(on_error="fallback", **shared)

    @hook_config(can_jump_to=["end"])
    def before_model(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        given = self._given(state)
        return None if given is None else self._end(state, self.gate.invoke(given))

    @hook_config(can_jump_to=["end"])
    async def abefore_model(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        given = self._given(state)
        return None if given is None else self._end(state, await self.gate.ainvoke(given))

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]]
    ) -> ToolMessage | Command[Any]:
        steps: dict[str, Any] = {"call": handler, "judge": self.gate.invoke, "expand": self.expander.invoke}
        return run_steps(self._search(request), steps)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]]
    ) -> ToolMessage | Command[Any]:
        steps: dict[str, Any] = {"call": handler, "judge": self.gate.ainvoke, "expand": self.expander.ainvoke}
        return await arun_steps(self._search(request), steps)

    def _search(self, request: ToolCallRequest) -> Steps[ToolMessage | Command[Any]]:
        """One call of a tool, and others in its place while what it finds does not answer the question; no I/O."""
        first: ToolMessage | Command[Any] = yield "call", request
        found = self._found_by(first) if self.retries else None
        args, turns = request.tool_call["args"], _asked(request.state["messages"]) if self.retries else []
        argument = _query(args)
        if not isinstance(first, ToolMessage) or found is None or argument is None or not turns:
            return first
        judged = yield "judge", {"messages": turns, "documents": found}
        if judged.answerable:
            return _noted(first, judged)
        queries: Sequence[str] = yield "expand", {"messages": turns, "documents": found}
        for query in [q for q in queries if q != args[argument]][: self.retries]:
            call = {**request.tool_call, "args": {**args, argument: query}}
            again = yield "call", request.override(tool_call=cast(ToolCall, call))
            if found := self._found_by(again):
                judged = yield "judge", {"messages": turns, "documents": found}
                if judged.answerable:
                    return _noted(again, judged, query)
        return first

    def _found_by(self, message: Any) -> list[Document] | None:
        """What a tool has retrieved; None where it does not retrieve, or has failed."""
        call = made_call(message) if isinstance(message, ToolMessage) else None
        return self._documents([call]) if call and is_search(call, self.retrievers) else None

    def _documents(self, searches: Sequence[MadeCall]) -> list[Document]:
        return documents_of(searches, (), self.retrievers or (), self.gate.metadata_fields)

    def _given(self, state: AgentState[Any]) -> dict[str, Any] | None:
        messages = state["messages"]
        if not messages or not isinstance(messages[-1], ToolMessage):
            return None
        turns = as_turns(messages)
        said = [turn.message.response_metadata for turn in since_question(turns) if turn.role == "tool"]
        if any(verdict_in(metadata, self.gate.intrinsic).get("label") == "answerable" for metadata in said):
            return None  # a search of this turn answers the question, as was found when it was made
        now = calls_made(turns)
        searches = [call for call in now if is_search(call, self.retrievers)]
        tell_of_texts([call for call in now if call not in searches], [c.name for c in searches], self.retrievers)
        asked, goes_on = _asked(messages), self.mode == "block" and has_other_results(now, self.retrievers)
        if not searches or not asked or goes_on:
            return None
        return {"messages": asked, "documents": self._documents(searches)}

    def _end(self, state: AgentState[Any], result: Answerability) -> dict[str, Any] | None:
        if self.mode == "annotate":
            tools = [m for m in state["messages"] if isinstance(m, ToolMessage)]
            found = next(m for m in reversed(tools) if is_search(made_call(m), self.retrievers))
            return {"messages": [_noted(found, result)]}
        if result.passes(block_unsure=self.block_unsure):
            return None
        verdicts = {self.gate.intrinsic: result.model_dump(mode="json")}
        return {"jump_to": "end", "messages": [canned(self._canned(state), verdicts)]}


def _asked(messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """The turns up to the last user turn, as people see them."""
    turns = as_turns(messages)
    return [turn.message for turn in shown_turns(turns[: last_question(turns) + 1])]


def _query(args: Mapping[str, Any]) -> str | None:
    """The argument of a tool's call that holds what is searched for: ``query``, or the only text."""
    texts = [name for name, value in args.items() if isinstance(value, str)]
    return "query" if "query" in texts else texts[0] if len(texts) == 1 else None


def _noted(message: ToolMessage, result: Answerability, query: str | None = None) -> ToolMessage:
    """The tool's message with the verdict on it, and the query where that was not the model's."""
    verdicts = {AnswerabilityGate.intrinsic: result.model_dump(mode="json")} | ({"query": query} if query else {})
    metadata = with_verdicts(message.response_metadata, verdicts)
    return message.model_copy(update={"response_metadata": metadata})
