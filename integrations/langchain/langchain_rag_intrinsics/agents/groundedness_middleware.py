"""Groundedness middleware."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Literal

from langchain.agents.middleware import AgentState
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.runtime import Runtime

from intrinsics_core.chains.notes import KEY
from intrinsics_core.chains.policy import BY_NOTHING, BY_SOURCES, NO_SOURCE, AnswerPolicy
from intrinsics_core.protocol.results import Faithfulness, HallucinationDetection
from intrinsics_core.running.flows import BLOCKED
from intrinsics_core.running.steps import Steps, arun_steps, run_steps
from langchain_rag_intrinsics._inputs import as_documents, earlier_calls
from langchain_rag_intrinsics._verdicts import canned, verdict, with_verdict
from langchain_rag_intrinsics.agents._final import FinalAnswer, final_answer
from langchain_rag_intrinsics.agents._middleware import MODES, Answer, JudgingMiddleware
from langchain_rag_intrinsics.agents._retrieved import actions, conversation, evidence, of_message
from langchain_rag_intrinsics.hallucination_detector import HallucinationDetector


class GroundednessMiddleware(JudgingMiddleware):
    """Judges an agent's final answer, sentence by sentence, by what the agent retrieved for it.

    After the run, the verdict is put into the answer's ``response_metadata["rag_intrinsics"]``; the message keeps its
    id and its place. A follow-up that is answered from what earlier turns retrieved is judged by that. An agent that
    retrieved nothing cannot be judged: the verdict is NA and says so. Nor can one that called other tools alone since
    the last user turn, such as a forecast of the weather: name a tool in ``tools`` to judge by what it says. A call
    that only kept a todo list, or handed the conversation over, counts for nothing. A sentence
    that claims nothing is NA and blocks nothing: courtesy, an offer, a question back, "I don't know", and the report of
    an action whose tool call was made for this answer and did not fail. Where the user only asks what was done ("Did
    you send it?"), the call may be one of an earlier turn.

    The message of a tool with ``return_direct=True`` that ends a run is the answer and is judged. A notice of
    ``ModelCallLimitMiddleware`` or ``ToolCallLimitMiddleware`` is no answer and stays. Where a person answers in a
    tool's place (``respond`` of ``HumanInTheLoopMiddleware``), LangChain leaves no mark: the call counts as done, also
    for the report of it.

    A structured answer (``response_format=``, either strategy) is judged by its fields, each a line of the text that
    the verdict's offsets count in. Where it is blocked, ``structured_response`` is None and no message holds it.

    Args:
        runtime: as for every component.
        mode: ``"annotate"`` leaves the answer as it is; ``"block"`` puts the canned text in the place of one with a
            label in ``labels``. The verdict is kept either way.
        labels: which labels of the answer as a whole block it, or the one.
        answer: the canned text, or a function of the agent's state that gives it.
        tools: names of the tools that retrieve, or whose words an answer may rest on; None for those that return
            documents (see :class:`AnswerabilityMiddleware`).
        unretrieved: what becomes of an answer where nothing was retrieved. ``"annotate"`` gives it the verdict NA,
            degraded for "nothing retrieved"; ``"block"`` puts the canned text in its place, too, unless the answer
            claims nothing (that is one judgement more); ``"pass"`` leaves the message as it is.
        documents: where documents are that no tool returned: a key of the state, or a function of the state that gives
            a list of documents or texts. They are read beside what tools returned.
        on_error: ``"raise"``, or ``"fallback"``: the answer stays, with a verdict that says that it is degraded. None:
            an answer that is to be annotated stays, one that might have to be blocked is not let through. A judge that
            left sentences out has failed, too, where the answer might have to be blocked.
        profile: a profile or its name; the runtime's own where left out.
        metadata_fields: metadata that the model is shown beside a document's text; see the other components.
        name: of this middleware; an agent takes two of one class only where their names differ.

    Streams of an agent show the answer before this judgement: "messages" its tokens, "values" and "updates" what the
    model's step wrote. People who must not see a blocked answer are shown the state after the run alone (``invoke``, or
    the last of "values").

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
        labels: Sequence[Faithfulness] | Faithfulness = ("unfaithful",),
        answer: Answer = BLOCKED,
        tools: Collection[str] | str | None = None,
        unretrieved: Literal["annotate", "block", "pass"] = "annotate",
        documents: str | Callable[[AgentState[Any]], Any] | None = None,
        on_error: str | None = None,
        profile: Any = None,
        metadata_fields: Any = (),
        name: str | None = None,
    ) -> None:
        super().__init__(mode=mode, answer=answer, tools=tools, name=name)
        self.policy = AnswerPolicy(mode=mode, labels=labels, unretrieved=unretrieved, on_error=on_error, modes=MODES)
        self.documents = documents
        self.detector = HallucinationDetector(
            runtime=runtime,
            profile=profile,
            on_error=self.policy.on_error,
            metadata_fields=metadata_fields,
            return_result=True,
        )

    def after_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        return run_steps(self._guarded(state), {"judge": self.detector.invoke})

    async def aafter_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        return await arun_steps(self._guarded(state), {"judge": self.detector.ainvoke})

    def _guarded(self, state: AgentState[Any]) -> Steps[dict[str, Any] | None]:
        """What is changed in the state; no I/O."""
        final = final_answer(state)
        if final is None:
            return None
        given = self._given(state, final)
        decision = yield from self.policy.decide(
            retrieved=_has_text(given["documents"]),
            judged_by={BY_SOURCES: given, BY_NOTHING: {**given, "documents": [Document(NO_SOURCE)]}},
        )
        if decision.verdict is None:
            return None
        return self._update(state, final, decision.verdict, block=decision.act == "replace")

    def _given(self, state: AgentState[Any], final: FinalAnswer) -> dict[str, Any]:
        """What the detector is given. A structured answer is no action, and no tool said it."""
        messages = [message for message in state["messages"] if message not in final.repeated]
        found = evidence(messages, self.retrievers, self.detector.metadata_fields)
        return {
            "messages": conversation(messages),
            "documents": [*found, *self._named(state)],
            "answer": final.text,
            "tool_calls": actions(messages, self.retrievers),
            "earlier_tool_calls": earlier_calls(messages),
        }

    def _named(self, state: AgentState[Any]) -> Sequence[Document]:
        """The documents at the place that the user has named."""
        where = self.documents
        found = where(state) if callable(where) else state.get(where) if where is not None else None
        return as_documents(found, self.detector.intrinsic)

    def _update(
        self, state: AgentState[Any], final: FinalAnswer, result: HallucinationDetection, *, block: bool
    ) -> dict[str, Any]:
        metadata = with_verdict(final.message.response_metadata, verdict(self.detector.intrinsic, result))
        if not block:
            # The same id: it takes the place of the answer.
            return {"messages": [final.message.model_copy(update={"response_metadata": metadata})]}
        blocked = canned(self._canned(state), {})
        marked = with_verdict(metadata, blocked.response_metadata)
        update: dict[str, Any] = {"messages": final.replaced(self._as(final.message, blocked, marked))}
        return update | ({"structured_response": None} if final.structured else {})

    def _as(
        self, message: AIMessage | ToolMessage, blocked: AIMessage, metadata: dict[str, Any]
    ) -> AIMessage | ToolMessage:
        """The canned text in the message's place, or, after a call, as one of its own."""
        update = {"content": blocked.text, "response_metadata": metadata, "additional_kwargs": {}}
        if isinstance(message, ToolMessage):
            # Documents stay: later turns are judged by them. Anything else may hold the answer.
            found = of_message(message, self.retrievers)
            return message.model_copy(update=update | ({} if found else {"artifact": None}))
        if message.tool_calls:
            return AIMessage(blocked.text, response_metadata={KEY: metadata[KEY]})
        return message.model_copy(update=update)


def _has_text(documents: Sequence[Document]) -> bool:
    """Whether there is something to judge by: a picture is a document without text."""
    return any(document.page_content.strip() for document in documents)
