"""Reviser."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from intrinsics_core import Call
from intrinsics_core.chains.notes import with_verdicts, without_verdicts
from intrinsics_core.protocol.results import RevisedAnswer
from langchain_rag_intrinsics._citations import with_text
from langchain_rag_intrinsics._intrinsic import Intrinsic
from langchain_rag_intrinsics._messages import ChainInput


class Reviser(Intrinsic):
    """Mends or drops the sentences of an answer that the documents do not support, and judges it again.

    Takes ``{"question" | "messages", "documents", "answer"}``; returns the answer with its new text, and in
    ``response_metadata["rag_intrinsics"]["revise"]`` what changed and what is still not supported. What an
    :class:`AnswerCheck` said of this very text by these documents is used. A language model mends; the embedded runtime
    drops what is unfaithful. With ``return_result=True`` it returns the core's RevisedAnswer. A stream waits for the
    whole answer.

    Args:
        mend: False only drops.

    Example:
        >>> from langchain_rag_intrinsics import Reviser
        >>> Reviser().invoke({
        ...     "question": "Who built the tide mill?",
        ...     "documents": ["Ada Brink built the tide mill in 1911."],
        ...     "answer": "Ada Brink built the tide mill in 1911. She painted it gold for forty sailors.",
        ... }).text
        'Ada Brink built the tide mill in 1911.'
    """

    intrinsic: ClassVar[str] = "revise"
    _options: ClassVar[Sequence[str]] = ("mend",)

    mend: bool = True

    def _ask(self, given: ChainInput, **more: Any) -> Call[Any]:
        return super()._ask(given, verdicts=given.known, **more)

    def _tell(self, value: Any, given: ChainInput, result: RevisedAnswer) -> Any:
        answer = given.answer
        if answer is None:  # the last turn is the assistant's, and no AIMessage
            return result
        metadata, content = answer.response_metadata, answer.content
        if result.changes:
            metadata, content = without_verdicts(metadata), with_text(content, result.answer)
        metadata = with_verdicts(metadata, {self.intrinsic: result.model_dump(mode="json")})
        return answer.model_copy(update={"content": content, "response_metadata": metadata})
