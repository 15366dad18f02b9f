"""What one claim has in its sources: words, names and numbers, neighbouring words, nearness in meaning; what to cite.

What it is not: a reader. It sees no swapped role, no dropped "not" and no wrong detail made of words used nearby.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from intrinsics_core.embedded.about import subjects
from intrinsics_core.embedded.short_answers import stated_each
from intrinsics_core.embedded.sources import READ_WHOLE, Sources
from intrinsics_core.embedded.values import spelled_as_in
from intrinsics_core.embedded.words import Claim, Floats, Unit, background, claim, keys_of
from intrinsics_core.protocol.errors import InvalidInput

FEATURES: tuple[str, ...] = (
    "novel",  # share of the idf mass found in no source sentence
    "novel_names",  # 1 - 2**-k for k capitalised words not found
    "novel_numbers",  # 1 - 2**-k for k numbers not found
    "unpaired",  # share of neighbouring content words that no source sentence holds together
    "distance",  # 1 - cosine to the nearest sentence or passage of three; less for a claim of one or two content words
)
"""The columns of `Evidence.features`, each 0 to 1. Larger means less supported."""

READ_PART = 130
"""Words that a reader is shown of longer sources. What a claim rests on stands in a few sentences; more distract."""

_USUAL = 0.6  # of the largest idf there is: words below need no source where the question has them


@dataclass(frozen=True)
class Evidence:
    """What one claim has in the sources.

    sentence: it as it stands, and its vectors. claim: what is looked up of it, behind its question where it is bare.
    found: (units, source sentences), 1 where a sentence holds a unit. placed: the same, and where there are several
    titles, each word of a title is held by all sentences of its document. cosine: a number a source sentence. missing:
    the units found nowhere. foreign: the numbers that stand only in documents that the claim is not about. crossed:
    share of its neighbouring words, both found, that no single document holds together. seen: `Sources.seen`. about:
    the documents that it is about (`subjects`). elsewhere: the source sentences of others, and those that say nothing.
    bare: it says nothing without its question, and was looked up behind that.
    """

    sentence: str
    vectors: Floats
    claim: Claim
    features: Floats
    found: Floats
    placed: Floats
    cosine: Floats
    missing: tuple[Unit, ...]
    foreign: tuple[Unit, ...]
    crossed: float
    seen: float
    about: frozenset[int]
    elsewhere: tuple[int, ...]
    bare: bool = False

    def is_unproven(self, read: bool, bare: bool = False) -> bool:
        """It has a number of another subject, or nobody read it and it has details or is a bare "No."."""
        return bool(self.foreign) or (not read and (bare or any(unit.is_detail for unit in self.missing)))


def look_up(
    sentences: Sequence[str],
    vectors: Sequence[Floats],
    sources: Sources,
    given: str = "",
    before: Sequence[str] = (),
    turns: Sequence[str] = (),
) -> list[Evidence]:
    """The evidence of every claim of a response.

    Args:
        vectors: of each claim as `stated_each` puts it (windows, dim), rows L2-normalised.
        given: the question. Its words need no source. Its names and numbers do: an answer that repeats what a question
            wrongly presumes is not thereby supported.
        before: the sentences before these ones.
        turns: those before the question, the newest first (`subjects`).

    Raises:
        InvalidInput: there are not as many vectors as sentences.
    """
    if len(vectors) != len(sentences):
        raise InvalidInput(f"support: {len(sentences)} sentences but {len(vectors)} vectors")
    texts = stated_each(sentences, given, whole=not before)
    about = subjects([*before, *sentences], sources, given, turns)[len(before) :]
    each = zip(sentences, vectors, texts, about, *sources.nearest(vectors), strict=True)
    return [_measured(sources, given, *one) for one in each]


def _measured(
    sources: Sources, given: str, sentence: str, vectors: Floats, text: str, about: frozenset[int], cosine: Floats,
    passage: float,
) -> Evidence:  # fmt: skip
    """The evidence of one claim. text: what is looked up of it. passage: its cosine with the nearest passage."""
    asked, bare = claim(text), text != sentence
    found, pairs = sources.incidence(asked), np.array(asked.pairs, dtype=np.intp).reshape(-1, 2).T
    known = {key for unit in claim("" if bare else given).units if not unit.is_detail for key in unit.keys}
    usual = _USUAL * background().default  # a rarer word may be a name in lower case
    missing = tuple(
        unit
        for unit, row in zip(asked.units, found, strict=True)
        if not (row.any() or unit.keys & sources.entitled)
        and (unit.is_detail or unit.weight >= usual or not unit.keys & known)
    )
    paired = np.prod(found[pairs], axis=0).max(axis=1, initial=0.0)
    near = max(float(cosine.max(initial=0.0)), passage)
    whole = min(1.0, len(asked.units) / 3)  # "Paris." is far from every sentence, right or wrong
    values = [
        sum(unit.weight for unit in missing) / (float(asked.weights.sum()) or 1.0),
        1.0 - 2.0 ** -sum(unit.is_name for unit in missing),
        1.0 - 2.0 ** -sum(unit.is_number for unit in missing),
        1.0 - float(paired.mean()) if len(paired) else 0.0,
        whole * (1.0 - near),
    ]
    titled, owner = sources.titled(asked), sources.owner
    placed = np.maximum(found, titled[:, owner]) if sources.is_titled else found
    others = np.flatnonzero(~np.isin(owner, list(about))).tolist() if about else ()
    return Evidence(
        sentence, vectors, asked, np.clip(np.array(values, np.float32), 0.0, 1.0), found, placed, cosine, missing,
        _foreign(asked, placed, owner, about), _crossed(pairs, found, titled, owner), sources.seen, about,
        tuple(sorted({*sources.uncited, *others})), bare,
    )  # fmt: skip


def _crossed(pairs: NDArray[np.intp], found: Floats, titled: Floats, owner: NDArray[np.intp]) -> float:
    """The share of neighbouring units (2, pairs), both found, that no single document and its title hold together."""
    begins = np.flatnonzero(np.diff(owner, prepend=-1))  # the first sentence of each document
    if len(begins) < 2 or not pairs.size:
        return 0.0
    held = (np.maximum.reduceat(found, begins, axis=1) + titled[:, owner[begins]]) > 0
    first, second = held[pairs[0]], held[pairs[1]]
    both = first.any(axis=1) & second.any(axis=1)
    apart = both & ~(first & second).any(axis=1)
    return float(apart.sum() / max(1, both.sum()))


def _foreign(asked: Claim, found: Floats, owner: NDArray[np.intp], about: frozenset[int]) -> tuple[Unit, ...]:
    """The numbers that stand in no document that the claim is ``about``, but in another one."""
    there = np.isin(owner, list(about))
    rows = zip(asked.units, found, strict=True) if about else ()
    return tuple(unit for unit, row in rows if unit.is_number and row.any() and not row[there].any())


# --- what is cited and shown --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CitationRule:
    """How citations are chosen; see `cite`.

    cosine: share of the cosine in a source sentence's score, 0..1; the rest is idf-weighted coverage.
    threshold: least score of the first citation. gain: least share of the claim's idf mass that a further citation
    must add. further: least score of a further citation. maximum: most citations of one response sentence.
    """

    cosine: float
    threshold: float
    gain: float
    further: float
    maximum: int


def _covered(weights: Floats, found: Floats) -> Floats:
    """Per column of ``found`` (units, columns) the share of the weights it holds, 0..1."""
    # einsum, not BLAS: some BLAS kernels raise the invalid flag on lanes they only pad with.
    return np.asarray(np.einsum("u,us->s", weights, found) / max(float(weights.sum()), 1e-9))


def scores_of(evidence: Evidence, rule: CitationRule) -> Floats:
    """Per source sentence its score as a citation, 0 to 1; 0 where it tells of something else, or nothing."""
    share = _covered(evidence.claim.weights, evidence.placed)
    scores = (1.0 - rule.cosine) * share + rule.cosine * np.clip(evidence.cosine, 0.0, 1.0)
    scores[list(evidence.elsewhere)] = 0.0
    return scores


def cite(evidence: Evidence, rule: CitationRule) -> tuple[int, ...]:
    """Source sentences to cite for one claim, best first. Each is cited for words of its own.

    The best-scoring sentence is taken if its score reaches ``rule.threshold``; then the one that adds most of what is
    not yet covered, while it adds at least ``rule.gain``: a repetition is not cited.
    """
    scores = scores_of(evidence, rule)
    if not len(scores) or float(scores.max()) < rule.threshold:
        return ()
    chosen = [int(scores.argmax())]
    still_open = 1.0 - evidence.placed[:, chosen[:1]]
    while len(chosen) < rule.maximum:
        gains = _covered(evidence.claim.weights, still_open * evidence.placed)
        gains[scores < rule.further] = 0.0
        gains[[*chosen, *evidence.elsewhere]] = 0.0
        best = int((gains + 1e-3 * scores).argmax())
        if gains[best] < rule.gain:
            break
        chosen.append(best)
        still_open = still_open * (1.0 - evidence.placed[:, [best]])
    return tuple(chosen)


def under_titles(texts: Sequence[str], titles: Sequence[str] = ()) -> str:
    """Sentences as one text; where their ``titles`` are given, those of one document stand behind its title."""
    if not titles:
        return " ".join(texts)
    runs = groupby(zip(titles, texts, strict=True), key=itemgetter(0))
    told = [(title, " ".join(text for _, text in some)) for title, some in runs]
    return " ".join(f"{title}: {said}" if title else said for title, said in told)


def to_read(text: str, evidence: Evidence, sources: Sources, rule: CitationRule) -> list[tuple[str, str]]:
    """What a reader is shown beside one claim: the sentence found; the same with its neighbours; the best few of all.

    Only documents that the claim is about are read, where there are any: what another one says of something else is no
    support. The best few are the sentences with the best scores, in their order: all of short sources (`READ_WHOLE`
    words), `READ_PART` words of longer ones. A neighbour below another heading or in another list is none.
    """
    scores, read, owner = scores_of(evidence, rule), sources.read_as, sources.owner
    ranked = [int(i) for i in np.argsort(-scores, kind="stable") if read[int(i)]]
    ranked = [i for i in ranked if owner[i] in evidence.about] or ranked
    if not ranked:
        return []
    best = ranked[0]
    place = owner[best], sources.readings[best].section
    around = range(max(0, best - 1), min(best + 2, len(read)))
    near = [i for i in around if (owner[i], sources.readings[i].section) == place]
    few, words, most = [best], len(read[best].split()), READ_WHOLE if sources.seen == 1.0 else READ_PART
    for i in ranked[1:]:
        words += len(read[i].split())
        if words > most:
            break
        few.append(i)
    parts = [[i for i in some if read[i]] for some in ([best], near, sorted(few))]
    named = keys_of(sources.title_of(best))
    # The titles are shown where there are several, and where what the claim is about stands in the title alone.
    titled = sources.is_titled or any(
        unit.keys & named and not evidence.found[row, near].any() for row, unit in enumerate(evidence.claim.units)
    )
    shown = [
        under_titles([read[i] for i in some], [sources.title_of(i) for i in some] if titled else ()) for some in parts
    ]
    return [(source, spelled_as_in(source, text)) for source in dict.fromkeys(shown)]
