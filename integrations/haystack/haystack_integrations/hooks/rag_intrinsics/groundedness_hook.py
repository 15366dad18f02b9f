"""Groundedness hook."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from haystack import Document, default_from_dict, default_to_dict
from haystack.components.agents.state import State, replace_values
from haystack.dataclasses import ChatMessage, ChatRole
from haystack_integrations.common.rag_intrinsics.base import Intrinsic, listed
from haystack_integrations.common.rag_intrinsics.pipeline_input import PipelineInput, as_turn, text_of, with_text

from intrinsics_core import Profile
from intrinsics_core.chains.checks import AnswerChecks, CheckedAnswer
from intrinsics_core.chains.evidence import evidence
from intrinsics_core.chains.notes import CANNED, KEY, RETRY, signed, verdicts_in, with_verdicts
from intrinsics_core.chains.transcript import MadeCall, calls_in, last_question
from intrinsics_core.protocol.results import Faithfulness
from intrinsics_core.running.flows import BLOCKED
from intrinsics_core.running.steps import Steps, arun_steps, run_steps


class RagIntrinsicsGroundednessHook(Intrinsic):
    """
    Judges an Agent's answer, sentence by sentence, by what its tools returned for it.

    The verdict is put into the answer's `meta["rag_intrinsics"]["hallucination_detection"]`. It is judged by the
    documents that tools returned or wrote into the Agent's state (`outputs_to_state`), the texts of the tools named in
    `tools`, and what was retrieved in earlier turns; where there is no document, by the texts of all tools. What claims
    nothing blocks nothing: courtesy, "I don't know", the report of an action whose tool was called and did not fail.

    What a tool in the Agent's `exit_conditions` returns is not judged; where it is an answer, put
    `RagIntrinsicsAnswerCheck` behind the Agent. After a retry neither the first answer nor what the model was told is
    among the messages. Where the Agent's steps ran out before it answered again, the first answer is the last message.

    Usage example:

    ```python
    from haystack.components.agents import Agent
    from haystack.components.generators.chat import OpenAIChatGenerator
    from haystack_integrations.hooks.rag_intrinsics import RagIntrinsicsGroundednessHook

    hook = RagIntrinsicsGroundednessHook(mode="retry")
    agent = Agent(chat_generator=OpenAIChatGenerator(), tools=[], hooks=hook.hooks)
    ```
    """

    intrinsic: ClassVar[str] = "hallucination-detection"
    allowed_hook_points = ("on_exit",)

    def __init__(self, runtime: Any = None, *,
                 mode: Literal["annotate", "block", "retry", "retry_then_block"] = "annotate",
                 labels: Faithfulness | Sequence[Faithfulness] = ("unfaithful",), text: str = BLOCKED,
                 documents_key: str = "documents", tools: str | Sequence[str] | None = None,
                 unretrieved: Literal["annotate", "block", "pass"] = "annotate",
                 meta_fields_to_embed: Sequence[str] | None = None, profile: Profile | str | None = None,
                 on_error: str | None = None, date: str | None = None) -> None:  # fmt: skip
        """
        Create a hook. Nothing is loaded before `warm_up` or the first run.

        :param runtime: A config (`{"kind": "server", "base_url": ...}`), a chat generator or a runtime; None: embedded.
        :param mode: `"annotate"` leaves the answer as it is; `"block"` puts `text` in the place of one with a label in
            `labels`; `"retry"` tells the model once which sentences are not supported and lets it answer again, and
            annotates the second answer; `"retry_then_block"` blocks that one, too.
        :param labels: Which labels of the answer as a whole count, one or several.
        :param text: What stands in the place of a blocked answer.
        :param documents_key: Where in the Agent's state the documents are.
        :param tools: Names of the tools whose texts count as documents, one or several. None: where there are documents
            they alone count, and else the texts of all tools. A warning names tools whose texts did not count.
        :param unretrieved: What becomes of an answer where nothing was retrieved: `"annotate"` gives it the verdict NA;
            `"block"` blocks it, unless it claims nothing (that is one judgement more); `"pass"` leaves it.
        :param meta_fields_to_embed: Fields of `meta` that the answering model is shown: the judge is shown them, too.
        :param profile: A profile or its name; the runtime's own where left out.
        :param on_error: `"fallback"`: where the judgement failed, or left sentences out, the answer passes, and its
            verdict says so; or `"raise"`. None: `"fallback"` to annotate, `"raise"` to block or to retry.
        :param date: Date text for prompts that carry one; the day of the call where left out.
        :raises InvalidInput: If `mode`, `labels`, `unretrieved` or `on_error` is none that it takes.
        """
        self._checks = AnswerChecks(self.intrinsic, mode=mode, labels=labels, unretrieved=unretrieved,
                                    on_error=on_error, date=date)  # fmt: skip
        Intrinsic.__init__(self, runtime, meta_fields_to_embed=meta_fields_to_embed, profile=profile,
                           on_error=self._checks.policy.on_error, date=date)  # fmt: skip
        self.mode, self.labels, self.unretrieved = mode, self._checks.policy.labels, unretrieved
        self.text, self.documents_key = text, documents_key
        self.tools = None if tools is None else listed("tools", tools)

    @property
    def hooks(self) -> dict[str, list[Any]]:
        """Where it goes in an Agent: `Agent(..., hooks=hook.hooks)`."""
        if not self._checks.policy.retries:
            return {"on_exit": [self]}
        return {"on_exit": [self], "after_run": [RetryEnd(self.text if self.mode == "retry_then_block" else None)]}

    def run(self, state: State) -> None:
        """Judge the answer in the Agent's live state."""
        if (given := self._given(state)) is not None:
            self._leave(state, given, run_steps(self._judging(state, given), {"run": self._outcomes}))

    async def run_async(self, state: State) -> None:
        """Like `run`, without blocking the event loop."""
        if (given := self._given(state)) is not None:
            self._leave(state, given, await arun_steps(self._judging(state, given), {"run": self._aoutcomes}))

    def _given(self, state: State) -> PipelineInput | None:
        """What is judged, and by what; None where the last message is no answer to a person."""
        messages: list[ChatMessage] = state.data.get("messages") or []
        answer = messages[-1] if messages else None
        if answer is None or not answer.is_from(ChatRole.ASSISTANT) or answer.tool_calls or not text_of(answer).strip():
            return None
        turns = [as_turn(message, summary=_retried(message)) for message in messages]
        at = last_question(turns)
        if at < 0:
            return None
        now, before = calls_in(turns[at + 1 :]), calls_in(turns[:at])
        found = evidence(state.data.get(self.documents_key) or (), now, before, self.tools,
                         text_of=lambda document: document.content or "",
                         from_text=_said, question=turns[at].text)  # fmt: skip
        told = (turn for turn in turns[at + 1 :] if turn.role == "tool")
        return PipelineInput((*turns[: at + 1], *told, turns[-1]), tuple(found), tuple(self.meta_fields_to_embed))

    def _judging(self, state: State, given: PipelineInput) -> Steps[CheckedAnswer]:
        return self._checks.judge(given.messages, given.passages, again=any(map(_retried, state.data["messages"])))

    def _leave(self, state: State, given: PipelineInput, judged: CheckedAnswer) -> None:
        """Change the answer in the state."""
        decision, messages = judged.decision, list(state.data["messages"])
        if decision.act == "pass":
            return
        verdicts = {name: given.placed(dump) for name, dump in judged.dumped.items()}
        meta = signed(messages[-1].meta, verdicts, given.turns[-1].text, given.passages)
        blocked = decision.act == "replace"
        meta = with_verdicts(meta, {CANNED: True} if blocked else {})
        messages[-1] = with_text(messages[-1], self.text if blocked else None, meta)
        if decision.act == "retry":
            messages.append(ChatMessage.from_user(decision.feedback, meta={KEY: {RETRY: True}}))
            state.set("continue_run", True)
        elif any(map(_retried, messages)):
            messages = _without_retry(messages, draft=False)
        state.set("messages", messages, handler_override=replace_values)


class RetryEnd:
    """Takes what a hook told the model from an Agent's last messages, where it did not answer again.

    Its first answer, with the verdict, or ``text`` in its place, is then the last message.
    """

    allowed_hook_points = ("after_run",)

    def __init__(self, text: str | None = None) -> None:
        self.text = text

    def run(self, state: State) -> None:
        """Take an unanswered retry back."""
        messages: list[ChatMessage] = state.data.get("messages") or []
        if any(map(_retried, messages)):
            kept = _without_retry(messages, draft=True)
            if self.text is not None and kept:
                kept[-1] = with_text(kept[-1], self.text, kept[-1].meta)
            state.set("messages", kept, handler_override=replace_values)

    async def run_async(self, state: State) -> None:
        """Like `run`; nothing in it blocks the event loop."""
        self.run(state)

    def to_dict(self) -> dict[str, Any]:
        """Serialize to a dictionary."""
        return default_to_dict(self, text=self.text)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> RetryEnd:
        """Deserialize from a dictionary."""
        return default_from_dict(cls, data)


def _said(call: MadeCall, title: str | None) -> Document:
    return Document(content=call.result, meta={"tool": call.name} | ({"title": title} if title else {}))


def _retried(message: ChatMessage) -> bool:
    return bool(verdicts_in(message.meta).get(RETRY))


def _without_retry(messages: Sequence[ChatMessage], *, draft: bool) -> list[ChatMessage]:
    """The messages without what the model was told; ``draft``: the answer it was told about stands, as the last one."""
    at = next(i for i, message in enumerate(messages) if _retried(message))
    return list(messages[:at]) if draft else [*messages[: at - 1], *messages[at + 1 :]]
