"""Single cases of what people, programs and reviews met, as data: a file a kind, one JSON object a line.

Fields: `id`; `template`, the case with its names and numbers taken out; `messages`; `documents`; `expect`, what is
expected of the public result, or a list of such; `from`, where the case was first written down. A kind is asked for a
rate on its held third, never for a sentence: cases are split by template, so that no template stands on both sides.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.outcomes import Job, Outcome, job

FOLDER = Path(__file__).parent
Row = dict[str, Any]


def kinds() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.jsonl"))


def held(row: Mapping[str, Any]) -> bool:
    """Whether a row is of the held third: by the hash of its template."""
    return int(hashlib.sha256(row["template"].encode()).hexdigest(), 16) % 3 == 0


def rows(kind: str, *, of_held: bool | None = None) -> list[Row]:
    """The rows of a kind; ``of_held``: the held ones alone, or the others alone."""
    every = [json.loads(line) for line in (FOLDER / f"{kind}.jsonl").read_text("utf-8").splitlines()]
    return [row for row in every if of_held is None or held(row) is of_held]


def expectations(row: Row) -> list[dict[str, Any]]:
    expected = row["expect"]
    return expected if isinstance(expected, list) else [expected]


def jobs(row: Row) -> list[Job]:
    """The calls that tell whether a row comes out as expected: one for each expectation."""
    return [
        job(expected["intrinsic"], row["messages"], row["documents"], **expected.get("arguments", {}))
        for expected in expectations(row)
    ]


def is_right(row: Row, found: Iterable[Outcome]) -> bool:
    return all(meets(expected, outcome) for expected, outcome in zip(expectations(row), found, strict=True))


def meets(expected: Mapping[str, Any], found: Outcome) -> bool:
    """Whether a result is as expected. Of several labels, any one is right; "not faithful" is any but that."""
    if "error" in found:
        return False
    checks = {
        "label": lambda wanted: agrees(wanted, label_of(expected, found)),
        "query": lambda wanted: found["query"] in wanted,
        "changed": lambda wanted: found["changed"] is wanted,
        "unsure": lambda wanted: found.get("unsure", False) is wanted,
        "cites": lambda wanted: sorted({one["document_index"] for one in found["citations"]}) == wanted,
        "first": lambda wanted: found["ranking"][0]["index"] in wanted,
    }
    return all(checks[name](wanted) for name, wanted in expected.items() if name in checks)


def label_of(expected: Mapping[str, Any], found: Outcome) -> str | None:
    """The label of the result, or of its sentence or document that is meant; None where there is no such one."""
    if "sentence" in expected or "document" in expected:
        some, at = (found["sentences"], expected["sentence"]) if "sentence" in expected else (
            found["judgements"], expected["document"]
        )  # fmt: skip
        return some[at]["label"] if -len(some) <= at < len(some) else None
    label: str = found["label"]
    return label


def agrees(wanted: str | list[str], label: str | None) -> bool:
    accepted = [wanted] if isinstance(wanted, str) else wanted
    return any(label != one.removeprefix("not ") if one.startswith("not ") else label == one for one in accepted)
