"""Answers that say what they rest on, and no answer where there is none."""

from llama_index.response_synthesizers.rag_intrinsics.check import AnswerCheck, Reviser, cited
from llama_index.response_synthesizers.rag_intrinsics.gate import AnswerabilityGate

__all__ = ["AnswerCheck", "AnswerabilityGate", "Reviser", "cited"]
