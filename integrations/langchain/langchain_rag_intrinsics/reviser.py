"""Reviser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from langchain_core.messages import AIMessage

from intrinsics_core.chains.notes import KEY
from intrinsics_core.protocol.results import HallucinationDetection, RevisedAnswer
from langchain_rag_intrinsics._inputs import ChainInput
from langchain_rag_intrinsics._intrinsic import Intrinsic
from langchain_rag_intrinsics._verdicts import ABOUT, is_canned, known_verdict, verdict, with_verdict
from langchain_rag_intrinsics.hallucination_detector import HallucinationDetector

# Verdicts with places in the old text.
_OF_THE_OLD = ("hallucination-detection", "citations", "fact-check", "audit", "evaluate", ABOUT)


class Reviser(Intrinsic):
    """Mends or drops the sentences of an answer that the documents do not support, and judges it again.

    Takes ``{"question" | "messages", "documents", "answer"}``; returns the answer with its new text, and in
    ``response_metadata["rag_intrinsics"]["revise"]`` what changed and what is still not supported. A verdict of a
    :class:`HallucinationDetector` on this very text by these documents is used; verdicts on a text that is no more are
    left out. A language model mends; the embedded runtime drops what is unfaithful. With ``return_result=True`` it
    returns the core's RevisedAnswer. A stream waits for the whole answer: what has been shown cannot be taken back.

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

    def _without_asking(self, given: ChainInput) -> Any:
        return given.answer if is_canned(given.answer) and not self.return_result else None

    def _settings(self, given: ChainInput) -> dict[str, Any]:
        return super()._settings(given) | {"verdicts": None if given.answer is None else _judged(given.answer, given)}

    def _tell(self, value: Any, given: ChainInput, result: RevisedAnswer) -> Any:
        answer = given.answer
        if answer is None:  # the last turn is the assistant's, and no AIMessage
            return result
        metadata, content = answer.response_metadata, answer.content
        if result.changes:
            old = metadata.get(KEY)
            kept = {k: v for k, v in old.items() if k not in _OF_THE_OLD} if isinstance(old, Mapping) else old
            metadata = {**metadata, KEY: kept}
            # Blocks that are no text (thoughts, images) stay; citations in the text were of the old one.
            others = [b for b in content if isinstance(b, dict) and b.get("type") != "text"]
            content = [*others, {"type": "text", "text": result.answer}] if others else result.answer
        metadata = with_verdict(metadata, verdict(self.intrinsic, result))
        return answer.model_copy(update={"content": content, "response_metadata": metadata})


def _judged(answer: AIMessage, given: ChainInput) -> HallucinationDetection | None:
    """A detector's verdict on this answer by these documents, where there is a whole one."""
    found = known_verdict(HallucinationDetector.intrinsic, answer, given.passages)
    return None if not found or found.get("degraded") else HallucinationDetection(**found)
