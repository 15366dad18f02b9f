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

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any, Literal

import numpy as np

from intrinsics_core.calibration.probabilities import logit as logit_of
from intrinsics_core.calibration.probabilities import sigmoid
from intrinsics_core.embedded.lexical import tokens
from intrinsics_core.embedded.scoring.evidence import (
    FEATURES,
    READ_WORDS,
    Evidence,
    Floats,
    Sources,
    Unit,
    claim,
    covered,
    keys_of,
    measure,
)
from intrinsics_core.embedded.scoring.head import SURE, bounded
from intrinsics_core.embedded.scoring.quantities import spelled_as_in
from intrinsics_core.embedded.scoring.short_answers import is_bare, stated
from intrinsics_core.embedded.scoring.small_talk import is_small_talk
from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.text.layout import is_fence

Label = Literal["faithful", "partial", "unfaithful", "NA"]


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


READ = ("novel_unseen", "novel_names", "novel_numbers", "unpaired_unseen", "distant", "assured", "doubted")
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

    Words that are not found, or not together, count by the share of the sources that the reader was not shown: of the
    rest it says itself whether they matter. They and the distance are squared, as a right paraphrase lacks a few words
    and so does a wrong one. ``assured`` is -.5 where the reader is sure that the claim is supported, and 0 where it
    doubts; ``doubted`` .5 where it is sure that the claim is not, times the share that it has seen: what it finds is
    there, what it does not find in a short text is not, of many passages it may stand in a sentence that was not shown.
    """
    novel, names, numbers, unpaired, distance = map(float, evidence.features)
    unseen, sure = 1.0 - evidence.seen, bounded(logit) / (2 * SURE)
    doubted = max(-sure, 0.0) * evidence.seen
    return novel**2 * unseen, names, numbers, unpaired**2 * unseen, distance**2, -max(sure, 0.0), doubted


@lru_cache(maxsize=2)
def _shipped(name: str) -> SupportHead:
    text = (resources.files("intrinsics_core") / "data" / "heads" / f"{name}.json").read_text("utf-8")
    return SupportHead.from_json(json.loads(text))


def load_head(path: str | Path | None = None, *, reads: bool = False) -> SupportHead:
    """The shipped head, with a reader or without, or one from a JSON file such as `SupportHead.to_json` makes."""
    if path is None:
        return _shipped("support_read" if reads else "support")
    return SupportHead.from_json(json.loads(Path(path).read_text("utf-8")))


@dataclass(frozen=True, slots=True)
class SentenceSupport:
    """The verdict on one response sentence.

    probability: that the sources support it, 0..1; 1 for a sentence that claims nothing (label ``NA``). Below the
        ``faithful`` threshold where a name or number stands in no source.
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


# Sentences that say something about the answer instead of claiming something about the world. Each run of spaces is one
# by then (see `_SPACES`): patterns with many stretches of optional spaces try every way to share them out.
_NO_CLAIM = re.compile(
    r"""
      ^(?:sure|certainly|of\scourse|absolutely|great\squestion|thank\syou|thanks|hello|hi|hey)\b.{0,60}$
    | \b(?:i\shope|hope\s(?:this|that|it)\shelps|let\sme\sknow|feel\sfree\sto|happy\sto\shelp|glad\sto)\b
    | ^(?:\w+,?\s){0,4}?(?:i|we)(?:\sam|\swas|\swere|\sare|'m|’m|'re|\sdo|\shave)?\s?(?:
        un(?:able|aware|sure|certain)\b
        |sorry\b|apologi[sz]e|can(?:not|['’]t|\snot)\b|could(?:\snot|n['’]t)\b|(?:not|n['’]t)\s(?:able|aware|sure
        |certain|know(?!\sof\san?(?:y)?\b)|have|find|see)\b|don['’]t\s(?:know(?!\sof\san?(?:y)?\b)|have|find|see
        |think)\b|couldn['’]t\b|only\shave\b
        |(?:have|found|see|saw)\s(?:no\s(?:\w+\s)?(?:information|details?|knowledge|idea|data|mention|answers?)\b|nothing\b))
    | \bfor\s(?:more|further|additional)\s(?:\w+\s)?(?:information|details?|help|assistance)\b
        .{0,80}?\b(?:consult|contact|refer|visit|see|check)\b
    | ^(?:sorry|unfortunately)?,?\s?unable\sto\s(?:answer|find|determine|provide)
    | ^(?:this|the|your)?\s?(?:question|query)?\s?(?:can\s?not|can['’]t)\sbe\s(?:answered|determined)\b
    | \b(?:document|passage|source|context|text|article|excerpt|information|data|paragraph|material|report)s?\b
        (?:\s\S+){0,4}?\s(?:do(?:es)?|did|is|are|was|were|has|have)(?:\snot\b|n['’]t\b)(?:\s\w+){0,2}?
        \s(?:mention|provide|specif|contain|include|state|say|explain|give|discuss|indicate|address|describe|cover
        |enough|sufficient|offer|clarif|answer|list|refer|detail|available|known|clear)
    | \b(?:no|not\senough|insufficient|limited)\s(?:\w+\s){0,2}(?:information|details?|data|mention|evidence)\b
        .{0,40}\b(?:document|passage|source|context|text|article|excerpt|provided|given|available|here)
    | \b(?:is|are|was|were)(?:\snot|n['’]t)\s(?:\w+\s)?(?:mentioned|specified|stated|provided|discussed|given)\b
    | ^(?:here(?:\sis|\sare|['’]s)|below\s(?:is|are)|the\sfollowing\s(?:is|are))\b.{0,120}:\s?$
    | ^(?:\W*(?:summary|answer|response|output|conclusion|note|overview|introduction))\W*$
    """,
    re.IGNORECASE | re.VERBOSE,
)


# Of these phrases the one that claims often begin with, too: "Sure, it opens at nine."
_GREETS = re.compile(
    r"^(?:sure|certainly|of\scourse|absolutely|great\squestion|thank\syou|thanks|hello|hi|hey)\b", re.IGNORECASE
)


# What a list or a layout puts between claims: "[1]", "(Passage 2)", "Page 3 of 10", "a)".
_MARKER = re.compile(
    r"\A\W*+(?:(?:passage|document|doc|source|page|chunk|section|figure|fig|table|item|ref|citation|step)s?\b\W*+)?"
    r"(?:\d{1,4}|[a-zA-Z])?+(?:\W++(?:(?:of|and|to)\W++)?\d{1,4}\b)*+\W*+\Z",
    re.IGNORECASE,
)
_NUMBERING = re.compile(r"\A\W*+\d{1,3}\W*+\Z")

_PIECES = re.compile(r"[^.!?。！？]*[.!?。！？]+[\"'”’)*\s]*|[^.!?。！？]+$")
_CLOSING = "\"'”’)* \t\r\n"
_BUT = re.compile(r"\b(?:but|however|though|although|yet)\b", re.IGNORECASE)
_DENIES = re.compile(
    r"\b(?:not?|never|none|nor|neither|without|cannot|except|unless|instead)\b|n['\u2019]t\b", re.IGNORECASE
)
# A run of spaces counts as one, or as a line end where it holds one.
_SPACES = re.compile(r"\s+")


def _one_space(run: re.Match[str]) -> str:
    return "\n" if "\n" in run[0] else " "


def makes_claim(sentence: str, vectors: Floats | None = None, found: bool = False) -> bool:
    """Whether a sentence asserts something that sources could support.

    Questions, courtesy, offers of help, announcements ("Here is a summary:"), refusals and remarks on what the
    documents do not say make none, nor does a yes or no by itself, the fence of a block of code or text without content
    words. Told from English phrases and by `is_small_talk`; a sentence in another language counts as a claim unless it
    is a question or has no words.

    Args:
        sentence: one sentence of an answer.
        vectors: its vectors by the encoder that ships; None: it is told from its words alone.
        found: whether all content of it stands in the sources, see `is_small_talk`.
    """
    text = sentence.strip()
    if len(text.split()) == 1 and is_fence(text):
        return False
    if is_bare(text) or not claim(text).units or (_MARKER.match(text) and not _NUMBERING.match(text)):
        return False
    if text.rstrip(_CLOSING).endswith(("?", "？")):
        pieces = _PIECES.findall(text)
        while pieces and pieces[-1].rstrip(_CLOSING).endswith(("?", "？")):
            pieces.pop()
        text, vectors = "".join(pieces), None  # "It is red. And yours?" claims something before it asks
        if len(claim(text).units) < 2:
            return False
    return not (surely_none(text) or is_small_talk(text, listed(text), vectors, found))


def surely_none(text: str) -> bool:
    """Whether the phrases say for sure that a sentence claims nothing: all but those that greet."""
    return listed(text) and not _GREETS.search(text)


def listed(sentence: str) -> bool:
    """Whether the phrases of `_NO_CLAIM` say that a sentence claims nothing."""
    text = _SPACES.sub(_one_space, sentence)
    found = _NO_CLAIM.search(text)
    if found is None:
        return False
    # "I am not sure, but it was built in 1889" claims something after all.
    turn = _BUT.search(text, found.end())
    if turn is None:
        return True
    rest = text[turn.end() :]
    return len(claim(rest).units) <= 2 or _NO_CLAIM.search(rest) is not None


def to_read(text: str, evidence: Evidence, sources: Sources, rule: CitationRule) -> list[tuple[str, str]]:
    """What a reader is shown beside one claim: the sentence found; the same with its neighbours; the best few of all.

    The last are the sentences with the best scores, of whatever document and in their order, of `READ_WORDS` words.
    """
    if not sources.texts:
        return []
    scores = _scores(evidence, rule)
    ranked = [int(i) for i in np.argsort(-scores, kind="stable")]
    best, owner = ranked[0], sources.documents
    near = [
        i
        for i in (best - 1, best, best + 1)
        if 0 <= i < len(sources.texts) and (owner is None or owner[i] == owner[best])
    ]
    few, words = [best], len(sources.texts[best].split())
    for i in ranked[1:]:
        words += len(sources.texts[i].split())
        if words > READ_WORDS:
            break
        few.append(i)
    shown = [" ".join(sources.texts[i] for i in some) for some in ([best], near, sorted(few))]
    title = sources.titles[owner[best] if owner is not None else 0] if sources.titles else ""
    named = keys_of(title) if title else frozenset()
    if any(unit.keys & named and not evidence.found[row, near].any() for row, unit in enumerate(evidence.claim.units)):
        shown = [f"{title}: {source}" for source in shown]  # what the claim is about stands in the title alone
    return [(source, spelled_as_in(source, text)) for source in dict.fromkeys(shown)]


def _scores(evidence: Evidence, rule: CitationRule) -> Floats:
    """Per source sentence its score as a citation: the share of the claim it covers, and its cosine."""
    share = covered(evidence.claim.weights, evidence.found)
    return (1.0 - rule.cosine) * share + rule.cosine * np.clip(evidence.cosine, 0.0, 1.0)


def cite(evidence: Evidence, rule: CitationRule) -> tuple[int, ...]:
    """Source sentences to cite for one claim, best first.

    The best-scoring sentence is taken if its score reaches ``rule.threshold``; then, one at a time, the sentence that
    adds most of what is not yet covered, while it adds at least ``rule.gain``, so two sentences that complement one
    another are both cited and a repetition is not.
    """
    scores = _scores(evidence, rule)
    if not len(scores) or float(scores.max()) < rule.threshold:
        return ()
    weights = evidence.claim.weights
    chosen = [int(scores.argmax())]
    still_open = 1.0 - evidence.found[:, chosen[:1]]
    while len(chosen) < rule.maximum:
        gains = covered(weights, still_open * evidence.found)
        gains[scores < rule.further] = 0.0
        gains[chosen] = 0.0
        best = int((gains + 1e-3 * scores).argmax())
        if gains[best] < rule.gain:
            break
        chosen.append(best)
        still_open = still_open * (1.0 - evidence.found[:, [best]])
    return tuple(chosen)


def _clip(text: str, limit: int = 160) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= limit else plain[: limit - 1].rstrip() + "…"


def _missing(evidence: Evidence) -> tuple[str, ...]:
    """Surface forms of what is not in the sources: names and numbers first, then by rarity."""
    ordered = sorted(evidence.missing, key=lambda unit: (not (unit.is_name or unit.is_number), -unit.weight))
    return tuple(dict.fromkeys(unit.text for unit in ordered))


def _quoted(words: Sequence[str]) -> str:
    more = f" and {len(words) - 6} more" if len(words) > 6 else ""
    return ", ".join(f"'{word}'" for word in words[:6]) + more


def _explain(label: Label, missing: Sequence[str], stray: Sequence[Unit], nearest: str | None) -> str:
    if label == "NA":
        return "makes no claim that sources could support"
    if nearest is None:
        return "there are no source sentences"
    parts = []
    if missing and label == "faithful":
        parts.append("the passages say it in other words than " + _quoted(missing))
    elif missing:
        parts.append("not in the passages kept: " + _quoted(missing))
    if stray:
        parts.append("not where the rest of it stands: " + _quoted([unit.text for unit in stray]))
    if not parts:
        but = "" if label == "faithful" else ", but not what it makes of them"
        parts.append("the passages kept hold its words and numbers" + but)
    parts.append(f'closest source sentence: "{_clip(nearest)}"')
    return "; ".join(parts)


def _judge(
    sentence: str,
    evidence: Evidence,
    sources: Sources,
    head: SupportHead,
    logit: float | None,
    claims: bool,
    bare: bool,
    given: str,
) -> tuple[SentenceSupport, float]:
    """The verdict on one sentence and its log-odds of not being supported."""
    scores = _scores(evidence, head.citations)
    nearest = int(scores.argmax()) if len(scores) else None
    odds = head.odds(evidence, logit)
    probability = 1.0 if not claims else 0.0 if nearest is None else float(sigmoid(-odds))
    if bare and (logit or 0.0) <= 0.0:  # its question's words say nothing of it
        probability, odds = min(probability, 0.5), max(odds, 0.0)
    elif claims and not bare and nearest is not None and quotes(sentence, sources.texts[nearest], given):
        probability = max(probability, head.thresholds["faithful"])
        odds = min(odds, -logit_of(probability))
    if claims and (evidence.invented or evidence.stray or (bare and logit is None)):
        # Whatever the rest of it looks like. A bare "No." must have been read.
        probability = min(probability, just_below(head.thresholds["faithful"]))
    label: Label = label_of(probability, head.thresholds) if claims else "NA"
    missing = _missing(evidence) if claims else ()
    verdict = SentenceSupport(
        text=sentence,
        probability=probability,
        label=label,
        source_scores=tuple(float(s) for s in scores),
        citations=cite(evidence, head.citations) if claims else (),
        nearest=nearest,
        missing=missing,
        explanation=_explain(label, missing, evidence.stray, None if nearest is None else sources.texts[nearest]),
    )
    return verdict, odds


def look_up(sentences: Sequence[str], vectors: Sequence[Floats], sources: Sources, given: str = "") -> list[Evidence]:
    """`evidence.measure` for every sentence of a response, `stated` as it is judged.

    Raises:
        InvalidInput: as many vectors as sentences are not given.
    """
    if len(vectors) != len(sentences):
        raise InvalidInput(f"support: {len(sentences)} sentences but {len(vectors)} vectors")
    texts = [stated(sentence, given) for sentence in sentences]
    return [
        measure(text, rows, sources, given if text == sentence else "")
        for sentence, text, rows in zip(sentences, texts, vectors, strict=True)
    ]


def support(
    sentences: Sequence[str],
    vectors: Sequence[Floats],
    sources: Sources,
    head: SupportHead | None = None,
    *,
    given: str = "",
    evidence: Sequence[Evidence] | None = None,
    logits: Sequence[float | None] | None = None,
    reported: Collection[int] = (),
    own_encoder: bool = False,
) -> ResponseSupport:
    """Judge every sentence of a response against its sources.

    Args:
        sentences: the response's sentences, in order.
        vectors: per sentence (as `stated`) (windows, dim) float32, rows L2-normalised.
        sources: source sentences, their vectors, and which document each is of.
        head: fitted numbers; None: the shipped ones, those that read where there are logits.
        given: the question the response answers; its words need no source, but its names and numbers do, because a
            question may presume what is not so.
        evidence: what `look_up` gave, where that was asked before.
        logits: per sentence a reader's largest logit over `to_read`, for a head that reads.
        reported: the sentences that report what a tool call has done, and so claim nothing.
        own_encoder: the vectors are not of the encoder that ships, so nothing is told from them alone.

    Returns:
        One verdict a sentence, in order, and the response's faithfulness (see `response_probability`), from which its
        label is read as a sentence's is.

    Raises:
        InvalidInput: as many vectors as sentences are not given.
    """
    numbers = head or load_head(reads=logits is not None)
    measured = look_up(sentences, vectors, sources, given) if evidence is None else evidence
    judged, doubted = [], list[float]()
    for i, (sentence, found) in enumerate(zip(sentences, measured, strict=True)):
        bare = stated(sentence, given) != sentence
        held = bool(found.claim.units and sources.texts) and not found.missing
        says = i not in reported and makes_claim(sentence, None if own_encoder else vectors[i], held)
        claims = bare or (says and not (len(sentences) > 1 and _NUMBERING.match(sentence)))
        judged.append(_judge(sentence, found, sources, numbers, logits[i] if logits else None, claims, bare, given))
        if bare and (probability := judged[-1][0].probability) <= 0.5:
            doubted.append(probability)
    claimed = [(verdict.probability, value, found) for (verdict, value), found in zip(judged, measured, strict=True)
               if verdict.label != "NA"]  # fmt: skip
    label: Label = "NA"
    faithfulness = 1.0
    if claimed:
        probabilities, odds, evidences = zip(*claimed, strict=True)
        novel = uncovered(evidences, read=numbers.reads)
        faithfulness = response_probability(probabilities, odds, novel, numbers) if sources.texts else 0.0
        # A bare "No." that nobody is sure of: the words of its question would say that all stands in the sources.
        faithfulness = min([faithfulness, *doubted])
        label = label_of(faithfulness, numbers.thresholds)
    return ResponseSupport(tuple(verdict for verdict, _ in judged), faithfulness, label)


_QUOTED = 2  # words with content, from which on a run of words is a quote


def quotes(sentence: str, source: str, given: str) -> bool:
    """Whether a sentence says nothing but words of its question and then a run of words of a source sentence.

    "You need half a litre of milk." is such an answer to "How much milk do I need?" where the source has "half a litre
    of milk". The run holds a word of the question, so that it is about what was asked for; a sentence or a source that
    denies anything is left to the head.
    """
    asked = {token.term for token in tokens(given) if not token.is_stop}
    said = tokens(sentence)
    begin = next((i for i, token in enumerate(said) if not token.is_stop and token.term not in asked), len(said))
    run = [token.term for token in said[begin:]]
    content = [token.term for token in said[begin:] if not token.is_stop]
    if len(content) < _QUOTED or asked.isdisjoint(content) or _DENIES.search(sentence):
        return False
    return not _DENIES.search(source) and f" {' '.join(run)} " in f" {' '.join(t.term for t in tokens(source))} "


def uncovered(claims: Sequence[Evidence], *, read: bool = False) -> float:
    """The share of a whole response's idf mass that is found nowhere, 0..1; where it was ``read``, times the share of
    the sources that the reader was not shown, as in `beside`.
    """
    total = sum(unit.weight for each in claims for unit in each.claim.units)
    missing = sum(unit.weight * (1.0 - each.seen if read else 1.0) for each in claims for unit in each.missing)
    return missing / total if total else 0.0


def response_odds(odds: Sequence[float], novel: float, head: SupportHead) -> float:
    """Log-odds that a response with several claims is not faithful.

    Args:
        odds: of each claim, that it is not supported.
        novel: the share of the response that is found nowhere.
    """
    slope, weight, bias = head.response
    return slope * float(np.mean(sorted(odds, reverse=True)[: head.weakest])) + weight * novel + bias


def response_probability(claims: Sequence[float], odds: Sequence[float], novel: float, head: SupportHead) -> float:
    """The probability, 0..1, that a response is faithful.

    Of one claim it is the claim's own. Of several it is a fitted logistic of the ``head.weakest`` least supported
    claims' mean log-odds and of the share that is found nowhere. It is below the ``unfaithful`` threshold where a claim
    is, and not below it where none is: the label that is read from it agrees with those of the claims.

    Args:
        claims: of each sentence that claims something, at least one, the probability that it is supported.
        odds: of each of them, the log-odds that it is not supported.
        novel: the share of the response that is found nowhere.
    """
    if len(claims) == 1:
        return claims[0]
    probability = float(sigmoid(-response_odds(odds, novel, head)))
    limit = head.thresholds["unfaithful"]
    return min(probability, just_below(limit)) if min(claims) < limit else max(probability, limit)


def label_of(probability: float, thresholds: Mapping[str, float]) -> Label:
    """The label of a claim or a response, by the ``faithful`` and ``unfaithful`` thresholds."""
    if probability >= thresholds["faithful"]:
        return "faithful"
    return "unfaithful" if probability < thresholds["unfaithful"] else "partial"


def just_below(threshold: float) -> float:
    """A thousandth below a threshold, not below 0."""
    return max(0.0, threshold - 0.001)


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

    The probability of `support` with one source; at most one half for an answer that claims nothing ("I don't know."),
    and for a bare "No." that nobody read.

    Args:
        text: the claim, an answer or a sentence of one.
        vectors: its vectors (as `stated`), (windows, dim).
        sources: the sentences of the one source.
        head: fitted numbers; None: the shipped ones.
        given: the question; its words need no source, names and numbers excepted.
        evidence: what `look_up` gave, where that was asked before.
        logit: a reader's largest logit over `to_read`, for a head that reads.
    """
    if not sources.texts:
        return 0.0
    numbers = head or load_head(reads=logit is not None)
    (found,) = [evidence] if evidence else look_up([text], [vectors], sources, given)
    probability = float(sigmoid(-numbers.odds(found, logit)))
    bare = stated(text, given) != text
    doubtful = (logit or 0.0) <= 0.0 if bare else not makes_claim(text)
    return min(probability, 0.5) if doubtful else probability


__all__ = [
    "CitationRule", "Label", "ResponseSupport", "SentenceSupport", "Sources", "SupportHead",
    "cite", "entailment", "just_below", "label_of", "load_head", "look_up", "makes_claim", "response_probability",
    "support", "to_read",
]  # fmt: skip
