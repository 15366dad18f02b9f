"""Which pairs the reader sees, how often, and in which batches: the same for a seed, wherever a run was interrupted.

`SHARES` weighs how much of the training each stream is, by pairs. A stream goes through its rows in a new random order
each time it has seen them all, and makes another edit, window or question of a row each time. Its state is one
counter, so a checkpoint holds the place in all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

from training.reader.data import CLAIMS, LICENCES, QUESTIONS, Claim, Passage, Question, passages, turns
from training.reader.everyday_facts import Facts, frames
from training.reader.fictional import Everyday, facts
from training.reader.makers import Answers, Meant, Support
from training.reader.pairs import Unit
from training.reader.ranges import Ranges, blocks
from training.reader.splits import Part
from training.reader.turned import relations, turned
from training.reader.wordnet import WordNet
from training.reader.written import (
    HARD,
    answered,
    claimed,
    claimed_evenly,
    row_claimed,
    said_at_length,
    said_of,
    said_of_same_words,
    tables,
)
from training.reader.written import questions as open_questions
from training.reader.written import (
    texts as written_texts,
)

SHARES: dict[str, float] = {
    # a true form beside its false twin
    "edited": 50,
    "exchanged": 30,
    "own words": 30,
    "short answer": 6,
    "asked answer": 4,
    "yes or no": 8,
    # short texts of the everyday kind, written for this
    "everyday": 30,
    "everyday asked": 8,
    "everyday makers": 30,
    # several things of one kind, each with hours, prices and limits
    "everyday facts": 80,
    "everyday facts asked": 40,
    "everyday facts told": 30,
    # one range or limit alone, and what lies inside or outside of it
    "ranges": 450,
    "ranges plain": 120,
    "ranges asked": 40,
    # who did what to whom, in other words
    "turned": 120,
    "written": 140,
    "written hard": 120,
    "written roles": 120,
    "written near": 110,
    "written rules": 300,
    "written turned": 80,
    # sentences and clauses of these texts as they stand there, or nearly, beside the same with one thing changed
    "edited here": 90,
    "exchanged here": 50,
    "part said": 60,
    "written long": 500,
    "written tables": 25,
    "written asked": 80,
    "written hard asked": 90,
    "written near asked": 110,
    "written rules asked": 120,
    # as people labelled them
    "snli_devtest": 6,
    "mnli_dev": 25,
    "cad_nli": 9,
    "med": 1,
    "help": 1,
    "fever_dev_nli": 14,
    "fm2": 1.5,
    "begin": 6,
    "wice": 8,
    "expertqa_claims": 1.5,
    "halueval": 0.5,
    "summedits": 6,
    # not said, yet near
    "plausible": 4,
    # question and passage
    "squad2_dev_b": 35,
    "clapnq_dev": 4,
    "policyqa": 1.5,
    "pubmedqa": 1,
    "pseudo": 6,
    # turns and candidate question
    "meant": 180,
}
"""Weights by pairs; they are normalised."""

TEACHER = SHARES | {
    # What entails what: the teacher begins as an encoder of single texts.
    "mnli_dev": 110,
    "snli_devtest": 40,
    "fever_dev_nli": 50,
    "cad_nli": 30,
    "squad2_dev_b": 50,
    # The hard kinds count as much again, and of the 74 relations a few rounds are enough.
    "written hard": 130,
    "written roles": 130,
    "written near": 130,
    "written hard asked": 80,
    "written near asked": 80,
    "turned": 60,
    "written turned": 100,
}
"""The shares of `training.reader.teacher`."""

WRITTEN = tuple(name for name in SHARES if name.startswith("written") and name != "written turned")
"""The streams of the texts that were written for this, without the one whose rows stand in the others, too."""


@dataclass(frozen=True)
class Stream:
    """Rows and what makes pairs of one."""

    name: str
    rows: Sequence[Any]
    make: Callable[[Any, Random], Unit]
    seed: int
    share: float

    def unit(self, number: int) -> Unit:
        """The ``number``-th unit: rows in a random order, another one each time round; may be empty."""
        around, place = divmod(number, len(self.rows))
        order = _order(len(self.rows), f"{self.seed}/{self.name}/{around}")
        return self.make(self.rows[order[place]], Random(f"{self.seed}/{self.name}/{number}"))


@lru_cache(maxsize=256)
def _order(size: int, seed: str) -> list[int]:
    order = list(range(size))
    Random(seed).shuffle(order)
    return order


def streams(
    folder: Path, wanted: Part, net: WordNet, seed: int, shares: Mapping[str, float] = SHARES
) -> dict[str, Stream]:
    """All streams of one part of the data folder."""
    texts = passages(folder, wanted)
    claims: dict[str, list[Claim]] = {n: [c for c in read(folder, wanted) if c.sources] for n, read in CLAIMS.items()}
    questions: dict[str, list[Question]] = {
        n: [q for q in read(folder, wanted) if q.sentences] for n, read in QUESTIONS.items()
    }
    support, answers = Support(net, texts), Answers(net, texts, questions)
    talk = turns(folder, wanted)
    written, everyday, framed, facts_made = facts(wanted), Everyday(), frames(wanted), Facts()
    short = [Passage("written", "", text.sentences) for text in written_texts(wanted)]
    ranges, ranges_made = [b for b in blocks(wanted) if b.ordered], Ranges(short)
    conclusions = [Claim("pubmedqa", q.sentences, q.answers[0], 1.0) for q in questions["pubmedqa"]] + [
        Claim("clapnq_dev", q.sentences, q.answers[0], 1.0, gold=q.gold)
        for q in questions["clapnq_dev"]
        if q.answerable
    ]
    supported = [c for rows in claims.values() for c in rows if c.label == 1 and c.set not in ("med", "help")]
    titled = [p for p in texts if p.title]
    made: dict[str, tuple[Sequence[Any], Callable[[Any, Random], Unit]]] = {
        "edited": (texts, support.edited),
        "exchanged": (texts, support.exchanged),
        "edited here": (short, support.edited),
        "exchanged here": (short, support.exchanged),
        "part said": (short, support.part_said),
        "everyday": (written, everyday.claimed),
        "everyday makers": ([fact for fact in written if fact.domain == "makers"], everyday.claimed),
        "everyday asked": ([fact for fact in written if fact.asked], everyday.asked),
        "everyday facts": (framed, facts_made.claimed),
        "everyday facts asked": (framed, facts_made.asked),
        "everyday facts told": (framed, facts_made.told),
        "ranges": ([b for b in ranges if not b.plain], ranges_made.claimed),
        "ranges plain": ([b for b in ranges if b.plain], ranges_made.claimed),
        "ranges asked": ([b for b in ranges if not b.plain], ranges_made.asked),
        "turned": (relations(wanted), turned),
        "written": (said_of(wanted, "plain"), claimed),
        "written hard": (said_of(wanted, "hard"), claimed_evenly),
        "written roles": (said_of(wanted, "roles"), claimed),
        "written near": (said_of(wanted, "near"), claimed),
        "written rules": (said_of(wanted, "rules"), claimed),
        "written turned": (said_of_same_words(wanted), claimed),
        "written long": (said_at_length(wanted), claimed),
        "written tables": (tables(wanted), row_claimed),
        "written asked": (open_questions(wanted, "plain"), answered),
        "written hard asked": (open_questions(wanted, *HARD), answered),
        "written near asked": (open_questions(wanted, "near"), answered),
        "written rules asked": (open_questions(wanted, "rules"), answered),
        "own words": (supported + conclusions, support.paraphrase_edited),
        "short answer": (
            [q for n in ("squad2_dev_b", "clapnq_dev") for q in questions[n] if q.answerable],
            support.short_answer,
        ),
        "asked answer": (texts, support.asked_answer),
        "yes or no": (texts, support.yes_or_no),
        **{name: (rows, support.labelled) for name, rows in claims.items()},
        "plausible": (titled, support.plausible),
        **{name: (rows, answers.asked_of) for name, rows in questions.items()},
        "pseudo": (texts, answers.pseudo),
        "meant": (talk, Meant(talk).rewritten),
    }
    return {name: Stream(name, rows, make, seed, shares[name]) for name, (rows, make) in made.items() if rows}


def chunk(found: dict[str, Stream], at: dict[str, int], pairs: int, lane: int = 0, lanes: int = 1) -> list[Unit]:
    """The next units, about ``pairs`` pairs in the shares of the streams; ``at`` (units drawn by stream) is moved on.

    Of ``lanes`` places in the mixture each one takes every ``lanes``-th unit of a stream, from its ``lane`` on.
    """
    total = sum(stream.share for stream in found.values())
    units: list[Unit] = []
    for name, stream in found.items():
        wanted, tries = pairs * stream.share / total + at.get(f"{name}.owed", 0) / 1000, 0
        while wanted > 0.5 and tries < 40 * pairs:
            number, tries = at.get(name, 0), tries + 1
            unit = stream.unit(number * lanes + lane)
            at[name] = number + 1
            if unit:
                units.append(unit)
                wanted -= len(unit)
        at[f"{name}.owed"] = round(1000 * wanted)
    return units


def sets(found: dict[str, Stream]) -> list[dict[str, Any]]:
    """The sets trained on, with licence and rows, for the file that ships."""
    counts: dict[str, int] = {}
    for name in (*CLAIMS, *QUESTIONS):
        if name in found:
            counts[name] = len(found[name].rows)
    if "everyday" in found:
        counts["fictional"] = len(found["everyday"].rows)
    if "everyday facts" in found:
        counts["everyday_frames"] = len(found["everyday facts"].rows)
    if "ranges" in found:
        counts["ranges"] = len(found["ranges"].rows) + len(found["ranges plain"].rows)
    if "turned" in found:
        counts["turned"] = len(found["turned"].rows)
    if "written" in found:
        counts["written"] = sum(len(found[name].rows) for name in WRITTEN if name in found)
    for row in (
        *(found["edited"].rows if "edited" in found else ()),
        *(found["meant"].rows if "meant" in found else ()),
    ):
        if row.set not in CLAIMS and row.set not in QUESTIONS:
            counts[row.set] = counts.get(row.set, 0) + 1
    return [{"set": name, "licence": LICENCES[name], "rows": rows} for name, rows in sorted(counts.items())]
