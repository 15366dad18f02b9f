"""Correct, then check again."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, TypeVar

from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined]
from llama_index.core.schema import MetadataMode, QueryType
from llama_index.rag_intrinsics._component import IntrinsicComponent
from llama_index.rag_intrinsics._inputs import History, conversation, passages
from llama_index.rag_intrinsics._responses import (
    answer_of,
    calls_of,
    is_structured,
    noted,
    saying,
    sources_of,
    under_way,
)
from llama_index.rag_intrinsics._settings import Several

from intrinsics_core import Call, InvalidInput
from intrinsics_core.protocol.results import RevisedAnswer

dispatcher = get_dispatcher(__name__)

Shown = TypeVar("Shown")


class Reviser(IntrinsicComponent):
    """Takes out of a finished response what its source nodes do not say: flagged sentences are mended or dropped, the
    rest is left as it is, and the result is judged again.

    Returns a copy with the new text; ``metadata["rag_intrinsics"]["revise"]`` holds each change with its offsets in the
    old text, and what is still unsupported. Without a language model as ``runtime`` nothing is mended: what is
    unfaithful is dropped. Verdicts that the response carried are about the old text, and are left out. Where nothing is
    left, the text is empty and the verdict gives the reason: say then what you say when there is no answer.

    Args:
        mend: False only drops.
        metadata_mode: which metadata of the nodes is read beside their text: what LLMs are shown, by default.
        tools: one name or several of an agent's tools whose texts are sources beside the nodes: ``["weather"]``; left
            out, the texts of all tools where none of them returned nodes.
        on_error: ``"fallback"`` leaves the response as it was, and the verdict says ``degraded``; or ``"raise"``.

    Example:
        >>> from llama_index.core.base.response.schema import Response
        >>> from llama_index.core.schema import NodeWithScore, TextNode
        >>> from llama_index.response_synthesizers.rag_intrinsics import Reviser
        >>> node = NodeWithScore(node=TextNode(id_="mill", text="Ada Brink built the tide mill in 1911."))
        >>> said = Response("Ada Brink built the tide mill in 1911. She kept nine zebras.", source_nodes=[node])
        >>> print(Reviser().revise("Who built the tide mill?", said))
        Ada Brink built the tide mill in 1911.
    """

    intrinsic: ClassVar[str] = "revise"
    _options: ClassVar[Sequence[str]] = ("mend",)

    on_error: str = "fallback"
    mend: bool = True
    metadata_mode: MetadataMode = MetadataMode.LLM
    tools: Annotated[tuple[str, ...] | None, Several] = None

    @dispatcher.span
    def revise(self, query: QueryType, response: Shown, *, chat_history: History = None) -> Shown:
        """The response without what its nodes do not say.

        Raises:
            InvalidInput: it is an object or has one, or is a stream that has not ended: neither has a text to revise.
            IntrinsicsError: with ``on_error="raise"``; see :mod:`intrinsics_core.protocol.errors`.
        """
        revised: Shown = self._revised(response, self._result(self._call(query, response, chat_history)))
        return revised

    @dispatcher.span
    async def arevise(self, query: QueryType, response: Shown, *, chat_history: History = None) -> Shown:
        """Like :meth:`revise`, without ever blocking the event loop."""
        revised: Shown = self._revised(response, await self._aresult(self._call(query, response, chat_history)))
        return revised

    def _call(self, query: QueryType, response: Any, history: History) -> Call[RevisedAnswer]:
        if is_structured(response) or under_way(response):
            raise InvalidInput("the response has no text to revise", intrinsic=self.intrinsic,
                               expected="one that is text, and whole", got=type(response).__name__)  # fmt: skip
        documents = passages(sources_of(response, self.tools), self.metadata_mode)
        return self._ask(conversation(query, answer_of(response), history, calls_of(response), documents), documents)

    def _revised(self, response: Any, result: RevisedAnswer) -> Any:
        if result.degraded:
            logging.getLogger(__name__).warning("%s fell back: %s", self.intrinsic, result.degraded)
        verdict = {self.intrinsic: result.model_dump(mode="json")}
        return noted(saying(response, result.answer) if result.changes else response, verdict)
