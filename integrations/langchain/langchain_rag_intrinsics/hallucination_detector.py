"""Hallucination detector."""

from __future__ import annotations

from typing import Any, ClassVar

from langchain_core.messages import AIMessage

from intrinsics_core.protocol.results import Result
from langchain_rag_intrinsics._answering import AnswerIntrinsic
from langchain_rag_intrinsics._inputs import ChainInput
from langchain_rag_intrinsics._verdicts import verdict_about


class HallucinationDetector(AnswerIntrinsic):
    """A verdict for each sentence of an answer: do the documents support it?

    Takes ``{"question" | "messages", "documents", "answer"}``; returns a copy of the answer whose
    ``response_metadata["rag_intrinsics"]["hallucination-detection"]`` holds label, score and sentences with offsets
    into the answer's text. In a chain: ``chain.assign(answer=HallucinationDetector())``; a streaming answer streams on,
    and its last chunk brings the verdict. With ``return_result=True`` it returns the core's HallucinationDetection.

    Example:
        >>> from langchain_rag_intrinsics import HallucinationDetector
        >>> answer = HallucinationDetector().invoke({
        ...     "question": "Who built the tide mill?",
        ...     "documents": ["Ada Brink built the tide mill in 1911."],
        ...     "answer": "Ada Brink built the tide mill in 1911. It burned down in 1954.",
        ... })
        >>> verdict = answer.response_metadata["rag_intrinsics"]["hallucination-detection"]
        >>> [sentence["text"] for sentence in verdict["sentences"]]
        ['Ada Brink built the tide mill in 1911.', 'It burned down in 1954.']
    """

    intrinsic: ClassVar[str] = "hallucination-detection"

    def _metadata(self, answer: AIMessage, given: ChainInput, result: Result) -> dict[str, Any]:
        return verdict_about(self.intrinsic, result, answer, given.passages)
