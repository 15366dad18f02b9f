"""Hooks for Haystack's Agent."""

from haystack_integrations.hooks.rag_intrinsics.groundedness_hook import (
    RagIntrinsicsGroundednessHook,
    RagIntrinsicsRetryEnd,
)

__all__ = ["RagIntrinsicsGroundednessHook", "RagIntrinsicsRetryEnd"]
