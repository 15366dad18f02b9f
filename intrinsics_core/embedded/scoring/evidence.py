"""What of a sentence is found in its sources: matched words, names, numbers, and nearness in meaning.

This is the measuring half of `support`: it turns a response sentence (`keys`) and a set of source sentences (`sources`)
into a few numbers in 0..1 and into the words that explain them. It judges nothing; `support` weighs the numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

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
    of several titles stands in each sentence of its document, which is read behind it. cosine: per source sentence.
    missing: the units found nowhere. foreign: the numbers that stand only in documents that the sentence is not about.
    crossed: share of its neighbouring words, both found, that no single document holds together. seen: `Sources.seen`.
    about: the documents that the sentence is about (`subjects`). elsewhere: the source sentences of the others, and
    those that say nothing.
    """

    claim: Claim
    features: Floats
    found: Floats
    placed: Floats
    cosine: Floats
    missing: tuple[Unit, ...]
    foreign: tuple[Unit, ...] = ()
    crossed: float = 0.0
    seen: float = 1.0
    about: frozenset[int] = frozenset()
    elsewhere: tuple[int, ...] = ()

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
    crossed = _crossed(asked, found, sources)
    owner = (sources.documents or ()) if about else ()
    elsewhere = tuple(i for i, document in enumerate(owner) if document not in about)
    elsewhere = tuple(sorted({*elsewhere, *sources.uncited}))
    return Evidence(
        asked,
        features,
        found,
        placed,
        cosine,
        missing,
        tuple(asked.units[i] for i in sorted(foreign)),
        crossed,
        sources.seen,
        about,
        elsewhere,
    )


def _placed(asked: Claim, found: Floats, sources: Sources) -> Floats:
    """What is found in each sentence and in the title of its document, where there are several titles."""
    if not sources.documents or len(set(filter(None, sources.titles))) < 2:
        return found
    titles = [keys_of(title) for title in sources.titles]
    named = np.array([[bool(unit.keys & title) for title in titles] for unit in asked.units]).reshape(-1, len(titles))
    return np.asarray(np.maximum(found, named[:, list(sources.documents)]), dtype=np.float32)


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


def _foreign(asked: Claim, found: Floats, sources: Sources, about: frozenset[int]) -> set[int]:
    """The numbers that stand in no document that the claim is ``about``, but in another one."""
    if not about or not sources.documents:
        return set()
    there = np.isin(np.asarray(sources.documents), list(about))
    return {i for i, unit in enumerate(asked.units) if unit.is_number and found[i].any() and not found[i, there].any()}
