"""Groundedness middleware."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from langchain.agents.middleware import AgentState, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.runtime import Runtime

from intrinsics_core.chains.notes import RETRY, is_about, verdicts_in, with_verdicts
from intrinsics_core.chains.policy import Mode, Unretrieved
from intrinsics_core.chains.transcript import calls_in, last_question
from intrinsics_core.protocol.results import Faithfulness
from intrinsics_core.running.flows import BLOCKED
from intrinsics_core.running.steps import Steps, arun_steps, run_steps
from langchain_rag_intrinsics._documents import documents_of
from langchain_rag_intrinsics._messages import as_documents, as_turns, is_canned, made_call
from langchain_rag_intrinsics.agents._agent import Answer, FinalAnswer, JudgingMiddleware, current_turn, final_answer
from langchain_rag_intrinsics.answer_check import AnswerCheck


class GroundednessMiddleware(JudgingMiddleware):
    """Judges an agent's final answer, sentence by sentence, by what the agent retrieved for it.

    After the run the verdicts are in the answer's ``response_metadata["rag_intrinsics"]``. What an answer may rest on:
    the documents that tools returned, in this turn or before it, and the words of the tools named in ``tools``; where
    no tool returned documents for it, the words of all. A sentence that claims nothing is NA and blocks nothing:
    courtesy, "I don't know", the report of an action whose tool was called. The message of a tool with
    ``return_direct=True`` that ends a run is the answer. A structured answer is judged by its fields, each a line; a
    blocked one is None in ``structured_response``.

    To retry, the model is called once more with its answer and what of it is not supported; neither becomes one of the
    run's messages. It may call tools again. Structured answers, and those of tools, are not asked for again.

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
                 mode: Mode = "annotate", labels: Sequence[Faithfulness] | Faithfulness = ("unfaithful",),
                 answer: Answer = BLOCKED, tools: Collection[str] | str | None = None,
                 unretrieved: Unretrieved = "annotate",
                 documents: str | Callable[[AgentState[Any]], Any] | None = None, on_error: str | None = None,
                 profile: Any = None, metadata_fields: Any = (), name: str | None = None) -> None:  # fmt: skip
        super().__init__(answer=answer, tools=tools, name=name)
        self.documents = documents
        self.check = AnswerCheck(runtime=runtime, checks=checks, mode=mode, labels=labels, unretrieved=unretrieved,
                                 profile=profile, on_error=on_error, metadata_fields=metadata_fields)  # fmt: skip

    def wrap_model_call(self, request: ModelRequest[Any], handler: Any) -> ModelResponse[Any]:
        return run_steps(self._answered(request), {"ask": handler, "check": self.check.invoke})

    async def awrap_model_call(self, request: ModelRequest[Any], handler: Any) -> ModelResponse[Any]:
        return await arun_steps(self._answered(request), {"ask": handler, "check": self.check.ainvoke})

    def _answered(self, request: ModelRequest[Any]) -> Steps[ModelResponse[Any]]:
        """What the model says, or says when it is told what of its answer is not supported; no I/O."""
        said, retries = request.state["messages"], self.check.judging.policy.retries
        notes = (verdicts_in(message.response_metadata).get(RETRY) for message in current_turn(said) if retries)
        told = next(filter(None, notes), None)
        asked = request.override(messages=[*request.messages, HumanMessage(told)]) if told else request
        response: ModelResponse[Any] = yield "ask", asked
        if told or not retries:
            return response
        whole = {"messages": [*said, *response.result], "structured_response": response.structured_response}
        state: Any = {**request.state, **whole}
        final = final_answer(state)
        if final is None or final.structured:
            return response
        checked = yield "check", self._given(state, final)
        if not (told := verdicts_in(checked.response_metadata).get(RETRY)):
            return ModelResponse(self._update(state, final, checked)["messages"])
        second = yield "ask", request.override(messages=[*request.messages, final.message, HumanMessage(told)])
        if not any(getattr(message, "tool_calls", ()) for message in second.result):
            return second if any(message.text.strip() for message in second.result) else response
        # With the results of the tools that it calls first, it is told again.
        noted = [m.model_copy(update={"response_metadata": with_verdicts(m.response_metadata, {RETRY: told})})
                 for m in second.result]  # fmt: skip
        return ModelResponse(noted, second.structured_response)

    def after_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        return run_steps(self._guarded(state), {"check": self.check.invoke})

    async def aafter_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        return await arun_steps(self._guarded(state), {"check": self.check.ainvoke})

    def _guarded(self, state: AgentState[Any]) -> Steps[dict[str, Any] | None]:
        """What is changed in the state; no I/O."""
        final = final_answer(state)
        if final is None:
            return None
        given, before, judging = self._given(state, final), final.message.response_metadata, self.check.judging
        if judging.policy.retries and is_about(before, str(judging.by), final.text, self.check._read(given).passages):
            return None  # the answer was judged when the model gave it
        checked: AIMessage = yield "check", {**given, "again": True}
        return None if checked.response_metadata == before else self._update(state, final, checked)

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
        where, asked = self.documents, turns[at].text if at >= 0 else ""
        given = as_documents(where(state) if callable(where) else state.get(where or ""), self.check.intrinsic)
        found = documents_of(now, before, self.retrievers, self.check.metadata_fields, given, asked)
        return {"messages": messages, "documents": found, "answer": answer}

    def _update(self, state: AgentState[Any], final: FinalAnswer, checked: AIMessage) -> dict[str, Any]:
        if not is_canned(checked):  # a copy has the same id, and takes the place of the answer
            return {"messages": [final.message.model_copy(update={"response_metadata": checked.response_metadata})]}
        blocked = final.blocked(self._canned(state), checked.response_metadata)
        return {"messages": blocked} | ({"structured_response": None} if final.structured else {})
