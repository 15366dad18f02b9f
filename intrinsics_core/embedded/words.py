"""Words of a text: their offsets, stems and rarity, what a claim is made of, and BM25 over a short list of candidates.

Words are stemmed by the English Snowball stemmer, which leaves those of other languages nearly as they are. Scripts
without spaces (Chinese, Japanese, Thai, ...) give overlapping pairs of characters, as Lucene's CJKAnalyzer does. How
rare a word is was counted on a large body of text (`training/idf.py`): ten candidates are too few to tell.

What this is not: an index of a corpus, for which there are retrievers. Words are matched, not meanings.
"""

from __future__ import annotations

import json
import math
import re
import threading
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from intrinsics_core.embedded.values import CARDINALS, NUMBER_WORDS, PARTS_OF_THE_DAY, Quantity, quantities, value_key
from intrinsics_core.text.memory import remembered
from intrinsics_core.text.words import word_set

STOPWORDS: frozenset[str] = word_set(
    """
    a about above across actually after again against ago all almost alone along already also although always am among
    an and another any anybody anyone anything anyway are aren't around as at away back be became because become becomes
    been before behind being below beside besides between beyond both but by came can can't cannot come comes could
    couldn't did didn't do does doesn't doing don't done down during each either else enough especially etc even ever
    every everybody everyone everything except few for from further gave get gets getting give given gives go goes going
    gone gonna got had hadn't has hasn't have haven't having he he'd he'll he's hello hence her here here's hers herself
    hey hi him himself his how how's however i i'd i'll i'm i've if in indeed instead into is isn't it it'd it'll it's
    its itself just kind know later least less let let's like likely lot made make makes making many may maybe me mean
    means might mine more moreover most much must my myself near need needs neither never no nobody none nor not nothing
    now of off often oh ok okay on once one ones only onto or other others otherwise our ours ourselves out over own per
    perhaps please put quite rather re really regarding s said same saw say says see seem seems seen several shall she
    she'd she'll she's should shouldn't since so some somebody someone something sometimes somewhat still such sure t
    take taken takes tell than thank thanks that that'd that'll that's thats the their theirs them themselves then there
    there's therefore these they they'd they'll they're they've thing things think this those though through throughout
    thus to together told too took toward towards under unless until up upon us use used uses using usually very via
    want wants was wasn't way we we'd we'll we're we've well went were weren't what what's whatever whats when when's
    whenever where where's wherever whether which whichever while who who'd who's whoever whole whom whose why why's
    will with within without won't would wouldn't yeah yes yet you you'd you'll you're you've your yours yourself
    yourselves
    """
)
"""English function words and the small talk of a chat. Never content, whatever their idf."""

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
# `\w` leaves out the combining marks that words of many scripts are spelled with.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0970-\u0dff\u0e31-\u0e4e"
)
_LETTER = rf"[^\W_]|[{_MARKS}]"
_TOKEN = re.compile(
    r"(?P<number>\d++(?:[.,]\d++)++)"
    r"|(?P<acronym>(?<![^\W_])(?:[A-Za-z]\.){2,}+)"
    # Possessive: some letters are in both halves of _LETTER, and going back over them would take for ever.
    rf"|(?P<word>(?:{_LETTER})++(?:['\u2019](?:{_LETTER})++)*+)"
)
# An apostrophe between the two scripts belongs to neither: a word begins and ends with a letter or a digit.
_PART = re.compile(
    rf"(?P<unspaced>[{_UNSPACED}]+)|(?P<word>[^{_UNSPACED}'\u2019](?:[^{_UNSPACED}]*[^{_UNSPACED}'\u2019])?)"
)
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?:\D|$))")
_POSSESSIVE = re.compile(r"(?:'s)+$|'$")


class Token(NamedTuple):
    """One word of a text: ``source[begin:end] == text``; ``term`` is its normalised, stemmed form."""

    text: str
    begin: int
    end: int
    term: str
    is_stop: bool

    @property
    def is_number(self) -> bool:
        """Whether the token holds a digit (``1,200``, ``1990s``, ``B12``)."""
        return any(character.isdigit() for character in self.text)

    @property
    def is_capitalised(self) -> bool:
        """Whether the token begins with an upper-case letter."""
        return self.text[:1].isupper()


_OF_THREAD = threading.local()  # a stemmer keeps the word that it works on


def _stemmer() -> Callable[[str], str]:
    if not hasattr(_OF_THREAD, "stem"):
        import snowballstemmer  # NLTK has the same stems, and takes up to two seconds to import

        _OF_THREAD.stem = snowballstemmer.stemmer("english").stemWord
    stem: Callable[[str], str] = _OF_THREAD.stem
    return stem


_LONGEST_WORD = 200  # characters of a word that the caches below keep; a longer one is no word, and no two are alike


@remembered(1 << 16, _LONGEST_WORD)
def stem(word: str) -> str:
    """The term of one word: NFKC, case folded, possessive dropped, Snowball stem where it has 3 to 40 letters."""
    plain = unicodedata.normalize("NFKC", word).casefold().replace("\u2019", "'")
    plain = _POSSESSIVE.sub("", plain)
    if len(plain) < 3 or len(plain) > 40 or not plain.isascii() or any(c.isdigit() for c in plain):
        return plain
    return _stemmer()(plain) or plain


@remembered(1 << 16, _LONGEST_WORD)
def is_stopword(word: str) -> bool:
    """Whether a word is in ``STOPWORDS``, ignoring case and a trailing ``'s``."""
    plain = unicodedata.normalize("NFKC", word).casefold().replace("\u2019", "'")
    return plain in STOPWORDS or _POSSESSIVE.sub("", plain) in STOPWORDS


@remembered(256)  # the features of a conversation look at the same turns several times over
def tokens(text: str) -> tuple[Token, ...]:
    """The tokens of a text, in order, with offsets into it.

    Numbers lose their thousands separators in ``term`` (``1,200`` -> ``1200``), acronyms their dots (``U.S.`` ->
    ``us``; a lower-case one, ``e.g.``, is a stopword). An upper-case word of two letters or more is content even if it
    spells a stopword (``US``, ``IT``), unless the whole text is upper-case.
    """
    shouting, found = text.isupper(), list[Token]()
    for match in _TOKEN.finditer(text):
        begin, end = match.span()
        word, kind = match.group(), match.lastgroup
        if kind == "number":
            found.append(Token(word, begin, end, _THOUSANDS.sub("", stem(word)), False))
        elif kind == "acronym":
            found.append(Token(word, begin, end, word.replace(".", "").casefold(), word.islower()))
        elif word.isascii():
            found.append(_word(word, begin, shouting))
        else:
            for part in _PART.finditer(word):
                piece, start = part.group(), begin + part.start()
                if part.lastgroup == "word":
                    found.append(_word(piece, start, shouting))
                    continue
                pairs = [piece[i : i + 2] for i in range(max(1, len(piece) - 1))]
                found += [
                    Token(pair, start + i, start + i + len(pair), stem(pair), False) for i, pair in enumerate(pairs)
                ]
    return tuple(found)


def _word(word: str, begin: int, shouting: bool) -> Token:
    emphatic = len(word) > 1 and not shouting and word.isupper()
    return Token(word, begin, begin + len(word), stem(word), not emphatic and is_stopword(word))


def terms(text: str, *, stopwords: bool = False) -> list[str]:
    """The terms of a text in order, repeats kept, without stopwords unless ``stopwords``."""
    return [token.term for token in tokens(text) if stopwords or not token.is_stop]


@dataclass(frozen=True, slots=True)
class Background:
    """Document frequencies of a large body of text, as idf in nats; ``default`` is that of a term in one document."""

    default: float
    table: Mapping[str, float]


@lru_cache(maxsize=1)
def background() -> Background:
    """The shipped table (``data/idf.json``, built by ``training/idf.py``), read once."""
    raw = json.loads((resources.files("intrinsics_core") / "data" / "idf.json").read_text("utf-8"))
    return Background(float(raw["default"]), raw["idf"])


def idf(term: str) -> float:
    """``ln(1 + (N - df + .5) / (df + .5))`` of a term (as ``terms`` gives it), about 1 to 11 (unseen) nats."""
    return background().table.get(term, background().default)


def is_unheard_of(term: str) -> bool:
    """Whether a term is as rare as a name that somebody made up: its idf is above .95 of the largest there is."""
    return idf(term) > 0.95 * background().default


def is_known(word: str) -> bool:
    """Whether a word is one that texts use: its stem is not as rare as a made-up name."""
    return not is_unheard_of(stem(word))


_PRIOR, _SATURATION, _BY_LENGTH = 50, 1.2, 0.75


def bm25(query: Iterable[str], docs: Sequence[Sequence[str]]) -> list[float]:
    """BM25 of each candidate with the non-negative idf of Lucene, 0 where nothing matches (Robertson and Zaragoza, *The
    Probabilistic Relevance Framework*, 2009, §3.4). It is not bounded, and compares within one call only.

    The candidates' own idf counts as that of n among n + 50: ten passages hardly move the shipped one.

    Args:
        query: its terms; one that stands twice counts twice.
        docs: the terms of each candidate.
    """
    counts, mean = [Counter(doc) for doc in docs], sum(map(len, docs)) / max(1, len(docs))
    share, scores = len(docs) / (len(docs) + _PRIOR), [0.0] * len(docs)
    for term, times in Counter(query).items():
        held = sum(term in count for count in counts)
        own = math.log1p((len(docs) - held + 0.5) / (held + 0.5))
        weight = times * ((1 - share) * idf(term) + share * own) * (_SATURATION + 1)
        for i, count in enumerate(counts):
            norm = _SATURATION * (1 - _BY_LENGTH + _BY_LENGTH * (len(docs[i]) / mean if mean else 1))
            scores[i] += weight * count[term] / (count[term] + norm)
    return scores


Floats = NDArray[np.float32]

# `[^\S\n]*`, not `\s*`: at each of n blank lines that would run over all the lines after it.
_MARKUP = re.compile(
    r"^[^\S\n]*(?:[-*•‣▪#>]+\s+|\(?\d{1,2}[.)]\s+)|\[\^?\d+(?:\s*[,;–-]\s*\d+)*\]|\*\*|__|`", re.MULTILINE
)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_COUNTED = re.compile(r"(?<![\w.,])(\d[\d.,]*)(?!(?:st|nd|rd|th|s)\b)([A-Za-z]{1,24})\b")


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


def _held(words: Sequence[Token], text: str) -> list[tuple[Token, list[Quantity]]]:
    """Each word with the quantities that it is part of."""
    held: list[tuple[Token, list[Quantity]]] = [(word, []) for word in words]
    for each in quantities(text):
        i = bisect_right(words, each.begin, key=lambda word: word.end)
        while i < len(words) and words[i].begin < each.end:
            held[i][1].append(each)
            i += 1
    return held


def _keys(word: Token, held: Sequence[Quantity], *, of_source: bool) -> set[str]:
    """The keys of a word. A number's value begins with ``#``; without a unit or a scale it has one with ``?``, too.

    A word of a source is found under all of them. A number of a claim that has a unit is looked up as this value, or
    where none has a unit; the "evening" of a claim at any time of an evening.
    """
    exact = {key for each in held for key in (*each.keys, *(each.implied if of_source else ()))}
    values = {value_key(value) for each in held for value in each.values}
    written = {value_key(value) for each in held for value in each.written}
    without_unit = all(each.loose for each in held if each.keys)
    lower = word.text.casefold()
    if not (word.is_number or lower in NUMBER_WORDS):
        exact.add(word.term)
        if of_source:
            return exact
        part = {f"part:{lower}"} if lower in PARTS_OF_THE_DAY else set()
        return exact | part | {value_key(value) for each in held if not each.keys for value in each.values}
    if of_source:
        return exact | values | written | {word.term} | ({"?" + value for value in values} if without_unit else set())
    if without_unit:
        return exact | values | {"?" + value for value in written} | (set() if written else {word.term})
    return exact | {"?" + value for value in values | written}


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
        keys = frozenset(_keys(*held[i], of_source=False))
        number = token.is_number or token.text.casefold() in CARDINALS
        entry = (token.term, keys if number else frozenset())  # "5 kg" and "5 m" are two
        if entry not in index:
            index[entry] = len(units)
            rare = idf(token.term) > 0.8 * default
            named = token.is_capitalised and not number and (rare or (i > 0 and not titled))
            units.append(Unit(token.text, keys, idf(token.term), named, number))
        order.append(index[entry])
    pairs = tuple(dict.fromkeys((a, b) for a, b in pairwise(order) if a != b))
    return Claim(tuple(units), pairs)


@remembered(8192)
def keys_of(sentence: str) -> frozenset[str]:
    """The keys under which a source sentence is found."""
    text = clean(sentence)
    words = tokens(text)
    return frozenset(key for word, held in _held(words, text) for key in _keys(word, held, of_source=True))


def told_apart(titles: Iterable[str]) -> dict[str, frozenset[str]]:
    """Of each title the keys that no other title has."""
    keys = {title: keys_of(title) for title in titles if title}
    times = Counter(key for some in keys.values() for key in some)
    return {title: frozenset(key for key in some if times[key] == 1) for title, some in keys.items()}
