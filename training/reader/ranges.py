"""Texts that give one range or one limit, and what follows from it: "On Thursdays" out of "Tuesday to Saturday".

A block of `ranges.txt` is one scenario. `#` its name, `@` its things, `=` ways to state a range of one thing, `+` a
question and its right answer, `!` a question that the statement leaves open. A right answer has a member slot: what
lies inside the range or outside of it. Its wrong twin has the other one.

| family | stated | inside or below, outside or above |
|---|---|---|
| days, months, times, dates, years, numbers | `d1` `d2`, and so with `m`, `t`, `e`, `y`, `q` | `dm` `dx`, ... |
| the one day that is left out | `k` | `kx`, `k` itself |
| a limit: time, number, money, age | `u`, `v`, `c`, `a` | `ub` `ua`, `vb` `va`, `cb` `ca`, `am` `ax` |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from random import Random

from training.reader.data import Passage
from training.reader.everyday_facts import DAYS, Asked, Style, Values, drawn, filled, slots
from training.reader.marked_lines import marked_blocks
from training.reader.pairs import Pair, Unit
from training.reader.splits import Part, part

FILE = Path(__file__).with_name("ranges.txt")
MEMBERS = {"dm": "dx", "mm": "mx", "tm": "tx", "em": "ex", "ym": "yx", "qm": "qx", "am": "ax", "vb": "va", "cb": "ca",
           "ub": "ua", "k": "kx"}  # fmt: skip
"""What lies on one side of a range or limit, and what lies on the other."""
SWAPPED = MEMBERS | {other: one for one, other in MEMBERS.items()}


@dataclass(frozen=True)
class Block:
    """A scenario, in the notation above."""

    name: str
    things: tuple[str, ...]
    said: tuple[str, ...]
    right: tuple[Asked, ...]
    open: tuple[str, ...]

    @property
    def plain(self) -> bool:
        """Whether its answers say what the statement says, of a member: what is easy is learned first."""
        return self.name.startswith("plain ")

    @property
    def ordered(self) -> bool:
        """Whether its range is one of days, months, dates, years or times: those are learned."""
        return bool({name[0] for said in self.said for name in slots(said)} & set("dmeytk"))


def blocks(wanted: Part | None = None) -> list[Block]:
    """All blocks, or those of one part."""
    found = list[Block]()
    for lines in marked_blocks(FILE):
        made = Block(
            lines["#"][0], tuple(lines["@"][0].split("; ")), tuple(lines["="]), tuple(map(Asked.of, lines["+"])),
            tuple(lines["!"]),
        )  # fmt: skip
        if wanted is None or part("ranges", made.name) == wanted:
            found.append(made)
    return found


def _beside(limit: int, least: int, most: int, rng: Random) -> tuple[int, int]:
    """A number below a limit and one above it, sometimes the nearest ones."""
    near = rng.random() < 0.15
    return (
        rng.randint(max(least, limit - 2 if near else least), limit - 1),
        rng.randint(limit + 1, limit + 2 if near else most),
    )


def _around(first: int, last: int, reach: int, least: int, rng: Random) -> tuple[int, int]:
    """A number between two others, and one on either side of them."""
    below = range(max(least, first - reach), first)
    above = range(last + 1, last + 1 + reach)
    return rng.randint(first + 1, last - 1), rng.choice(below if below and rng.random() < 0.5 else above)


def values(rng: Random) -> dict[str, int | str]:
    """Values of every slot but the thing."""
    found = drawn(rng)
    found["k"], found["kx"] = rng.sample(DAYS, 2)
    t1 = rng.randint(13, 28)
    t2 = t1 + rng.randint(4, 16)
    tm, tx = _around(t1, t2, min(8, 46 - t2), 9, rng)
    u = rng.randint(16, 42)
    ub, ua = _beside(u, max(12, u - 10), min(46, u + 8), rng)
    begin = date(2025, 1, 10) + timedelta(rng.randint(0, 280))
    length, order = rng.randint(6, 45), rng.random() < 0.5
    inside, outside = _around(0, length, 30, -30, rng)
    e1, e2, em, ex = (
        f"{day.day} {day:%B}" if order else f"{day:%B} {day.day}"
        for day in (begin + timedelta(days) for days in (0, length, inside, outside))
    )
    y1 = rng.randint(1850, 1995)
    y2 = y1 + rng.randint(4, 28)
    ym, yx = _around(y1, y2, 25, y1 - 25, rng)
    scale = rng.choice((5, 12, 12, 40, 40, 150, 1200))
    q1 = rng.randint(max(3, scale // 3), scale)
    q2 = q1 + rng.randint(3, scale + 3)
    qm, qx = _around(q1, q2, scale, 2, rng)
    v = rng.randint(max(4, scale // 3), scale + 3)
    vb, va = _beside(v, 2, 2 * v + 4, rng)
    c = rng.choice((rng.randint(6, 30), 10 * rng.randint(2, 30)))
    cb, ca = _beside(c, 2, 2 * c + 4, rng)
    age = rng.choice((rng.randint(5, 21), rng.choice((50, 55, 60, 65, 67, 70))))
    am, ax = _beside(age, max(2, age // 2), age + 25, rng)
    return found | {
        "t1": t1, "t2": t2, "tm": tm, "tx": tx, "u": u, "ub": ub, "ua": ua, "e1": e1, "e2": e2, "em": em, "ex": ex,
        "y1": y1, "y2": y2, "ym": ym, "yx": yx, "q1": q1, "q2": q2, "qm": qm, "qx": qx, "v": v, "vb": vb, "va": va,
        "c": c, "cb": cb, "ca": ca, "a": age, "am": am, "ax": ax,
    }  # fmt: skip


class Ranges:
    """Makers of pairs from blocks.

    Args:
        others: passages of which a text may hold a few sentences, too.
    """

    def __init__(self, others: Sequence[Passage]) -> None:
        self.others = others

    def _text(self, block: Block, mine: Values, rng: Random, style: Style, named: bool) -> tuple[str, str]:
        """The text, and the same without what it says of the thing."""
        before, after = list[str](), list[str]()
        if named and rng.random() < 0.35:
            other = values(rng) | {"x": rng.choice([thing for thing in block.things if thing != mine["x"]])}
            rng.choice((before, after)).append(filled(rng.choice(block.said), other, style))
        if self.others and rng.random() < 0.4:
            sentences = rng.choice(self.others).sentences
            at = rng.randrange(len(sentences))
            rng.choice((before, after)).extend(sentences[at : at + rng.randint(1, 3)])
        said = filled(rng.choice(block.said), mine, style)
        return " ".join([*before, said, *after]), " ".join([*before, *after])

    def claimed(self, block: Block, rng: Random) -> Unit:
        """A right answer beside one with what lies on the other side."""
        mine = values(rng) | {"x": rng.choice(block.things)}
        asked = rng.choice(block.right)
        named = "{x}" in asked.question + asked.answer
        style = Style.drawn(rng, short=rng.random() < 0.15)
        source, _ = self._text(block, mine, rng, style, named)
        style = style.other(rng)
        first = asked.answer.split(",")[0]
        bare = f"{first}." if rng.random() < 0.2 and first in ("Yes", "No") else ""
        alone = "{x}" in asked.answer and set(slots(asked.answer)) & set(SWAPPED) and rng.random() < 0.4
        pairs = []
        for one, label in ((asked, 1.0), (asked.exchanged(SWAPPED), 0.0)):
            answer = bare or filled(one.answer, mine, style)
            query = answer if alone and not bare else f"{filled(one.question, mine, style)} {answer}"
            pairs.append(Pair("support", source, query, label, f"ranges:{block.name}"))
        return pairs

    def asked(self, block: Block, rng: Random) -> Unit:
        """A question that the text answers beside one that it leaves open, or beside the same without the answer."""
        mine = values(rng) | {"x": rng.choice(block.things)}
        asked = rng.choice([*block.right, *(one.exchanged(SWAPPED) for one in block.right)])
        named = "{x}" in asked.question
        style, kind = Style.drawn(rng, short=rng.random() < 0.15), f"ranges:{block.name}"
        source, silent = self._text(block, mine, rng, style, named)
        style = style.other(rng)
        right, beside, wrong = filled(asked.question, mine, style), source, filled(rng.choice(block.open), mine, style)
        if named and silent and rng.random() < 0.3:
            beside, wrong = silent, right
        return [Pair("answers", source, right, 1.0, kind), Pair("answers", beside, wrong, 0.0, kind)]
