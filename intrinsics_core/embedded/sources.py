"""Source sentences made ready for looking things up: which hold a word, and how near they are in meaning."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from intrinsics_core.embedded.words import Claim, Floats, is_known, keys_of, told_apart
from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.text.cleaning import cleaned
from intrinsics_core.text.reading import ReadSentence, readings

READ_WHOLE = 170
"""Words of sources that a reader is shown whole beside a claim: one window of it."""

_BLOCK = 4_096  # source sentences whose vectors are put into one array at a time
_TITLE = 12  # words of a title that are shown


@dataclass(frozen=True)
class Sources:
    """Source sentences made ready for looking things up.

    texts: the sentences of all documents in order. vectors: of each (windows, dim), rows L2-normalised. documents: of
    each the index of its document; empty: all are of one. titles: one a document, with the metadata that frameworks
    write there, ``""`` for none; a word of theirs is found, wherever it is claimed. columns: of each sentence the
    column in which it begins a line (`reading.columns_of`); empty: each begins one.

    Raises:
        InvalidInput: the parts are not of one length, or a sentence has no vector.
    """

    texts: Sequence[str]
    vectors: Sequence[Floats]
    documents: Sequence[int] = ()
    titles: Sequence[str] = ()
    columns: Sequence[int] = ()

    def __post_init__(self) -> None:
        if len(self.vectors) != len(self.texts):
            raise InvalidInput(f"sources: {len(self.texts)} sentences but {len(self.vectors)} vectors")
        if empty := [i for i, rows in enumerate(self.vectors) if not len(rows)]:
            raise InvalidInput(f"sources: sentence {empty[0]} has no vector", expected="one row a window, one at least")
        if len(self.owner) != len(self.texts):
            raise InvalidInput(f"sources: {len(self.texts)} sentences but {len(self.owner)} document indices")

    @cached_property
    def owner(self) -> NDArray[np.intp]:
        """Of each sentence the index of its document."""
        return np.array(self.documents or [0] * len(self.texts), dtype=np.intp)

    @cached_property
    def postings(self) -> dict[str, list[int]]:
        """For each key, the sentences that hold it."""
        found: dict[str, list[int]] = defaultdict(list)
        for i, text in enumerate(self.read_as):
            for key in keys_of(text):
                found[key].append(i)
        return dict(found)

    @cached_property
    def readings(self) -> Sequence[ReadSentence]:
        """The sentences as they are read (`reading.readings`)."""
        texts, columns = self.texts, self.columns or [0] * len(self.texts)
        found = list[ReadSentence]()
        for _, some in groupby(range(len(texts)), key=lambda i: self.owner[i]):
            begin, end = len(found), len(found) + len(list(some))
            found += readings(cleaned(texts[begin:end], is_known), columns[begin:end])
        return found

    @cached_property
    def read_as(self) -> Sequence[str]:
        """The sentences as models read them; "" where nothing is read."""
        return [reading.text for reading in self.readings]

    @cached_property
    def uncited(self) -> tuple[int, ...]:
        """The sentences that say nothing themselves."""
        return tuple(i for i, reading in enumerate(self.readings) if not reading.own)

    @cached_property
    def seen(self) -> float:
        """The share of all sentences' words that a reader is shown beside one claim, 0..1; 1 for short sources."""
        return min(1.0, READ_WHOLE / max(1, sum(len(text.split()) for text in self.read_as)))

    def title_of(self, sentence: int) -> str:
        """The first words of the title of a sentence's document; "" for none."""
        return " ".join(self.titles[self.owner[sentence]].split()[:_TITLE]) if self.titles else ""

    @cached_property
    def is_titled(self) -> bool:
        """Whether documents have different titles."""
        return len(set(filter(None, self.titles))) > 1

    def titled(self, asked: Claim) -> Floats:
        """(units, documents): 1 where a unit is found in a document's title."""
        titles = [keys_of(title) for title in self.titles] or [frozenset()] * (1 + int(self.owner.max(initial=0)))
        rows = [[bool(unit.keys & title) for title in titles] for unit in asked.units]
        return np.array(rows, dtype=np.float32).reshape(-1, len(titles))

    @cached_property
    def entitled(self) -> frozenset[str]:
        """The keys of what the titles say: evidence that no citation points at."""
        return frozenset(key for title in self.titles if title for key in keys_of(title))

    @cached_property
    def told_apart(self) -> dict[str, frozenset[str]]:
        """Of each title the keys that no other title has."""
        return told_apart(self.titles)

    def incidence(self, asked: Claim) -> Floats:
        """(units, sentences): 1 where a unit is found in a source sentence."""
        found = np.zeros((len(asked.units), len(self.texts)), dtype=np.float32)
        for row, unit in enumerate(asked.units):
            for key in unit.keys & self.postings.keys():
                found[row, self.postings[key]] = 1.0
        return found

    def nearest(self, texts: Sequence[Floats]) -> tuple[Floats, list[float]]:
        """Of each text its largest cosine with each source sentence, 0 for `uncited`; and with three in a row of a
        document.
        """
        cosines, best = np.zeros((len(texts), len(self.texts)), dtype=np.float32), [0.0] * len(texts)
        for begin in range(0, len(self.texts) if texts else 0, _BLOCK):
            vectors, starts, passages = self._block(begin)
            for i, rows in enumerate(texts):
                found = np.maximum.reduceat(_products(vectors, rows).max(axis=1), starts)
                cosines[i, begin : begin + _BLOCK] = found
                best[i] = max(best[i], float(_products(passages, rows).max()))
        cosines[:, list(self.uncited)] = 0.0
        return cosines, best

    def _block(self, begin: int) -> tuple[Floats, NDArray[np.intp], Floats]:
        """Of some thousands of sentences the vectors, where those of each begin, and those of the passages: the vectors
        of a book are not held twice.
        """
        # A passage reaches two sentences further than the block.
        some = [np.asarray(rows, dtype=np.float32) for rows in self.vectors[begin : begin + _BLOCK + 2]]
        starts = np.cumsum([0, *map(len, some)])[:-1].astype(np.intp)
        vectors, count = np.concatenate(some), min(len(some), _BLOCK)
        total = np.add.reduceat(vectors, starts, axis=0)
        owner = self.owner[begin : begin + len(some)]
        at = here = np.arange(len(some))
        passages = total.copy()
        for _ in range(2):  # the last sentence of a document is repeated
            after = np.minimum(at + 1, len(some) - 1)
            at = np.where(owner[after] == owner[here], after, at)
            passages += total[at]
        passages /= np.maximum(np.linalg.norm(passages, axis=1, keepdims=True), 1e-9)
        end = int(starts[count]) if count < len(some) else len(vectors)
        return vectors[:end], starts[:count], passages[:count]


def _products(mine: Floats, rows: Floats) -> Floats:
    theirs = np.asarray(rows, dtype=np.float32)
    if theirs.shape[1] != mine.shape[1]:
        raise InvalidInput("vectors of response and sources differ in length",
                           expected=str(mine.shape[1]), got=str(theirs.shape[1]))  # fmt: skip
    with np.errstate(invalid="ignore"):
        return mine @ theirs.T
