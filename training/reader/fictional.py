"""Short texts of the everyday kind, written from `fictional.txt`, with claims and questions about them.

A *fact* has ways to be stated, claims that follow from it, claims that do not, and questions. A text is a few facts of
one domain with their slots filled; the same slots fill the claims, so what is true of the text is known. Wrong values
come from the same text where it has one of that kind.

In `fictional.txt` a block is one fact: `=` ways to state it, `+` claims that follow, `-` claims that do not, `?`
question | answer | wrong answer. `#` begins a domain: facts of one domain may stand in one text. `(a|b)` is a choice,
`[most]` a word of `PHRASES`, `{n1}` a value of a kind of `VALUES`: of one kind in one fact the values differ, and where
they have an order they rise with their index. `{n1!}` is another value, `{did1~}` the converse, a kind in capitals the
text's own.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from training.reader.fictional_values import FIRST, LAST, PHRASES, RISING, ROLES, VALUES
from training.reader.marked_lines import marked_blocks
from training.reader.pairs import Pair, Unit
from training.reader.splits import Part, part
from training.reader.words import NUMBERS

FILE = Path(__file__).with_suffix(".txt")

_CHOICE = re.compile(r"\(([^()]*\|[^()]*)\)")
_PHRASE = re.compile(r"\[(\w+)\]")
_NAMED = re.compile(r"\{(?:per|town|name|firm|param|model|animal|plant|code|team|work)\d")
_SLOT = re.compile(r"\{([A-Za-z]+)(\d*)([!~]?)\}")


@dataclass(frozen=True)
class Fact:
    """What can be said of one thing, in the notation above."""

    domain: str
    say: tuple[str, ...]
    true: tuple[str, ...]
    false: tuple[str, ...]
    asked: tuple[tuple[str, str, str], ...] = ()

    @property
    def anchored(self) -> bool:
        """Whether every claim names what it is about, so that a text may state the fact of two things."""
        return all(_NAMED.search(line) for line in (*self.true, *self.false, *(q for q, _, _ in self.asked)))


def facts(wanted: Part | None = None) -> list[Fact]:
    """All facts, or those of one part: what is asked for choosing a checkpoint was not trained on."""
    found, domain = list[Fact](), ""
    for lines in marked_blocks(FILE):
        domain = lines["#"][0] if lines["#"] else domain
        asked = [tuple(p.strip() for p in line.split(" | ")) for line in lines["?"]]
        fact = Fact(
            domain, tuple(lines["="]), tuple(lines["+"]), tuple(lines["-"]), tuple((q, a, w) for q, a, w in asked)
        )
        if wanted is None or part("fictional", fact.say[0]) == wanted:
            found.append(fact)
    return found


def _amount(price: str) -> float:
    return float(re.sub(r"[^\d.]", "", price))


@dataclass
class Values:
    """What the slots of one text stand for; kinds in capitals are shared by all its facts."""

    rng: Random
    shared: dict[str, str] = field(default_factory=dict)
    known: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        cents = self.rng.random() < 0.3
        sign = self.rng.choice(("£{}", "${}", "€{}", "{} euros", "{} dollars", "{} crowns"))
        amounts = sorted({self.rng.choice((1, 2, 5, 10, 10, 25, 50)) * self.rng.randint(1, 39) for _ in range(24)})
        self.options = {
            **VALUES,
            "price": tuple(sign.format(f"{a}.50" if cents else a) for a in amounts if a > 1),
            "per": tuple(f"{a} {b}" for a, b in zip(self._drawn(FIRST, 12), self._drawn(LAST, 12), strict=True)),
        }
        if self.rng.random() < 0.4:  # by surname or by first name alone
            at = self.rng.randint(0, 1)
            self.options["per"] = tuple(name.split()[at] for name in self.options["per"])

    def _drawn(self, options: Sequence[str], count: int) -> list[str]:
        return self.rng.sample(list(options), min(count, len(options)))

    def filled(self, fact: Fact) -> dict[str, str]:
        """Values for every slot of a fact."""
        text = "\n".join((*fact.say, *fact.true, *fact.false, *(t for a in fact.asked for t in a)))
        slots: dict[str, set[str]] = defaultdict(set)
        for kind, number, _ in _SLOT.findall(text):
            if kind.isupper():
                self.shared.setdefault(kind, self.rng.choice(self.options[kind.lower()]))
            else:
                slots[kind].add(number)
        values = dict[str, str]()
        for kind, indices in sorted(slots.items()):
            numbers = sorted(indices, key=lambda i: int(i or 0))
            if kind == "role":
                if "role" not in self.shared:
                    pair = self._drawn(self.rng.choice(ROLES), 2)
                    self.shared["role"] = "/".join(pair)
                chosen = self.shared["role"].split("/")
                values.update({"role1": chosen[0], "role2": chosen[1]})
                continue
            fresh = [o for o in self.options[kind] if o not in self.known[kind]]
            if len(fresh) < len(numbers):
                fresh = list(self.options[kind])
            chosen = self._drawn(fresh, len(numbers))
            if kind in RISING:
                rank = _amount if kind in ("price", "pct") else list(self.options[kind]).index
                chosen.sort(key=rank)
            self.known[kind] += chosen
            values.update({f"{kind}{i}": value for i, value in zip(numbers, chosen, strict=True)})
        return values

    def other(self, kind: str, value: str, mine: Mapping[str, str]) -> str:
        """A wrong value: mostly one that stands in the same text for something else."""
        if kind == "role":
            return next(v for v in self.shared["role"].split("/") if v != value)
        said = [v for v in self.known[kind] if v != value]
        near = [v for k, v in mine.items() if k.startswith(kind) and k[len(kind) :].isdigit() and v != value]
        draw = self.rng.random()
        if near and draw < 0.4:
            return self.rng.choice(near)
        if said and draw < 0.6:
            return self.rng.choice(said)
        return self.rng.choice([v for v in self.options[kind] if v != value])

    def written(self, line: str, mine: Mapping[str, str]) -> str:
        """A line with its choices made and its slots filled."""
        rng = self.rng
        while match := _CHOICE.search(line):
            line = line[: match.start()] + rng.choice(match.group(1).split("|")) + line[match.end() :]
        line = _PHRASE.sub(lambda m: rng.choice(PHRASES[m.group(1)]), line)

        def value(match: re.Match[str]) -> str:
            kind, number, mark = match.groups()
            found = self.shared[kind] if kind.isupper() else mine[kind + number]
            if mark == "!":
                found = self.other(kind, found, mine)
            if kind in ("did", "comp", "sup"):
                one, converse = found.split("/")
                return converse if mark == "~" else one
            if kind == "n" and rng.random() < 0.5:
                return NUMBERS[int(found)]
            if kind == "pct" and rng.random() < 0.25:
                return found.replace("%", rng.choice((" per cent", " percent")))
            return found

        text = _SLOT.sub(value, line)
        text = re.sub(r"\b([Aa]) (?=[aeiou])", r"\1n ", re.sub(r"  +", " ", text)).strip()
        text = re.sub(r" (?=[.,;?])", "", text).replace("..", ".")
        return text[:1].upper() + text[1:]


def changed(line: str, rng: Random) -> str | None:
    """A line with another value in one of its slots; None where it has none."""
    slots = [m for m in _SLOT.finditer(line) if not m.group(1).isupper() and not m.group(3)]
    if not slots:
        return None
    match = rng.choice(slots)
    return f"{line[: match.end() - 1]}!{line[match.end() - 1 :]}"


@dataclass(frozen=True)
class Text:
    """Sentences of one text, the fact of each, and the slots."""

    sentences: tuple[str, ...]
    facts: tuple[Fact, ...]
    slots: tuple[Mapping[str, str], ...]
    values: Values


class Everyday:
    """Makers of pairs from facts."""

    def __init__(self) -> None:
        self.domains: dict[str, list[Fact]] = defaultdict(list)
        for fact in facts():
            self.domains[fact.domain].append(fact)

    def text(self, fact: Fact, rng: Random, most: int = 5) -> tuple[Text, int]:
        """A text with this fact in it, and at which place."""
        others = [f for f in self.domains[fact.domain] if f != fact]
        rest = rng.sample(others, min(len(others), rng.randint(1, most)))
        if rng.random() < 0.15:  # another subject beside
            domain = rng.choice(sorted(self.domains))
            rest[0] = rng.choice([f for f in self.domains[domain] if f != fact])
        if rng.random() < 0.4 and fact.anchored:  # the same frame about other things: whose value is it?
            rest[-1] = fact
        order = [fact, *rest]
        rng.shuffle(order)
        at = order.index(fact)
        values = Values(rng)
        slots = [values.filled(f) for f in order]
        said = tuple(values.written(rng.choice(f.say), mine) for f, mine in zip(order, slots, strict=True))
        return Text(said, tuple(order), tuple(slots), values), at

    def _source(self, text: Text, at: int, rng: Random) -> str:
        """The stating sentence alone, with another, or the whole."""
        draw, parts = rng.random(), text.sentences
        if draw < 0.4:
            return parts[at]
        if draw < 0.75:
            other = rng.choice([i for i in range(len(parts)) if i != at])
            return " ".join(parts[i] for i in sorted((at, other)))
        words = " ".join(parts)
        return words if len(words.split()) <= 90 else parts[at]

    def claimed(self, fact: Fact, rng: Random) -> Unit:
        """A claim that follows beside one that does not, or beside one that the text does not speak of."""
        text, at = self.text(fact, rng)
        mine, values = text.slots[at], text.values
        source = self._source(text, at, rng)
        ask = ""
        if fact.asked and rng.random() < 0.35:
            question, right, wrong = rng.choice(fact.asked)
            true, false = values.written(right, mine), values.written(wrong, mine)
            ask = values.written(question, mine) + " "
            if rng.random() < 0.3:
                ask = ask.rstrip("? ").lower() + "? "
        else:
            # Both sides of the frame: whichever follows, the other way of stating it follows as well.
            right = rng.choice(fact.say) if len(fact.say) > 1 and rng.random() < 0.2 else rng.choice(fact.true)
            wrong = rng.choice(fact.false)
            if rng.random() < 0.35:  # words that follow elsewhere, with a value that is not this text's
                wrong = changed(rng.choice(fact.true), rng) or wrong
            true, false = values.written(right, mine), values.written(wrong, mine)
            if rng.random() < 0.12:
                silent = [f for f in self.domains[fact.domain] if f not in text.facts]
                if silent:
                    other = rng.choice(silent)
                    false = values.written(rng.choice(other.true), values.filled(other))
        if true == false:
            return ()
        if rng.random() < 0.15:
            true, false = true.rstrip("."), false.rstrip(".")
        return [
            Pair("support", source, ask + true, 1.0, f"everyday:{fact.domain}"),
            Pair("support", source, ask + false, 0.0, f"everyday:{fact.domain}"),
        ]

    def asked(self, fact: Fact, rng: Random) -> Unit:
        """A question beside a text that answers it, and one that has no answer: the fact left out, or never told."""
        if not fact.asked:
            return ()
        text, at = self.text(fact, rng)
        mine, values = text.slots[at], text.values
        question = values.written(rng.choice(fact.asked)[0], mine)
        if rng.random() < 0.3:
            question = question.rstrip("?").lower()
        pairs = [Pair("answers", " ".join(text.sentences), question, 1.0, f"everyday:{fact.domain}")]
        if text.facts.count(fact) > 1:
            return pairs if rng.random() < 0.5 else ()
        without = " ".join(s for i, s in enumerate(text.sentences) if i != at)
        silent = [f for f in self.domains[fact.domain] if f.asked and f not in text.facts]
        if rng.random() < 0.6 or not silent:
            pairs.append(Pair("answers", without, question, 0.0, "everyday:removed"))
        else:
            other = rng.choice(silent)
            new = values.written(rng.choice(other.asked)[0], values.filled(other))
            pairs.append(Pair("answers", " ".join(text.sentences), new, 0.0, "everyday:not told"))
        return pairs
