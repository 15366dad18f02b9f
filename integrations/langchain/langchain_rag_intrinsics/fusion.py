"""Reciprocal rank fusion of LangChain's documents."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from langchain_core.documents import Document

from intrinsics_core.flows import fused


def fuse(rankings: Iterable[Sequence[Document]]) -> list[Document]:
    """Rankings as one, best first; documents are the same where their ids are, or, without ids, where their texts are.

    See :func:`intrinsics_core.flows.fused`.
    """
    return fused(rankings, key=_identity)


def _identity(document: Document) -> Hashable:
    return (False, document.page_content) if document.id is None else (True, document.id)
