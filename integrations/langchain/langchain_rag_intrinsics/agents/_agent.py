"""What both middlewares are, and an agent's final answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from langchain.agents.middleware import AgentMiddleware
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, AnyMessage, ToolMessage

from intrinsics_core.chains.evidence import evidence, title_of, tool_names
from intrinsics_core.chains.fields import as_lines
from intrinsics_core.chains.transcript import MadeCall, last_question
from intrinsics_core.protocol.names import named
from langchain_rag_intrinsics._documents import identity
from langchain_rag_intrinsics._messages import as_turns, is_canned

Answer = str | Callable[[Mapping[str, Any]], str]
MODES: tuple[Literal["annotate"], Literal["block"]] = ("annotate", "block")


class JudgingMiddleware(AgentMiddleware):
    """``retrievers`` are the names of the tools that retrieve; None for those that return documents."""

    def __init__(self, *, mode: str, answer: Answer, tools: Collection[str] | str | None, name: str | None) -> None:
        super().__init__()
        self.mode, self.answer, self._name = named("mode", mode, MODES), answer, name
        self.retrievers = tool_names(tools)

    @property
    def name(self) -> str:
        """The name given, else the class's."""
        return self._name or super().name

    def _canned(self, state: Mapping[str, Any]) -> str:
        """The canned text, or what a function makes of the agent's state."""
        return self.answer if isinstance(self.answer, str) else self.answer(state)


def documents_of(
    now: Sequence[MadeCall],
    before: Sequence[MadeCall],
    tools: Collection[str] | None,
    fields: Sequence[str] = (),
    given: Iterable[Document] = (),
    question: str = "",
) -> list[Document]:
    """What an answer may rest on (`evidence`), as LangChain's documents; ``given`` are those that no tool returned."""

    def said(call: MadeCall) -> Document:
        title = title_of(call, question)
        return Document(call.result or "", id=call.id, metadata={"title": title} if title else {})

    return evidence(given, now, before, tools, text_of=lambda document: document.page_content, from_text=said,
                    key=lambda document: identity(document, fields))  # fmt: skip


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

    def replaced(self, by: AIMessage | ToolMessage) -> list[AnyMessage]:
        """Messages that take the place of the answer's own, so that nothing of it is left."""
        if isinstance(self.message, ToolMessage) or not self.message.tool_calls:
            return [by.model_copy(update={"id": self.message.id})]
        known = {repeat.tool_call_id for repeat in self.repeated}
        calls = [{**call, "args": {}} if call["id"] in known else call for call in self.message.tool_calls]
        # Providers keep the arguments, or what they parsed, in the additional ones too.
        asked = self.message.model_copy(update={"content": "", "tool_calls": calls, "additional_kwargs": {}})
        return [asked, *(repeat.model_copy(update={"content": by.text}) for repeat in self.repeated), by]


def final_answer(state: Mapping[str, Any]) -> FinalAnswer | None:
    """The answer that a run ended with; None where there is none, or one that claims nothing."""
    messages: Sequence[AnyMessage] = state["messages"]
    turn = messages[last_question(as_turns(messages)) + 1 :]
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
