"""Who did what to whom, in other words: texts and claims made of `turned.txt`.

A *relation* is a list of sentences that say the same of two things, ``{a}`` and ``{b}``: "{a} sold {x} to {b}" and "{b}
bought {x} from {a}". A text says one of them, a claim says another, and its false twin has the two exchanged, so that
both have the same words.

In `turned.txt` a block is one relation. Its first line has the kinds of what it is about: behind ``#`` of two that must
not be exchanged, behind ``=`` of two that may be. A line of ``?`` is a question, its answer and the wrong answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

from training.reader.fictional_values import FIRST, LAST, VALUES
from training.reader.pairs import Pair, Unit
from training.reader.splits import Part, part

FILE = Path(__file__).with_suffix(".txt")


def _list(text: str) -> tuple[str, ...]:
    return tuple(" ".join(item.split()) for item in text.split(";") if item.strip())


_OCCUPATIONS = _list("""
    the miller; the new tenant; the caretaker; the dentist; the ferryman; the cook; the mayor; the librarian;
    the coach; the plumber; the vet; the gardener; the night nurse; the treasurer; the baker; the trainee; the
    postman; the tailor
""")
KINDS: dict[str, tuple[str, ...]] = {
    "thing": _list("""
        the rowing boat; the accordion; the cargo bike; the tall clock; the sewing machine; the tent; the piano; the
        ladder; the goat; the camera; the stamp collection; the wheelbarrow; the drill; the winter coat; the silver
        spoon
    """),
    "home": _list("""
        the flat in Mill Lane; the attic room; the cottage; the workshop; the two rooms over the bakery; the
        boathouse
    """),
    "skill": _list("chess; Polish; the violin; rowing; pottery; book-keeping; juggling; welding; first aid; the tango"),
    "post": _list("""
        treasurer; toll-keeper; head of the kitchen; choir leader; night porter; captain; chair of the club; editor
    """),
    "game": _list("chess; table tennis; darts; badminton; cards; arm wrestling; the sack race; bowls"),
    "event": _list("""
        the raffle; the choir's song; the mayor's speech; the fire drill; the harvest fair; the swimming gala; the
        first rehearsal; the boat trip; the quiz night; the parade; the plant sale; the tasting; the guided tour;
        the flood; the strike; the power cut; the storm; the road works; the burst pipe; the bakers' meeting
    """),
    "matter": _list("""
        that the hall was booked; that the ferry was cancelled; that the bridge was icy; that the well was dry; that
        the road would be closed; that the prices would rise; that the dog had run away; that the lift was out of
        order
    """),
    "sum": _list("40 euros; 300 pounds; 95 dollars; 12 euros; 1,500 euros; 60 pounds; 8 dollars; half of the fee"),
    "dish": _list("the fish soup; the plum cake; the lentil stew; the pancakes; the goulash; the dumplings"),
    "work": _list("""
        the garden shed; the shop sign; the front door; the village clock; the kitchen table; the puppet theatre;
        the carriage; the dovecote; the wooden bridge; the organ
    """),
    "shift": _list("the night shift; the Sunday shift; the early shift; the shift on New Year's Eve; the late shift"),
    "place": _list("""
        the mill; the Garden Hotel; the town hall; Oak Library; the chapel; the swimming hall; the Harbour Inn; the
        school; the lighthouse; Ferrin; the sawmill; the campsite; the youth club; the fish market; Lower Tarn; the
        quarry
    """),
    "product": _list("""
        the K200; the K310; the Trek 1; the Trek 2; the blue kettle; the red kettle; the folding bike; the oak desk;
        the Luma lamp; the Nova lamp; the small tent; the wool blanket; the pump; the filter; the Basic plan; the
        Plus plan
    """),
    "firm": (
        *VALUES["firm"],
        *_list("the dairy; the bakery on the quay; the print shop; the bus company; the brewery"),
    ),
}

_BEFORE = _list("""
    In 2016; Last spring; This year; As everyone here knows; According to the minutes; In May; On Tuesday; In
    those days; By the way; As the letter says; After the fair; For once; Before the holidays; In fact; As I
    remember it
""")
_JOINS = (", and ", "; ", ", while ", ", but ")
_SLOT = re.compile(r"\{([abx])\}")


@dataclass(frozen=True)
class Relation:
    """Ways to say one thing of two, and questions about it, each with its answer and the wrong one."""

    kinds: tuple[str, ...]
    ways: tuple[str, ...]
    asked: tuple[tuple[str, str, str], ...]
    both_ways: bool


@cache
def _all() -> tuple[Relation, ...]:
    found = []
    for block in re.split(r"\n\s*\n", FILE.read_text("utf-8").strip()):
        first, *lines = block.splitlines()
        asked = [line[1:].split("|") for line in lines if line.startswith("?")]
        found.append(
            Relation(
                tuple(first[1:].split()),
                tuple(line for line in lines if not line.startswith("?")),
                tuple((q.strip(), a.strip(), w.strip()) for q, a, w in asked),
                first.startswith("="),
            )
        )
    return tuple(found)


def relations(wanted: Part | None = None) -> list[Relation]:
    """All relations, or those of one part: what is asked for choosing a checkpoint was not trained on."""
    return [each for each in _all() if wanted is None or part("turned", each.ways[0]) == wanted]


def _someone(rng: Random) -> str:
    kind = rng.random()
    if kind < 0.25:
        return rng.choice(_OCCUPATIONS)
    if kind < 0.4:
        return f"{rng.choice(('Mr', 'Mrs', 'Ms', 'Dr'))} {rng.choice(LAST)}"
    return rng.choice(FIRST) if kind < 0.8 else f"{rng.choice(FIRST)} {rng.choice(LAST)}"


def _cast(rng: Random, kind: str, size: int) -> list[str]:
    """Some of a kind, no two of which have a word in common but an article."""
    found, words = list[str](), set[str]()
    for _ in range(20 * size):
        name = _someone(rng) if kind == "person" else rng.choice(KINDS[kind])
        own = {word for word in name.split() if word not in ("the", "Mr", "Mrs", "Ms", "Dr", "of", "on")}
        if len(found) < size and words.isdisjoint(own):
            found.append(name)
            words |= own
    return found


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _filled(way: str, slots: dict[str, str]) -> str:
    return _SLOT.sub(lambda slot: slots[slot[1]], way)


def _about(relation: Relation, cast: Sequence[str], rng: Random) -> dict[str, str]:
    a, b = rng.sample(list(cast), 2)
    return {"a": a, "b": b, "x": rng.choice(KINDS[relation.kinds[2]]) if relation.kinds[2:] else ""}


def turned(relation: Relation, rng: Random) -> Unit:
    """A text of one to four relations, and a true and a false claim on one of them that have the same words."""
    kind = relation.kinds[0]
    cast = _cast(rng, kind, rng.randint(2, 4))
    slots = _about(relation, cast, rng)
    others = [each for each in _all() if each.kinds[0] == kind and each != relation]
    told = [(rng.choice(relation.ways), slots)]
    for other in rng.sample(others, min(len(others), rng.randint(0, 3))):
        told.append((rng.choice(other.ways), _about(other, cast, rng)))
    rng.shuffle(told)
    text = ""
    for way, some in told:
        said = _filled(way, some)
        if text and rng.random() < 0.3:
            text += rng.choice(_JOINS) + said
        else:
            said = f"{rng.choice(_BEFORE)}, {said}" if rng.random() < 0.3 else said
            text += ". " * bool(text) + said[:1].upper() + said[1:]
    text = f"{text}."

    third = [name for name in cast if name not in (slots["a"], slots["b"])]
    wrong = {**slots, "a": slots["b"], "b": slots["a"]}
    if relation.both_ways or (third and rng.random() < 0.2):
        if not third:
            return []
        wrong = {**slots, rng.choice("ab"): rng.choice(third)}
    claim = rng.choice(relation.ways)
    if relation.asked and not relation.both_ways and rng.random() < 0.3:
        question, right, other = rng.choice(relation.asked)
        asked = _sentence(_filled(question, slots))[:-1] + "?"
        answers = [_filled(right, slots), _filled(other, slots)]
        if rng.random() < 0.5:
            answers = [_filled(claim, slots), _filled(claim, wrong)]
        return [
            Pair("support", text, f"{asked} {_sentence(answer)}", label, "turned:asked")
            for answer, label in zip(answers, (1.0, 0.0), strict=True)
        ]
    claims = ((_filled(claim, slots), 1.0), (_filled(claim, wrong), 0.0))
    return [Pair("support", text, _sentence(said), label, "turned") for said, label in claims]
