"""Hallucination."""

from __future__ import annotations

from typing import ClassVar

from llama_index.evaluation.rag_intrinsics._evaluator import IntrinsicEvaluator, Score, Threshold, scored

from intrinsics_core.protocol.results import HallucinationDetection

FINE = ("faithful", "NA")  # NA: a sentence that claims nothing


class HallucinationEvaluator(IntrinsicEvaluator):
    """Do the contexts support each sentence of the response? Passing where they support the response as a whole and no
    sentence is flagged; the score is the response's faithfulness. ``verdict["sentences"]`` has a verdict for each.

    A bare "Yes." or "No." is judged together with its question. The embedded default passes only some of the right
    ones. Use a language model where these answers matter.

    Args:
        threshold: passing from this score on, whatever the labels; None: by the labels.

    Example:
        >>> from llama_index.evaluation.rag_intrinsics import HallucinationEvaluator
        >>> found = HallucinationEvaluator().evaluate(
        ...     query="Who built the tide mill?", response="Ada Brink built the tide mill in 1911.",
        ...     contexts=["Ada Brink built the tide mill in 1911."])
        >>> found.passing, found.verdict["label"]
        (True, 'faithful')
    """

    intrinsic: ClassVar[str] = "hallucination-detection"

    threshold: Threshold = None

    def _score(self, result: HallucinationDetection) -> Score:
        if result.reason:
            return Score(None, None, result.reason)
        flagged = [
            f"{sentence.label}: {sentence.text}" + (f" ({sentence.explanation})" if sentence.explanation else "")
            for sentence in result.sentences
            if sentence.label not in FINE
        ]
        return scored(
            result.score, self.threshold, result.label in FINE and not flagged, "\n".join([result.label, *flagged])
        )
