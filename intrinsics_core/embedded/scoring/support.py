"""How well sources support a response, sentence by sentence, without a language model.

Serves hallucination detection (a probability and a reason per sentence, one score per response), citations (which
source sentences to name), and the fact check (does this source entail this claim).

What it is: a logistic regression with weights of known sign over what `evidence` measures (words, names and numbers of
the response that the sources lack, neighbouring words that the sources never hold together, cosine distance of sentence
embeddings) and, where there is a reader, over what it makes of the claim beside the few sentences found. A response is
as faithful as its two weakest sentences and as the words of it all that stand in the sources. The numbers are fitted by
`training/support.py` and ship in ``data/heads/`` with the sets they come from and their validation: ``support.json``
without the reader, ``support_read.json`` with it.

What it is not: a language model. Without the reader it does not see a swapped role, a dropped "not" or a wrong detail
made of words the source uses nearby; with it it sees some of them, and it does no arithmetic either way. For those a
language model (or the server and encoder runtimes) does better. Probabilities are calibrated on the sets in the head
file, and thresholds do not carry over well from one kind of text to another: fit them to your own examples with
`calibrate`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter

import numpy as np

from intrinsics_core.calibration.probabilities import sigmoid
from intrinsics_core.embedded.scoring.citing import CitationRule, cite, scores_of
from intrinsics_core.embedded.scoring.claims import NUMBERING, asks, listed, makes_claim, says_back
from intrinsics_core.embedded.scoring.evidence import Evidence, measure
from intrinsics_core.embedded.scoring.explaining import explanation, missing_words
from intrinsics_core.embedded.scoring.form import only_names
from intrinsics_core.embedded.scoring.head import just_below
from intrinsics_core.embedded.scoring.keys import Floats, keys_of
from intrinsics_core.embedded.scoring.short_answers import CLEARLY, opens_with_yes_or_no, stated_each
from intrinsics_core.embedded.scoring.sources import READ_WHOLE, Sources
from intrinsics_core.embedded.scoring.subjects import only_names_one, subjects
from intrinsics_core.embedded.scoring.support_head import (
    Label,
    SupportHead,
    label_of,
    load_head,
    response_probability,
    uncovered,
)
from intrinsics_core.protocol.errors import InvalidInput

READ_PART = 130
"""Words that a reader is shown of longer sources. What a claim rests on stands in a few sentences; more distract."""


@dataclass(frozen=True, slots=True)
class SentenceSupport:
    """The verdict on one response sentence.

    probability: that the sources support it, 0..1; 1 for a sentence that claims nothing (label ``NA``). Below the
        ``faithful`` threshold where a number stands in no source, or a name that is not `said_otherwise`.
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
    return [(source, text) for source in dict.fromkeys(shown)]


def _judge(
    sentence: str,
    evidence: Evidence,
    sources: Sources,
    head: SupportHead,
    logit: float | None,
    claims: bool,
    bare: bool,
) -> tuple[SentenceSupport, float]:
    """The verdict on one sentence and its log-odds of not being supported."""
    scores = scores_of(evidence, head.citations)
    nearest = int(scores.argmax()) if len(scores) else None
    odds = head.odds(evidence, logit)
    probability = 1.0 if not claims else 0.0 if nearest is None else float(sigmoid(-odds))
    if bare and (logit or 0.0) <= 0.0:  # its question's words say nothing of it
        probability, odds = min(probability, 0.5), max(odds, 0.0)
    if claims and (contrived(evidence, sources, logit) or (bare and logit is None)):
        # Whatever the rest of it looks like. A bare "No." must have been read.
        probability = min(probability, just_below(head.thresholds["faithful"]))
    label: Label = label_of(probability, head.thresholds) if claims else "NA"
    missing = missing_words(evidence) if claims else ()
    verdict = SentenceSupport(
        text=sentence,
        probability=probability,
        label=label,
        source_scores=tuple(float(s) for s in scores),
        citations=cite(evidence, head.citations) if claims else (),
        nearest=nearest,
        missing=missing,
        explanation=explanation(label, missing, evidence.foreign, None if nearest is None else sources.texts[nearest]),
    )
    return verdict, odds


_SAYS_SO = 1.0  # a reader's logit


def said_otherwise(sources: Sources, logit: float | None) -> bool:
    """Whether a reader says that a name which stands nowhere is there in other words.

    It must have been shown all of one document: of several it takes the fact of one for another's. Of numbers it is not
    believed: it adds up nothing, and a wrong sum looks to it like a right one.
    """
    one = sources.documents is None or len(set(sources.documents)) <= 1
    return logit is not None and logit >= _SAYS_SO and sources.seen == 1.0 and one


def contrived(evidence: Evidence, sources: Sources, logit: float | None) -> bool:
    """Whether a claim has a name or a number that stands in no source, or a number of another subject."""
    invented = evidence.invented
    if invented and said_otherwise(sources, logit):
        invented = tuple(unit for unit in invented if unit.is_number)
    return bool(invented or evidence.foreign)


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
    told: str = "",
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
        told: what the user said before it, which may be said back ("You said that you arrive at five.").
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
    judged, bare_ones, asked = list[Judged](), list[int](), asks(given)
    texts, alone = stated_each(sentences, given, whole=not before), asked and len(sentences) == 1 and not before
    for i, (sentence, text, found) in enumerate(zip(sentences, texts, measured, strict=True)):
        bare = text != sentence and i not in reported and not listed(sentence)
        held = bool(found.claim.units and sources.texts) and not found.missing
        held = held or (asked and opens_with_yes_or_no(sentence))
        says = i not in reported and makes_claim(sentence, None if own_encoder else vectors[i], held, alone)
        claims = bare or (says and not _names_or_repeats(sentences, i, sources, f"{told}\n{given}"))
        judged.append(_judge(sentence, found, sources, numbers, logits[i] if logits else None, claims, bare))
        bare_ones += [i] if bare else []
    _lean_on_the_next(judged, bare_ones, logits)
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


def _names_or_repeats(sentences: Sequence[str], i: int, sources: Sources, told: str) -> bool:
    """Whether a sentence is the number of an item, names what follows, or tells the user what the user said."""
    sentence, following = sentences[i], next(filter(None, sentences[i + 1 :]), "")
    return (
        (len(sentences) > 1 and NUMBERING.match(sentence) is not None)
        or only_names(sentence, following)
        or (bool(following) and only_names_one(sentence, sources.told_apart))
        or says_back(sentence, told)
    )


def _lean_on_the_next(judged: list[Judged], bare_ones: Sequence[int], logits: Sequence[float | None] | None) -> None:
    """Give bare answers the verdict on what they go on with. "No. It is closed on Mondays." is as right as that."""
    for i in reversed(bare_ones):
        logit, after = logits[i] if logits else None, judged[i + 1] if i + 1 < len(judged) else None
        if after and after[0].label != "NA" and logit is not None and logit > -CLEARLY:
            judged[i] = replace(judged[i][0], probability=after[0].probability, label=after[0].label), after[1]


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
    if any(each.foreign for each in evidences):
        found = min(found, just_below(head.thresholds["faithful"]))
    return found


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

    The probability of `support` with one source: below faithful for a claim that is `contrived`, and at most one half
    for an answer that claims nothing ("I don't know."), and for a bare "No." that nobody read.

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
    probability = float(sigmoid(-numbers.odds(found, logit)))
    bare = stated_each([text], given) != [text]
    if contrived(found, sources, logit):
        probability = min(probability, just_below(numbers.thresholds["faithful"]))
    doubtful = (logit or 0.0) <= 0.0 if bare else not makes_claim(text, alone=asks(given))
    return min(probability, 0.5) if doubtful else probability
