"""What of a sentence is found in its sources: matched words, names, numbers, and nearness in meaning.

This is the measuring half of `support`: it turns a response sentence and a set of source sentences into a few
numbers in 0..1 and into the words that explain them. It judges nothing; `support` weighs the numbers.

A *claim* is the content of a response sentence: its distinct content terms, each weighed by background idf. A term
is found in a source sentence when the same stem, the same number in another spelling, an initialism of the
source's capitalised words, or a close spelling (character trigrams) stands there. Word order, roles, negation and
inference are not looked at: "Rome beat Carthage" is fully found in "Carthage beat Rome".
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise

import numpy as np
from numpy.typing import NDArray

from intrinsics_core.embedded.lexical import Token, background, idf, stem, tokens
from intrinsics_core.embedded.scoring.chunks import goes_on
from intrinsics_core.embedded.scoring.quantities import (
    CARDINALS,
    NUMBER_WORDS,
    PARTS_OF_THE_DAY,
    Quantity,
    quantities,
    value_key,
)
from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.text.memory import remembered
from intrinsics_core.text.tables import in_words

Floats = NDArray[np.float32]

READ_WHOLE = 170
"""Words of sources that a reader is shown whole beside a claim: one window of it."""
READ_PART = 130
"""Words that it is shown of longer ones: what the claim rests on stands in a few sentences, and more distract."""

FEATURES: tuple[str, ...] = (
    "novel",  # share of the idf mass found in no source sentence
    "novel_names",  # 1 - 2**-k for k capitalised words not found
    "novel_numbers",  # 1 - 2**-k for k numbers not found
    "unpaired",  # share of neighbouring content words that no source sentence holds together
    "distance",  # 1 - cosine to the nearest sentence or passage of three; less for a claim of one or two content words
)
"""Names of the columns of `measure`, in order. Larger means less supported, in every column."""

# `[^\S\n]*`, not `\s*`: at each of n blank lines that would run over all the lines after it.
_MARKUP = re.compile(
    r"^[^\S\n]*(?:[-*•‣▪#>]+\s+|\(?\d{1,2}[.)]\s+)|\[\^?\d+(?:\s*[,;–-]\s*\d+)*\]|\*\*|__|`", re.MULTILINE
)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_COUNTED = re.compile(r"(?<![\w.,])(\d[\d.,]*)(?!(?:st|nd|rd|th|s)\b)([A-Za-z]{1,24})\b")

_MONTHS = "january february march april may june july august september october november december"
_ALIASES: dict[str, str] = {stem(m[:3]): stem(m) for m in _MONTHS.split()} | {
    "sept": stem("september"), "dr": stem("doctor"), "mr": "mr", "st": stem("street"), "km": stem("kilometers"),
    "kg": stem("kilograms"), "cm": stem("centimeters"), "mm": stem("millimeters"), "ft": stem("feet"),
    "lb": stem("pounds"), "lbs": stem("pounds"), "hr": stem("hours"), "hrs": stem("hours"),
    "min": stem("minutes"), "mins": stem("minutes"), "tv": stem("television"), "usa": "us", "america": "us",
}  # fmt: skip

_USUAL = 0.6  # of the largest idf there is: words below need no source where the question has them
_BLOCK = 4_096  # source sentences whose vectors are put into one array at a time
_TITLE = 12  # words of a title that are shown
_ALIKE = 1_000  # source terms with the same first letters that a term is compared with: prose of 1 MB has some hundreds

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


def told_apart(titles: Sequence[str]) -> dict[str, frozenset[str]]:
    """Of each title the keys that no other title has."""
    keys = {title: keys_of(title) for title in titles if title}
    times = Counter(key for some in keys.values() for key in some)
    return {title: frozenset(key for key in some if times[key] == 1) for title, some in keys.items()}


def _trigrams(term: str) -> set[str]:
    padded = f"^{term}"
    return {padded[i : i + 3] for i in range(len(padded) - 2)}


@dataclass(frozen=True)
class Sources:
    """Source sentences made ready for looking things up.

    texts: the sentences of all documents in order. vectors: per sentence (windows, dim), rows L2-normalised.
    documents: for each sentence the index of its document; None: all of one document. titles: one a document, with the
    metadata that frameworks write there, ``""`` for none; a word of theirs is found, wherever it is claimed. unread:
    indices of the sentences that are left out (`commands.commands_among`).
    """

    texts: Sequence[str]
    vectors: Sequence[Floats]
    documents: Sequence[int] | None = None
    titles: Sequence[str] = ()
    unread: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        if len(self.vectors) != len(self.texts):
            raise InvalidInput(f"sources: {len(self.texts)} sentences but {len(self.vectors)} vectors")
        if empty := [i for i, rows in enumerate(self.vectors) if not len(rows)]:
            raise InvalidInput(
                f"sources: sentence {empty[0]} has no vector",
                expected="one row for each window, and at least one window",
            )
        if self.documents is not None and len(self.documents) != len(self.texts):
            raise InvalidInput(f"sources: {len(self.texts)} sentences but {len(self.documents)} document indices")

    @cached_property
    def postings(self) -> dict[str, list[int]]:
        """For each key, the sentences that hold it."""
        found: dict[str, list[int]] = defaultdict(list)
        for i, text in enumerate(self.read_as):
            for key in keys_of(text):
                found[key].append(i)
        return dict(found)

    @cached_property
    def read_as(self) -> Sequence[str]:
        """The sentences with the rows of tables in words, and whole where one goes on in the next document; "" where
        nothing is to be read.
        """
        owner = self.documents or [0] * len(self.texts)
        grouped = groupby(range(len(self.texts)), key=lambda i: owner[i])
        read = [text for _, some in grouped for text in in_words([self.texts[i] for i in some])]
        read = [text if i not in self.unread else "" for i, text in enumerate(read)]
        return [
            f"{text} {read[i + 1]}".strip() if text and i in self.carried_on else text for i, text in enumerate(read)
        ]

    @cached_property
    def carried_on(self) -> frozenset[int]:
        """The sentences that end in the next document."""
        places = enumerate(pairwise(self.documents or ()))
        last = [i for i, (one, two) in places if one != two and self.title_of(i) == self.title_of(i + 1)]
        return frozenset(i for i in last if goes_on(self.texts[i], self.texts[i + 1]))

    @cached_property
    def seen(self) -> float:
        """The share of all sentences' words that a reader is shown beside one claim, 0..1; 1 for short sources."""
        return min(1.0, READ_WHOLE / max(1, sum(len(text.split()) for text in self.read_as)))

    def title_of(self, sentence: int) -> str:
        """The first words of the title of a sentence's document; "" for none."""
        owner = 0 if self.documents is None else self.documents[sentence]
        return " ".join(self.titles[owner].split()[:_TITLE]) if self.titles else ""

    @cached_property
    def entitled(self) -> frozenset[str]:
        """The keys of what the titles say: evidence that no citation points at."""
        return frozenset(key for title in self.titles if title for key in keys_of(title))

    @cached_property
    def of_documents(self) -> dict[int, str]:
        """The text of each document."""
        found: dict[int, list[str]] = defaultdict(list)
        for text, owner in zip(self.texts, self.documents or [0] * len(self.texts), strict=True):
            found[owner].append(text)
        return {owner: " ".join(some) for owner, some in found.items()}

    @cached_property
    def told_apart(self) -> dict[str, frozenset[str]]:
        """`told_apart` of the titles."""
        return told_apart(self.titles)

    @cached_property
    def _spelled(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for key in self.postings:
            if len(key) > 4 and key.isalpha():
                found[key[:3]].append(key)
        return found

    def similar(self, term: str, floor: float = 0.6) -> list[str]:
        """Source terms spelled like this one: same first three letters, Dice of trigrams at least ``floor``."""
        if len(term) < 5 or not term.isalpha():
            return []
        own = _trigrams(term)
        near = ((other, _trigrams(other)) for other in self._spelled.get(term[:3], ())[:_ALIKE])
        return [o for o, grams in near if 2 * len(own & grams) >= floor * (len(own) + len(grams))]

    def incidence(self, asked: Claim) -> Floats:
        """(units, sentences): 1 where a unit is found in a source sentence."""
        found = np.zeros((len(asked.units), len(self.texts)), dtype=np.float32)
        for row, unit in enumerate(asked.units):
            hits = [key for key in unit.keys if key in self.postings]
            if not hits and not unit.is_number:
                hits = [other for key in unit.keys for other in self.similar(key)]
            for key in hits:
                found[row, self.postings[key]] = 1.0
        return found

    @cached_property
    def _starts(self) -> NDArray[np.intp]:
        sizes = [len(rows) for rows in self.vectors]
        return np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.intp)

    def _blocks(self) -> Iterator[tuple[slice, Floats]]:
        """The sentences some thousands at a time, with the rows of their vectors in one array.

        One block is kept, more are made anew each time: the vectors of a book are not held twice.
        """
        if len(self.texts) <= _BLOCK:
            yield slice(0, len(self.texts)), self._stacked
            return
        for begin in range(0, len(self.texts), _BLOCK):
            part = slice(begin, min(begin + _BLOCK, len(self.texts)))
            yield part, _stack(self.vectors[part])

    @cached_property
    def _stacked(self) -> Floats:
        return _stack(self.vectors)

    def _starts_of(self, part: slice) -> NDArray[np.intp]:
        starts = self._starts[part]
        begin: NDArray[np.intp] = starts - starts[0]
        return begin

    def cosines(self, rows: Floats) -> Floats:
        """Largest cosine between any of a text's windows and any window of each source sentence."""
        nearest: Floats = np.zeros(len(self.texts), dtype=np.float32)
        if self.texts and len(rows):
            for part, mine in self._blocks():
                best = _products(mine, rows).max(axis=1)
                nearest[part] = np.maximum.reduceat(best, self._starts_of(part))
        return nearest

    @cached_property
    def passages(self) -> NDArray[np.intp]:
        """(sentences, 3): each sentence and its two successors in its document; the last ones repeat."""
        count = len(self.texts)
        owner = np.zeros(count, int) if self.documents is None else np.asarray(self.documents)
        here = np.arange(count)
        columns = [here]
        for _ in range(2):
            after = np.minimum(columns[-1] + 1, max(count - 1, 0))
            columns.append(np.where(owner[after] == owner, after, columns[-1]) if count else here)
        return np.stack(columns, axis=1)

    @cached_property
    def _passage_vectors(self) -> Floats:
        return self._passages_of(slice(0, len(self.texts)), self._stacked)

    def _passages_of(self, part: slice, mine: Floats) -> Floats:
        """The vectors of the passages that begin in a part, whose own rows are given."""
        mean = np.add.reduceat(mine, self._starts_of(part), axis=0)
        after = range(part.stop, min(part.stop + 2, len(self.texts)))  # a passage reaches into the next part
        if len(after):
            mean = np.concatenate([mean, [np.asarray(self.vectors[i]).sum(axis=0) for i in after]])
        members = self.passages[part] - part.start
        total = mean[members[:, 0]] + mean[members[:, 1]] + mean[members[:, 2]]
        return np.asarray(total / np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-9))

    def passage_cosine(self, rows: Floats) -> float:
        """Largest cosine between any of a text's windows and any passage of three source sentences."""
        if not self.texts or not len(rows):
            return 0.0
        if len(self.texts) <= _BLOCK:
            return float(_products(self._passage_vectors, rows).max())
        return max(float(_products(self._passages_of(part, mine), rows).max()) for part, mine in self._blocks())


@dataclass(frozen=True)
class Evidence:
    """What one response sentence has in the sources.

    features: one number in 0..1 a column of `FEATURES`. found: (units, sentences). placed: the same, but a word of one
    of several titles stands in each sentence of its document, which is read behind it. cosine: per source sentence.
    missing: the units found nowhere. stray: the numbers that stand in the sources, but not where the rest of the
    sentence stands: neither in the passage of three sentences nearest to it nor beside the same word elsewhere; and
    those that stand only in documents that the sentence is not about.
    crossed: share of its neighbouring words, both found, that no single document holds together. seen: `Sources.seen`.
    about: the documents that the sentence is about (`subjects`). elsewhere: the source sentences of the others.
    foreign: whether a number stands only there.
    """

    claim: Claim
    features: Floats
    found: Floats
    placed: Floats
    cosine: Floats
    missing: tuple[Unit, ...]
    stray: tuple[Unit, ...] = ()
    crossed: float = 0.0
    seen: float = 1.0
    about: frozenset[int] = frozenset()
    elsewhere: tuple[int, ...] = ()
    foreign: bool = False

    @property
    def invented(self) -> tuple[Unit, ...]:
        """The names and numbers found nowhere, and the words that say of what a number is."""
        numbers = {i for i, unit in enumerate(self.claim.units) if unit.is_number}
        counted = {self.claim.units[b] for a, b in self.claim.pairs if a in numbers}
        return tuple(unit for unit in self.missing if unit.is_detail or unit in counted)


def covered(weights: Floats, found: Floats) -> Floats:
    """Per column of ``found`` (units, columns) the share of the weights it holds, 0..1."""
    # einsum, not BLAS: some BLAS kernels raise the invalid flag on lanes they only pad with.
    return np.asarray(np.einsum("u,us->s", weights, found) / max(float(weights.sum()), 1e-9))


def _products(mine: Floats, rows: Floats) -> Floats:
    theirs = np.asarray(rows, dtype=np.float32)
    if theirs.shape[1] != mine.shape[1]:
        raise InvalidInput(
            "vectors of response and sources differ in length", expected=str(mine.shape[1]), got=str(theirs.shape[1])
        )
    with np.errstate(invalid="ignore"):
        return mine @ theirs.T


def _stack(vectors: Sequence[Floats]) -> Floats:
    return np.concatenate([np.asarray(rows, dtype=np.float32) for rows in vectors])


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
    cosine = sources.cosines(vectors)
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
    near = max(float(cosine.max(initial=0.0)), sources.passage_cosine(vectors))
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
    foreign = _foreign(asked, placed, sources, about)
    stray = _stray(asked, placed, cosine, anywhere, paired, sources) | foreign
    crossed = _crossed(asked, found, sources)
    astray = tuple(asked.units[i] for i in sorted(stray))
    owner = (sources.documents or ()) if about else ()
    elsewhere = tuple(i for i, document in enumerate(owner) if document not in about)
    return Evidence(
        asked, features, found, placed, cosine, missing, astray, crossed, sources.seen, about, elsewhere, bool(foreign)
    )


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


def _stray(
    asked: Claim, found: Floats, cosine: Floats, anywhere: NDArray[np.bool_], paired: Floats, sources: Sources
) -> set[int]:
    """The numbers that stand elsewhere in the sources than the rest of the claim."""
    numbers = [i for i, unit in enumerate(asked.units) if unit.is_number and anywhere[i]]
    if not numbers or not sources.texts or len(asked.units) == len(numbers):
        return set()
    together = found[:, sources.passages].max(axis=2)
    nearest = int((covered(asked.weights, together) + 0.5 * cosine[sources.passages].mean(axis=1)).argmax())
    beside = {i for pair, held in zip(asked.pairs, paired, strict=True) if held for i in pair}
    return {i for i in numbers if not together[i, nearest] and i not in beside and found[i].max() > 0}


def _foreign(asked: Claim, found: Floats, sources: Sources, about: frozenset[int]) -> set[int]:
    """The numbers that stand in no document that the claim is ``about``, but in another one."""
    if not about or not sources.documents:
        return set()
    there = np.isin(np.asarray(sources.documents), list(about))
    return {i for i, unit in enumerate(asked.units) if unit.is_number and found[i].any() and not found[i, there].any()}
