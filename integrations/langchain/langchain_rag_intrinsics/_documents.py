"""LangChain's documents as the core takes them: what a judge is shown of them, and which scores are the retriever's."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from langchain_core.documents import Document

from intrinsics_core.chains.evidence import evidence
from intrinsics_core.chains.notes import heading
from intrinsics_core.chains.scores import retrievers_score
from intrinsics_core.chains.transcript import MadeCall
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
        {"text": d.page_content, "id": d.id, "title": heading(d.metadata, fields), "score": score,
         "metadata": d.metadata}
        for d, score in zip(documents, scores(documents, asked), strict=True)
    ]  # fmt: skip


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


def identity(document: Document, fields: Sequence[str] = ()) -> Hashable:
    """What makes a document known again in another list. Parts of one document may share its id.

    Without an id two documents may have the same text under different headings, such as two companies' reports.
    """
    return document.id, document.page_content, heading(document.metadata, fields) if document.id is None else None


def documents_of(
    now: Sequence[MadeCall],
    before: Sequence[MadeCall],
    tools: Collection[str] | None,
    fields: Sequence[str] = (),
    given: Iterable[Document] = (),
    question: str = "",
) -> list[Document]:
    """What an answer may rest on (`evidence`), as LangChain's documents; ``given`` are those that no tool returned."""

    def said(call: MadeCall, title: str | None) -> Document:
        return Document(call.result or "", id=call.id, metadata={"title": title} if title else {})

    return evidence(given, now, before, tools, text_of=lambda document: document.page_content, from_text=said,
                    question=question, key=lambda document: identity(document, fields))  # fmt: skip


fuse = partial(fused, key=identity)
"""Rankings as one, best first."""
