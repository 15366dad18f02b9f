"""How well sources support a response, sentence by sentence, without a language model.

Serves hallucination detection (a probability and a reason per sentence, one score per response), citations (which
source sentences to name), and the fact check (does this source entail this claim).

What it is: a logistic regression with weights of known sign over what `measure` finds (words, names and numbers that
the sources lack, neighbouring words that they never hold together, the distance of vectors) and, where there is a
reader, over what that makes of the claim beside the few sentences found. `training/support.py` fits the numbers. They
ship in ``data/heads/`` with their sets and validation: ``support.json`` without the reader, ``support_read.json`` with.

What it is not: a language model. Without the reader it does not see a swapped role, a dropped "not" or a wrong detail
made of words the source uses nearby; with it it sees some of them, and it does no arithmetic either way. Thresholds do
not carry over well from one kind of text to another: fit them to your own examples with `calibrate`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from importlib import resources
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

import numpy as np

from intrinsics_core.calibration.probabilities import sigmoid
from intrinsics_core.embedded.about import only_names_one, subjects
from intrinsics_core.embedded.claims import NUMBERING, claims_nothing, makes_claim
from intrinsics_core.embedded.heads import SURE, bounded, just_below
from intrinsics_core.embedded.short_answers import opens_with, stated_each
from intrinsics_core.embedded.sources import READ_WHOLE, Sources
from intrinsics_core.embedded.turns import asks
from intrinsics_core.embedded.values import spelled_as_in
from intrinsics_core.embedded.view import only_names
from intrinsics_core.embedded.words import Claim, Floats, Unit, background, claim, keys_of
from intrinsics_core.protocol.errors import InvalidInput

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
    cosine, passage = sources.nearest(vectors)
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
    near = max(float(cosine.max(initial=0.0)), passage)
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
    owner = (sources.documents or ()) if about else ()
    elsewhere = {i for i, document in enumerate(owner) if document not in about} | set(sources.uncited)
    return Evidence(
        asked, features, found, placed, cosine, missing, _foreign(asked, placed, sources, about),
        _crossed(asked, found, sources), sources.seen, about, tuple(sorted(elsewhere)),
    )  # fmt: skip


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


def _foreign(asked: Claim, found: Floats, sources: Sources, about: frozenset[int]) -> tuple[Unit, ...]:
    """The numbers that stand in no document that the claim is ``about``, but in another one."""
    if not about or not sources.documents:
        return ()
    there = np.isin(np.asarray(sources.documents), list(about))
    rows = zip(asked.units, found, strict=True)
    return tuple(unit for unit, row in rows if unit.is_number and row.any() and not row[there].any())


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


def scores_of(evidence: Evidence, rule: CitationRule) -> Floats:
    """Per source sentence its score as a citation: the share of the claim it covers, and its cosine; 0 where it tells
    of something else, or nothing.
    """
    share = covered(evidence.claim.weights, evidence.placed)
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
    weights = evidence.claim.weights
    chosen = [int(scores.argmax())]
    still_open = 1.0 - evidence.placed[:, chosen[:1]]
    while len(chosen) < rule.maximum:
        gains = covered(weights, still_open * evidence.placed)
        gains[scores < rule.further] = 0.0
        gains[[*chosen, *evidence.elsewhere]] = 0.0
        best = int((gains + 1e-3 * scores).argmax())
        if gains[best] < rule.gain:
            break
        chosen.append(best)
        still_open = still_open * (1.0 - evidence.placed[:, [best]])
    return tuple(chosen)


Label = Literal["faithful", "partial", "unfaithful", "NA"]

ENOUGH = 2.0
"""A reader's logit of a narrow part from which on the widest part is not read, to save time."""

SHOWN = 0.1
"""What the distance of a claim, and its names and numbers that are not found, count where the reader was shown all."""

READ = ("novel_unseen", "novel_names", "novel_numbers", "unpaired_unseen", "distant", "crossed", "assured", "doubted")
"""The columns of a head that reads; see `beside`."""


@dataclass(frozen=True, slots=True)
class SupportHead:
    """The fitted numbers.

    weights: one a column of `evidence.FEATURES`, or of `READ` where the head reads, none negative; with ``bias`` they
    give the log-odds that a sentence is *not* supported. response, for answers with several claims: slope of the
    weakest claims' mean log-odds, weight of the share of the response that is found nowhere, and bias. thresholds:
    ``faithful`` and ``unfaithful``; a probability at or above the first is faithful, below the second unfaithful,
    partial between. They hold for sentences and for responses.
    """

    weights: tuple[float, ...]
    bias: float
    response: tuple[float, float, float]
    thresholds: Mapping[str, float]
    citations: CitationRule
    weakest: int = 2

    def __post_init__(self) -> None:
        if len(self.weights) not in (len(FEATURES), len(READ)):
            raise InvalidInput(f"support head: {len(self.weights)} weights for {len(FEATURES)} features")
        if missing := {"faithful", "unfaithful"} - set(self.thresholds):
            raise InvalidInput(f"support head: thresholds lack {sorted(missing)}")

    @property
    def reads(self) -> bool:
        """Whether it wants a reader's logits."""
        return len(self.weights) > len(FEATURES)

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> SupportHead:
        """Read a head file's content.

        Raises:
            InvalidInput: the file's features are not the ones this code measures, or a part is missing.
        """
        try:
            if tuple(raw["features"]) not in (FEATURES, READ):
                raise InvalidInput(f"support head: the features must be {list(FEATURES)}, but are {raw['features']}")
            own = raw["response"]
            return cls(
                weights=tuple(float(w) for w in raw["weights"]),
                bias=float(raw["bias"]),
                response=(float(own["slope"]), float(own["novel"]), float(own["bias"])),
                weakest=int(own["weakest"]),
                thresholds={str(k): float(v) for k, v in raw["thresholds"].items()},
                citations=CitationRule(**raw["citations"]),
            )
        except (KeyError, TypeError) as error:
            raise InvalidInput(f"support head: missing or malformed part: {error}") from error

    def to_json(self) -> dict[str, Any]:
        """The fitted part of a head file; `from_json` reads it back."""
        slope, novel, bias = self.response
        return {
            "name": "support_read" if self.reads else "support",
            "version": 3,
            "features": list(READ if self.reads else FEATURES),
            "weights": list(self.weights),
            "bias": self.bias,
            "response": {"slope": slope, "novel": novel, "bias": bias, "weakest": self.weakest},
            "thresholds": dict(self.thresholds),
            "citations": asdict(self.citations),
        }

    def odds(self, evidence: Evidence, logit: float | None = None) -> float:
        """Log-odds that a claim is not supported."""
        row = beside(evidence, logit or 0.0) if self.reads else evidence.features
        return float(np.dot(row, self.weights)) + self.bias


def beside(evidence: Evidence, logit: float) -> tuple[float, ...]:
    """The columns `READ`: what is measured, weighed by what a reader saw, and the reader's logit of *supported*.

    What the reader was shown it judges itself: words that are not found, or not together, count by the share of the
    sources that it was not shown; names, numbers and the distance by that and a tenth (`SHOWN`) of the rest. Words and
    the distance are squared, as a right paraphrase lacks a few. ``crossed`` stays: a reader easily takes one document's
    fact for another's. ``assured`` is -.5 where the reader is sure that the claim is supported, and 0 where it doubts.
    ``doubted`` is .5 where it is sure that the claim is not, times the share that it has seen: what it does not find in
    many passages may stand in one that was not shown.
    """
    novel, names, numbers, unpaired, distance = map(float, evidence.features)
    unseen, sure = 1.0 - evidence.seen, bounded(logit) / (2 * SURE)
    doubted = max(-sure, 0.0) * evidence.seen
    own = SHOWN + (1.0 - SHOWN) * unseen
    beyond = novel**2 * unseen, names * own, numbers * own, unpaired**2 * unseen, distance**2 * own
    return *beyond, evidence.crossed, -max(sure, 0.0), doubted


def read_enough(logits: Sequence[float]) -> bool:
    """Whether a narrower part of the sources clearly supports a claim, so that the widest is not read."""
    return max(logits, default=0.0) >= ENOUGH


def of_readings(logits: Sequence[float], seen: float) -> float | None:
    """One logit of what a reader said of a claim beside the parts of its sources that it read; None where it read
    nothing.

    Of sources that it was shown whole each part counts alike: a part that lacks the support is no excuse for one that
    seems to hold it. Of longer ones the best part counts, as the support may stand in it alone.

    Args:
        logits: of each part, that it supports the claim.
        seen: the share of the sources that the parts hold, 0..1.
    """
    return max(logits) * (1.0 - seen) + fmean(logits) * seen if logits else None


@lru_cache(maxsize=2)
def _shipped(name: str) -> SupportHead:
    text = (resources.files("intrinsics_core") / "data" / "heads" / f"{name}.json").read_text("utf-8")
    return SupportHead.from_json(json.loads(text))


def load_head(path: str | Path | None = None, *, reads: bool = False) -> SupportHead:
    """The shipped head, with a reader or without, or one from a JSON file such as `SupportHead.to_json` makes."""
    if path is None:
        return _shipped("support_read" if reads else "support")
    return SupportHead.from_json(json.loads(Path(path).read_text("utf-8")))


def uncovered(claims: Sequence[Evidence], *, read: bool = False) -> float:
    """The share of a whole response's idf mass that is found nowhere, 0..1; where it was ``read``, times the share of
    the sources that the reader was not shown, as in `beside`.
    """
    total = sum(unit.weight for each in claims for unit in each.claim.units)
    missing = sum(unit.weight * (1.0 - each.seen if read else 1.0) for each in claims for unit in each.missing)
    return missing / total if total else 0.0


def response_probability(claims: Sequence[float], odds: Sequence[float], novel: float, head: SupportHead) -> float:
    """The probability, 0..1, that a response is faithful.

    Of one claim it is the claim's own. Of several it is a fitted logistic of the ``head.weakest`` least supported
    claims' mean log-odds and of the share that is found nowhere, bounded so that its label agrees with theirs: below
    ``unfaithful`` where a claim is, and only there; below ``faithful`` where all claims are.

    Args:
        claims: of each sentence that claims something, at least one, the probability that it is supported.
        odds: of each of them, the log-odds that it is not supported.
        novel: the share of the response that is found nowhere.
    """
    if len(claims) == 1:
        return claims[0]
    slope, weight, bias = head.response
    weakest = sorted(odds, reverse=True)[: head.weakest]
    probability = float(sigmoid(-(slope * float(np.mean(weakest)) + weight * novel + bias)))
    limit, enough = head.thresholds["unfaithful"], head.thresholds["faithful"]
    if max(claims) < enough:
        probability = min(probability, just_below(enough))
    return min(probability, just_below(limit)) if min(claims) < limit else max(probability, limit)


def label_of(probability: float, thresholds: Mapping[str, float]) -> Label:
    """The label of a claim or a response, by the ``faithful`` and ``unfaithful`` thresholds."""
    if probability >= thresholds["faithful"]:
        return "faithful"
    return "unfaithful" if probability < thresholds["unfaithful"] else "partial"


def _clip(text: str, limit: int = 160) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= limit else plain[: limit - 1].rstrip() + "…"


def missing_words(evidence: Evidence) -> tuple[str, ...]:
    """Surface forms of what is not in the sources: names and numbers first, then by rarity."""
    ordered = sorted(evidence.missing, key=lambda unit: (not (unit.is_name or unit.is_number), -unit.weight))
    return tuple(dict.fromkeys(unit.text for unit in ordered))


def _quoted(words: Sequence[str]) -> str:
    more = f" and {len(words) - 6} more" if len(words) > 6 else ""
    return ", ".join(f"'{word}'" for word in words[:6]) + more


def explanation(label: Label, missing: Sequence[str], foreign: Sequence[Unit], nearest: str | None) -> str:
    if label == "NA":
        return "makes no claim that sources could support"
    if nearest is None:
        return "there are no source sentences"
    parts = []
    if missing and label == "faithful":
        parts.append("the passages say it in other words than " + _quoted(missing))
    elif missing:
        parts.append("not in the passages kept: " + _quoted(missing))
    if foreign:
        parts.append("not where the rest of it stands: " + _quoted([unit.text for unit in foreign]))
    if not parts:
        but = "" if label == "faithful" else ", but not what it makes of them"
        parts.append("the passages kept hold its words and numbers" + but)
    parts.append(f'closest source sentence: "{_clip(nearest)}"')
    return "; ".join(parts)


READ_PART = 130
"""Words that a reader is shown of longer sources. What a claim rests on stands in a few sentences; more distract."""


@dataclass(frozen=True, slots=True)
class SentenceSupport:
    """The verdict on one response sentence.

    probability: that the sources support it, 0..1; 1 for a sentence that claims nothing (label ``NA``).
    label: read from the probability (`label_of`).
    source_scores: per source sentence, 0..1, how well it alone would serve as a citation.
    citations: source sentences to cite, best first; empty where none will do.
    nearest: the source sentence with the best score, None without sources.
    missing: the words of the response sentence that stand in no source, names and numbers first.
    """

    text: str
    probability: float
    label: Label
    source_scores: tuple[float, ...]
    citations: tuple[int, ...]
    nearest: int | None
    missing: tuple[str, ...]
    explanation: str


@dataclass(frozen=True, slots=True)
class ResponseSupport:
    """Verdicts in sentence order and the response's faithfulness, 0..1; 1 where nothing is claimed."""

    sentences: tuple[SentenceSupport, ...]
    faithfulness: float
    label: Label


Judged = tuple[SentenceSupport, float]
"""A verdict, and the log-odds of not being supported."""


def under_titles(texts: Sequence[str], titles: Sequence[str] = ()) -> str:
    """Sentences as one text; where their ``titles`` are given, those of one document stand behind its title."""
    if not titles:
        return " ".join(texts)
    runs = groupby(zip(titles, texts, strict=True), key=itemgetter(0))
    told = [(title, " ".join(text for _, text in some)) for title, some in runs]
    return " ".join(f"{title}: {said}" if title else said for title, said in told)


def to_read(text: str, evidence: Evidence, sources: Sources, rule: CitationRule) -> list[tuple[str, str]]:
    """What a reader is shown beside one claim: the sentence found; the same with its neighbours; the best few of all.

    A claim that is about one of several titles is read beside the documents about it alone (`subjects`): what another
    one says of something else is no support. The best few are the sentences with the best scores, in their order: all
    of short sources (`READ_WHOLE` words), `READ_PART` words of longer ones. A neighbour below
    another heading or in another list is none.
    """
    scores = scores_of(evidence, rule)
    owner, about = sources.documents, evidence.about
    ranked = [int(i) for i in np.argsort(-scores, kind="stable") if sources.read_as[int(i)]]
    if not ranked:
        return []
    if owner is not None and about:
        ranked = [i for i in ranked if owner[i] in about] or ranked
    best = ranked[0]
    near = [
        i
        for i in (best - 1, best, best + 1)
        if 0 <= i < len(sources.texts)
        and (owner is None or owner[i] == owner[best])
        and sources.readings[i].section == sources.readings[best].section
    ]
    few, words, most = [best], len(sources.read_as[best].split()), READ_WHOLE if sources.seen == 1.0 else READ_PART
    for i in ranked[1:]:
        words += len(sources.read_as[i].split())
        if words > most:
            break
        few.append(i)
    parts = [[i for i in some if sources.read_as[i]] for some in ([best], near, sorted(few))]
    named = keys_of(sources.title_of(best))
    # The titles are shown where there are several, and where what the claim is about stands in the title alone.
    titled = len(set(filter(None, sources.titles))) > 1 or any(
        unit.keys & named and not evidence.found[row, near].any() for row, unit in enumerate(evidence.claim.units)
    )
    shown = [
        under_titles([sources.read_as[i] for i in some], [sources.title_of(i) for i in some] if titled else ())
        for some in parts
    ]
    return [(source, spelled_as_in(source, text)) for source in dict.fromkeys(shown)]


def _judge(
    sentence: str,
    evidence: Evidence,
    sources: Sources,
    head: SupportHead,
    logit: float | None,
    claims: bool,
    bare: bool,
) -> Judged:
    scores = scores_of(evidence, head.citations)
    nearest = int(scores.argmax()) if len(scores) else None
    odds = head.odds(evidence, logit)
    probability = 1.0 if not claims else 0.0 if nearest is None else float(sigmoid(-odds))
    if bare and (logit or 0.0) <= 0.0:  # its question's words say nothing of it
        probability, odds = min(probability, 0.5), max(odds, 0.0)
    # Whatever the rest looks like: a number of another subject, and what nobody read: its details, a bare "No.".
    unread = logit is None and (bare or any(unit.is_detail for unit in evidence.missing))
    if claims and (evidence.foreign or unread):
        probability = min(probability, just_below(head.thresholds["faithful"]))
    label: Label = label_of(probability, head.thresholds) if claims else "NA"
    missing = missing_words(evidence) if claims else ()
    verdict = SentenceSupport(
        text=sentence,
        probability=probability,
        label=label,
        source_scores=tuple(scores.tolist()),
        citations=cite(evidence, head.citations) if claims else (),
        nearest=nearest,
        missing=missing,
        explanation=explanation(label, missing, evidence.foreign, None if nearest is None else sources.texts[nearest]),
    )
    return verdict, odds


def look_up(
    sentences: Sequence[str],
    vectors: Sequence[Floats],
    sources: Sources,
    given: str = "",
    before: Sequence[str] = (),
    turns: Sequence[str] = (),
) -> list[Evidence]:
    """`evidence.measure` for every sentence of a response, as `stated_each` puts it.

    Args:
        before: the sentences before these ones.
        turns: those before the question, the newest first (`subjects`).

    Raises:
        InvalidInput: as many vectors as sentences are not given.
    """
    if len(vectors) != len(sentences):
        raise InvalidInput(f"support: {len(sentences)} sentences but {len(vectors)} vectors")
    texts = stated_each(sentences, given, whole=not before)
    about = subjects([*before, *sentences], sources, given, turns)[len(before) :]
    return [
        measure(text, rows, sources, given if text == sentence else "", documents)
        for sentence, text, rows, documents in zip(sentences, texts, vectors, about, strict=True)
    ]


def support(
    sentences: Sequence[str],
    vectors: Sequence[Floats],
    sources: Sources,
    head: SupportHead | None = None,
    *,
    given: str = "",
    before: Sequence[str] = (),
    evidence: Sequence[Evidence] | None = None,
    logits: Sequence[float | None] | None = None,
    reported: Collection[int] = (),
    sentence_of: Sequence[int] | None = None,
    own_encoder: bool = False,
) -> ResponseSupport:
    """Judge every sentence of a response against its sources.

    Args:
        sentences: the response's sentences, in order, or the claims that they make (`clauses`).
        vectors: per sentence (as `stated_each` puts it) (windows, dim) float32, rows L2-normalised.
        sources: source sentences, their vectors, and which document each is of.
        head: fitted numbers; None: the shipped ones, those that read where there are logits.
        given: the question the response answers; its words need no source, but its names and numbers do, because a
            question may presume what is not so.
        evidence: what `look_up` gave, where that was asked before.
        logits: per sentence what `of_readings` makes of a reader's logits of `to_read`, for a head that reads.
        reported: the sentences that report what a tool call has done or say who answers, and so claim nothing.
        sentence_of: of each claim the index of its sentence, rising; None: each is one.
        own_encoder: the vectors are not of the encoder that ships, so nothing is told from them alone.

    Returns:
        One verdict a sentence, in order, and the response's faithfulness (see `response_probability`), from which its
        label is read as a sentence's is.

    Raises:
        InvalidInput: as many vectors as sentences are not given.
    """
    numbers = head or load_head(reads=logits is not None)
    measured = look_up(sentences, vectors, sources, given, before) if evidence is None else evidence
    judged, asked = list[Judged](), asks(given)
    texts, alone = stated_each(sentences, given, whole=not before), asked and len(sentences) == 1 and not before
    for i, (sentence, text, found) in enumerate(zip(sentences, texts, measured, strict=True)):
        bare = text != sentence and i not in reported and not claims_nothing(sentence)
        held = bool(found.claim.units and sources.texts) and not found.missing
        held = held or (asked and opens_with(sentence) is not None)
        says = i not in reported and makes_claim(sentence, None if own_encoder else vectors[i], held, alone)
        claims = bare or (says and not _only_names(sentences, i, sources))
        judged.append(_judge(sentence, found, sources, numbers, logits[i] if logits else None, claims, bare))
    evidences = [found for (verdict, _), found in zip(judged, measured, strict=True) if verdict.label != "NA"]
    whole = _whole(judged, sentence_of or range(len(judged)))
    faithfulness = _faithfulness(whole, evidences, sources, numbers)
    label: Label = "NA" if faithfulness is None else label_of(faithfulness, numbers.thresholds)
    return ResponseSupport(tuple(verdict for verdict, _ in whole), 1.0 if faithfulness is None else faithfulness, label)


def with_numbers_of(numbers: ResponseSupport, labels: ResponseSupport) -> ResponseSupport:
    """The verdicts ``labels`` with the probabilities of the same claims as other thresholds left them."""
    pairs = zip(labels.sentences, numbers.sentences, strict=True)
    sentences = tuple(replace(label, probability=number.probability) for label, number in pairs)
    return replace(labels, sentences=sentences, faithfulness=numbers.faithfulness)


def _only_names(sentences: Sequence[str], i: int, sources: Sources) -> bool:
    """Whether a sentence is the number of an item, or names what follows."""
    sentence, following = sentences[i], next(filter(None, sentences[i + 1 :]), "")
    return (
        (len(sentences) > 1 and NUMBERING.match(sentence) is not None)
        or only_names(sentence, following)
        or (bool(following) and only_names_one(sentence, sources.told_apart))
    )


def _faithfulness(
    judged: Sequence[Judged], evidences: Sequence[Evidence], sources: Sources, head: SupportHead
) -> float | None:
    """How faithful a response is, 0..1; None where nothing is claimed.

    Args:
        judged: the verdicts on its sentences.
        evidences: of its claims.
    """
    claimed = [(verdict.probability, odds) for verdict, odds in judged if verdict.label != "NA"]
    if not claimed or not sources.texts:
        return 0.0 if claimed else None
    probabilities, odds = zip(*claimed, strict=True)
    found = response_probability(probabilities, odds, uncovered(evidences, read=head.reads), head)
    foreign = any(each.foreign for each in evidences)
    return min(found, just_below(head.thresholds["faithful"])) if foreign else found


def _whole(judged: Sequence[Judged], sentence_of: Sequence[int]) -> list[Judged]:
    """The verdicts on sentences from those on their claims: a sentence is supported as its weakest claim, and cites
    what all of them do.
    """
    whole = list[Judged]()
    for _, group in groupby(zip(sentence_of, judged, strict=True), key=itemgetter(0)):
        some = [each for _, each in group]
        verdict, odds = min(some, key=lambda each: each[0].probability)
        if some[1:]:
            scores = zip(*(each.source_scores for each, _ in some), strict=True)
            cited = dict.fromkeys(i for each, _ in some for i in each.citations)
            verdict = replace(verdict, citations=tuple(cited), source_scores=tuple(map(max, scores)))
        whole.append((verdict, odds))
    return whole


def entailment(
    text: str,
    vectors: Floats,
    sources: Sources,
    head: SupportHead | None = None,
    *,
    given: str = "",
    evidence: Evidence | None = None,
    logit: float | None = None,
) -> float:
    """How far one source entails a claim, 0..1: the fact check's score of a source.

    The probability of `support` with one source, and at most one half for an answer that claims nothing.

    Args:
        text: the claim, an answer or a sentence of one.
        vectors: its vectors (as `stated_each` puts it), (windows, dim).
        sources: the sentences of the one source.
        head: fitted numbers; None: the shipped ones.
        given: the question; its words need no source, names and numbers excepted.
        evidence: what `look_up` gave, where that was asked before.
        logit: what `of_readings` makes of a reader's logits of `to_read`, for a head that reads.
    """
    if not sources.texts:
        return 0.0
    numbers = head or load_head(reads=logit is not None)
    (found,) = [evidence] if evidence else look_up([text], [vectors], sources, given)
    bare = stated_each([text], given) != [text]
    probability = _judge(text, found, sources, numbers, logit, True, bare)[0].probability
    doubtful = not bare and not makes_claim(text, alone=asks(given))
    return min(probability, 0.5) if doubtful else probability
