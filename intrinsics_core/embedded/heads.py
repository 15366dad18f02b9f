"""Linear heads: fitted logistic regressions that ship as JSON.

A `LinearHead` weighs a few named numbers. A `TextHead` tells which of a few kinds a short text is of, from hashed
n-grams of its words and characters and, where the encoder that ships has made one, from its vector.
"""

from __future__ import annotations

import base64
import itertools
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any
from zlib import crc32

from intrinsics_core.calibration.probabilities import sigmoid, softmax
from intrinsics_core.protocol.errors import InvalidInput

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class LinearHead:
    """``weights`` by feature, ``bias``, and thresholds on the probability by name."""

    features: tuple[str, ...]
    weights: tuple[float, ...]
    bias: float
    thresholds: Mapping[str, float]

    @classmethod
    def from_json(cls, text: str, features: Sequence[str] | None = None) -> LinearHead:
        """Read a head as `training` writes it.

        Args:
            features: what the code measures, in order; None: whatever the file names.

        Raises:
            InvalidInput: the file is of other features, or has not one weight for each.
        """
        raw = json.loads(text)
        named = tuple(raw["features"])
        if named != tuple(features or named) or len(raw["weights"]) != len(named):
            raise InvalidInput(
                "the head was fitted on other features", expected=str(list(features or named)), got=str(list(named))
            )
        thresholds = {key: float(value) for key, value in raw["thresholds"].items()}
        return cls(named, tuple(map(float, raw["weights"])), float(raw["bias"]), thresholds)

    def logit(self, values: Sequence[float]) -> float:
        """Log-odds of one row of feature values, in the order of ``features``."""
        return self.bias + sum(w * v for w, v in zip(self.weights, values, strict=True))

    def probability(self, values: Sequence[float]) -> float:
        """Probability of one row of feature values."""
        return float(sigmoid(self.logit(values)))


def _shipped(name: str) -> str:
    return (resources.files("intrinsics_core") / "data" / "heads" / f"{name}.json").read_text("utf-8")


@lru_cache(maxsize=8)
def load_head(name: str, features: tuple[str, ...] | None = None) -> LinearHead:
    """The shipped head ``data/heads/<name>.json``, read once."""
    return LinearHead.from_json(_shipped(name), features)


SURE = 6.0
"""A reader's logit from which on it is as sure as it gets."""


def bounded(logit: float) -> float:
    """A reader's logit between -`SURE` and `SURE`, as the heads take it."""
    return min(max(logit, -SURE), SURE)


def just_below(threshold: float) -> float:
    """A thousandth below a threshold, not below 0."""
    return max(0.0, threshold - 0.001)


PLACES = 2**13
"""How many places the n-grams are hashed to."""
LONGEST = 400
"""Characters of a text that a head reads."""
_PIECE = re.compile(r"[^\W\d_]++(?:['’][^\W\d_]++)*+|\d++|[?!:,;.…“\"(—–-]")
_WITHIN = (3, 4, 5)  # characters of a piece of a word


def grams(text: str, before: str = "") -> Iterator[str]:
    """The n-grams of a sentence or a short turn: words one to three at a time, the first and last by place, pieces of
    words, and the last words of what was said ``before``. A number is a zero, and a capitalised word inside a name.
    """
    pieces = _PIECE.findall(text[:LONGEST])
    words = ["^", *(_word(piece, i) for i, piece in enumerate(pieces)), "$"]
    for size in (1, 2, 3):
        yield from (" ".join(words[i : i + size]) for i in range(len(words) - size + 1))
    yield from (f"{i}:{word}" for i, word in enumerate(words[1:5]))
    yield from (f"-{i}:{word}" for i, word in enumerate(words[-2:-5:-1]))
    yield f"length:{math.isqrt(2 * len(pieces))}"
    for piece in pieces:
        if piece[0].isalpha():
            spelled = f"<{piece.lower()}>"
            for size in _WITHIN:
                yield from (f"~{spelled[i : i + size]}" for i in range(len(spelled) - size + 1))
    if before:
        said = [_word(piece, i) for i, piece in enumerate(_PIECE.findall(before[-LONGEST:])[-12:])]
        yield from (f"<{word}" for word in said)
        yield from (f"<{a} {b}" for a, b in itertools.pairwise(said))
    else:
        yield "<"


def _word(piece: str, place: int) -> str:
    if piece.isdecimal():
        return "0"
    return "<name>" if place and piece[0].isupper() and piece[1:] else piece.lower().replace("’", "'")


@lru_cache(maxsize=4096)
def places(text: str, before: str = "") -> tuple[int, ...]:
    """The places of the n-grams of a text."""
    return hashed(grams(text, before))


def hashed(some: Iterable[str]) -> tuple[int, ...]:
    """The places of what a text has, each once."""
    return tuple(sorted({crc32(each.encode()) % PLACES for each in some}))


@dataclass(frozen=True)
class TextHead:
    """Weights by kind and place of an n-gram, and by kind and number of the vector. thresholds: the least probability
    of a kind; the one kind without is what a text is of that reaches none.
    """

    kinds: tuple[str, ...]
    by_place: Floats
    by_vector: Floats
    bias: Floats
    thresholds: Mapping[str, float]

    @classmethod
    def from_json(cls, kinds: Sequence[str], numbers: Mapping[str, Any]) -> TextHead:
        """Read one part of a file that `training` writes."""
        import numpy as np  # only where a head is read

        def table(name: str) -> Floats:
            steps = np.frombuffer(base64.b64decode(numbers[name]), np.int8).astype(np.float32)
            return steps.reshape(len(kinds), -1) * np.float32(numbers[f"{name}_step"])

        bias = np.array(numbers["bias"], np.float32)
        return cls(tuple(kinds), table("by_place"), table("by_vector"), bias, numbers["thresholds"])

    def probabilities(self, some: Sequence[int], vector: Floats | None = None) -> dict[str, float]:
        """The probability of each kind, from the places of a text's n-grams and its vector."""
        logits = self.bias + self.by_place[:, list(some)].sum(axis=1) / math.sqrt(max(1, len(some)))
        if vector is not None:
            logits = logits + self.by_vector @ vector
        return dict(zip(self.kinds, softmax([float(z) for z in logits]), strict=True))

    def kind(self, some: Sequence[int], vector: Floats | None = None) -> str:
        """The likeliest of the kinds that reach their thresholds."""
        p = self.probabilities(some, vector)
        (plain,) = set(self.kinds) - set(self.thresholds)
        return max(
            (kind for kind in self.thresholds if p[kind] >= self.thresholds[kind]), key=p.__getitem__, default=plain
        )


@lru_cache(maxsize=8)
def load_text_head(name: str, *, vector: bool = False) -> TextHead:
    """The shipped head ``data/heads/<name>.json``, read once. ``vector``: the numbers beside the shipped encoder's."""
    raw = json.loads(_shipped(name))
    return TextHead.from_json(raw["kinds"], raw["vector" if vector else "words"])
