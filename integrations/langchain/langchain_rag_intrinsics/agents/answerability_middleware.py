"""Answerability middleware."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, Literal, cast

from langchain.agents.middleware import AgentState, hook_config
from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.messages import ToolCall, ToolMessage
from langgraph.runtime import Runtime
from langgraph.types import Command

from intrinsics_core import InvalidInput
from intrinsics_core.chains.notes import KEY, verdict_in
from intrinsics_core.protocol.results import Answerability
from intrinsics_core.running.steps import Steps, arun_steps, run_steps
from langchain_rag_intrinsics._inputs import last_user_turn
from langchain_rag_intrinsics._verdicts import canned, verdict, with_verdict
from langchain_rag_intrinsics.agents._middleware import Answer, JudgingMiddleware
from langchain_rag_intrinsics.agents._retrieved import conversation, of_message, retrieved, told_otherwise
from langchain_rag_intrinsics.agents._tasks import is_task
from langchain_rag_intrinsics.answerability_gate import AnswerabilityGate
from langchain_rag_intrinsics.query_expander import QueryExpander

CANNED = "I cannot answer that from the documents I have."


class AnswerabilityMiddleware(JudgingMiddleware):
    """Ends an agent's run with a canned answer where what it retrieved does not answer the question, or says so.

    Before the model reads the results of its tools, the documents retrieved since the last user turn are judged against
    the conversation. The canned answer carries the verdict in ``response_metadata["rag_intrinsics"]``. A tool that
    searched and found nothing ends the run too; an agent that searched nothing goes on. So does one that was given a
    task and no question ("Summarise the report", "Find out who built the mill and mail it to Anna"): what a task needs
    may be found in a later search, or not in documents at all. So does one for which a tool that does not retrieve has
    answered since the last user turn: that tool may have the rest of the answer. One whose result only repeats its call
    has not: it keeps a todo list, or hands the conversation over. A run whose question was summarised away
    (``SummarizationMiddleware``) goes on. A tool with ``return_direct=True`` ends the run before this judgement.

    Tools that return documents as their artifact (``create_retriever_tool(..., response_format=
    "content_and_artifact")``) retrieve; others only where they are named, and then by their text. So a tool that sends
    an email is not judged by its "ok". An empty list is a search that found nothing where the tool says nothing beside
    it, or is named and says no more than that.

    Args:
        runtime: as for every component.
        mode: ``"block"`` ends the run; ``"annotate"`` lets every run go on and leaves the verdict in
            ``response_metadata["rag_intrinsics"]`` of the last message of a tool that retrieved.
        block_unsure: what is done where the question is *unanswerable* and the judge is ``unsure`` of that, its
            probability being close to the threshold. True ends the run; False lets it go on.
        answer: the canned answer, or a function of the agent's state that gives it.
        tools: names of the tools that retrieve; None for those that return documents.
        retries: where a search does not answer the question, search again with the question in other words, up to so
            many times, before the model sees anything; the first search that answers it is what the model sees.
        on_error: ``"raise"``, ``"open"`` (the model goes on) or ``"closed"`` (the canned answer).
        profile: a profile or its name; the runtime's own where left out.
        metadata_fields: metadata that the model is shown beside a document's text; see the other components.
        name: of this middleware; an agent takes two of one class only where their names differ.

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
        mode: Literal["annotate", "block"] = "block",
        block_unsure: bool = False,
        answer: Answer = CANNED,
        tools: Collection[str] | str | None = None,
        retries: int = 0,
        on_error: str = "raise",
        profile: Any = None,
        metadata_fields: Any = (),
        name: str | None = None,
    ) -> None:
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
        found = of_message(first, self.retrievers) if self.retries else None
        args, turns = request.tool_call["args"], conversation(request.state["messages"]) if self.retries else []
        argument = _query(args)
        if not isinstance(first, ToolMessage) or found is None or argument is None or not turns:
            return first
        judged = yield "judge", {"messages": turns, "documents": found}
        if judged.answerable:
            return _found(first, judged)
        queries: Sequence[str] = yield "expand", {"messages": turns, "documents": found}
        for query in [q for q in queries if q != args[argument]][: self.retries]:
            call = {**request.tool_call, "args": {**args, argument: query}}
            again = yield "call", request.override(tool_call=cast(ToolCall, call))
            found = of_message(again, self.retrievers)
            if found:
                judged = yield "judge", {"messages": turns, "documents": found}
                if judged.answerable:
                    return _found(again, judged, query)
        return first

    def _given(self, state: AgentState[Any]) -> dict[str, Any] | None:
        messages = state["messages"]
        if not messages or not isinstance(messages[-1], ToolMessage):
            return None
        if any(_judged(message) for message in messages[last_user_turn(messages) + 1 :]):
            return None  # a search of this turn answers the question, as was found when it was made
        turns = conversation(messages)
        goes_on = self.mode == "block" and told_otherwise(messages, self.retrievers)
        if not turns or goes_on or (self.mode == "block" and is_task(str(turns[-1].text))):
            return None
        documents = retrieved(messages, self.retrievers, self.gate.metadata_fields)
        return None if documents is None else {"messages": turns, "documents": documents}

    def _end(self, state: AgentState[Any], result: Answerability) -> dict[str, Any] | None:
        if self.mode == "annotate":
            tools = [m for m in state["messages"] if isinstance(m, ToolMessage)]
            found = next(m for m in reversed(tools) if of_message(m, self.retrievers) is not None)
            return {"messages": [_found(found, result)]}
        if result.passes(block_unsure=self.block_unsure):
            return None
        verdicts = verdict(self.gate.intrinsic, result)[KEY]
        return {"jump_to": "end", "messages": [canned(self._canned(state), verdicts)]}


def _query(args: Mapping[str, Any]) -> str | None:
    """The argument of a tool's call that holds what is searched for: ``query``, or the only text."""
    texts = [name for name, value in args.items() if isinstance(value, str)]
    return "query" if "query" in texts else texts[0] if len(texts) == 1 else None


def _judged(message: Any) -> bool:
    """Whether a tool's message carries the verdict that it answers the question."""
    if not isinstance(message, ToolMessage):
        return False
    return verdict_in(message.response_metadata, AnswerabilityGate.intrinsic).get("label") == "answerable"


def _found(message: ToolMessage, result: Answerability, query: str | None = None) -> ToolMessage:
    """The tool's message with the verdict on it, and the query where that was not the model's."""
    metadata = verdict(AnswerabilityGate.intrinsic, result)
    if query is not None:
        metadata[KEY]["query"] = query
    return message.model_copy(update={"response_metadata": with_verdict(message.response_metadata, metadata)})
