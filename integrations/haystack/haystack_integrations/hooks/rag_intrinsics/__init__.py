"""Hooks for Haystack's Agent."""

from haystack_integrations.hooks.rag_intrinsics.groundedness_hook import RagIntrinsicsGroundednessHook

__all__ = ["RagIntrinsicsGroundednessHook"]
