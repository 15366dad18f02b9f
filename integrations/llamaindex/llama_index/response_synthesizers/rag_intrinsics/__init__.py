"""Answers that say what they rest on, and no answer where there is none.

>>> from llama_index.response_synthesizers.rag_intrinsics import ResponseAnnotator
>>> ResponseAnnotator().class_name()
'ResponseAnnotator'
"""

from llama_index.response_synthesizers.rag_intrinsics.annotator import ResponseAnnotator
from llama_index.response_synthesizers.rag_intrinsics.cited import cited
from llama_index.response_synthesizers.rag_intrinsics.grounded import GroundedSynthesizer
from llama_index.response_synthesizers.rag_intrinsics.reviser import ResponseReviser

__all__ = ["GroundedSynthesizer", "ResponseAnnotator", "ResponseReviser", "cited"]
