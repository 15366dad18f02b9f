"""Evaluators: is the answer faithful, are the passages relevant, do they answer, is it true by its sources.

>>> from llama_index.evaluation.rag_intrinsics import HallucinationEvaluator
>>> HallucinationEvaluator().class_name()
'HallucinationEvaluator'
"""

from llama_index.evaluation.rag_intrinsics._evaluator import IntrinsicEvaluation
from llama_index.evaluation.rag_intrinsics.answerability import AnswerabilityEvaluator
from llama_index.evaluation.rag_intrinsics.fact_check import FactCheckEvaluator
from llama_index.evaluation.rag_intrinsics.hallucination import HallucinationEvaluator
from llama_index.evaluation.rag_intrinsics.relevance import ContextRelevanceEvaluator
from llama_index.evaluation.rag_intrinsics.uncertainty import UncertaintyEvaluator

__all__ = [
    "AnswerabilityEvaluator",
    "ContextRelevanceEvaluator",
    "FactCheckEvaluator",
    "HallucinationEvaluator",
    "IntrinsicEvaluation",
    "UncertaintyEvaluator",
]
