"""Whether a sentence is small talk: courtesy, an offer, a question back, "I don't know", a refusal.

What it is: a logistic regression over what the sentence says plainly (its frequent words, one and two at a time, the
rest by their kind; who speaks to whom; how much content there is; whether the list of phrases in `claims` knows it)
and, where the encoder that ships has made one, its vector. Fitted by `training/small_talk.py` on English sentences
that were written for it, beside as many that look alike and do claim something. Without a vector it is less sure and
calls fewer sentences small talk.

What it is not: a reader. A claim wrongly called small talk is never judged, so what has many words is a claim.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import cache
from itertools import pairwise

from intrinsics_core.calibration.probabilities import sigmoid
from intrinsics_core.embedded.scoring.head import LinearHead, load_head
from intrinsics_core.embedded.words import Floats, claim
from intrinsics_core.text.words import word_set

LONGEST = 40
"""Words from which on a sentence is a claim."""

_ALONE = 0.8
"""The probability from which on all of an answer to a question is small talk, unless somebody says it of themselves: of
7,530 answers of the written texts two are (19 from the head's own threshold on).
"""

_WORD = re.compile(r"[^\W\d_]++(?:['’][^\W\d_]++)*+|\d++|[?!:,;]")
_SPEAKER = word_set("i i'm i'd i'll i've me my mine myself")
_FIRST = _SPEAKER | word_set("we we're we'd we'll we've us our ours")
_SECOND = word_set("you you're you'd you'll you've your yours yourself")


def words(text: str) -> list[tuple[str, str]]:
    """Each word in lower case, and what stands for it where it is not a frequent one: its kind."""
    found = []
    for i, word in enumerate(_WORD.findall(text)):
        kind = "<number>" if word.isdecimal() else "<name>" if i and word[0].isupper() else "<word>"
        found.append((word.lower().replace("’", "'"), kind))
    return found


def features(text: str, frequent: Mapping[str, object], listed: bool) -> dict[str, float]:
    """The numbers that describe a sentence, by name; those that are left out are 0.

    Args:
        frequent: the words that are known by themselves.
        listed: whether the phrases in `claims` know the sentence.
    """
    said = words(text)
    shown = ["^", *(word if word in frequent else kind for word, kind in said), "$"]
    units = claim(text).units
    found = dict.fromkeys(shown, 1.0)
    found |= dict.fromkeys((f"{a} {b}" for a, b in pairwise(shown)), 1.0)
    found |= {f"{i}: {word}": 1.0 for i, word in enumerate(shown[1:4])}
    return found | {
        "= length": math.log1p(len(said)) / 2,
        "= content": min(len(units), 10) / 5,
        "= details": min(sum(unit.is_detail for unit in units), 3) / 1.5,
        "= rarest": max((unit.weight for unit in units), default=0.0) / 10,
        "= weight": min(sum(unit.weight for unit in units), 60.0) / 30,
        "= unknown": sum(word not in frequent for word, _ in said) / max(1, len(said)),
        "= first person": float(any(word in _FIRST for word, _ in said)),
        "= second person": float(any(word in _SECOND for word, _ in said)),
        "= listed": float(listed),
    }


def is_small_talk(
    text: str, listed: bool, vectors: Floats | None = None, found: bool = False, alone: bool = False
) -> bool:
    """Whether a sentence claims nothing.

    Args:
        text: the sentence.
        listed: whether the phrases in `claims` know it.
        vectors: its vectors by the encoder that ships, (windows, dim); None: it is told from its words alone.
        found: whether all content of it stands in the sources, or it begins with a yes or a no to a question. Such a
            sentence is judged, unless the phrases know it or somebody says it of themselves.
        alone: whether it is all that a question was answered with.
    """
    said = [word for word, _ in words(text)]
    # "We don't take dogs" is what a firm tells of itself.
    of_others = (_SPEAKER if alone else _FIRST).isdisjoint(said)
    if len(said) >= LONGEST or (found and of_others):
        return listed
    return _called("small_talk", text, listed, vectors, _ALONE if alone and of_others and not listed else 0.0)


def is_report(text: str, vectors: Floats | None = None) -> bool:
    """Whether a sentence says that something was done for the user, truly or not; the arguments of `is_small_talk`."""
    return len(_WORD.findall(text)) < LONGEST and _called("small_talk_report", text, False, vectors)


def _called(name: str, text: str, listed: bool, vectors: Floats | None, least: float = 0.0) -> bool:
    vector = vectors[0] if vectors is not None and len(vectors) == 1 else None
    head, weights = _head(name if vector is None else f"{name}_vector")
    logit = head.bias + sum(weights.get(key, 0.0) * value for key, value in features(text, weights, listed).items())
    if vector is not None:
        logit += sum(weights[f"v{i}"] * float(value) for i, value in enumerate(vector))
    return float(sigmoid(logit)) >= max(least, head.thresholds["listed" if listed else "new"])


@cache
def _head(name: str) -> tuple[LinearHead, dict[str, float]]:
    head = load_head(name)
    return head, dict(zip(head.features, head.weights, strict=True))
