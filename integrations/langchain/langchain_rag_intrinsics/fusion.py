"""Reciprocal rank fusion."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from langchain_core.documents import Document

RANK_CONSTANT = 60  # Cormack, Clarke and Büttcher (2009); results change little with it


def fuse(rankings: Iterable[Sequence[Document]], constant: int = RANK_CONSTANT) -> list[Document]:
    """Rankings of documents as one, best first.

    A document's score is the sum of 1 / (constant + rank) over the rankings that hold it. Documents are the same where
    their ids are, or, without ids, where their texts are; the first one met stands for them all. A ranking that holds
    a document twice counts its better place. Ties keep the order in which documents were met.
    """
    scores: dict[tuple[bool, str], float] = {}
    found: dict[tuple[bool, str], Document] = {}
    for ranking in rankings:
        places: dict[tuple[bool, str], int] = {}
        for rank, document in enumerate(ranking, start=1):
            key = (False, document.page_content) if document.id is None else (True, document.id)
            places.setdefault(key, rank)
            found.setdefault(key, document)
        for key, rank in places.items():
            scores[key] = scores.get(key, 0.0) + 1 / (constant + rank)
    return [found[key] for key in sorted(scores, key=lambda key: -scores[key])]
