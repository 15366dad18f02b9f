"""Correct, then check again."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, TypeVar

from llama_index.core.agent.workflow import AgentOutput
from llama_index.core.base.llms.types import TextBlock
from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined]
from llama_index.core.llms import ChatMessage
from llama_index.core.schema import MetadataMode, QueryType
from llama_index.rag_intrinsics._component import IntrinsicComponent
from llama_index.rag_intrinsics._inputs import History, conversation, distinct, passages
from llama_index.rag_intrinsics._responses import answer_of, calls_of, is_structured, sources_of, under_way
from llama_index.rag_intrinsics._settings import Several
from llama_index.response_synthesizers.rag_intrinsics.annotator import annotated

from intrinsics_core import Call, InvalidInput
from intrinsics_core.chains.notes import KEY
from intrinsics_core.protocol.results import RevisedAnswer

dispatcher = get_dispatcher(__name__)
logger = logging.getLogger(__name__)

Shown = TypeVar("Shown")


class ResponseReviser(IntrinsicComponent):
    """Takes out of a finished response what its source nodes do not say: flagged sentences are mended or dropped, the
    rest is left as it is, and the result is judged again.

    Returns a copy with the new text; ``metadata["rag_intrinsics"]["revise"]`` holds each change with its offsets in the
    old text, and what is still unsupported. Without a language model as ``runtime`` nothing is mended: what is
    unfaithful is dropped. Verdicts that the response carried are about the old text, and are left out. Where nothing is
    left, the text is empty and the verdict gives the reason: say then what you say when there is no answer.

    Args:
        mend: False only drops.
        metadata_mode: which metadata of the nodes is read beside their text: what LLMs are shown, by default.
        tools: one name or several of an agent's tools whose texts are sources beside the nodes: ``["weather"]``.
        on_error: ``"fallback"`` leaves the response as it was, and the verdict says ``degraded``; or ``"raise"``.

    Example:
        >>> from llama_index.core.base.response.schema import Response
        >>> from llama_index.core.schema import NodeWithScore, TextNode
        >>> from llama_index.response_synthesizers.rag_intrinsics import ResponseReviser
        >>> node = NodeWithScore(node=TextNode(id_="mill", text="Ada Brink built the tide mill in 1911."))
        >>> said = Response("Ada Brink built the tide mill in 1911. She kept nine zebras.", source_nodes=[node])
        >>> print(ResponseReviser().revise("Who built the tide mill?", said))
        Ada Brink built the tide mill in 1911.
    """

    intrinsic: ClassVar[str] = "revise"
    _options: ClassVar[Sequence[str]] = ("mend",)

    on_error: str = "fallback"
    mend: bool = True
    metadata_mode: MetadataMode = MetadataMode.LLM
    tools: Annotated[tuple[str, ...], Several] = ()

    @dispatcher.span
    def revise(self, query: QueryType, response: Shown, *, chat_history: History = None) -> Shown:
        """The response without what its nodes do not say.

        Raises:
            InvalidInput: it is an object or has one, or is a stream that has not ended: neither has a text to revise.
            IntrinsicsError: with ``on_error="raise"``; see :mod:`intrinsics_core.protocol.errors`.
        """
        return self._revised(response, self._result(self._call(query, response, chat_history)))

    @dispatcher.span
    async def arevise(self, query: QueryType, response: Shown, *, chat_history: History = None) -> Shown:
        """Like :meth:`revise`, without ever blocking the event loop."""
        return self._revised(response, await self._aresult(self._call(query, response, chat_history)))

    def _call(self, query: QueryType, response: Any, history: History) -> Call[RevisedAnswer]:
        if is_structured(response) or under_way(response):
            raise InvalidInput("the response has no text to revise", intrinsic=self.intrinsic,
                               expected="one that is text, and whole", got=type(response).__name__)  # fmt: skip
        documents = passages(distinct(sources_of(response, self.tools)), self.metadata_mode)
        messages = conversation(query, answer_of(response), history, calls_of(response))
        return self._ask(messages, documents)

    def _revised(self, response: Shown, result: RevisedAnswer) -> Shown:
        if result.degraded:
            logger.warning("%s fell back: %s", self.intrinsic, result.degraded)
        verdict = {self.intrinsic: result.model_dump(mode="json")}
        return annotated(_saying(response, result.answer) if result.changes else response, verdict)


def _saying(response: Any, text: str) -> Any:
    """A copy that says this, without the verdicts on what it said before."""
    if isinstance(response, AgentOutput):
        said = response.response
        noted = {k: v for k, v in said.additional_kwargs.items() if k != KEY}
        # Calls of tools beside the text stay.
        blocks: list[Any] = [block for block in said.blocks if not isinstance(block, TextBlock)]
        first = next((i for i, block in enumerate(said.blocks) if isinstance(block, TextBlock)), 0)
        blocks.insert(first, TextBlock(text=text))
        message = ChatMessage(blocks=blocks, role=said.role, additional_kwargs=noted)
        return response.model_copy(update={"response": message})
    field = "response_txt" if hasattr(response, "response_txt") else "response"
    kept = {key: value for key, value in (response.metadata or {}).items() if key != KEY}
    return replace(response, **{field: text}, metadata=kept)
