"""Validators: what in an answer the documents support, where, and what it is without the rest."""

from haystack_integrations.components.validators.rag_intrinsics.auditor import RagIntrinsicsAuditor
from haystack_integrations.components.validators.rag_intrinsics.citation_builder import RagIntrinsicsCitationBuilder
from haystack_integrations.components.validators.rag_intrinsics.groundedness_checker import (
    RagIntrinsicsGroundednessChecker,
)
from haystack_integrations.components.validators.rag_intrinsics.reviser import RagIntrinsicsReviser
from haystack_integrations.components.validators.rag_intrinsics.stream_auditor import (
    RagIntrinsicsStreamAuditor,
    RagIntrinsicsStreamEnd,
)

__all__ = [
    "RagIntrinsicsAuditor",
    "RagIntrinsicsCitationBuilder",
    "RagIntrinsicsGroundednessChecker",
    "RagIntrinsicsReviser",
    "RagIntrinsicsStreamAuditor",
    "RagIntrinsicsStreamEnd",
]
