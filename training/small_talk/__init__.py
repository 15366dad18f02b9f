"""Sentences of answers and turns of users, with what they are: a file a kind, one JSON object a line.

Sentences: `text`, `kind`, and either `is` or, in the older files, `claims` and `reports`. In `reports.jsonl` `calls`
are the tool calls that stand before the sentence, and `claims` says whether it says more than they have done. Turns
(`turns.jsonl`): `text`, `before` (what the assistant said before it, if that matters), `kind`. All of it is text of our
own, written for this, Apache-2.0; most of it is English. A third is held out, chosen by a hash of the text without its
names, numbers and marks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any
from zlib import crc32

from intrinsics_core.embedded.turns import question_at_the_end

FOLDER = Path(__file__).parent
SENTENCES = ("courtesy", "offers", "questions", "unknown", "reports", "everyday")
_NAME = re.compile(r"(?<=\s)[A-Z][\w’'-]+(?:\s[A-Z][\w’'-]+)*")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


@dataclass(frozen=True)
class Row:
    """A sentence or a turn, what it is, and the kind of case that it stands for.

    calls: tool calls that stand before it. told: whether a report says no more than they have done.
    """

    text: str
    label: str
    kind: str
    before: str = ""
    calls: tuple[Any, ...] = ()
    told: bool = False

    @property
    def held(self) -> bool:
        """Whether nothing is fitted on the row. Those of one or two words are few, and all are fitted."""
        if len(self.text.split()) <= 2:
            return False
        template = _NAME.sub("N", _NUMBER.sub("0", self.text)).lower().strip(" .!?,:;")
        return crc32(template.encode()) % 3 == 0


@cache
def sentences() -> tuple[Row, ...]:
    """All sentences: claim, nothing, report, self or command."""
    return tuple(row for name in SENTENCES for row in _sentences(name))


@cache
def turns() -> tuple[Row, ...]:
    """All turns, of the kinds of `embedded.turns`."""
    return tuple(
        Row(raw["text"], raw["kind"], raw["kind"], question_at_the_end(raw["before"])) for raw in _read("turns")
    )


def _read(name: str) -> Iterator[dict[str, Any]]:
    for line in (FOLDER / f"{name}.jsonl").read_text("utf-8").splitlines():
        yield json.loads(line)


def _sentences(name: str) -> Iterator[Row]:
    for raw in _read(name):
        said = raw.get("is") or ("report" if raw.get("reports") else "claim" if raw["claims"] else "nothing")
        told = said == "report" and not raw["claims"]
        yield Row(raw["text"], said, raw.get("of", raw["kind"]), calls=tuple(raw.get("calls", ())), told=told)


@cache
def calls() -> tuple[Row, ...]:
    """Reports with one tool call each: done (the call has that effect) or other.

    Of `tools.txt`, where a line holds tools and what may be said of their calls; and of `reports.jsonl`, each sentence
    with its own call and with some of others.
    """
    some, found = Random(0), list[Row]()
    lines = [line.partition("|") for line in (FOLDER / "tools.txt").read_text("utf-8").splitlines()]
    groups = [(tools.split(), [text.strip() for text in said.split(" / ") if text.strip()]) for tools, _, said in lines]
    for group, (tools, said) in enumerate(groups):
        others = [tool for i, (more, _) in enumerate(groups) if i != group for tool in more if tool not in tools]
        for text in said:
            found += [Row(text, "done", "tools", calls=({"name": tool},)) for tool in tools]
            found += [Row(text, "other", "tools", calls=({"name": tool},)) for tool in some.sample(others, 16)]
    told = [row for row in sentences() if row.told]
    found += [replace(row, label="done") for row in told]
    for row in told:
        near = {tool for tools, _ in groups if row.calls[0]["name"] in tools for tool in tools}
        verb = row.calls[0]["name"].split("_")[0]
        far = [r.calls for r in told if r.calls[0]["name"] not in near and not r.calls[0]["name"].startswith(verb)]
        found += [replace(row, label="other", calls=each) for each in some.sample(far, 4)]
    return tuple(found)
