"""Fact check."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from llama_index.evaluation.rag_intrinsics._evaluator import IntrinsicEvaluator, Score, scored
from pydantic import Field

from intrinsics_core.intrinsics.fact_check import OPTIONS
from intrinsics_core.protocol.results import FactCheck


class FactCheckEvaluator(IntrinsicEvaluator):
    """How true is the response, as an answer to the query, by the contexts? The score is factuality.

    ``verdict["claims"]`` has the score of each sentence, ``verdict["sources"]`` says what each context weighs.

    Args:
        threshold: passing from this score on.
        top_k: read at most this many contexts, the most relevant; None reads all that ``top_p`` leaves.
        top_p: read the most relevant contexts until their share of all relevance reaches this; None switches it off.
        aggregate: of a claim's scores by context: the ``"max"``, the ``"min"``, or the mean ``"weighted"`` by
            relevance.
        sources: what is one source: each context (``"passages"``), or each of its sentences.
        combine: of the scores of the answer's sentences: their ``"mean"``, or the ``"min"``.

    Example:
        >>> from llama_index.evaluation.rag_intrinsics import FactCheckEvaluator
        >>> found = FactCheckEvaluator().evaluate(
        ...     query="Who built the tide mill?", response="Ada Brink built it.",
        ...     contexts=["Ada Brink built the tide mill in 1911.", "The harbour has two cranes."])
        >>> [source["document_id"] for source in found.verdict["sources"]]
        ['0', '1']
    """

    intrinsic: ClassVar[str] = "fact-check"
    _options: ClassVar[Sequence[str]] = OPTIONS

    threshold: float = Field(default=0.5, ge=0, le=1)
    top_k: int | None = None
    top_p: float | None = 0.9
    aggregate: Literal["max", "min", "weighted"] = "max"
    sources: Literal["passages", "sentences"] = "passages"
    combine: Literal["mean", "min"] = "mean"

    def _score(self, result: FactCheck) -> Score:
        read = [
            f"{source.document_id}: supports it with {source.score:.2f}, weight {source.weight:.2f}"
            for source in result.sources
            if source.score is not None
        ]
        return scored(result.score, self.threshold, False, "\n".join(read))
