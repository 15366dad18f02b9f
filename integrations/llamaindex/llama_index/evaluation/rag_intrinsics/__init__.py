"""One evaluator for all that is judged: is the answer faithful, relevant, true by its sources, do the passages help."""

from llama_index.evaluation.rag_intrinsics.evaluator import IntrinsicEvaluator

__all__ = ["IntrinsicEvaluator"]
