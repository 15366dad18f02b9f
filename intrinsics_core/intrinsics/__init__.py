"""The intrinsics, one module each. Each function checks its input and returns a call for a driver."""

from collections.abc import Callable
from typing import Any

from intrinsics_core.intrinsics.adapter import adapter
from intrinsics_core.intrinsics.answerability import answerability
from intrinsics_core.intrinsics.citations import citations
from intrinsics_core.intrinsics.context_relevance import context_relevance
from intrinsics_core.intrinsics.fact_check import fact_check
from intrinsics_core.intrinsics.hallucination_detection import hallucination_detection
from intrinsics_core.intrinsics.query_expansion import query_expansion
from intrinsics_core.intrinsics.query_rewrite import query_rewrite
from intrinsics_core.intrinsics.reranking import reranking
from intrinsics_core.intrinsics.uncertainty import uncertainty
from intrinsics_core.program import Call

# By the name that the command line and every error use.
INTRINSICS: dict[str, Callable[..., Call[Any]]] = {
    "query-rewrite": query_rewrite,
    "query-expansion": query_expansion,
    "context-relevance": context_relevance,
    "answerability": answerability,
    "reranking": reranking,
    "uncertainty": uncertainty,
    "hallucination-detection": hallucination_detection,
    "citations": citations,
    "fact-check": fact_check,
}

__all__ = [
    "INTRINSICS",
    "adapter",
    "answerability",
    "citations",
    "context_relevance",
    "fact_check",
    "hallucination_detection",
    "query_expansion",
    "query_rewrite",
    "reranking",
    "uncertainty",
]
