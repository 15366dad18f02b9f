"""Minimal edits that make a supported sentence false of its source, or at least no longer said by it.

Each edit is a function of (sentence, scene, rng) to a new sentence, or None where it finds nothing to edit. ``EDITS``
names them with how often each is tried first. The true form and its edit differ in the edited words alone, so a model
that tells them apart has to look the words up in the source.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from intrinsics_core.embedded.words import is_stopword
from training.reader.wordnet import WordNet
from training.reader.words import KINDS, MONTHS, NUMBERS, OPPOSITES, STRONGER

Edit = Callable[[str, "Scene", Random], str | None]

_NAME = re.compile(r"(?<![.!?] )(?<!^)(?<![\w\"(])[A-Z][\w'’-]+(?: (?:of |de |van |von |the )?[A-Z][\w'’-]+)*")
_NUMBER = re.compile(r"(?<![\w.,])\d+(?:,\d{3})*(?:\.\d+)?(?!\w|[.,]\d)")
_WORD = re.compile(r"[A-Za-z][a-z]+(?:-[a-z]+)*")
_NEGATED = re.compile(r"\b(is|are|was|were|has|have|had|can|could|will|would|may|must|should|does|do|did) not ")
_CONTRACTED = re.compile(r"\b(is|are|was|were|has|have|had|could|would|must|should|does|do|did)n['’]t ")
_VERB = re.compile(r"\b(is|are|was|were|can|could|will|would|may|must|should) (?!not\b)(?=[a-z])")
_PERFECT = re.compile(r"\b(has|have|had) (?=(?:been|become|[a-z]+ed)\b)")
_WHO = r"[A-Z][\w'’-]+(?: (?:of |de |van |von |the )?[A-Z][\w'’-]+)*"
_ROLES = re.compile(
    rf"^(?P<a>(?:The )?{_WHO}) "
    r"(?P<verb>(?:was |were |is |are )?[a-z]+(?:ed|ten|wn|ght|s|at|on|ew)(?: (?:by|to|from|over|for|with))?) "
    rf"(?P<b>(?:the )?{_WHO})(?P<rest>(?: (?:in|on|at|by|for|after|during|and) .*|, .*)?[.!]?)$"
)


@dataclass(frozen=True)
class Scene:
    """What surrounds the sentence that is edited.

    source: the text that the pair is read beside: nothing that an edit puts in may stand in for what it takes out.
    names, numbers: of the same article, as wrong values that are near at hand.
    net: WordNet's tables, empty where its files are not at hand.
    """

    source: str
    names: Sequence[str] = ()
    numbers: Sequence[str] = ()
    words: Sequence[str] = ()
    net: WordNet = field(default_factory=WordNet)


def names(text: str) -> list[str]:
    """Capitalised phrases inside sentences, in order, each once."""
    return list(dict.fromkeys(m.group() for m in _NAME.finditer(text) if m.group() not in MONTHS))


def numbers(text: str) -> list[str]:
    """Numbers written in digits, in order, each once."""
    return list(dict.fromkeys(m.group() for m in _NUMBER.finditer(text)))


def content_words(text: str) -> list[str]:
    """Lower-case words of five letters or more that carry meaning, each once."""
    return list(dict.fromkeys(w for w in re.findall(r"\b[a-z]{5,}\b", text) if not is_stopword(w)))


def put(sentence: str, begin: int, end: int, new: str) -> str:
    """``new`` in place of a span; a capital stays one, and `a`/`an` follow the new word."""
    old = sentence[begin:end]
    if old[:1].isupper() and new[:1].islower():
        new = new[0].upper() + new[1:]
    before = sentence[:begin]
    article = re.search(r"\b([Aa])n? $", before)
    if article and new[:1].isalpha():
        letter = article.group(1)
        before = before[: article.start()] + letter + ("n " if new[0].lower() in "aeiou" else " ")
    return before + new + sentence[end:]


def _spans(sentence: str, table: Mapping[str, Sequence[str]]) -> list[tuple[int, int, Sequence[str]]]:
    """Where entries of a table stand in a sentence, the longest first at each place."""
    found, lower = list[tuple[int, int, Sequence[str]]](), sentence.lower()
    words = [(m.start(), m.end()) for m in re.finditer(r"[A-Za-z]+(?:['’-][A-Za-z]+)*", sentence)]
    for i, (begin, _) in enumerate(words):
        for j in range(min(i + 4, len(words)) - 1, i - 1, -1):
            end = words[j][1]
            span = sentence[begin:end]  # a capital inside a sentence is a name: `Golden Globe` is not golden
            entry = table.get(span) or (table.get(lower[begin:end]) if begin == 0 or span[0].islower() else None)
            if entry:
                found.append((begin, end, entry))
                break
    return found


def replaced(sentence: str, table: Mapping[str, Sequence[str]], source: str, rng: Random) -> str | None:
    """One entry of the table replaced by one of its values that the source does not hold."""
    spans = _spans(sentence, table)
    rng.shuffle(spans)
    for begin, end, options in spans:
        fresh = [o for o in options if not re.search(rf"\b{re.escape(o)}\b", source, re.IGNORECASE)]
        if fresh:
            return put(sentence, begin, end, rng.choice(fresh))
    return None


def number(sentence: str, scene: Scene, rng: Random) -> str | None:
    """A number in digits becomes another one, of the article or near it."""
    found = list(_NUMBER.finditer(sentence))
    if not found:
        return None
    match = rng.choice(found)
    old = match.group()
    options = [n for n in scene.numbers if n != old and len(n) in (len(old) - 1, len(old), len(old) + 1)]
    new = rng.choice(options) if options and rng.random() < 0.5 else _near(old, rng)
    return None if new == old else put(sentence, match.start(), match.end(), new)


def _near(old: str, rng: Random) -> str:
    plain = old.replace(",", "")
    if "." in plain:
        places = len(plain.split(".")[1])
        return f"{float(plain) * rng.choice((0.5, 0.8, 1.1, 1.3, 2, 10)):.{places}f}"
    value = int(plain)
    if 1000 <= value <= 2100 and "," not in old:
        return str(value + rng.choice((-100, -30, -20, -11, -10, -5, -3, -2, -1, 1, 2, 3, 5, 10, 11, 20, 40, 100)))
    if value < 10:
        return str(rng.choice([n for n in range(1, 13) if n != value]))
    if value <= 31:
        return str(rng.choice([n for n in range(1, 32) if n != value]))
    new = rng.choice(
        (value * 2, value // 2, value * 10, value + rng.randint(1, 9), value + value // 4, value // 10 + 1)
    )
    return f"{new:,}" if "," in old else str(new)


def number_word(sentence: str, scene: Scene, rng: Random) -> str | None:
    """Three becomes seven."""
    found = [m for m in re.finditer(r"\b[A-Za-z]+\b", sentence) if m.group().lower() in NUMBERS[1:]]
    if not found:
        return None
    match = rng.choice(found)
    lower = match.group().lower()
    if lower == "one" and re.match(r" (?:of|another|side|day|hand)\b", sentence[match.end() :]):
        return None
    near = NUMBERS.index(lower)
    options = [n for n in NUMBERS[1 if near != 1 else 2 : 13] if n != lower and abs(NUMBERS.index(n) - near) < 6]
    return put(sentence, match.start(), match.end(), rng.choice(options)) if options else None


def exchange_numbers(sentence: str, scene: Scene, rng: Random) -> str | None:
    """Two numbers of the sentence change places."""
    found = list(_NUMBER.finditer(sentence))
    if len(found) < 2:
        return None
    first, second = sorted(rng.sample(found, 2), key=lambda m: m.start())
    if first.group() == second.group():
        return None
    return (
        sentence[: first.start()] + second.group() + sentence[first.end() : second.start()] + first.group()
        + sentence[second.end() :]
    )  # fmt: skip


def _other_names(sentence: str, scene: Scene) -> list[str]:
    """The names of the article that share no word with the sentence."""
    mine = set(re.findall(r"\w+", sentence))
    return [n for n in scene.names if not mine & set(re.findall(r"\w+", n))]


def name(sentence: str, scene: Scene, rng: Random) -> str | None:
    """A name becomes another of the same article."""
    found = [m for m in _NAME.finditer(sentence) if m.group() not in MONTHS]
    if not found:
        return None
    match = rng.choice(found)
    options = _other_names(sentence, scene)
    return put(sentence, match.start(), match.end(), rng.choice(options)) if options else None


def subject(sentence: str, scene: Scene, rng: Random) -> str | None:
    """The name that a sentence begins with becomes another."""
    match = re.match(r"(?:[A-Z][\w'’-]+ )+(?=(?:is|was|has|had|were|are|can|will|[a-z]+ed|[a-z]+s)\b)", sentence)
    if match is None or match.group().strip().lower() in (
        "he",
        "she",
        "it",
        "they",
        "this",
        "these",
        "there",
        "i",
        "we",
    ):
        return None
    options = _other_names(sentence, scene)
    return rng.choice(options) + sentence[match.end() - 1 :] if options else None


def exchange_names(sentence: str, scene: Scene, rng: Random) -> str | None:
    """Who did it and to whom it was done change places."""
    match = _ROLES.match(sentence)
    if match is None or " and " in match["a"] + match["b"] or match["a"].split()[0] in ("In", "On", "At", "The"):
        match = match if match and match["a"].startswith("The ") and " and " not in match["a"] else None
    if match is not None and match["b"] not in match["a"]:
        first = match["b"][0].upper() + match["b"][1:]
        second = match["a"]
        second = second[0].lower() + second[1:] if second.startswith(("The ", "A ", "An ")) else second
        return f"{first} {match['verb']} {second}{match['rest']}"
    found = list(_NAME.finditer(sentence))
    if len(found) < 2 or not re.search(r"\b(?:by|over|from|to|than|against|of|for)\b", sentence):
        return None
    one, two = sorted(rng.sample(found, 2), key=lambda m: m.start())
    between = sentence[one.end() : two.start()]
    if one.group() == two.group() or re.fullmatch(r",? (?:and|or|,)? ?", between) or len(between) < 4 or "(" in between:
        return None
    return sentence[: one.start()] + two.group() + between + one.group() + sentence[two.end() :]


def negate(sentence: str, scene: Scene, rng: Random) -> str | None:
    """A `not` is put in, or taken out."""
    if match := _NEGATED.search(sentence) or _CONTRACTED.search(sentence):
        return sentence[: match.start()] + match.group(1) + " " + sentence[match.end() :]
    found = [*_VERB.finditer(sentence), *_PERFECT.finditer(sentence)]
    if found:
        match = found[0] if rng.random() < 0.7 else rng.choice(found)
        verb = match.group(1)
        short = {"can": "cannot", "will": "won't", "may": "may not"}.get(
            verb, f"{verb}n't" if rng.random() < 0.4 else f"{verb} not"
        )
        return sentence[: match.start()] + short + " " + sentence[match.end() :]
    past = re.search(r"(?<=[a-z] )([a-z]{3,}ed)\b(?= (?:the|a|an|his|her|its|their|to|in|on|with|for)\b)", sentence)
    if past and not re.search(
        r"\b(?:is|are|was|were|be|been|has|have|had|and|which|who|by) $", sentence[: past.start()]
    ):
        return sentence[: past.start()] + "never " + sentence[past.start() :]
    return None


def _from_either(tables: list[Any], sentence: str, scene: Scene, rng: Random) -> str | None:
    """A word replaced by one of the tables, tried in random order."""
    rng.shuffle(tables)
    for table in tables:
        new = replaced(sentence, table, scene.source, rng)
        if new:
            return new
    return None


def opposite(sentence: str, scene: Scene, rng: Random) -> str | None:
    """A word becomes its opposite."""
    return _from_either([OPPOSITES, scene.net.opposite], sentence, scene, rng)


def kind(sentence: str, scene: Scene, rng: Random) -> str | None:
    """A thing becomes another of its kind."""
    return _from_either([KINDS, scene.net.sibling], sentence, scene, rng)


def stronger(sentence: str, scene: Scene, rng: Random) -> str | None:
    """How much, how often or how surely changes."""
    spans = _spans(sentence, STRONGER)
    if not spans:
        return None
    begin, end, options = rng.choice(spans)
    return put(sentence, begin, end, rng.choice(options))


_FORMS = ("ed", "ng", "ly", "al", "ic", "ns")


def _formed_alike(old: str, new: str) -> bool:
    """Whether two words end so much alike that one may stand where the other stood."""
    if old[-2:] in _FORMS:
        return new[-2:] == old[-2:]
    return new.endswith("s") == old.endswith("s") and new[-2:] not in ("ed", "ng", "ly")


def other_word(sentence: str, scene: Scene, rng: Random) -> str | None:
    """A word becomes another word of the same article with the same ending."""
    found = [m for m in re.finditer(r"\b[a-z]{5,}\b", sentence) if not is_stopword(m.group())]
    rng.shuffle(found)
    for match in found[:4]:
        old = match.group()
        options = [w for w in scene.words if w not in sentence and old[:4] != w[:4] and _formed_alike(old, w)]
        if options:
            return put(sentence, match.start(), match.end(), rng.choice(options))
    return None


_TIMES = {
    word: KINDS[word]
    for word in (
        *MONTHS,
        *("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
        *("seconds", "minutes", "hours", "days", "weeks", "months", "years", "decades"),
        *("century", "year", "month", "week", "day", "hour"),
    )
}


def date(sentence: str, scene: Scene, rng: Random) -> str | None:
    """A month, a weekday or a unit of time becomes another."""
    return replaced(sentence, _TIMES, scene.source, rng)


EDITS: dict[str, tuple[float, Edit]] = {
    "number": (6.0, number),
    "number_word": (5.0, number_word),
    "exchange_numbers": (1.5, exchange_numbers),
    "name": (3.5, name),
    "subject": (2.5, subject),
    "exchange_names": (4.0, exchange_names),
    "negate": (3.0, negate),
    "opposite": (3.0, opposite),
    "kind": (3.0, kind),
    "stronger": (5.0, stronger),
    "date": (4.0, date),
    "other_word": (1.5, other_word),
}
"""Every edit, with its weight in the draw."""


def borrowed(sentence: str, scene: Scene, rng: Random) -> str | None:
    """A number or a name of the text beside stands for the sentence's own: the value of something else."""
    values = list[tuple[int, int, list[str]]]()
    for match in _NUMBER.finditer(sentence):
        old = match.group()
        alike = [n for n in scene.numbers if n not in sentence and abs(len(n) - len(old)) < 2]
        values.append((match.start(), match.end(), alike))
    mine = set(re.findall(r"\w+", sentence))
    for match in _NAME.finditer(sentence):
        if match.group() not in MONTHS:
            other = [n for n in scene.names if not mine & set(re.findall(r"\w+", n))]
            values.append((match.start(), match.end(), other))
    values = [value for value in values if value[2]]
    if not values:
        return None
    begin, end, options = rng.choice(values)
    return put(sentence, begin, end, rng.choice(options))


def false_twin(
    sentence: str, scene: Scene, rng: Random, tries: int = 6, only: Sequence[str] = tuple(EDITS)
) -> tuple[str, str] | None:
    """An edited sentence and the name of the edit; None where none of ``tries`` edits of ``only`` finds its place."""
    order = sorted(only, key=lambda k: rng.random() ** (1 / EDITS[k][0]), reverse=True)
    for label in order[:tries]:
        new = EDITS[label][1](sentence, scene, rng)
        if new and new != sentence:
            return new, label
    return None
