"""Answers that say what they rest on, and no answer where there is none.

>>> from llama_index.response_synthesizers.rag_intrinsics import AnswerCheck
>>> AnswerCheck("citations").checks
('citations',)
"""

from llama_index.response_synthesizers.rag_intrinsics.check import AnswerCheck
from llama_index.response_synthesizers.rag_intrinsics.cited import cited
from llama_index.response_synthesizers.rag_intrinsics.gate import AnswerabilityGate
from llama_index.response_synthesizers.rag_intrinsics.reviser import Reviser

__all__ = ["AnswerCheck", "AnswerabilityGate", "Reviser", "cited"]
