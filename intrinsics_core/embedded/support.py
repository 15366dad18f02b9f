"""How well sources support a response, sentence by sentence, without a language model.

It serves hallucination detection, citations and the fact check. A logistic regression with weights of known sign weighs
the `evidence` of a claim and, where there is a reader, what that makes of the claim beside the few sentences found.
`training/support.py` fits the numbers: ``data/heads/support.json`` without a reader, ``support_read.json`` with one.

What it is not: a language model. With a reader it sees some swapped roles and wrong details, and it does no arithmetic.
Thresholds do not carry over well from one kind of text to another: fit them to your own examples with `calibrate`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import resources
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

import numpy as np

from intrinsics_core.calibration.probabilities import sigmoid
from intrinsics_core.embedded.about import only_names_one
from intrinsics_core.embedded.claims import NUMBERING, claims_nothing, makes_claim
from intrinsics_core.embedded.evidence import FEATURES, CitationRule, Evidence, cite, scores_of
from intrinsics_core.embedded.heads import SURE, bounded, just_below
from intrinsics_core.embedded.short_answers import beginning
from intrinsics_core.embedded.sources import Sources
from intrinsics_core.embedded.turns import asks
from intrinsics_core.embedded.view import only_names
from intrinsics_core.embedded.words import Unit
from intrinsics_core.protocol.errors import InvalidInput

Label = Literal["faithful", "partial", "unfaithful", "NA"]

REACH = 6.0
"""How far a reader's logit of one part of the sources may be from those of the parts that were read before."""

SHOWN = 0.1
"""What the distance of a claim, and its names and numbers that are not found, count where the reader was shown all."""

_SHOWN_OF_NEAREST = 160  # characters of the closest source sentence in an explanation

READ = ("novel_unseen", "novel_names", "novel_numbers", "unpaired_unseen", "distant", "crossed", "assured", "doubted")
"""The columns of a head that reads; see `beside`."""


@dataclass(frozen=True, slots=True)
class SupportHead:
    """The fitted numbers.

    weights: one a column of `FEATURES`, or of `READ` where the head reads, none negative; with ``bias`` they give the
    log-odds that a sentence is *not* supported. response, for answers with several claims: slope of the ``weakest``
    claims' mean log-odds, weight of the share of the response that is found nowhere, and bias. thresholds: a
    probability of at least ``faithful`` is faithful, below ``unfaithful`` unfaithful, partial between; of sentences and
    responses alike.
    """

    weights: tuple[float, ...]
    bias: float
    response: tuple[float, float, float]
    thresholds: Mapping[str, float]
    citations: CitationRule
    weakest: int = 2

    @property
    def reads(self) -> bool:
        """Whether it wants a reader's logits."""
        return len(self.weights) > len(FEATURES)

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> SupportHead:
        """Read a head as `training.support` writes it.

        Raises:
            InvalidInput: it is of other features than this code measures, or has not one weight for each.
        """
        if tuple(raw["features"]) not in (FEATURES, READ) or len(raw["weights"]) != len(raw["features"]):
            raise InvalidInput("the head was fitted on other features", expected=f"{list(FEATURES)} or {list(READ)}",
                               got=str(raw["features"]))  # fmt: skip
        own, rule = raw["response"], CitationRule(**raw["citations"])
        response = own["slope"], own["novel"], own["bias"]
        return cls(tuple(raw["weights"]), raw["bias"], response, raw["thresholds"], rule, own["weakest"])

    def odds(self, evidence: Evidence, logit: float | None = None) -> float:
        """Log-odds that a claim is not supported."""
        row = beside(evidence, logit or 0.0) if self.reads else evidence.features
        return float(np.dot(row, self.weights)) + self.bias

    def settles(self, evidence: Evidence, logits: Sequence[float], left: int) -> bool:
        """Whether a claim has its label already, whatever the parts ``left`` to read say within `REACH` of the others.

        Of 2,250 everyday claims none has another label than with all parts.
        """
        ends = min(logits) - REACH, max(logits) + REACH
        found = (of_readings([*logits, *[end] * left], evidence.seen) for end in ends)
        low, high = (label_of(float(sigmoid(-self.odds(evidence, logit))), self.thresholds) for logit in found)
        return low == high


def beside(evidence: Evidence, logit: float) -> tuple[float, ...]:
    """The columns `READ`: what is measured, weighed by what a reader saw, and the reader's logit of *supported*.

    What the reader was shown it judges itself. So words that are not found, or not together, count by the share of the
    sources that it was not shown; names, numbers and the distance by that and a tenth (`SHOWN`) of the rest. Words and
    the distance are squared, as a right paraphrase lacks a few. ``crossed`` stays: a reader easily takes one document's
    fact for another's. ``assured`` is -.5 where the reader is sure that the claim is supported, and 0 where it doubts.
    ``doubted`` is .5 where it is sure that the claim is not, times the share that it has seen.
    """
    novel, names, numbers, unpaired, distance = map(float, evidence.features)
    unseen, sure = 1.0 - evidence.seen, bounded(logit) / (2 * SURE)
    own = SHOWN + (1.0 - SHOWN) * unseen
    beyond = novel**2 * unseen, names * own, numbers * own, unpaired**2 * unseen, distance**2 * own
    return *beyond, evidence.crossed, -max(sure, 0.0), max(-sure, 0.0) * evidence.seen


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
def load_head(path: Path | None = None, *, reads: bool = False) -> SupportHead:
    """The shipped head, with a reader or without, or one from a JSON file of `training.support`."""
    shipped = resources.files("intrinsics_core") / "data" / "heads" / f"support{'_read' * reads}.json"
    return SupportHead.from_json(json.loads((path or shipped).read_text("utf-8")))


def uncovered(claims: Sequence[Evidence], *, read: bool = False) -> float:
    """The share of a whole response's idf mass that is found nowhere, 0..1; where it was ``read``, times the share of
    the sources that the reader was not shown, as in `beside`.
    """
    total = sum(unit.weight for each in claims for unit in each.claim.units)
    missing = sum(unit.weight * (1.0 - each.seen if read else 1.0) for each in claims for unit in each.missing)
    return missing / total if total else 0.0


def response_probability(
    claims: Sequence[float], odds: Sequence[float], novel: float, head: SupportHead, *, foreign: bool = False
) -> float:
    """The probability, 0..1, that a response is faithful.

    Of one claim it is the claim's own. Of several it is a fitted logistic of the ``head.weakest`` least supported
    claims' mean log-odds and of the share that is found nowhere, bounded so that its label agrees with theirs: below
    ``unfaithful`` where a claim is, and only there; below ``faithful`` where all are or one has `foreign` numbers.

    Args:
        claims: of each sentence that claims something, at least one, the probability that it is supported.
        odds: of each of them, the log-odds that it is not supported.
        novel: the share of the response that is found nowhere.
    """
    limit, enough = head.thresholds["unfaithful"], head.thresholds["faithful"]
    most = just_below(enough) if foreign or max(claims) < enough else 1.0
    if len(claims) == 1:
        return min(claims[0], most)
    slope, weight, bias = head.response
    weakest = sorted(odds, reverse=True)[: head.weakest]
    probability = min(float(sigmoid(-(slope * float(np.mean(weakest)) + weight * novel + bias))), most)
    return min(probability, just_below(limit)) if min(claims) < limit else max(probability, limit)


def label_of(probability: float, thresholds: Mapping[str, float]) -> Label:
    """The label of a claim or a response, by the ``faithful`` and ``unfaithful`` thresholds."""
    if probability >= thresholds["faithful"]:
        return "faithful"
    return "unfaithful" if probability < thresholds["unfaithful"] else "partial"


def _quoted(words: Sequence[str]) -> str:
    more = f" and {len(words) - 6} more" if len(words) > 6 else ""
    return ", ".join(f"'{word}'" for word in words[:6]) + more


def explanation(label: Label, missing: Sequence[str], foreign: Sequence[Unit], nearest: str | None) -> str:
    """Why a sentence has its label, in words. ``nearest``: the closest source sentence, None without sources."""
    if label == "NA":
        return "makes no claim that sources could support"
    if nearest is None:
        return "there are no source sentences"
    parts, faithful = [], label == "faithful"
    if missing:
        why = "the passages say it in other words than " if faithful else "not in the passages kept: "
        parts.append(why + _quoted(missing))
    if foreign:
        parts.append("not where the rest of it stands: " + _quoted([unit.text for unit in foreign]))
    if not parts:
        but = "" if faithful else ", but not what it makes of them"
        parts.append("the passages kept hold its words and numbers" + but)
    plain = " ".join(nearest.split())
    shown = plain if len(plain) <= _SHOWN_OF_NEAREST else plain[: _SHOWN_OF_NEAREST - 1].rstrip() + "…"
    return "; ".join([*parts, f'closest source sentence: "{shown}"'])


@dataclass(frozen=True, slots=True)
class SentenceSupport:
    """The verdict on one response sentence.

    probability: that the sources support it, 0..1; 1 for a sentence that claims nothing (label ``NA``). odds: its
    log-odds that they do not. source_scores: per source sentence, 0..1, how well it alone would serve as a citation.
    citations: source sentences to cite, best first. nearest: the one with the best score, None without sources.
    missing: the words that stand in no source, names and numbers first.
    """

    probability: float
    odds: float
    label: Label
    source_scores: tuple[float, ...]
    citations: tuple[int, ...]
    nearest: int | None
    missing: tuple[str, ...]
    explanation: str


@dataclass(frozen=True, slots=True)
class ResponseSupport:
    """Verdicts in sentence order and the response's faithfulness, 0..1; 1 where nothing is claimed (``NA``)."""

    sentences: tuple[SentenceSupport, ...]
    faithfulness: float
    label: Label


def _judge(
    evidence: Evidence, sources: Sources, head: SupportHead, logit: float | None, claims: bool = True,
    bare: bool = False,
) -> SentenceSupport:  # fmt: skip
    scores = scores_of(evidence, head.citations)
    nearest = int(scores.argmax()) if len(scores) else None
    odds = head.odds(evidence, logit)
    probability = 1.0 if not claims else 0.0 if nearest is None else float(sigmoid(-odds))
    if bare and (logit or 0.0) <= 0.0:  # its question's words say nothing of it
        probability, odds = min(probability, 0.5), max(odds, 0.0)
    if claims and evidence.is_unproven(logit is not None, bare):  # whatever the rest looks like
        probability = min(probability, just_below(head.thresholds["faithful"]))
    label: Label = label_of(probability, head.thresholds) if claims else "NA"
    ordered = sorted(evidence.missing, key=lambda unit: (not unit.is_detail, -unit.weight)) if claims else ()
    missing = tuple(dict.fromkeys(unit.text for unit in ordered))
    cited = cite(evidence, head.citations) if claims else ()
    why = explanation(label, missing, evidence.foreign, None if nearest is None else sources.texts[nearest])
    return SentenceSupport(probability, odds, label, tuple(scores.tolist()), cited, nearest, missing, why)


def support(
    evidence: Sequence[Evidence],
    sources: Sources,
    head: SupportHead,
    *,
    given: str = "",
    whole: bool = True,
    logits: Sequence[float | None] | None = None,
    reported: Collection[int] = (),
    sentence_of: Sequence[int] | None = None,
    own_encoder: bool = False,
) -> ResponseSupport:
    """Judge every sentence of a response against its sources.

    Args:
        evidence: of the response's sentences, in order, or of the claims that they make (`clauses`).
        head: fitted numbers, those that read where there are logits.
        given: the question.
        whole: whether no sentences stand before these ones.
        logits: of each what `of_readings` makes of a reader's logits of `to_read`, for a head that reads.
        reported: those that the conversation itself supports, and that so claim nothing.
        sentence_of: of each claim the index of its sentence, rising; None: each is one.
        own_encoder: the vectors are not of the encoder that ships, so nothing is told from them alone.

    Returns:
        One verdict a sentence, and the response's faithfulness (`response_probability`).
    """
    asked, sentences = asks(given), [found.sentence for found in evidence]
    alone = asked and whole and len(sentences) == 1
    judged = list[SentenceSupport]()
    for i, found in enumerate(evidence):
        bare = found.bare and i not in reported and not claims_nothing(found.sentence)
        held = bool(found.claim.units and sources.texts) and not found.missing
        held = held or (asked and beginning(found.sentence).opens is not None)
        says = i not in reported and makes_claim(found.sentence, None if own_encoder else found.vectors, held, alone)
        claims = bare or (says and not _only_names(sentences, i, sources))
        judged.append(_judge(found, sources, head, logits[i] if logits else None, claims, bare))
    verdicts = _of_sentences(judged, sentence_of or range(len(judged)))
    claimed = [verdict for verdict in verdicts if verdict.label != "NA"]
    if not claimed:
        return ResponseSupport(verdicts, 1.0, "NA")
    made = [found for verdict, found in zip(judged, evidence, strict=True) if verdict.label != "NA"]
    novel = uncovered(made, read=head.reads)
    chances, odds = [each.probability for each in claimed], [each.odds for each in claimed]
    foreign = any(each.foreign for each in made)
    faithfulness = response_probability(chances, odds, novel, head, foreign=foreign) if sources.texts else 0.0
    return ResponseSupport(verdicts, faithfulness, label_of(faithfulness, head.thresholds))


def with_numbers_of(numbers: ResponseSupport, labels: ResponseSupport) -> ResponseSupport:
    """The verdicts ``labels`` with the probabilities of the same claims as other thresholds left them."""
    pairs = zip(labels.sentences, numbers.sentences, strict=True)
    sentences = tuple(replace(label, probability=number.probability) for label, number in pairs)
    return replace(labels, sentences=sentences, faithfulness=numbers.faithfulness)


def _only_names(sentences: Sequence[str], i: int, sources: Sources) -> bool:
    """Whether a sentence is the number of an item, or names what follows."""
    sentence, following = sentences[i], next(filter(None, sentences[i + 1 :]), "")
    if NUMBERING.match(sentence):
        return len(sentences) > 1
    return bool(following) and (only_names(sentence, following) or only_names_one(sentence, sources.told_apart))


def _of_sentences(judged: Sequence[SentenceSupport], sentence_of: Sequence[int]) -> tuple[SentenceSupport, ...]:
    """The verdicts on sentences from those on their claims: a sentence is supported as its weakest claim, and cites
    what all of them do.
    """
    whole = list[SentenceSupport]()
    for _, group in groupby(zip(sentence_of, judged, strict=True), key=itemgetter(0)):
        some = [each for _, each in group]
        verdict = min(some, key=lambda each: each.probability)
        if some[1:]:
            scores = zip(*(each.source_scores for each in some), strict=True)
            cited = dict.fromkeys(i for each in some for i in each.citations)
            verdict = replace(verdict, citations=tuple(cited), source_scores=tuple(map(max, scores)))
        whole.append(verdict)
    return tuple(whole)


def entailment(
    found: Evidence, sources: Sources, head: SupportHead, *, given: str = "", logit: float | None = None
) -> float:
    """How far one source entails a claim, 0..1: the fact check's score of a source.

    The probability of `support` with one source, and at most one half for an answer that claims nothing. The arguments
    are those of `support`, for one claim.
    """
    probability = _judge(found, sources, head, logit, bare=found.bare).probability
    doubtful = not found.bare and not makes_claim(found.sentence, alone=asks(given))
    return min(probability, 0.5) if doubtful else probability
