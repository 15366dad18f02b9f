"""LangChain's documents as the core takes them: what a judge is shown of them, and which scores are the retriever's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from numbers import Real
from pathlib import PurePosixPath
from typing import Any

from langchain_core.documents import Document

from intrinsics_core.chains.notes import verdicts_in

SCORE = "relevance_score"  # where rerankers leave theirs, ours too
RETRIEVAL_SCORE = "retrieval_score"  # where ours keeps the one that it found there
# Where retrievers leave their scores.
SCORES = (SCORE, "score")


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


def passages(documents: Sequence[Document], fields: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Documents as the core takes them.

    Args:
        fields: metadata that the answering model is shown beside the text: see :func:`heading`.
    """
    return [
        {"text": d.page_content, "id": d.id, "title": heading(d, fields), "score": score, "metadata": d.metadata}
        for d, score in zip(documents, scores(documents), strict=True)
    ]


def heading(document: Document, fields: Sequence[str] = ()) -> str | None:
    """What is shown above the text: the title, where the metadata has one, then a line ``key: value`` for each of the
    fields that it has. The text itself stays as it is, so that offsets in it are exact.
    """
    name = title(document)
    if not fields:
        return name or None
    shown = [field for field in fields if document.metadata.get(field) is not None]
    lines = [f"{field}: {document.metadata[field]}" for field in shown if not (field == "title" and name)]
    return "\n".join(lines if name is None else [name, *lines]) or None


def title(document: Document) -> str | None:
    """The document's title, where its metadata has one."""
    found = document.metadata.get("title")
    return found if isinstance(found, str) else None


def citation_title(document: Document) -> str | None:
    """What a citation calls the document: its title, or else its source, as loaders name it, and the page.

    A source in a file system is called by the file's name: who reads a citation knows no folder of ours. Loaders count
    pages from 0 in ``page`` and write what the page says of itself in ``page_label``, which comes first.
    """
    if name := title(document):
        return name
    source = document.metadata.get("source")
    if not isinstance(source, str) or not source:
        return None
    name = source if "://" in source else PurePosixPath(source.replace("\\", "/")).name or source
    page = next((p for p in map(document.metadata.get, ("page_label", "page")) if isinstance(p, str | int)), None)
    return name if page is None or page == "" else f"{name}, page {page}"


def url(document: Document) -> str | None:
    """The web address that the document came from, where its metadata has one."""
    named = (document.metadata.get(key) for key in ("url", "source"))
    return next((u for u in named if isinstance(u, str) and u.startswith(("http://", "https://"))), None)


def scores(documents: Sequence[Document]) -> list[float | None]:
    """The retriever's scores, by the first of the names that all documents have a finite number under; else None each.

    One name for all: scores of two names are not on one scale. What a reranker or a filter of ours wrote is no score of
    the retriever, and may have been for another question; what it wrote over counts.
    """
    for name in SCORES:
        found = [_number(retrievers_score(document, name)) for document in documents]
        if None not in found:
            return found
    return [None] * len(documents)


def retrievers_score(document: Document, name: str = SCORE) -> Any:
    """What the metadata holds under a name where it is the retriever's own, or held before we wrote there."""
    value = document.metadata.get(name)
    return document.metadata.get(RETRIEVAL_SCORE) if name == SCORE and _ours(document, value) else value


def _ours(document: Document, value: Any) -> bool:
    """Whether a score is one that a verdict on the document gave."""
    if value is None:
        return False
    given = [verdict for verdict in verdicts_in(document.metadata).values() if isinstance(verdict, Mapping)]
    # A fallback, which has no mode, shows the score that the document came with.
    return any(v.get("score") == value and ("mode" in v or not v.get("degraded")) for v in given)


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, Real):  # Real: NumPy's numbers too
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if isfinite(number) else None
