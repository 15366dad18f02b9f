"""Reciprocal rank fusion of LangChain's documents."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from langchain_core.documents import Document

from intrinsics_core.running.flows import fused


def fuse(rankings: Iterable[Sequence[Document]]) -> list[Document]:
    """Rankings as one, best first; documents are the same where id and text are: ids may repeat.

    See :func:`intrinsics_core.running.flows.fused`.
    """
    return fused(rankings, key=identity)


def identity(document: Document) -> Hashable:
    """What makes a document known again in another list. Parts of one document may share its id."""
    return document.id, document.page_content
