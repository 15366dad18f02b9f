"""Evaluators: how certain an answer is, how true by its sources, and whole runs of rows at once."""

from haystack_integrations.components.evaluators.rag_intrinsics.answer_evaluator import RagIntrinsicsAnswerEvaluator
from haystack_integrations.components.evaluators.rag_intrinsics.answerability_evaluator import (
    RagIntrinsicsAnswerabilityEvaluator,
)
from haystack_integrations.components.evaluators.rag_intrinsics.context_relevance_evaluator import (
    RagIntrinsicsContextRelevanceEvaluator,
)
from haystack_integrations.components.evaluators.rag_intrinsics.fact_checker import RagIntrinsicsFactChecker
from haystack_integrations.components.evaluators.rag_intrinsics.faithfulness_evaluator import (
    RagIntrinsicsFaithfulnessEvaluator,
)
from haystack_integrations.components.evaluators.rag_intrinsics.uncertainty_scorer import RagIntrinsicsUncertaintyScorer

__all__ = [
    "RagIntrinsicsAnswerEvaluator",
    "RagIntrinsicsAnswerabilityEvaluator",
    "RagIntrinsicsContextRelevanceEvaluator",
    "RagIntrinsicsFactChecker",
    "RagIntrinsicsFaithfulnessEvaluator",
    "RagIntrinsicsUncertaintyScorer",
]
