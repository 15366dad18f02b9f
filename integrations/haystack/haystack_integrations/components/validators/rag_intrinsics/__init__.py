"""Validators: what an answer rests on, sentence by sentence, and what it made up."""

from haystack_integrations.components.validators.rag_intrinsics.citation_builder import RagIntrinsicsCitationBuilder
from haystack_integrations.components.validators.rag_intrinsics.groundedness_checker import (
    RagIntrinsicsGroundednessChecker,
)

__all__ = ["RagIntrinsicsCitationBuilder", "RagIntrinsicsGroundednessChecker"]
