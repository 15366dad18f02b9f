"""Which of the documents shown a row of a result is about: ids may repeat, so that an id alone does not tell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from intrinsics_core.protocol.results import Citation
from intrinsics_core.protocol.task import Document


def positions(rows: Iterable[tuple[str, int]], documents: Sequence[Document]) -> list[int | None]:
    """For each row of a result the position of its document; None where it cannot be told.

    It is the row's index, unless the rows count the documents of another list, as where a chain judges what it has
    ranked before. Then the id tells, if only one document has it.

    Args:
        rows: the id and the index of the document in each row of one result.
        documents: the documents that are shown.

    Returns:
        As many positions as there are rows.
    """
    rows = list(rows)
    if all(_stands_at(index, identity, documents) for identity, index in rows):
        return [index for _, index in rows]
    of_id: dict[str | None, list[int]] = {}
    for i, document in enumerate(documents):
        of_id.setdefault(document.id, []).append(i)
    found = [of_id.get(identity, ()) for identity, _ in rows]
    return [own[0] if len(own) == 1 else None for own in found]


def titles(citations: Sequence[Citation], documents: Sequence[Document]) -> list[str | None]:
    """For each citation the title of its document; None where it has none, or cannot be told.

    Args:
        citations: the citations of one answer.
        documents: the documents that the answer was given.

    Returns:
        As many titles as there are citations.
    """
    places = positions(((c.document_id, c.document_index) for c in citations), documents)
    return [None if place is None else documents[place].title for place in places]


def _stands_at(index: int, identity: str, documents: Sequence[Document]) -> bool:
    if index >= len(documents):
        return False
    own = documents[index].id
    return identity == (str(index) if own is None else own)
