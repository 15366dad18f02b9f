"""Groundedness middleware."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Literal

from langchain.agents.middleware import AgentState
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.runtime import Runtime

from intrinsics_core.chains.notes import KEY, verdicts_in
from intrinsics_core.chains.transcript import calls_in, last_question
from intrinsics_core.protocol.results import Faithfulness
from intrinsics_core.running.flows import BLOCKED
from intrinsics_core.running.steps import Steps, arun_steps, run_steps
from langchain_rag_intrinsics._messages import as_documents, as_turns, is_canned, made_call
from langchain_rag_intrinsics.agents._agent import Answer, FinalAnswer, JudgingMiddleware, documents_of, final_answer
from langchain_rag_intrinsics.answer_check import AnswerCheck


class GroundednessMiddleware(JudgingMiddleware):
    """Judges an agent's final answer, sentence by sentence, by what the agent retrieved for it.

    After the run the verdicts are in the answer's ``response_metadata["rag_intrinsics"]``. What an answer may rest on:
    the documents that tools returned, in this turn or before it, and the words of the tools named in ``tools``; where
    no tool returned documents for it, the words of all. A sentence that claims nothing is NA and blocks nothing:
    courtesy, "I don't know", the report of an action whose tool was called. The message of a tool with
    ``return_direct=True`` that ends a run is the answer. A structured answer is judged by its fields, each a line; a
    blocked one is None in ``structured_response``.

    Streams of an agent show the answer before this judgement: where that must not be, show the state after the run.

    Args:
        runtime, profile, metadata_fields, checks, mode, labels, unretrieved, on_error: as :class:`AnswerCheck` takes
            them.
        answer: the text in a blocked answer's place, or a function of the agent's state that gives it.
        tools: names of tools whose words an answer may rest on, beside documents.
        documents: where documents are that no tool returned: a key of the state, or a function of the state.
        name: of this middleware; an agent takes two of one class only where their names differ.

    Example:
        >>> from langchain.agents import create_agent
        >>> from langchain_core.language_models import FakeListChatModel
        >>> from langchain_rag_intrinsics import GroundednessMiddleware
        >>> model = FakeListChatModel(responses=["Hello!"])
        >>> agent = create_agent(model, middleware=[GroundednessMiddleware(mode="block")])
        >>> agent.invoke({"messages": [("human", "Hello")]})["messages"][-1].text
        'Hello!'
    """

    def __init__(self, runtime: Any = None, *, checks: Sequence[str] | str = "hallucination-detection",
                 mode: Literal["annotate", "block"] = "annotate",
                 labels: Sequence[Faithfulness] | Faithfulness = ("unfaithful",), answer: Answer = BLOCKED,
                 tools: Collection[str] | str | None = None,
                 unretrieved: Literal["annotate", "block", "pass"] = "annotate",
                 documents: str | Callable[[AgentState[Any]], Any] | None = None, on_error: str | None = None,
                 profile: Any = None, metadata_fields: Any = (), name: str | None = None) -> None:  # fmt: skip
        super().__init__(mode=mode, answer=answer, tools=tools, name=name)
        self.documents = documents
        self.check = AnswerCheck(runtime=runtime, checks=checks, mode=self.mode, labels=labels, unretrieved=unretrieved,
                                 profile=profile, on_error=on_error, metadata_fields=metadata_fields)  # fmt: skip

    def after_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        return run_steps(self._guarded(state), {"check": self.check.invoke})

    async def aafter_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        return await arun_steps(self._guarded(state), {"check": self.check.ainvoke})

    def _guarded(self, state: AgentState[Any]) -> Steps[dict[str, Any] | None]:
        """What is changed in the state; no I/O."""
        final = final_answer(state)
        if final is None:
            return None
        checked: AIMessage = yield "check", self._given(state, final)
        if not verdicts_in(checked.response_metadata).keys() - verdicts_in(final.message.response_metadata).keys():
            return None
        return self._update(state, final, checked)

    def _given(self, state: AgentState[Any], final: FinalAnswer) -> dict[str, Any]:
        """What is checked, and by what. A structured answer is no action, and no tool said it."""
        by_tool = final.message if isinstance(final.message, ToolMessage) else None
        left_out = (*final.repeated, *(() if by_tool else (final.message,)))
        messages = [message for message in state["messages"] if message not in left_out]
        turns = as_turns(messages)
        at = last_question(turns)
        now, before = calls_in(turns[at + 1 :]), calls_in(turns[: at + 1])
        if by_tool and not made_call(by_tool).documents:  # its words are the answer itself, and rest on nothing before
            now, before = [call for call in now if call.id != by_tool.tool_call_id], []
        answer = AIMessage(final.text, response_metadata=final.message.response_metadata)
        where, asked = self.documents, turns[at].text if turns else ""
        named = where(state) if callable(where) else state.get(where) if where is not None else None
        given = as_documents(named, self.check.intrinsic)
        found = documents_of(now, before, self.retrievers, self.check.metadata_fields, given, asked)
        return {"messages": messages, "documents": found, "answer": answer}

    def _update(self, state: AgentState[Any], final: FinalAnswer, checked: AIMessage) -> dict[str, Any]:
        if not is_canned(checked):  # a copy has the same id, and takes the place of the answer
            return {"messages": [final.message.model_copy(update={"response_metadata": checked.response_metadata})]}
        blocked = _blocked(final.message, self._canned(state), checked.response_metadata)
        return {"messages": final.replaced(blocked)} | ({"structured_response": None} if final.structured else {})


def _blocked(message: AIMessage | ToolMessage, text: str, metadata: dict[str, Any]) -> AIMessage | ToolMessage:
    """The canned text in the message's place, or, after a call, as one of its own."""
    if isinstance(message, AIMessage) and message.tool_calls:
        return AIMessage(text, response_metadata={KEY: metadata[KEY]})
    update = {"content": text, "response_metadata": metadata, "additional_kwargs": {}}
    # Documents stay: later turns are judged by them. Anything else may hold the answer.
    holds = isinstance(message, ToolMessage) and not made_call(message).documents
    return message.model_copy(update=update | ({"artifact": None} if holds else {}))
