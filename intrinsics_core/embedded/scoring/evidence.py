"""What of a sentence is found in its sources: matched words, names, numbers, and nearness in meaning.

This is the measuring half of `support`: it turns a response sentence (`keys`) and a set of source sentences (`sources`)
into a few numbers in 0..1 and into the words that explain them. It judges nothing; `support` weighs the numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from intrinsics_core.embedded.lexical import background
from intrinsics_core.embedded.scoring.keys import Claim, Floats, Unit, claim, keys_of
from intrinsics_core.embedded.scoring.sources import Sources

FEATURES: tuple[str, ...] = (
    "novel",  # share of the idf mass found in no source sentence
    "novel_names",  # 1 - 2**-k for k capitalised words not found
    "novel_numbers",  # 1 - 2**-k for k numbers not found
    "unpaired",  # share of neighbouring content words that no source sentence holds together
    "distance",  # 1 - cosine to the nearest sentence or passage of three; less for a claim of one or two content words
)
"""Names of the columns of `measure`, in order. Larger means less supported, in every column."""

_USUAL = 0.6  # of the largest idf there is: words below need no source where the question has them


@dataclass(frozen=True)
class Evidence:
    """What one response sentence has in the sources.

    features: one number in 0..1 a column of `FEATURES`. found: (units, sentences). placed: the same, but a word of one
    of several titles stands in each sentence of its document, which is read behind it. own: the same without the words
    of another sentence that one is read behind, for which it is not cited. cosine: per source sentence.
    missing: the units found nowhere. stray: the numbers that stand in the sources, but not where the rest of the
    sentence stands: neither in the passage of three sentences nearest to it nor beside the same word elsewhere;
    those that stand only in documents that the sentence is not about; and those of rows that it does not name.
    crossed: share of its neighbouring words, both found, that no single document holds together. seen: `Sources.seen`.
    about: the documents that the sentence is about (`subjects`). elsewhere: the source sentences of the others, and
    those that say nothing.
    foreign: whether a number stands only there.
    """

    claim: Claim
    features: Floats
    found: Floats
    placed: Floats
    own: Floats
    cosine: Floats
    missing: tuple[Unit, ...]
    stray: tuple[Unit, ...] = ()
    crossed: float = 0.0
    seen: float = 1.0
    about: frozenset[int] = frozenset()
    elsewhere: tuple[int, ...] = ()
    foreign: bool = False

    @property
    def invented(self) -> tuple[Unit, ...]:
        """The names and numbers found nowhere, and the words that say of what a number is."""
        numbers = {i for i, unit in enumerate(self.claim.units) if unit.is_number}
        counted = {self.claim.units[b] for a, b in self.claim.pairs if a in numbers}
        return tuple(unit for unit in self.missing if unit.is_detail or unit in counted)


def covered(weights: Floats, found: Floats) -> Floats:
    """Per column of ``found`` (units, columns) the share of the weights it holds, 0..1."""
    # einsum, not BLAS: some BLAS kernels raise the invalid flag on lanes they only pad with.
    return np.asarray(np.einsum("u,us->s", weights, found) / max(float(weights.sum()), 1e-9))


def _share(part: float, whole: float) -> float:
    return float(part / whole) if whole > 0 else 0.0


def measure(
    sentence: str, vectors: Floats, sources: Sources, given: str = "", about: frozenset[int] = frozenset()
) -> Evidence:
    """Look a response sentence up in its sources.

    Args:
        sentence: one sentence of a response.
        vectors: its vectors, (windows, dim), rows L2-normalised.
        sources: the source sentences.
        given: text whose words need no source, such as the question. Its names and numbers still do: an answer that
            repeats what a question wrongly presumes is not thereby supported.
        about: the documents that the sentence is about; empty: all of them.
    """
    asked = claim(sentence)
    weights = asked.weights
    found = sources.incidence(asked)
    cosine = sources.cosines(vectors)
    known = {key for unit in claim(given).units if not unit.is_detail for key in unit.keys}
    usual = _USUAL * background().default  # a rarer word may be a name in lower case
    granted = np.array(
        [
            bool(unit.keys & sources.entitled or (not unit.is_detail and unit.weight < usual and unit.keys & known))
            for unit in asked.units
        ],
        dtype=bool,
    )
    anywhere = granted | (found.max(axis=1, initial=0.0) > 0)
    missing = tuple(unit for unit, hit in zip(asked.units, anywhere, strict=True) if not hit)
    first, second = np.array(asked.pairs, dtype=np.intp).reshape(-1, 2).T
    paired = (found[first] * found[second]).max(axis=1, initial=0.0)
    near = max(float(cosine.max(initial=0.0)), sources.passage_cosine(vectors))
    whole = min(1.0, len(asked.units) / 3)  # "Paris." is far from every sentence, right or wrong
    values = [
        _share(sum(unit.weight for unit in missing), float(weights.sum())),
        1.0 - 2.0 ** -sum(unit.is_name for unit in missing),
        1.0 - 2.0 ** -sum(unit.is_number for unit in missing),
        1.0 - float(paired.mean()) if len(paired) else 0.0,
        whole * (1.0 - near),
    ]
    features = np.clip(np.array(values, dtype=np.float32), 0.0, 1.0)
    placed = _placed(asked, found, sources)
    foreign = _foreign(asked, placed, sources, about)
    stray = _stray(asked, placed, cosine, anywhere, paired, sources) | foreign
    stray |= _of_other_rows(asked, found, sources) | _of_other_things(asked, found, sources)
    crossed = _crossed(asked, found, sources)
    astray = tuple(asked.units[i] for i in sorted(stray))
    owner = (sources.documents or ()) if about else ()
    elsewhere = tuple(i for i, document in enumerate(owner) if document not in about)
    elsewhere = tuple(sorted({*elsewhere, *sources.uncited}))
    return Evidence(
        asked,
        features,
        found,
        placed,
        _own(asked, placed, sources),
        cosine,
        missing,
        astray,
        crossed,
        sources.seen,
        about,
        elsewhere,
        bool(foreign),
    )


def _placed(asked: Claim, found: Floats, sources: Sources) -> Floats:
    """What is found in each sentence and in the title of its document, where there are several titles."""
    if not sources.documents or len(set(filter(None, sources.titles))) < 2:
        return found
    titles = [keys_of(title) for title in sources.titles]
    named = np.array([[bool(unit.keys & title) for title in titles] for unit in asked.units]).reshape(-1, len(titles))
    return np.asarray(np.maximum(found, named[:, list(sources.documents)]), dtype=np.float32)


def _own(asked: Claim, placed: Floats, sources: Sources) -> Floats:
    """What is found in the words of each sentence itself."""
    if not sources.shared:
        return placed
    found = placed.copy()
    for i, (own, read) in sources.shared.items():
        for row, unit in enumerate(asked.units):
            if unit.keys & own:
                found[row, i] = 1.0
            elif unit.keys & read:
                found[row, i] = 0.0
    return found


def _crossed(asked: Claim, found: Floats, sources: Sources) -> float:
    """The share of neighbouring words, both found, that no single document and its title hold together, 0..1."""
    if not sources.documents or not asked.pairs:
        return 0.0
    owner = np.asarray(sources.documents)
    begins = np.flatnonzero(np.diff(owner, prepend=owner[0] - 1))  # the first sentence of each document
    if len(begins) < 2:
        return 0.0
    held = np.maximum.reduceat(found, begins, axis=1) > 0
    if sources.titles:
        titles = [keys_of(sources.titles[document]) for document in owner[begins]]
        held |= np.array([[bool(unit.keys & title) for title in titles] for unit in asked.units])
    first, second = np.array(asked.pairs, dtype=np.intp).T
    both = held[first].any(axis=1) & held[second].any(axis=1)
    apart = both & ~(held[first] & held[second]).any(axis=1)
    return _share(float(apart.sum()), float(both.sum()))


def _stray(
    asked: Claim, found: Floats, cosine: Floats, anywhere: NDArray[np.bool_], paired: Floats, sources: Sources
) -> set[int]:
    """The numbers that stand elsewhere in the sources than the rest of the claim."""
    numbers = [i for i, unit in enumerate(asked.units) if unit.is_number and anywhere[i]]
    if not numbers or not sources.texts or len(asked.units) == len(numbers):
        return set()
    together = found[:, sources.passages].max(axis=2)
    nearest = int((covered(asked.weights, together) + 0.5 * cosine[sources.passages].mean(axis=1)).argmax())
    beside = {i for pair, held in zip(asked.pairs, paired, strict=True) if held for i in pair}
    return {i for i in numbers if not together[i, nearest] and i not in beside and found[i].max() > 0}


def _foreign(asked: Claim, found: Floats, sources: Sources, about: frozenset[int]) -> set[int]:
    """The numbers that stand in no document that the claim is ``about``, but in another one."""
    if not about or not sources.documents:
        return set()
    there = np.isin(np.asarray(sources.documents), list(about))
    return {i for i, unit in enumerate(asked.units) if unit.is_number and found[i].any() and not found[i, there].any()}


def _of_other_rows(asked: Claim, found: Floats, sources: Sources) -> set[int]:
    """The numbers in digits that stand only in rows which the claim does not name, where it names another row."""
    said = {key for unit in asked.units for key in unit.keys}
    named = {i for i, keys in sources.rows.items() if keys & said}
    if not named:
        return set()
    places = {
        i: set(np.flatnonzero(found[i]).tolist())
        for i, unit in enumerate(asked.units)
        if unit.is_number and any(map(str.isdigit, unit.text))
    }
    return {i for i, at in places.items() if at and at <= sources.rows.keys() - named}


def _of_other_things(asked: Claim, found: Floats, sources: Sources) -> set[int]:
    """The numbers that are a field of things which the claim does not name alone, where it names another one with the
    same field: the price of a double room at the Harbour Hotel, in a claim about the Garden Hotel.
    """
    if len(sources.fields_of) < 2:
        return set()
    said = {key for unit in asked.units for key in unit.keys}
    named = {thing for thing, keys in sources.fields_of.items() if keys & said}
    labels = {field.label for field in sources.fields.values() if field.of in named}
    others = {i for i, field in sources.fields.items() if field.of not in named and field.label in labels}
    places = {i: set(np.flatnonzero(found[i]).tolist()) for i, unit in enumerate(asked.units) if unit.is_number}
    return {i for i, at in places.items() if at and at <= others}
