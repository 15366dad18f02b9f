"""Reciprocal rank fusion of LangChain's documents."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from langchain_core.documents import Document

from intrinsics_core.running.flows import fused
from langchain_rag_intrinsics._documents import heading


def fuse(rankings: Iterable[Sequence[Document]]) -> list[Document]:
    """Rankings as one, best first; documents are the same where :func:`identity` says so: ids may repeat.

    See :func:`intrinsics_core.running.flows.fused`.
    """
    return fused(rankings, key=identity)


def identity(document: Document, fields: Sequence[str] = ()) -> Hashable:
    """What makes a document known again in another list. Parts of one document may share its id.

    Without an id two documents may have the same text under different headings, such as two companies' reports.

    Args:
        fields: metadata that a judge is shown beside the text; see :func:`heading`.
    """
    return document.id, document.page_content, heading(document, fields) if document.id is None else None
