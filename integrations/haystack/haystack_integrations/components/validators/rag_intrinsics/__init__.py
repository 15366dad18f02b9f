"""Validators: what in an answer the documents support, where, and what it is without the rest."""

from haystack_integrations.components.validators.rag_intrinsics.answer_check import RagIntrinsicsAnswerCheck
from haystack_integrations.components.validators.rag_intrinsics.reviser import RagIntrinsicsReviser

__all__ = ["RagIntrinsicsAnswerCheck", "RagIntrinsicsReviser"]
