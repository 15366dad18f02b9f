"""Sentences that claim nothing, and as many that look like them and do: a file a kind, one JSON object a line.

`text`, `kind`, `claims`; in `reports.jsonl` also `calls`, the tool calls that stand in the conversation, and `reports`,
whether the sentence says that something was done for the user, called for or not. English text of our own, written for
this, Apache-2.0. Of each kind, and of what claims and what does not, every second line is held out.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
TALK = ("courtesy", "offers", "questions", "unknown")
REPORTS = "reports"


@dataclass(frozen=True)
class Row:
    """A sentence, and whether it claims something.

    reports: whether it says that something was done for the user. calls: tool calls that stand before it.
    """

    text: str
    kind: str
    claims: bool
    reports: bool = False
    calls: tuple[Any, ...] = ()


def rows(kind: str, *, held: bool) -> list[Row]:
    """The rows of a kind that are held out, or those that are not."""
    every = [json.loads(line) for line in (FOLDER / f"{kind}.jsonl").read_text("utf-8").splitlines()]
    found = []
    for claims in (False, True):
        some = [row for row in every if row["claims"] is claims]
        found += [
            Row(row["text"], kind, claims, row.get("reports", False), tuple(row.get("calls", ())))
            for row in some[1 if held else 0 :: 2]
        ]
    return found
