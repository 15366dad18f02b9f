"""``intrinsics demo``: a whole RAG chain on shipped text."""

from __future__ import annotations


def demo() -> None:
    """Show a whole RAG chain at work."""
