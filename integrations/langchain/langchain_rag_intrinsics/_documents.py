"""LangChain's documents as the core takes them: what a judge is shown of them, and which scores are the retriever's."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from langchain_core.documents import Document

from intrinsics_core.chains.scores import retrievers_score
from intrinsics_core.running.flows import fused

SCORE = "relevance_score"  # where rerankers leave theirs, ours too
SCORES = (SCORE, "score")  # where retrievers leave theirs


def as_document(item: Any) -> Document | None:
    """A document, also from the plain mapping that a checkpointer makes of one in a tool's artifact; else None."""
    if isinstance(item, Document):
        return item
    if not isinstance(item, Mapping) or not isinstance(item.get("page_content"), str):
        return None
    identity, metadata = item.get("id"), item.get("metadata")
    return Document(
        item["page_content"],
        id=identity if isinstance(identity, str) else None,
        metadata=dict(metadata) if isinstance(metadata, Mapping) else {},
    )


def passages(
    documents: Sequence[Document], fields: Sequence[str] = (), asked: str | None = None
) -> list[dict[str, Any]]:
    """Documents, retrieved for the question ``asked``, as the core takes them."""
    return [
        {"text": d.page_content, "id": d.id, "title": heading(d, fields), "score": score, "metadata": d.metadata}
        for d, score in zip(documents, scores(documents, asked), strict=True)
    ]


def heading(document: Document, fields: Sequence[str] = ()) -> str | None:
    """What is shown above the text: the title, then a line ``key: value`` for each of the fields; None for nothing.

    The text itself stays as it is, so that offsets in it are exact.
    """
    name = document.metadata.get("title")
    name = name if isinstance(name, str) else None
    shown = [field for field in fields if document.metadata.get(field) is not None]
    lines = [f"{field}: {document.metadata[field]}" for field in shown if not (field == "title" and name)]
    return "\n".join(lines if name is None else [name, *lines]) or None


def scores(documents: Sequence[Document], asked: str | None = None) -> list[float | None]:
    """The retriever's scores, by the first of the names that all documents have a finite number under; else None each.

    One name for all: scores of two names are not on one scale. What a reranker or a filter of ours wrote is no score of
    the retriever; what it wrote over counts, where that was for the same question.
    """
    for name in SCORES:
        found = [retrievers_score(document.metadata.get(name), document.metadata, asked) for document in documents]
        if None not in found:
            return found
    return [None] * len(documents)


def fuse(rankings: Iterable[Sequence[Document]]) -> list[Document]:
    """Rankings as one, best first (`intrinsics_core.running.flows.fused`)."""
    return fused(rankings, key=identity)


def identity(document: Document, fields: Sequence[str] = ()) -> Hashable:
    """What makes a document known again in another list. Parts of one document may share its id.

    Without an id two documents may have the same text under different headings, such as two companies' reports.
    """
    return document.id, document.page_content, heading(document, fields) if document.id is None else None
