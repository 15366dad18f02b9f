"""Single cases of what people, programs and reviews met, as data: a file a kind, one JSON object a line.

Fields: `id`; `template`, the case with its names and numbers taken out; `messages`; `documents`; `expect`, what is
expected of a public result; `from`, where the case was first written down. `expect` names the `intrinsic`, and beside
it any of: `label`, one or several of which each is right (with `sentence` or `document`, of that one; "not faithful" is
any other); `like`, a second call whose label must be the same; `query`, the rewrites that are right; `has`, `lacks`,
words of the rewrite; `judged`, whether there is a probability; `cites`, the documents cited; `first`, the documents
that may be ranked first; `disagrees`, whether an audit says that documents do.

A kind is asked for a rate on its held third, never for a sentence. Cases are split by template, so that none stands on
both sides. What is fitted may be fitted on the others.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.outcomes import Job, Outcome, job

FOLDER = Path(__file__).parent
OTHERWISE = "another document says otherwise"
FEWEST = 10
"""Held rows that a rate of a kind is asked for."""
Row = dict[str, Any]


class Rate(NamedTuple):
    right: int
    of: int


def kinds() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.jsonl"))


def held(row: Mapping[str, Any]) -> bool:
    """Whether a row is of the held third: by the hash of its template."""
    return int(hashlib.sha256(row["template"].encode()).hexdigest(), 16) % 3 == 0


def rows(kind: str, *, of_held: bool | None = None) -> list[Row]:
    """The rows of a kind; ``of_held``: the held ones alone, or the others alone."""
    every = [json.loads(line) for line in (FOLDER / f"{kind}.jsonl").read_text("utf-8").splitlines()]
    return [row for row in every if of_held is None or held(row) is of_held]


def jobs(row: Row) -> list[Job]:
    """The calls that tell whether a row comes out as expected: one, or two that must agree."""
    intrinsic, like = row["expect"]["intrinsic"], row["expect"].get("like")
    return [job(intrinsic, each["messages"], each["documents"]) for each in (row, *([like] if like else []))]


def right(some: Sequence[Row], found: Sequence[Outcome]) -> list[bool]:
    """Of each row whether it comes out as expected, given the results of all their jobs in order."""
    told = iter(found)
    return [is_right(row["expect"], list(islice(told, len(jobs(row))))) for row in some]


def groups() -> dict[str, list[str]]:
    """The kinds by what a rate is asked of: each for itself, or together under `others` where few rows are held."""
    found: dict[str, list[str]] = {}
    for kind in kinds():
        found.setdefault(kind if len(rows(kind, of_held=True)) >= FEWEST else "others", []).append(kind)
    return found


def rates(some: Mapping[str, Sequence[Row]], run: Callable[[Sequence[Job]], Sequence[Outcome]]) -> dict[str, Rate]:
    """By name, how many of some rows come out as expected. run: gives the results of jobs, in their order."""
    every = [row for each in some.values() for row in each]
    told = iter(right(every, run([one for row in every for one in jobs(row)])))
    return {name: Rate(sum(islice(told, len(each))), len(each)) for name, each in some.items()}


def is_right(expected: Mapping[str, Any], told: Sequence[Outcome]) -> bool:
    if any("error" in outcome for outcome in told):
        return False
    found = told[0]
    checks: dict[str, Callable[[Any], bool]] = {
        "label": lambda wanted: agrees(wanted, label_of(expected, found)),
        "like": lambda other: label_of(other, told[1]) == label_of(expected, found),
        "query": lambda wanted: found["query"] in wanted,
        "has": lambda wanted: all(text in found["query"] for text in wanted),
        "lacks": lambda wanted: not any(text in found["query"] for text in wanted),
        "judged": lambda wanted: (found["probability"] is not None) is wanted,
        "cites": lambda wanted: sorted({one["document_index"] for one in found["citations"]}) == wanted,
        "first": lambda wanted: found["ranking"][0]["index"] in wanted,
        "disagrees": lambda wanted: any(OTHERWISE in words for words in found.get("disagreements", ())) is wanted,
    }
    return all(checks[name](wanted) for name, wanted in expected.items() if name in checks)


def label_of(expected: Mapping[str, Any], found: Outcome) -> str | None:
    """The label of the result, or of its sentence or document that is meant."""
    for name, several in (("sentence", "sentences"), ("document", "judgements")):
        if name in expected:
            some, at = found[several], expected[name]
            return some[at]["label"] if -len(some) <= at < len(some) else "there is none"
    label: str | None = found["label"]
    return label


def agrees(wanted: str | Sequence[str | None], label: str | None) -> bool:
    accepted = [wanted] if isinstance(wanted, str) else wanted
    return any(label != one[4:] if one and one.startswith("not ") else label == one for one in accepted)
