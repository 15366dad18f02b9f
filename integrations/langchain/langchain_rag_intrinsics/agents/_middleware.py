"""What both middlewares are: a judge that annotates or blocks, with a canned text and the tools that retrieve."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Literal

from langchain.agents.middleware import AgentMiddleware

from intrinsics_core.protocol.names import named
from langchain_rag_intrinsics.agents._retrieved import names

Answer = str | Callable[[Mapping[str, Any]], str]
MODES: tuple[Literal["annotate"], Literal["block"]] = ("annotate", "block")


class JudgingMiddleware(AgentMiddleware):
    """``retrievers`` are the names of the tools that retrieve; None for those that return documents."""

    def __init__(self, *, mode: str, answer: Answer, tools: Collection[str] | str | None, name: str | None) -> None:
        super().__init__()
        self.mode, self.answer, self.retrievers, self._name = named("mode", mode, MODES), answer, names(tools), name

    @property
    def name(self) -> str:
        """The name given, else the class's."""
        return self._name or super().name

    def _canned(self, state: Mapping[str, Any]) -> str:
        """The canned text, or what a function makes of the agent's state."""
        return self.answer if isinstance(self.answer, str) else self.answer(state)
