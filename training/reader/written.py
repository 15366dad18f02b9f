"""Everyday texts written by hand for this, with claims that follow, claims that do not, and questions.

Where `fictional` fills frames, every line here was written for its one text: opening hours, leases, dosage leaflets,
software manuals, history, recipes, reports, news. A false claim stands beside the true one it resembles and mostly
uses the text's own words, so that shared words decide nothing.

A file of `written/` holds blocks:

    # topic
    the text, in sentences, list items or rows of a table
    + a claim that follows
    - its false twin
    ? a question that the text answers
    = a right answer
    ! a wrong one
    * a question on the topic that the text does not answer
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Literal, get_args

from intrinsics_core.embedded.evidence import under_titles
from intrinsics_core.embedded.short_answers import is_polar
from intrinsics_core.text.layout import laid_out
from intrinsics_core.text.tables import in_words
from training.reader.nearest import nearest
from training.reader.pairs import Pair, Unit
from training.reader.prose import content
from training.reader.splits import Part, part

FOLDER = Path(__file__).with_name("written")
CONVERSATIONS = Path(__file__).with_name("conversations")
LONG = Path(__file__).with_name("long_answers")
Kind = Literal["hard", "roles", "near", "rules", "plain"]
HARD: tuple[Kind, ...] = ("hard", "roles", "near")
"""Where most of what is true is in other words or a step away, and most of what is false in the text's own."""
_STANDS_FOR = re.compile(
    r"\b(?:its?|he|she|his|hers?|him|they|their|theirs|them|this|these|those|there)\b", re.IGNORECASE
)
_LEANS = re.compile(
    rf"{_STANDS_FOR.pattern}|(?:yes|no|only|because|at|after|before|if|to|you|that|then|one|both)\b", re.IGNORECASE
)
_YES_OR_NO = re.compile(r"(yes|no)\b", re.IGNORECASE)
_MOST = 170  # words that are read beside a claim or a question: more would be cut


@dataclass(frozen=True)
class Written:
    """One text in its sentences, with (true, false) claims, (question, right, wrong) and questions left open.

    key: the text as it is written, on one line: what its part is decided by. kind: of its file, `hard-*`, `roles-*`,
    `near-*` (whose open questions sound as if they were answered), `rules-*` (hours, prices, rules of everyday life) or
    another (`plain`).
    """

    topic: str
    key: str
    sentences: tuple[str, ...]
    claims: tuple[tuple[str, str], ...]
    asked: tuple[tuple[str, str, str], ...]
    unanswered: tuple[str, ...]
    kind: Kind = "plain"


@cache
def _all() -> tuple[Written, ...]:
    return tuple(
        replace(read(block), kind=next((kind for kind in get_args(Kind) if file.stem.startswith(f"{kind}-")), "plain"))
        for file in sorted(FOLDER.glob("*.txt"))
        for block in re.split(r"\n\s*\n(?=# )", file.read_text("utf-8").strip())
    )


def read(block: str) -> Written:
    """One block of a file. Raises ValueError where a mark stands without its partner, or there is no text."""
    head, *rest = block.strip().splitlines()
    begin = next((i for i, line in enumerate(rest) if line.startswith("+ ")), len(rest))
    marked = [(line[0], line[1:].strip()) for line in rest[begin:] if line.strip()]
    order = "".join(mark for mark, _ in marked)
    if not head.startswith("# ") or not begin or not re.fullmatch(r"(\+-)+(\?=!)+\*+", order):
        raise ValueError(f"not a written text: {head[:60]!r} with the marks {order}")
    lines = {mark: [text for found, text in marked if found == mark] for mark in "+-?=!*"}
    return Written(
        head[2:].strip(),
        " ".join(" ".join(rest[:begin]).split()),
        read_as("\n".join(rest[:begin])),
        tuple(zip(lines["+"], lines["-"], strict=True)),
        tuple(zip(lines["?"], lines["="], lines["!"], strict=True)),
        tuple(lines["*"]),
    )


def read_as(text: str) -> tuple[str, ...]:
    """The sentences of a text as the product reads them: the rows of a table in words."""
    found = in_words([" ".join(span.text.split()) for span in laid_out(text)])
    return tuple(sentence for sentence in found if sentence)


def texts(wanted: Part | None = None) -> list[Written]:
    """All texts, or those of one part: what is asked for choosing a checkpoint was not trained on."""
    return [t for t in _all() if wanted is None or part("written", t.key) == wanted]


@cache
def conversations() -> tuple[tuple[Any, ...], ...]:
    """(topic, turns, what is meant, readings that are not ...) of the files in `conversations/`.

    A block there has its turns behind `U:` and `A:`, the standalone question behind `+`, other readings behind `-`.
    """
    found = []
    for file in sorted(CONVERSATIONS.glob("*.txt")):
        for block in re.split(r"\n\s*\n(?=# )", file.read_text("utf-8").strip()):
            head, *lines = [line for line in block.splitlines() if line.strip()]
            if not re.fullmatch(r"(?:[UA]:|[+-] )+", "".join(line[:2] for line in lines)) or not re.fullmatch(
                r"U(AU)+\+-+", "".join(line[0] for line in lines)
            ):
                raise ValueError(f"not a conversation: {head[:60]!r} in {file.name}")
            roles = {"U": "user", "A": "assistant"}
            turns = tuple((roles[line[0]], line[2:].strip()) for line in lines if line[0] in roles)
            found.append((head[2:].strip(), turns, *(line[1:].strip() for line in lines if line[0] in "+-")))
    return tuple(found)


@dataclass(frozen=True)
class Said:
    """A true and a false thing that may be said of a text, behind a question or alone.

    titles: of each sentence the title of its passage, where there are several.
    """

    sentences: tuple[str, ...]
    true: str
    false: str
    question: str = ""
    titles: tuple[str, ...] = ()


@dataclass(frozen=True)
class Asked:
    """A question and whether the text answers it; ``answer`` where it does."""

    sentences: tuple[str, ...]
    question: str
    answer: str | None


@cache
def long_answers() -> tuple[tuple[str, tuple[Said, ...]], ...]:
    """(key, the sentences of one long answer with their false twins) of the files in `long_answers/`.

    A block there has two to four passages, each behind its title in brackets, the question behind ``?``, then for each
    sentence of the answer the true one behind ``+``, its false twin behind ``-``, and what was done to it behind ``~``.
    """
    found = []
    for file in sorted(LONG.glob("*.txt")):
        for block in re.split(r"\n\s*\n(?=# )", file.read_text("utf-8").strip()):
            head, *lines = [line for line in block.splitlines() if line.strip()]
            begin = next((i for i, line in enumerate(lines) if line.startswith("? ")), len(lines))
            passages, (asked, *marked) = lines[:begin], lines[begin:] or [""]
            if not passages[0].startswith("[") or not re.fullmatch(r"(\+-~)+", "".join(line[0] for line in marked)):
                raise ValueError(f"not a long answer: {head[:60]!r} in {file.name}")
            titled = [(title, part) for title, lines in _by_title(passages) for part in read_as("\n".join(lines))]
            titles, sentences = zip(*titled, strict=True)
            rows = zip(marked[::3], marked[1::3], strict=False)
            said = tuple(
                Said(sentences, true[1:].strip(), false[1:].strip(), asked[1:].strip(), titles) for true, false in rows
            )
            text = " ".join(line for line in passages if not line.startswith("["))
            found.append((" ".join(text.split()), said))
    return tuple(found)


def _by_title(lines: Iterable[str]) -> list[tuple[str, list[str]]]:
    """The passages of a long answer: the lines behind each title."""
    passages: list[tuple[str, list[str]]] = []
    for line in lines:
        if line.startswith("["):
            passages.append((line.strip()[1:-1], []))
        else:
            passages[-1][1].append(line)
    return passages


def said(wanted: Part) -> list[Said]:
    """What is claimed and answered in the texts of a part, one row a twin."""
    return [*_said(texts(wanted)), *said_at_length(wanted)]


def said_of(wanted: Part, *kinds: Kind) -> list[Said]:
    """What is claimed and answered in the short texts of a part of these kinds."""
    return _said(text for text in texts(wanted) if text.kind in kinds)


def said_of_same_words(wanted: Part) -> list[Said]:
    """The twins of a part that have the same content words: only their order, or a "not", tells which one is true."""
    return [row for row in said(wanted) if content(row.true) == content(row.false)]


def said_at_length(wanted: Part) -> list[Said]:
    """The sentences of the long answers of a part, each behind its question."""
    return [row for key, answer in long_answers() if part("written", key) == wanted for row in answer]


@dataclass(frozen=True)
class Table:
    """The rows of a table in a text: of each the names of its columns and its cells."""

    sentences: tuple[str, ...]
    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def tables(wanted: Part) -> list[Table]:
    """The tables of a part that have two rows and three columns at least."""
    found = []
    for text in texts(wanted):
        rows: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
        for sentence in text.sentences:
            cells = [cell.split(": ", 1) for cell in sentence.rstrip(".").split("; ")]
            if len(cells) > 2 and all(len(cell) == 2 for cell in cells):
                names, said = zip(*cells, strict=True)
                rows.setdefault(names, []).append(said)
        found += [Table(text.sentences, names, tuple(some)) for names, some in rows.items() if len(some) > 1]
    return found


def row_claimed(table: Table, rng: Random) -> Unit:
    """A row of a table as an answer's own table says it, beside its false twin with one cell of another row."""
    own, other = rng.sample(table.rows, 2)
    exchanged = [i for i in range(1, len(own)) if own[i] != other[i] and own[0] != other[0]]
    if not exchanged:
        return []
    at = rng.choice(exchanged)
    kept = sorted({at, *(i for i in range(1, len(own)) if rng.random() < 0.5)})
    cells = [(own[i], other[i] if i == at else own[i]) for i in kept]
    if rng.random() < 0.5:
        true, false = ("; ".join(f"{table.names[i]}: {c[n]}" for i, c in zip(kept, cells, strict=True)) for n in (0, 1))
        claims = [f"{table.names[0]}: {own[0]}; {said}." for said in (true, false)]
    else:
        true, false = (", ".join(f"{table.names[i]} {c[n]}" for i, c in zip(kept, cells, strict=True)) for n in (0, 1))
        claims = [f"{own[0]}: {said}." for said in (true, false)]
    source = " ".join(shown(claims[0], table.sentences))
    return [Pair("support", source, text, label, "written:row") for text, label in zip(claims, (1.0, 0.0), strict=True)]


def _said(some: Iterable[Written]) -> list[Said]:
    some = list(some)
    rows = [Said(t.sentences, true, false) for t in some for true, false in t.claims]
    return rows + [Said(t.sentences, right, wrong, q) for t in some for q, right, wrong in t.asked]


def questions(wanted: Part, *kinds: Kind) -> list[Asked]:
    """The questions about the short texts of a part, or about those of these kinds."""
    some = [text for text in texts(wanted) if not kinds or text.kind in kinds]
    rows = [Asked(t.sentences, q, right) for t in some for q, right, _ in t.asked]
    return rows + [Asked(t.sentences, q, None) for t in some for q in t.unanswered]


def bare(row: Said) -> Said | None:
    """The same with "Yes." and "No." for its twins; None where they do not begin with the one and the other."""
    true, false = (_YES_OR_NO.match(text) for text in (row.true, row.false))
    if not row.question or not true or not false or true[1].lower() == false[1].lower():
        return None
    return replace(row, true=f"{true[1].capitalize()}.", false=f"{false[1].capitalize()}.")


def claimed(row: Said, rng: Random) -> Unit:
    """A claim beside its false twin, over the same sentences: the nearest to the two, as many as fit."""
    if (short := bare(row)) and rng.random() < 0.4:
        at = nearest_of(f"{row.question} {row.true}", row.sentences, rng.choice((_MOST, _MOST, 85, 45)))
        source = " ".join(row.sentences[i] for i in at)
        told = ((short.true, 1.0), (short.false, 0.0))
        return [Pair("support", source, f"{row.question} {text}", label, "written:bare") for text, label in told]
    # Only what says alone what it is about is judged without its question, too.
    alone = all(len(text.split()) >= 8 and not _LEANS.match(text) for text in (row.true, row.false))
    ask = "" if not row.question or (alone and rng.random() < 0.4) else f"{row.question} "
    if row.titles and rng.random() < 0.5 and (unit := _of_another(row, ask, rng)):
        return unit
    claims = f"{row.question} {row.true} {row.false}"
    # The few sentences beside which a claim on one of several subjects stands or falls; more only sometimes.
    at = nearest_of(claims, row.sentences, rng.choice((_MOST, 85, 45, 30) if row.titles else (_MOST, _MOST, 85, 45)))
    # Where documents have titles, the reader that ships sees them; many have none.
    titled = row.titles and rng.random() < 0.7
    source = under_titles([row.sentences[i] for i in at], [row.titles[i] for i in at] if titled else ())
    return [
        Pair("support", source, ask + text, label, "written") for text, label in ((row.true, 1.0), (row.false, 0.0))
    ]


def _of_another(row: Said, ask: str, rng: Random) -> Unit:
    """A false twin beside the one passage that says it, but of another subject. The true twin, which another passage
    says, is false there, too; a sentence of the passage itself is true. Empty where one passage is nearest to both, or
    where a twin leaves open what it is about.
    """
    if _STANDS_FOR.search(f"{row.true} {row.false}"):
        return []
    (own,), (other,) = (nearest(text, row.sentences, 1) for text in (row.true, row.false))
    if row.titles[own] == row.titles[other] or len(row.sentences[other].split()) < 4:
        return []
    there = [i for i, title in enumerate(row.titles) if title == row.titles[other]]
    source = under_titles([row.sentences[i] for i in there], [row.titles[i] for i in there])
    claims = [(row.sentences[other], 1.0), (ask + row.false, 0.0)]
    if rng.random() < 0.3:
        claims.append((ask + row.true, 0.0))
    return [Pair("support", source, text, label, "written:another") for text, label in claims]


def claimed_evenly(row: Said, rng: Random) -> Unit:
    """`claimed` for hard texts: where the false twin has more of the text's words than the true one, the true one is a
    sentence of the text in half of the cases, so that having its words decides nothing.
    """
    words = content(" ".join(row.sentences))
    true, false = (len(content(text) & words) / max(1, len(content(text))) for text in (row.true, row.false))
    if true < false and rng.random() < 0.5:
        (near,) = nearest(row.false, row.sentences, 1)
        if len(row.sentences[near].split()) >= 5:
            row = replace(row, true=row.sentences[near])
    return claimed(row, rng)


def nearest_of(claim: str, parts: tuple[str, ...], most: int = _MOST) -> list[int]:
    """The nearest sentences to a claim, in the order of the text, of at most ``most`` words together (one at least)."""
    kept = nearest(claim, parts, 1)
    for count in range(2, len(parts) + 1):
        more = nearest(claim, parts, count)
        if sum(len(parts[i].split()) for i in more) > most:
            break
        kept = more
    return kept


def shown(claim: str, parts: tuple[str, ...], most: int = _MOST) -> list[str]:
    """The sentences of `nearest_of`."""
    return [parts[i] for i in nearest_of(claim, parts, most)]


def answered(row: Asked, rng: Random) -> Unit:
    """A question beside the text, or beside what is left of it without the sentences that answer."""
    # The gate reads a passage in windows of about a hundred words; what is short is shown whole.
    parts = shown(f"{row.question} {row.answer or ''}", row.sentences, rng.choice((_MOST, 95, 95, 45)))
    query = row.question.rstrip("?").lower() if rng.random() < 0.15 else row.question
    if row.answer is None:
        if len(parts) > 4 and rng.random() < 0.3:
            parts.pop(rng.randrange(len(parts)))
        pairs = [Pair("answers", " ".join(parts), query, 0.0, "written asked")]
        if is_polar(row.question) and rng.random() < 0.4:  # neither a yes nor a no stands there
            told = ("Yes.", "No.")
            pairs += [Pair("support", " ".join(parts), f"{row.question} {text}", 0.0, "written:bare") for text in told]
        return pairs
    pairs = [Pair("answers", " ".join(parts), query, 1.0, "written asked")]
    said = {row.sentences[i] for i in nearest(f"{row.question} {row.answer}", row.sentences, 2)}
    without = [s for s in parts if s not in said]
    left = content(" ".join(without))
    if 1 < len(without) < len(parts) and not content(row.answer) <= left and rng.random() < 0.35:
        pairs.append(Pair("answers", " ".join(without), query, 0.0, "written:removed"))
    return pairs
