"""Hooks for an Agent: its answers judged by what its tools returned."""

from haystack_integrations.hooks.rag_intrinsics.groundedness_hook import RagIntrinsicsGroundednessHook

__all__ = ["RagIntrinsicsGroundednessHook"]
