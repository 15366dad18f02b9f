"""What both middlewares are, and an agent's final answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage, AnyMessage, ToolMessage

from intrinsics_core.chains.evidence import tool_names
from intrinsics_core.chains.fields import as_lines
from intrinsics_core.chains.notes import KEY
from intrinsics_core.chains.transcript import last_question
from langchain_rag_intrinsics._messages import as_turns, is_canned, made_call

Answer = str | Callable[[Mapping[str, Any]], str]


class JudgingMiddleware(AgentMiddleware):
    """``retrievers`` are the names of the tools that retrieve; None for those that return documents."""

    def __init__(self, *, answer: Answer, tools: Collection[str] | str | None, name: str | None) -> None:
        super().__init__()
        self.answer, self._name, self.retrievers = answer, name, tool_names(tools)

    @property
    def name(self) -> str:
        """The name given, else the class's."""
        return self._name or super().name

    def _canned(self, state: Mapping[str, Any]) -> str:
        """The canned text, or what a function makes of the agent's state."""
        return self.answer if isinstance(self.answer, str) else self.answer(state)


# What ModelCallLimitMiddleware and ToolCallLimitMiddleware write in an answer's place.
_LIMIT = re.compile(
    r"(?:Model call limits exceeded:|(?:'[^'\n]{1,200}' tool|Tool) call limit reached:)"
    r"(?:(?:,| and)? (?:thread|run) limit(?: exceeded)? \(\d{1,9}/\d{1,9}(?: calls)?\)){1,2}\.?"
)


@dataclass(frozen=True)
class FinalAnswer:
    """``message`` ended the run; ``text`` is what it claims; ``repeated`` are tool messages that say it again."""

    message: AIMessage | ToolMessage
    text: str
    structured: bool = False
    repeated: tuple[ToolMessage, ...] = ()

    def blocked(self, text: str, metadata: dict[str, Any]) -> list[AnyMessage]:
        """Messages that take the place of the answer's own, so that nothing of it is left."""
        message = self.message
        if isinstance(message, AIMessage) and message.tool_calls:
            known = {repeat.tool_call_id for repeat in self.repeated}
            calls = [{**call, "args": {}} if call["id"] in known else call for call in message.tool_calls]
            # Providers keep the arguments, or what they parsed, in the additional ones too.
            asked = message.model_copy(update={"content": "", "tool_calls": calls, "additional_kwargs": {}})
            told = [repeat.model_copy(update={"content": text}) for repeat in self.repeated]
            return [asked, *told, AIMessage(text, response_metadata={KEY: metadata[KEY]})]
        # Documents stay: later turns are judged by them. Anything else may hold the answer.
        holds = isinstance(message, ToolMessage) and not made_call(message).documents
        update = {"content": text, "response_metadata": metadata, "additional_kwargs": {}}
        return [message.model_copy(update=update | ({"artifact": None} if holds else {}))]


def current_turn(messages: Sequence[AnyMessage]) -> Sequence[AnyMessage]:
    """The messages behind the last question."""
    return messages[last_question(as_turns(messages)) + 1 :]


def final_answer(state: Mapping[str, Any]) -> FinalAnswer | None:
    """The answer that a run ended with; None where there is none, or one that claims nothing."""
    turn = current_turn(state["messages"])
    structured = state.get("structured_response")
    if turn and isinstance(by_tool := turn[-1], ToolMessage) and structured is None:
        nothing = is_canned(by_tool) or by_tool.status == "error" or not by_tool.text.strip()
        return None if nothing else FinalAnswer(by_tool, str(by_tool.text))
    at, message = next(((i, m) for i, m in reversed([*enumerate(turn)]) if isinstance(m, AIMessage)), (0, None))
    said = str(message.text) if message else ""
    if message is None or is_canned(message) or _LIMIT.fullmatch(said):
        return None
    if message.tool_calls:
        repeated = tuple(m for m in turn[at + 1 :] if isinstance(m, ToolMessage))
        if structured is None or not repeated:
            return None
        return FinalAnswer(message, "\n".join([*filter(str.strip, [said]), *as_lines(structured)]), True, repeated)
    # One that an earlier turn left in the state is not this answer.
    if structured is not None and said.lstrip().startswith(("{", "[")):
        return FinalAnswer(message, "\n".join(as_lines(structured)), True)
    return FinalAnswer(message, said) if said.strip() else None
