"""Groundedness hook."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from haystack import Document, default_from_dict, default_to_dict
from haystack.components.agents.state import State, replace_values
from haystack.dataclasses import ChatMessage, ChatRole, TextContent
from haystack_integrations.common.rag_intrinsics.base import Intrinsic, listed
from haystack_integrations.common.rag_intrinsics.pipeline_input import (
    PipelineInput,
    calls_made,
    earlier_calls,
    read,
    signed,
    text_of,
)
from haystack_integrations.hooks.rag_intrinsics.retrieved import evidence, tell_of_texts

from intrinsics_core import Profile
from intrinsics_core.chains.notes import KEY, verdicts_in
from intrinsics_core.chains.policy import BY_NOTHING, BY_SOURCES, NO_SOURCE, AnswerPolicy
from intrinsics_core.protocol.results import Faithfulness
from intrinsics_core.running.flows import BLOCKED
from intrinsics_core.running.steps import Steps, arun_steps, run_steps

NAME = "hallucination-detection"
RETRY = (
    "These sentences of your answer are not supported by what your tools returned:\n{sentences}\n"
    "Answer again with what is supported, or say that you do not know."
)


class RagIntrinsicsGroundednessHook(Intrinsic):
    """
    Judges an Agent's answer, sentence by sentence, by what its tools returned for it.

    The verdict is put into the answer's `meta["rag_intrinsics"]["hallucination_detection"]`. What it is judged by are
    the documents that tools wrote into the Agent's state (`outputs_to_state`), then the texts of the tools named in
    `tools`, and what was retrieved in earlier turns: a follow-up may be answered from it. Where no document has text it
    is the texts of all tools. An Agent that retrieved nothing cannot be judged: the verdict is NA and says so.

    What a tool in the Agent's `exit_conditions` returns is not judged: it may be a receipt or an object. Where it is an
    answer, put `RagIntrinsicsGroundednessChecker` behind the Agent.

    A sentence that claims nothing is NA and blocks nothing: courtesy, an offer, a question back, "I don't know", and
    the report of an action whose tool was called for this answer and did not fail.

    Give an Agent `hooks=hook.hooks`, or register it at `on_exit` yourself. After a retry neither the first answer nor
    what the model was told is among the messages.

    Usage example:

    ```python
    from haystack.components.agents import Agent
    from haystack.components.generators.chat import OpenAIChatGenerator
    from haystack_integrations.hooks.rag_intrinsics import RagIntrinsicsGroundednessHook

    hook = RagIntrinsicsGroundednessHook(mode="retry")
    agent = Agent(chat_generator=OpenAIChatGenerator(), tools=[], hooks=hook.hooks)
    ```
    """

    intrinsic = NAME
    allowed_hook_points = ("on_exit",)

    def __init__(
        self,
        runtime: Any = None,
        *,
        mode: Literal["annotate", "block", "retry", "retry_then_block"] = "annotate",
        labels: Faithfulness | Sequence[Faithfulness] = ("unfaithful",),
        answer: str = BLOCKED,
        documents_key: str = "documents",
        tools: str | Sequence[str] | None = None,
        unretrieved: Literal["annotate", "block", "pass"] = "annotate",
        meta_fields_to_embed: Sequence[str] | None = None,
        profile: Profile | str | None = None,
        on_error: str | None = None,
        date: str | None = None,
    ) -> None:
        """
        Create a hook. Nothing is loaded before `warm_up` or the first run.

        :param runtime: Where the work is done: a config such as `{"kind": "server", "base_url": ..., "api_key":
            Secret}`, a chat generator, or a runtime of the core; None for the embedded encoder (offline, CPU).
        :param mode: `"annotate"` leaves the answer as it is; `"block"` puts the canned text in the place of one with a
            label in `labels`; `"retry"` tells the model once which sentences are not supported and lets it answer
            again, and annotates the second answer; `"retry_then_block"` puts the canned text in the place of a second
            answer with such a label, too.
        :param labels: Which labels of the answer as a whole count, one or several.
        :param answer: The canned text.
        :param documents_key: Where in the Agent's state the documents are.
        :param unretrieved: What becomes of an answer where nothing was retrieved: `"annotate"` gives it the verdict NA,
            degraded for "nothing retrieved"; `"block"` puts the canned text in its place, too, unless it claims
            nothing (that is one judgement more); `"pass"` leaves it.
        :param tools: Names of the tools whose texts count as documents, one or several. None: where documents are in
            the state they alone count, and else the texts of all tools. A warning names tools whose texts did not count
            where the answer is not supported.
        :param meta_fields_to_embed: Fields of the documents' `meta` that the answering model is shown beside the text:
            the judge is shown them too, after the title.
        :param profile: A profile or its name; the runtime's own where left out.
        :param on_error: `"fallback"`: where the judgement failed the answer passes, and its verdict says that it is
            degraded and why; or `"raise"`. None: `"fallback"` to annotate, `"raise"` to block or to retry. A judge
            that left sentences out has failed, where the answer may have to be blocked.
        :param date: Date text for prompts that carry one; the day of the call where left out.
        :raises InvalidInput: If `mode`, `labels`, `unretrieved` or `on_error` is none that it takes.
        """
        self._policy = AnswerPolicy(mode=mode, labels=labels, unretrieved=unretrieved, on_error=on_error)
        self._keep(runtime, profile, self._policy.on_error, date, meta_fields_to_embed)
        self.mode, self.labels, self.unretrieved = mode, self._policy.labels, unretrieved
        self.answer, self.documents_key = answer, documents_key
        self.tools = None if tools is None else listed("tools", tools)

    @property
    def hooks(self) -> dict[str, list[Any]]:
        """Where it goes in an Agent: `Agent(..., hooks=hook.hooks)`."""
        if not self._policy.retries:
            return {"on_exit": [self]}
        otherwise = self.answer if self.mode == "retry_then_block" else None
        return {"on_exit": [self], "after_run": [RagIntrinsicsRetryEnd(otherwise)]}

    def run(self, state: State) -> None:
        """
        Judge the answer.

        :param state: The Agent's live state.
        :raises IntrinsicsError: See `intrinsics_core.protocol.errors`.
        """
        if self._answered(state):
            run_steps(self._guarded(state), {"judge": lambda given: self._result(self._call(given))})

    async def run_async(self, state: State) -> None:
        """
        Judge the answer without blocking the event loop.

        :param state: The Agent's live state.
        :raises IntrinsicsError: See `intrinsics_core.protocol.errors`.
        """
        if self._answered(state):
            await arun_steps(self._guarded(state), {"judge": lambda given: self._aresult(self._call(given))})

    def _answered(self, state: State) -> bool:
        """Whether the last message is an answer to a person."""
        messages: list[ChatMessage] = state.data.get("messages") or []
        answer = messages[-1] if messages else None
        if answer is None or not answer.is_from(ChatRole.ASSISTANT) or answer.tool_calls:
            return False
        return bool(text_of(answer).strip()) and _question(messages) >= 0

    def _given(self, state: State) -> PipelineInput:
        """What is judged, and by what: no documents where nothing was retrieved."""
        messages: list[ChatMessage] = state.data["messages"]
        at = _question(messages)
        in_state = state.data.get(self.documents_key) or []
        documents = evidence(in_state, messages[at + 1 :], messages[:at], self.tools)
        history = [m for m in messages[:at] if m.role in _SHOWN and text_of(m).strip()]
        given = read(NAME, text_of(messages[at]), documents, history, messages[-1], self.meta_fields_to_embed)
        calls = tuple(calls_made(messages[at + 1 :], given.documents))
        return replace(given, calls=calls, earlier=earlier_calls(messages[: at + 1]))

    def _guarded(self, state: State) -> Steps[None]:
        """Judge the answer in the state and change it; no I/O."""
        given, messages = self._given(state), list(state.data["messages"])
        again = any(_retried(message) for message in messages[_question(messages) + 1 :])
        decision = yield from self._policy.decide(
            retrieved=bool(given.documents),
            judged_by={BY_SOURCES: given, BY_NOTHING: replace(given, documents=(Document(content=NO_SOURCE),))},
            again=again,
        )
        if decision.verdict is None:
            return
        answer = signed(messages[-1], NAME, given, given.as_dict(decision.verdict))
        if decision.verdict.label in self.labels:
            in_state = state.data.get(self.documents_key) or []
            tell_of_texts(in_state, messages[_question(messages) + 1 :], self.tools)
        if decision.act == "replace":
            answer = replace(answer, _content=[TextContent(self.answer)])
        messages[-1] = answer
        if decision.act == "retry":
            lines = "\n".join(f"- {sentence}" for sentence in decision.unsupported)
            messages.append(ChatMessage.from_user(RETRY.format(sentences=lines), meta={KEY: {"retry": True}}))
            state.set("continue_run", True)
        elif again:
            messages = _without_retry(messages, draft=False)
        state.set("messages", messages, handler_override=replace_values)


class RagIntrinsicsRetryEnd:
    """
    Keeps what a groundedness hook told the model from being an Agent's last message.

    Where an Agent's steps ran out, or its model said nothing, before it answered again, the first answer, with its
    verdict, is the last message, or the text that is given in its place.
    `RagIntrinsicsGroundednessHook.hooks` has it where it is needed.

    Usage example:

    ```python
    from haystack.components.agents import Agent
    from haystack.components.generators.chat import OpenAIChatGenerator
    from haystack_integrations.hooks.rag_intrinsics import RagIntrinsicsGroundednessHook, RagIntrinsicsRetryEnd

    hooks = {"on_exit": [RagIntrinsicsGroundednessHook(mode="retry")], "after_run": [RagIntrinsicsRetryEnd()]}
    agent = Agent(chat_generator=OpenAIChatGenerator(), tools=[], hooks=hooks)
    ```
    """

    allowed_hook_points = ("after_run",)

    def __init__(self, answer: str | None = None) -> None:
        """
        Create a hook.

        :param answer: A text in the place of the first answer; None leaves it.
        """
        self.answer = answer

    def run(self, state: State) -> None:
        """
        Take an unanswered retry back.

        :param state: The Agent's live state.
        """
        messages: list[ChatMessage] = state.data.get("messages") or []
        if any(map(_retried, messages)):
            kept = _without_retry(messages, draft=True)
            if self.answer is not None and kept:
                kept[-1] = replace(kept[-1], _content=[TextContent(self.answer)])
            state.set("messages", kept, handler_override=replace_values)

    async def run_async(self, state: State) -> None:
        """
        Like `run`; nothing in it blocks the event loop.

        :param state: The Agent's live state.
        """
        self.run(state)

    def to_dict(self) -> dict[str, Any]:
        """
        Serialize to a dictionary.

        :returns: Dictionary with serialized data.
        """
        return default_to_dict(self, answer=self.answer)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> RagIntrinsicsRetryEnd:
        """
        Deserialize from a dictionary.

        :param data: Dictionary to deserialize from.
        :returns: The hook.
        """
        return default_from_dict(cls, data)


_SHOWN = (ChatRole.SYSTEM, ChatRole.USER, ChatRole.ASSISTANT)


def _retried(message: ChatMessage) -> bool:
    return bool(verdicts_in(message.meta).get("retry"))


def _without_retry(messages: Sequence[ChatMessage], *, draft: bool) -> list[ChatMessage]:
    """The messages without what the model was told; ``draft``: the answer it was told about stands, as the last one."""
    at = next(i for i, message in enumerate(messages) if _retried(message))
    return list(messages[:at]) if draft else [*messages[: at - 1], *messages[at + 1 :]]


def _question(messages: Sequence[ChatMessage]) -> int:
    """Where the last user turn is that a person spoke, or -1."""
    return next(
        (i for i in reversed(range(len(messages))) if messages[i].is_from(ChatRole.USER) and not _retried(messages[i])),
        -1,
    )
