"""The words of a text as keys: a word of a claim is found in a source where the two share a key.

A *claim* is the content of a response sentence: its distinct content terms, each weighed by background idf. A term
is found in a source sentence when the same stem, the same number in another spelling, or an initialism of the
source's capitalised words stands there. Word order, roles, negation and inference are not looked at: "Rome beat
Carthage" is fully found in "Carthage beat Rome".
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from intrinsics_core.embedded.lexical import Token, background, idf, stem, tokens
from intrinsics_core.embedded.scoring.numbers import CARDINALS, NUMBER_WORDS, value_key
from intrinsics_core.embedded.scoring.quantities import quantities
from intrinsics_core.embedded.scoring.quantity import Quantity
from intrinsics_core.embedded.scoring.times import PARTS_OF_THE_DAY
from intrinsics_core.text.memory import remembered
from intrinsics_core.text.months import MONTHS

Floats = NDArray[np.float32]

# `[^\S\n]*`, not `\s*`: at each of n blank lines that would run over all the lines after it.
_MARKUP = re.compile(
    r"^[^\S\n]*(?:[-*•‣▪#>]+\s+|\(?\d{1,2}[.)]\s+)|\[\^?\d+(?:\s*[,;–-]\s*\d+)*\]|\*\*|__|`", re.MULTILINE
)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_COUNTED = re.compile(r"(?<![\w.,])(\d[\d.,]*)(?!(?:st|nd|rd|th|s)\b)([A-Za-z]{1,24})\b")

_ALIASES: dict[str, str] = {stem(month[:3]): stem(month) for month in MONTHS} | {
    "sept": stem("september"), "dr": stem("doctor"), "mr": "mr", "st": stem("street"), "km": stem("kilometers"),
    "kg": stem("kilograms"), "cm": stem("centimeters"), "mm": stem("millimeters"), "ft": stem("feet"),
    "lb": stem("pounds"), "lbs": stem("pounds"), "hr": stem("hours"), "hrs": stem("hours"),
    "min": stem("minutes"), "mins": stem("minutes"), "tv": stem("television"), "usa": "us", "america": "us",
}  # fmt: skip

_DISCOURSE: frozenset[str] = frozenset(
    stem(word)
    for word in """
    accordingly additional additionally addition alternatively aspect basically case certain certainly commonly
    conclusion consequently contrast crucial different due essentially essential example exactly fact factor factors
    finally first following furthermore general generally hence highlight important importantly including include
    included instance interestingly key last lastly main mainly mention mentioned namely nevertheless notably note
    noted number order overall particular particularly point possible possibly potentially potential previously
    primarily provide provided providing purpose reason reasons related relevant respectively result results role second
    secondly significant significantly similar similarly simply specific specifically state stated subsequently suggest
    suggests summarize summary term terms third total type types typically ultimately unlike variety various way ways
    """.split()  # noqa: SIM905
)
"""Stems of words that organise a text rather than claim something; they weigh a quarter of their idf."""


def clean(text: str) -> str:
    """The text without list markers, emphasis and citation marks, ``camelCase`` and ``5km`` split; offsets change."""
    return _COUNTED.sub(r"\1 \2", _CAMEL.sub(" ", _MARKUP.sub(" ", text)))


@dataclass(frozen=True, slots=True)
class Unit:
    """One content word of a claim: its surface, the keys that would match it, its idf in nats, its kind."""

    text: str
    keys: frozenset[str]
    weight: float
    is_name: bool
    is_number: bool

    @property
    def is_detail(self) -> bool:
        """Whether it is a name or a number: what answers invent, and what the premise of a question gets wrong."""
        return self.is_name or self.is_number


def _is_number(word: Token) -> bool:
    return word.is_number or word.text.casefold() in NUMBER_WORDS


def _held(words: Sequence[Token], text: str) -> list[tuple[Token, list[Quantity]]]:
    """Each word with the quantities that it is part of."""
    held: list[tuple[Token, list[Quantity]]] = [(word, []) for word in words]
    for each in quantities(text):
        i = bisect_right(words, each.begin, key=lambda word: word.end)
        while i < len(words) and words[i].begin < each.end:
            held[i][1].append(each)
            i += 1
    return held


def _plain(word: Token) -> set[str]:
    return {word.term, _ALIASES.get(word.term, word.term)}


def _values(held: Iterable[Quantity]) -> set[str]:
    return {value_key(value) for each in held for value in each.values}


def _written(held: Iterable[Quantity]) -> set[str]:
    return {value_key(value) for each in held for value in each.written}


def _unmarked(values: set[str]) -> set[str]:
    """The keys of numbers without a unit or a scale."""
    return {"?" + value for value in values}


def _said(word: Token, held: Sequence[Quantity]) -> set[str]:
    """The keys under which a word of a source is found; a number's begin with ``#``, without a unit with ``?``."""
    exact = {key for each in held for key in (*each.keys, *each.implied)}
    if not _is_number(word):
        return exact | _plain(word)
    values = _values(held)
    bare = all(each.loose for each in held if each.keys)
    return exact | values | _written(held) | {word.term} | (_unmarked(values) if bare else set())


def _looked_up(word: Token, held: Sequence[Quantity]) -> set[str]:
    """The keys that a word of a claim is looked up by: a number with a unit as this value, or where none has a unit."""
    exact = {key for each in held for key in each.keys}
    lower = word.text.casefold()
    if not _is_number(word):
        part = {f"part:{lower}"} if lower in PARTS_OF_THE_DAY else set()
        return exact | _plain(word) | part | _values(each for each in held if not each.keys)
    values, written = _values(held), _unmarked(_written(held))
    if all(each.loose for each in held if each.keys):
        return exact | values | written | ({word.term} if not written else set())
    return exact | _unmarked(values) | written


def _initialisms(words: Sequence[Token]) -> set[str]:
    """``who`` of "World Health Organization"; runs of two to six capitalised words."""
    found: set[str] = set()
    run: list[str] = []
    for token in words:
        if token.text[0].isupper():
            run.append(token.text[0].casefold())
            found.update("".join(run[start:]) for start in range(max(0, len(run) - 6), len(run) - 1))
        elif not token.is_stop:
            run = []
    return found


@dataclass(frozen=True, slots=True)
class Claim:
    """The content of one response sentence: distinct units, and neighbouring pairs as indices into them."""

    units: tuple[Unit, ...]
    pairs: tuple[tuple[int, int], ...]

    @property
    def weights(self) -> Floats:
        return np.array([unit.weight for unit in self.units], dtype=np.float32)


@remembered(1024)
def claim(sentence: str) -> Claim:
    """The claim a sentence makes; one without content words has no units."""
    text = clean(sentence)
    words = tokens(text)
    content = [i for i, token in enumerate(words) if not token.is_stop]
    capitals = sum(words[i].is_capitalised for i in content)
    titled = capitals > 0.7 * len(content) and len(content) > 3
    default = background().default
    units: list[Unit] = []
    index: dict[tuple[str, frozenset[str]], int] = {}
    order: list[int] = []
    held = _held(words, text)
    for i in content:
        token = words[i]
        keys = frozenset(_looked_up(*held[i]))
        number = token.is_number or token.text.casefold() in CARDINALS
        entry = (token.term, keys if number else frozenset())  # "5 kg" and "5 m" are two
        if entry not in index:
            index[entry] = len(units)
            rare = idf(token.term) > 0.8 * default
            named = token.is_capitalised and not number and (rare or (i > 0 and not titled))
            weight = idf(token.term) * (0.25 if token.term in _DISCOURSE else 1.0)
            units.append(Unit(token.text, keys, weight, named, number))
        order.append(index[entry])
    pairs = tuple(dict.fromkeys((a, b) for a, b in pairwise(order) if a != b))
    return Claim(tuple(units), pairs)


@remembered(8192)
def keys_of(sentence: str) -> frozenset[str]:
    """The keys under which a source sentence is found."""
    text = clean(sentence)
    words = tokens(text)
    return frozenset({key for word, held in _held(words, text) for key in _said(word, held)} | _initialisms(words))


def told_apart(titles: Iterable[str]) -> dict[str, frozenset[str]]:
    """Of each title the keys that no other title has."""
    keys = {title: keys_of(title) for title in titles if title}
    times = Counter(key for some in keys.values() for key in some)
    return {title: frozenset(key for key in some if times[key] == 1) for title, some in keys.items()}
