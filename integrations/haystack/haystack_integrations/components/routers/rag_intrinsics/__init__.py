"""Routers: one way for questions that the documents answer, another for the rest."""

from haystack_integrations.components.routers.rag_intrinsics.answerability_router import (
    RagIntrinsicsAnswerabilityRouter,
)

__all__ = ["RagIntrinsicsAnswerabilityRouter"]
