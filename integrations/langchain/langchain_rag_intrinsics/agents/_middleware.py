"""What both middlewares are: a judge that annotates or blocks, with a canned text and the tools that retrieve."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Literal

from langchain.agents.middleware import AgentMiddleware
from langchain_core.documents import Document

from intrinsics_core.chains.evidence import evidence, title_of, tool_names
from intrinsics_core.chains.transcript import ChatTurn, MadeCall, calls_in, last_question
from intrinsics_core.protocol.names import named
from langchain_rag_intrinsics._documents import identity

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


def calls_of(turns: Sequence[ChatTurn]) -> tuple[list[MadeCall], list[MadeCall]]:
    """The calls since the last question that did not fail, and those before it."""
    at = last_question(turns) + 1
    return calls_in(turns[at:]), calls_in(turns[:at])


def documents_of(
    now: Sequence[MadeCall],
    before: Sequence[MadeCall],
    tools: Collection[str] | None,
    fields: Sequence[str] = (),
    given: Iterable[Document] = (),
    question: str = "",
) -> list[Document]:
    """What an answer may rest on (`evidence`), as LangChain's documents.

    Args:
        fields: metadata that a judge is shown beside the documents' texts.
        given: documents that no tool returned.
        question: the last user turn.
    """

    def said(call: MadeCall) -> Document:
        title = title_of(call, question)
        return Document(call.result or "", id=call.id, metadata={"title": title} if title else {})

    return evidence(
        given,
        now,
        before,
        tools,
        text_of=lambda document: document.page_content,
        from_text=said,
        key=lambda document: identity(document, fields),
    )
