"""Source sentences made ready for looking things up: which hold a word, and how near they are in meaning."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
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
_ALIKE = 1_000  # source terms with the same first letters that a term is compared with: prose of 1 MB has some hundreds


@dataclass(frozen=True)
class Sources:
    """Source sentences made ready for looking things up.

    texts: the sentences of all documents in order. vectors: per sentence (windows, dim), rows L2-normalised.
    documents: for each sentence the index of its document; None: all of one document. titles: one a document, with the
    metadata that frameworks write there, ``""`` for none; a word of theirs is found, wherever it is claimed. columns:
    of each sentence the column in which it begins a line (`outline.columns_of`); empty: each begins one.
    """

    texts: Sequence[str]
    vectors: Sequence[Floats]
    documents: Sequence[int] | None = None
    titles: Sequence[str] = ()
    columns: Sequence[int] = ()

    def __post_init__(self) -> None:
        if len(self.vectors) != len(self.texts):
            raise InvalidInput(f"sources: {len(self.texts)} sentences but {len(self.vectors)} vectors")
        if empty := [i for i, rows in enumerate(self.vectors) if not len(rows)]:
            raise InvalidInput(
                f"sources: sentence {empty[0]} has no vector",
                expected="one row for each window, and at least one window",
            )
        if self.documents is not None and len(self.documents) != len(self.texts):
            raise InvalidInput(f"sources: {len(self.texts)} sentences but {len(self.documents)} document indices")

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
        owner = self.documents or [0] * len(self.texts)
        texts, columns = self.texts, self.columns or [0] * len(self.texts)
        found = list[ReadSentence]()
        for _, some in groupby(range(len(texts)), key=lambda i: owner[i]):
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
        owner = 0 if self.documents is None else self.documents[sentence]
        return " ".join(self.titles[owner].split()[:_TITLE]) if self.titles else ""

    @cached_property
    def entitled(self) -> frozenset[str]:
        """The keys of what the titles say: evidence that no citation points at."""
        return frozenset(key for title in self.titles if title for key in keys_of(title))

    @cached_property
    def told_apart(self) -> dict[str, frozenset[str]]:
        """`told_apart` of the titles."""
        return told_apart(self.titles)

    @cached_property
    def _spelled(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for key in self.postings:
            if len(key) > 4 and key.isalpha():
                found[key[:3]].append(key)
        return found

    def similar(self, term: str, floor: float = 0.6) -> list[str]:
        """Source terms spelled like this one: same first three letters, Dice of trigrams at least ``floor``."""
        if len(term) < 5 or not term.isalpha():
            return []
        own = _trigrams(term)
        near = ((other, _trigrams(other)) for other in self._spelled.get(term[:3], ())[:_ALIKE])
        return [o for o, grams in near if 2 * len(own & grams) >= floor * (len(own) + len(grams))]

    def incidence(self, asked: Claim) -> Floats:
        """(units, sentences): 1 where a unit is found in a source sentence."""
        found = np.zeros((len(asked.units), len(self.texts)), dtype=np.float32)
        for row, unit in enumerate(asked.units):
            hits = [key for key in unit.keys if key in self.postings]
            if not hits and not unit.is_number:
                hits = [other for key in unit.keys for other in self.similar(key)]
            for key in hits:
                found[row, self.postings[key]] = 1.0
        return found

    @cached_property
    def _starts(self) -> NDArray[np.intp]:
        sizes = [len(rows) for rows in self.vectors]
        return np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.intp)

    def _blocks(self) -> Iterator[tuple[slice, Floats]]:
        """The sentences some thousands at a time, with the rows of their vectors in one array.

        One block is kept, more are made anew each time: the vectors of a book are not held twice.
        """
        if len(self.texts) <= _BLOCK:
            yield slice(0, len(self.texts)), self._stacked
            return
        for begin in range(0, len(self.texts), _BLOCK):
            part = slice(begin, min(begin + _BLOCK, len(self.texts)))
            yield part, _stack(self.vectors[part])

    @cached_property
    def _stacked(self) -> Floats:
        return _stack(self.vectors)

    def _starts_of(self, part: slice) -> NDArray[np.intp]:
        starts = self._starts[part]
        begin: NDArray[np.intp] = starts - starts[0]
        return begin

    def cosines(self, rows: Floats) -> Floats:
        """Largest cosine between any of a text's windows and any window of each source sentence; 0 for `uncited`."""
        nearest: Floats = np.zeros(len(self.texts), dtype=np.float32)
        if self.texts and len(rows):
            for part, mine in self._blocks():
                best = _products(mine, rows).max(axis=1)
                nearest[part] = np.maximum.reduceat(best, self._starts_of(part))
            nearest[list(self.uncited)] = 0.0
        return nearest

    @cached_property
    def passages(self) -> NDArray[np.intp]:
        """(sentences, 3): each sentence and its two successors in its document; the last ones repeat."""
        count = len(self.texts)
        owner = np.zeros(count, int) if self.documents is None else np.asarray(self.documents)
        here = np.arange(count)
        columns = [here]
        for _ in range(2):
            after = np.minimum(columns[-1] + 1, max(count - 1, 0))
            columns.append(np.where(owner[after] == owner, after, columns[-1]) if count else here)
        return np.stack(columns, axis=1)

    @cached_property
    def _passage_vectors(self) -> Floats:
        return self._passages_of(slice(0, len(self.texts)), self._stacked)

    def _passages_of(self, part: slice, mine: Floats) -> Floats:
        """The vectors of the passages that begin in a part, whose own rows are given."""
        mean = np.add.reduceat(mine, self._starts_of(part), axis=0)
        after = range(part.stop, min(part.stop + 2, len(self.texts)))  # a passage reaches into the next part
        if len(after):
            mean = np.concatenate([mean, [np.asarray(self.vectors[i]).sum(axis=0) for i in after]])
        members = self.passages[part] - part.start
        total = mean[members[:, 0]] + mean[members[:, 1]] + mean[members[:, 2]]
        return np.asarray(total / np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-9))

    def passage_cosine(self, rows: Floats) -> float:
        """Largest cosine between any of a text's windows and any passage of three source sentences."""
        if not self.texts or not len(rows):
            return 0.0
        if len(self.texts) <= _BLOCK:
            return float(_products(self._passage_vectors, rows).max())
        return max(float(_products(self._passages_of(part, mine), rows).max()) for part, mine in self._blocks())


def _trigrams(term: str) -> set[str]:
    padded = f"^{term}"
    return {padded[i : i + 3] for i in range(len(padded) - 2)}


def _products(mine: Floats, rows: Floats) -> Floats:
    theirs = np.asarray(rows, dtype=np.float32)
    if theirs.shape[1] != mine.shape[1]:
        raise InvalidInput(
            "vectors of response and sources differ in length", expected=str(mine.shape[1]), got=str(theirs.shape[1])
        )
    with np.errstate(invalid="ignore"):
        return mine @ theirs.T


def _stack(vectors: Sequence[Floats]) -> Floats:
    return np.concatenate([np.asarray(rows, dtype=np.float32) for rows in vectors])
