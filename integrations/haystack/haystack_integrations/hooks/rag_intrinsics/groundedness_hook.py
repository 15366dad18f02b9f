"""Groundedness hook."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from haystack import Document
from haystack.components.agents.state import State, replace_values
from haystack.dataclasses import ChatMessage, ChatRole, TextContent
from haystack_integrations.common.rag_intrinsics.base import Lifecycle
from haystack_integrations.common.rag_intrinsics.engine import Engine
from haystack_integrations.common.rag_intrinsics.given import KEY, read, text_of, text_of_result, verdict

from intrinsics_core import Call, InvalidInput, Profile, arun, hallucination_detection, run
from intrinsics_core.results import Faithfulness, HallucinationDetection

NAME = "hallucination-detection"
BLOCKED = "I had an answer, but the documents I have do not support it."
RETRY = (
    "These sentences of your answer are not supported by what your tools returned:\n{sentences}\n"
    "Answer again with what is supported, or say that you do not know."
)


class RagIntrinsicsGroundednessHook(Lifecycle):
    """
    Judges an Agent's answer, sentence by sentence, by what its tools returned for it.

    Register it at `on_exit`. The verdict is put into the answer's `meta["rag_intrinsics"]["hallucination-detection"]`.
    What it is judged by are the documents that tools wrote into the Agent's state (`outputs_to_state`), else the texts
    of tools since the last user turn. An Agent that retrieved nothing is not judged: there is nothing to judge by.

    Usage example:

    ```python
    from haystack.components.agents import Agent
    from haystack.components.generators.chat import OpenAIChatGenerator
    from haystack_integrations.hooks.rag_intrinsics import RagIntrinsicsGroundednessHook

    hook = RagIntrinsicsGroundednessHook(mode="retry")
    agent = Agent(chat_generator=OpenAIChatGenerator(), tools=[], hooks={"on_exit": [hook]})
    ```
    """

    allowed_hook_points = ("on_exit",)

    def __init__(
        self,
        runtime: Any = None,
        *,
        mode: Literal["annotate", "block", "retry"] = "annotate",
        labels: Sequence[Faithfulness] = ("unfaithful",),
        answer: str = BLOCKED,
        documents_key: str = "documents",
        tools: Sequence[str] | None = None,
        profile: Profile | str | None = None,
        date: str | None = None,
    ) -> None:
        """
        Create a hook. Nothing is loaded before `warm_up` or the first run.

        :param runtime: Where the work is done: a config such as `{"kind": "server", "base_url": ..., "api_key":
            Secret}`, a chat generator, or a runtime of the core; None for the embedded encoder (offline, CPU).
        :param mode: `"annotate"` leaves the answer as it is; `"block"` puts the canned text in the place of one with a
            label in `labels`; `"retry"` tells the model once which sentences are not supported and lets it answer
            again, and annotates the second answer.
        :param labels: Which labels of the answer as a whole count.
        :param answer: The canned text.
        :param documents_key: Where in the Agent's state the documents are.
        :param tools: Names of the tools whose texts count as documents; None for all.
        :param profile: A profile or its name; the runtime's own where left out.
        :param date: Date text for prompts that carry one; the day of the call where left out.
        :raises InvalidInput: If `mode` is unknown.
        """
        if mode not in ("annotate", "block", "retry"):
            raise InvalidInput("mode is unknown", expected="'annotate', 'block' or 'retry'", got=repr(mode))
        self._engine = Engine.of(runtime)
        self.mode, self.labels, self.answer = mode, list(labels), answer
        self.documents_key, self.tools = documents_key, None if tools is None else list(tools)
        self.profile, self.date = profile, date

    def run(self, state: State) -> None:
        """
        Judge the answer.

        :param state: The Agent's live state.
        :raises IntrinsicsError: See `intrinsics_core.errors`.
        """
        if (call := self._call(state)) is not None:
            self._act(state, run(call, self._engine.runtime, profile=self.profile))

    async def run_async(self, state: State) -> None:
        """
        Judge the answer without blocking the event loop.

        :param state: The Agent's live state.
        :raises IntrinsicsError: See `intrinsics_core.errors`.
        """
        if (call := self._call(state)) is not None:
            await self.warm_up_async()
            self._act(state, await arun(call, self._engine.runtime, profile=self.profile))

    def _call(self, state: State) -> Call[HallucinationDetection] | None:
        messages: list[ChatMessage] = state.data.get("messages") or []
        answer = messages[-1] if messages else None
        if answer is None or not answer.is_from(ChatRole.ASSISTANT) or answer.tool_calls or not text_of(answer).strip():
            return None
        at = _question(messages)
        documents = state.data.get(self.documents_key) or self._texts(messages[at + 1 :])
        if at < 0 or not documents:
            return None
        history = [m for m in messages[:at] if m.role in _SHOWN and text_of(m).strip()]
        given = read(NAME, text_of(messages[at]), documents, history, answer)
        return hallucination_detection(given.messages, given.passages, date=self.date)

    def _texts(self, messages: Sequence[ChatMessage]) -> list[Document]:
        results = [r for m in messages for r in m.tool_call_results if not r.error]
        named = [(r.origin.tool_name, text_of_result(r)) for r in results]
        return [
            Document(content=text, meta={"tool": name})
            for name, text in named
            if (self.tools is None or name in self.tools) and text.strip()
        ]

    def _act(self, state: State, result: HallucinationDetection) -> None:
        messages: list[ChatMessage] = list(state.data["messages"])
        again = any(_retried(m) for m in messages[_question(messages) + 1 :])
        answer = replace(messages[-1], _meta=verdict(messages[-1].meta, NAME, result.model_dump(mode="json")))
        if result.label in self.labels and self.mode == "block":
            answer = replace(answer, _content=[TextContent(self.answer)])
        messages[-1] = answer
        if result.label in self.labels and self.mode == "retry" and not again:
            lines = "\n".join(f"- {s.text}" for s in result.sentences if s.label in self.labels)
            messages.append(ChatMessage.from_user(RETRY.format(sentences=lines), meta={KEY: {"retry": True}}))
            state.set("continue_run", True)
        state.set("messages", messages, handler_override=replace_values)


_SHOWN = (ChatRole.SYSTEM, ChatRole.USER, ChatRole.ASSISTANT)


def _retried(message: ChatMessage) -> bool:
    return bool((message.meta.get(KEY) or {}).get("retry"))


def _question(messages: Sequence[ChatMessage]) -> int:
    """Where the last user turn is that a person spoke, or -1."""
    return next(
        (i for i in reversed(range(len(messages))) if messages[i].is_from(ChatRole.USER) and not _retried(messages[i])),
        -1,
    )
