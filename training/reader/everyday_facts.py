"""Texts with several things of one kind, each with hours, prices and limits of its own, and what follows from them.

A *frame* of `everyday_frames.txt` is a kind of text: things, ways to tell of one, what can be asked, and notes. A text
is two to four things of a frame with their slots filled, as prose, list, table or questions with answers. A right
statement is a line of the frame. Its wrong twin is made by rule: the value of the thing beside, of another slot of the
same thing (opening for closing, adults' for children's), or a day, month, age or number outside the range.

A block is one frame. `#` its name, `@` its things, `=` ways to state one in prose, `>` a line of a list, `|` columns of
a table, `f` question and answer in a text of questions, `+` question and right answer, `-` question and wrong answer,
`!` a question that the text leaves open, `%` a note: statement ~ question ~ right answer ~ wrong answer.

Slots: `{x}` the thing, `{d1}` `{d2}` a range of days, `{dm}` a day in it, `{dx}` one outside, the same of months with
`m`, `{t1}` `{t2}` times, `{p1}` to `{p3}` prices that fall, `{q1}` `{q2}` and `{g1}` `{g2}` ranges of numbers, `{a}` an
age with `{am}` below and `{ax}` above it, `{n}` `{w}` `{h}` `{m}` small numbers, `{who}` a person. `{w*7}`, `{p1+p2}`
are reckoned.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from training.reader.fictional_values import FIRST, LAST
from training.reader.marked_lines import marked_blocks
from training.reader.pairs import Pair, Unit
from training.reader.splits import Part, part
from training.reader.words import MONTHS, NUMBERS

FILE = Path(__file__).with_name("everyday_frames.txt")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_SLOT = re.compile(r"\{([a-z]+\d?)(?:([*+-])([a-z]*\d+))?\}")
_OUTSIDE = {"dm": "dx", "dx": "dm", "mm": "mx", "mx": "mm", "am": "ax", "ax": "am", "qm": "qx", "gm": "gx"}
"""What lies inside a range, and what lies outside of it."""
_BESIDE = {"t1": "t2", "t2": "t1", "p1": "p2", "p2": "p1"}
"""Values of one thing that are taken for one another."""
_VALUES = frozenset(["t1", "t2", "p1", "p2", "p3", "n", "w", "h", "m", "q1", "q2", "g1", "d1", "m1", "a", "who"])
_SORT = {"t1": "time", "t2": "time", "p1": "price", "p2": "price", "p3": "price", "d1": "day", "m1": "day",
         "who": "person"}  # fmt: skip
"""What sort of value a slot holds; the others are numbers."""
_SHARED = ("a", "am", "ax")

Values = dict[str, int | str]


@dataclass(frozen=True)
class Asked:
    """A question and an answer, with slots."""

    question: str
    answer: str

    @classmethod
    def of(cls, line: str) -> Asked:
        """From a line of a file."""
        question, answer = line.split(" | ")
        return cls(question.strip(), answer.strip())

    def exchanged(self, names: Mapping[str, str]) -> Asked:
        """With other slots in place of some of its own."""
        return Asked(_exchanged(self.question, names), _exchanged(self.answer, names))

    @property
    def values(self) -> frozenset[str]:
        """The slots that the answer gives a value of."""
        return frozenset(slots(self.answer)) & _VALUES

    @property
    def sorts(self) -> frozenset[str]:
        """What sorts of values those are."""
        return frozenset(_SORT.get(slot, "number") for slot in self.values)


@dataclass(frozen=True)
class Note:
    """A statement that holds for all things of a text, a question, and its right and its wrong answer."""

    said: str
    question: str
    right: str
    wrong: str


@dataclass(frozen=True)
class Frame:
    """A kind of text, in the notation above."""

    name: str
    things: tuple[str, ...]
    prose: tuple[str, ...]
    line: str
    columns: tuple[tuple[str, str], ...]
    listed: Asked
    right: tuple[Asked, ...]
    wrong: tuple[Asked, ...]
    open: tuple[str, ...]
    notes: tuple[Note, ...]


def slots(text: str) -> list[str]:
    """The names in a text's slots."""
    names = [name for match in _SLOT.finditer(text) for name in (match[1], match[3]) if name]
    return [name for name in names if not name.isdigit()]


def frames(wanted: Part | None = None) -> list[Frame]:
    """All frames, or those of one part."""
    found = list[Frame]()
    for lines in marked_blocks(FILE):
        cells = [cell.split("=", 1) for cell in lines["|"][0].split("; ")]
        frame = Frame(
            lines["#"][0], tuple(lines["@"][0].split("; ")), tuple(lines["="]), lines[">"][0],
            tuple((head, cell) for head, cell in cells), Asked.of(lines["f"][0]), tuple(map(Asked.of, lines["+"])),
            tuple(map(Asked.of, lines["-"])), tuple(lines["!"]),
            tuple(Note(*(part.strip() for part in line.split(" ~ "))) for line in lines["%"]),
        )  # fmt: skip
        if wanted is None or part("everyday_frames", frame.name) == wanted:
            found.append(frame)
    return found


@dataclass(frozen=True)
class Style:
    """How one writer puts prices, times and numbers."""

    price: str
    clock: int  # 0: 9 am, 1: 9:00, 2: 9.00 am
    short: bool  # days and months are cut to three letters
    words: bool  # small numbers are words

    @classmethod
    def drawn(cls, rng: Random, short: bool = False) -> Style:
        sign = rng.choice(("{} euros", "{} euros", "£{}", "${}", "€{}", "{} pounds", "{} dollars", "{} francs"))
        return cls(sign, rng.choice((0, 0, 1, 2)), short, rng.random() < 0.3)

    def other(self, rng: Random) -> Style:
        """How an answer puts the same: mostly as the text does."""
        clock = self.clock if rng.random() < 0.75 else rng.choice((0, 1, 2))
        return Style(self.price, clock, False, self.words if rng.random() < 0.6 else not self.words)

    def time(self, halves: int) -> str:
        hour, minutes = halves // 2, "30" if halves % 2 else "00"
        if self.clock == 1:
            return f"{hour}:{minutes}"
        noon, colon = "am" if hour < 12 else "pm", "." if self.clock == 2 else ":"
        hour = hour % 12 or 12
        return f"{hour} {noon}" if minutes == "00" and not self.clock else f"{hour}{colon}{minutes} {noon}"

    def put(self, name: str, value: int | str) -> str:
        if isinstance(value, str):
            return value[:3] if self.short and name[0] in "dm" else value
        if name[0] in "tu":
            return self.time(value)
        if name[0] in "pc":
            return self.price.format(value)
        if self.words and name[0] in "nwqv" and value <= 12:
            return NUMBERS[value]
        return str(value)


def _range(options: Sequence[str], rng: Random) -> tuple[str, str, str, str]:
    """Two ends, one between them or at an end, and one outside."""
    length = rng.randint(3, min(5, len(options) - 2))
    begin = rng.randint(0, len(options) - length)
    inside = options[begin : begin + length]
    middle = rng.choice(inside[1:-1] if rng.random() < 0.8 else inside)
    return inside[0], inside[-1], middle, rng.choice([o for o in options if o not in inside])


def drawn(rng: Random) -> dict[str, int | str]:
    """Values of every slot but the thing."""
    d1, d2, dm, dx = _range(DAYS, rng)
    m1, m2, mm, mx = _range(MONTHS, rng)
    prices = sorted(rng.sample(range(2, 60), 3), reverse=True)
    age = rng.randint(6, 18)
    q1, g1 = rng.randint(4, 40), rng.randint(3, 30)
    q2, g2 = q1 + rng.randint(4, 40), g1 + rng.randint(3, 12)
    return {
        "d1": d1, "d2": d2, "dm": dm, "dx": dx, "m1": m1, "m2": m2, "mm": mm, "mx": mx,
        "t1": rng.randint(12, 26), "t2": rng.randint(28, 45), "p1": prices[0], "p2": prices[1], "p3": prices[2],
        "a": age, "am": rng.randint(3, age - 2), "ax": rng.randint(age + 1, age + 30),
        "q1": q1, "q2": q2, "qm": rng.randint(q1, q2), "qx": q2 + rng.randint(2, 30),
        "g1": g1, "g2": g2, "gm": rng.randint(g1, g2), "gx": g2 + rng.randint(2, 12),
        "n": rng.randint(2, 20), "w": rng.randint(2, 12), "h": rng.randint(2, 9), "m": rng.choice(range(15, 100, 5)),
        "who": f"{rng.choice(FIRST)} {rng.choice(LAST)}",
    }  # fmt: skip


def filled(line: str, values: Values, style: Style) -> str:
    """A line with its slots filled."""

    def value(match: re.Match[str]) -> str:
        name, sign, by = match.groups()
        one = values[name]
        if sign:
            two = int(by) if by.isdigit() else values[by]
            assert isinstance(one, int)
            assert isinstance(two, int)
            one = one * two if sign == "*" else one + two if sign == "+" else one - two
        return style.put(name, one)

    text = _SLOT.sub(value, line)
    text = re.sub(r"\b([Aa]) (?=[aeiou]|8|11\b|18\b|11-|18-)", r"\1n ", text)
    return text[:1].upper() + text[1:]


@dataclass(frozen=True)
class Text:
    """The lines of a text, the things it tells of, each with its values, and its notes."""

    frame: Frame
    head: tuple[str, ...]
    rows: tuple[str, ...]
    tail: tuple[str, ...]
    between: str
    things: tuple[Values, ...]
    notes: tuple[Note, ...]
    style: Style

    def whole(self, without: Sequence[int] = ()) -> str:
        rows = [row for i, row in enumerate(self.rows) if i not in without]
        return self.between.join([*self.head, *rows, *self.tail])


def written(frame: Frame, rng: Random) -> Text:
    """A text of a frame."""
    form = rng.choice(("prose", "prose", "list", "table", "questions"))
    style = Style.drawn(rng, short=form in ("list", "table") and rng.random() < 0.4)
    things = list[dict[str, int | str]]()
    for name in rng.sample(frame.things, rng.randint(2, min(4 if form != "prose" else 3, len(frame.things)))):
        values = drawn(rng)
        while any(values[slot] == other[slot] for other in things for slot in _VALUES - {"a", "d1", "m1"}):
            values = drawn(rng)
        if things:
            values |= {slot: things[0][slot] for slot in _SHARED}
        things.append(values | {"x": name})
    notes = tuple(rng.sample(frame.notes, rng.randint(0, len(frame.notes))))
    title = frame.name[:1].upper() + frame.name[1:]
    head, tail, between = (title,) if rng.random() < 0.5 else (), tuple(note.said for note in notes), "\n"
    if form == "prose":
        head, between = (), " "
        rows = [filled(rng.choice(frame.prose), values, style) for values in things]
    elif form == "list":
        mark = rng.choice(("", "- ", "* "))
        rows = [f"{mark}{_upper(values['x'])}: {filled(frame.line, values, style)}" for values in things]
    elif form == "table":
        heads = " | ".join(["", *(filled(name, things[0], style).lower() for name, _ in frame.columns)])
        head = (*head, f"|{heads} |")
        cells = [[filled(cell, values, style) for _, cell in frame.columns] for values in things]
        rows = [f"| {' | '.join([_upper(v['x']), *row])} |" for v, row in zip(things, cells, strict=True)]
    else:
        rows = [
            f"{filled(frame.listed.question, values, style)} {filled(frame.listed.answer, values, style)}"
            for values in things
        ]
    return Text(frame, head, tuple(rows), tail, between, tuple(things), notes, style)


def _upper(text: int | str) -> str:
    return str(text)[:1].upper() + str(text)[1:]


def _less(line: str, text: Text, at: int) -> str:
    """A line about a thing by its last word alone, where the text has no other of that name."""
    name = str(text.things[at]["x"])
    last = name.split()[-1]
    alone = sum(str(values["x"]).split()[-1] == last for values in text.things) == 1
    return line.replace("{x}", last) if alone and last != name and last.islower() else line


def _exchanged(line: str, names: Mapping[str, str]) -> str:
    """A line with other slots in place of some of its own."""

    def put(match: re.Match[str]) -> str:
        name, sign, by = match.groups()
        return "{" + names.get(name, name) + (f"{sign}{names.get(by, by)}" if sign else "") + "}"

    return _SLOT.sub(put, line)


def twin(asked: Asked, text: Text, at: int, rng: Random) -> tuple[Asked, Values] | None:
    """The question and a wrong answer: lines, and the values to fill them with. None where no rule makes one."""
    mine = text.things[at]
    made = list[tuple[Asked, Values]]()
    given = asked.values
    for slot, other in _BESIDE.items():
        whole = {name for line in (*text.frame.prose, text.frame.line) for name in slots(line)}
        if given == {slot} and other in whole:
            made.append((Asked(asked.question, _exchanged(asked.answer, {slot: other})), mine))
    if given:
        for beside in text.things[:at] + text.things[at + 1 :]:
            wrong = mine | {slot: beside[slot] for slot in given}
            if all(wrong[slot] != mine[slot] for slot in given):
                made += [(asked, wrong)] * 2
    inside = {slot for slot in slots(asked.answer) if slot in _OUTSIDE}
    if inside and not given:
        names = {slot: _OUTSIDE[slot] for slot in inside}
        made.append((asked.exchanged(names), mine))
    return rng.choice(made) if made else None


class Facts:
    """Makers of pairs from frames."""

    def claimed(self, frame: Frame, rng: Random) -> Unit:
        """A right answer beside a wrong one."""
        text = written(frame, rng)
        source, kind = text.whole(), f"everyday facts:{frame.name}"
        if text.notes and rng.random() < 0.2:
            note = rng.choice(text.notes)
            made = [(note.question, note.right, 1.0), (note.question, note.wrong, 0.0)]
        else:
            at = rng.randrange(len(text.things))
            mine, style = text.things[at], text.style.other(rng)
            asked = rng.choice(frame.right)
            if frame.wrong and rng.random() < 0.15:
                wrong: tuple[Asked, Values] | None = (rng.choice(frame.wrong), mine)
            else:
                wrong = twin(asked, text, at, rng)
            if wrong is None:
                return ()
            alone = all("{x}" in line for line in (asked.answer, wrong[0].answer)) and rng.random() < 0.5
            short = rng.random() < 0.4
            made = [
                (
                    "" if alone else filled(_less(a.question, text, at) if short else a.question, v, style),
                    filled(_less(a.answer, text, at) if short else a.answer, v, style), label,
                )
                for a, v, label in ((asked, mine, 1.0), (*wrong, 0.0))
            ]  # fmt: skip
            if made[0][:2] == made[1][:2]:  # sums may be alike
                return ()
            if len(text.rows) > 2 and rng.random() < 0.2:  # not all of it is read
                source = text.whole(without=[rng.choice([i for i in range(len(text.rows)) if i != at])])
        return [Pair("support", source, f"{q} {a}".strip(), label, kind) for q, a, label in made]

    def asked(self, frame: Frame, rng: Random) -> Unit:
        """A question that the text answers beside one that it leaves open."""
        text = written(frame, rng)
        at, kind = rng.randrange(len(text.things)), f"everyday facts:{frame.name}"
        mine, source, style = text.things[at], text.whole(), text.style.other(rng)
        right = filled(rng.choice(frame.right).question, mine, style)
        if text.notes and rng.random() < 0.2:
            right = rng.choice(text.notes).question
        silent = [note for note in frame.notes if note not in text.notes]
        absent = [thing for thing in frame.things if all(thing != values["x"] for values in text.things)]
        draw = rng.random()
        if draw < 0.2 and silent:
            wrong, beside = rng.choice(silent).question, source
        elif draw < 0.4 and absent:
            wrong = filled(rng.choice(frame.right).question, mine | {"x": rng.choice(absent)}, style)
            beside = source
        elif draw < 0.6 and right not in [note.question for note in text.notes]:
            wrong, beside = right, text.whole(without=[at])
        else:
            wrong, beside = filled(rng.choice(frame.open), mine, style), source
        return [Pair("answers", source, right, 1.0, kind), Pair("answers", beside, wrong, 0.0, kind)]

    def told(self, frame: Frame, rng: Random) -> Unit:
        """A question with a direct answer, right or not, beside the same question with something else of the text."""
        text = written(frame, rng)
        at, kind = rng.randrange(len(text.things)), f"everyday facts:{frame.name}"
        mine, style = text.things[at], text.style.other(rng)
        asked = rng.choice(frame.right)
        direct = filled(asked.answer, mine, style)
        if rng.random() < 0.3 and (wrong := twin(asked, text, at, rng)) and wrong[0].question == asked.question:
            direct = filled(wrong[0].answer, wrong[1], style)
        other = [o for o in frame.right if asked.sorts and o.sorts and not asked.sorts & o.sorts]
        if other and rng.random() < 0.6:
            elsewhere = filled(rng.choice(other).answer, mine, style)
        else:
            elsewhere = rng.choice(frame.notes).said
        if direct == elsewhere:
            return ()
        question = filled(asked.question, mine, style)
        return [Pair("relevant", direct, question, 1.0, kind), Pair("relevant", elsewhere, question, 0.0, kind)]
