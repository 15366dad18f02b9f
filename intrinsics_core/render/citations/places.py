"""Where the words of citations stand in the texts that they are of, and where sentences begin."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence

from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.protocol.results import Citation
from intrinsics_core.protocol.task import DocumentLike, documents_of
from intrinsics_core.replies.quotes import occurrences


class Places:
    """Where words stand in the texts of a name: numbered from 1 through all of them, also where they overlap."""

    def __init__(self, texts: Mapping[str, Sequence[str]]) -> None:
        self._texts = texts
        self._found: dict[tuple[str, str], list[tuple[int, int]]] = {}

    def _of(self, name: str, words: str) -> list[tuple[int, int]]:
        if (name, words) not in self._found:
            texts = self._texts.get(name, ())
            self._found[name, words] = [
                (i, at) for i, text in enumerate(texts) for at in occurrences(words, text, overlapping=True)
            ]
        return self._found[name, words]

    def number(self, name: str, which: int, at: int, words: str) -> int:
        """Raises InvalidInput where the words do not stand at that place."""
        found = self._of(name, words)
        number = bisect_right(found, (which, at))
        if not number or found[number - 1] != (which, at):
            raise InvalidInput(
                "the citation is not from these texts", expected=f"words of {name!r} at {at}", got=repr(words)
            )
        return number

    def find(self, name: str, words: str, nth: int) -> tuple[int, int] | None:
        found = self._of(name, words)
        return found[nth - 1] if nth <= len(found) else None


def by_id(documents: Iterable[DocumentLike]) -> tuple[Mapping[str, Sequence[int]], Places]:
    """The positions of the documents of each id, and the places of words in them."""
    known = documents_of("citations", documents)
    members: dict[str, list[int]] = {}
    for i, document in enumerate(known):
        members.setdefault(document.id or "", []).append(i)
    return members, Places({name: [known[i].text for i in own] for name, own in members.items()})


def member(members: Mapping[str, Sequence[int]], citation: Citation) -> int:
    """Which of the documents of its id a citation is of.

    Raises:
        InvalidInput: of none of them.
    """
    own = members.get(citation.document_id, ())
    if citation.document_index not in own:
        raise InvalidInput("the citation is not from these documents", expected=f"one of {', '.join(members)}",
                           got=f"documents[{citation.document_index}], {citation.document_id!r}")  # fmt: skip
    return own.index(citation.document_index)


def sentence_start(starts: Sequence[int], end: int) -> int:
    """Where the sentence begins that ends at ``end``."""
    at = bisect_right(starts, end - 1)
    return starts[at - 1] if at else 0
