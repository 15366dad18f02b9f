"""Evaluators: is the answer faithful, are the passages relevant, do they answer, is it true by its sources,
does it address the question, is it coherent and complete.

>>> from llama_index.evaluation.rag_intrinsics import HallucinationEvaluator
>>> HallucinationEvaluator().class_name()
'HallucinationEvaluator'
"""

from llama_index.evaluation.rag_intrinsics._evaluator import IntrinsicEvaluation
from llama_index.evaluation.rag_intrinsics.answer_relevance import AnswerRelevanceEvaluator
from llama_index.evaluation.rag_intrinsics.answerability import AnswerabilityEvaluator
from llama_index.evaluation.rag_intrinsics.fact_check import FactCheckEvaluator
from llama_index.evaluation.rag_intrinsics.hallucination import HallucinationEvaluator
from llama_index.evaluation.rag_intrinsics.rated import RatedEvaluator
from llama_index.evaluation.rag_intrinsics.relevance import ContextRelevanceEvaluator
from llama_index.evaluation.rag_intrinsics.uncertainty import UncertaintyEvaluator

__all__ = [
    "AnswerRelevanceEvaluator",
    "AnswerabilityEvaluator",
    "ContextRelevanceEvaluator",
    "FactCheckEvaluator",
    "HallucinationEvaluator",
    "IntrinsicEvaluation",
    "RatedEvaluator",
    "UncertaintyEvaluator",
]
