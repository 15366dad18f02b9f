"""Single cases are data: a kind of them is asked for a rate on its held part, and no sentence for its outcome.

`benchmarks/cases/rates.json` holds the rates, which `python -m benchmarks.cases --write COMMIT` made. Where one is
`missed`, the default does not reach it: it may fall no further, and who reaches it writes the file anew.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

import intrinsics_core
from benchmarks import cases
from benchmarks.outcomes import Job, Outcome, run_jobs

ASKED = json.loads((cases.FOLDER / "rates.json").read_text("utf-8"))
GROUPS = cases.groups()


def run(jobs: Sequence[Job]) -> list[Outcome]:
    return run_jobs(intrinsics_core, jobs, intrinsics_core.as_runtime({"kind": "embedded"}))


def held(name: str) -> list[cases.Row]:
    return [row for kind in GROUPS[name] for row in cases.rows(kind, of_held=True)]


def least_of(name: str) -> float:
    least: float = ASKED[name].get("missed", ASKED[name]["at_least"])
    return least


def test_rows_are_whole_and_each_stands_once() -> None:
    every = [row for kind in cases.kinds() for row in cases.rows(kind)]
    assert len({row["id"] for row in every}) == len(every)
    keys = {"id", "template", "messages", "documents", "expect", "from"}
    assert all(set(row) == keys and row["messages"] and row["template"] for row in every)
    texts = [json.dumps([row[key] for key in ("messages", "documents", "expect")]) for row in every]
    assert len(set(texts)) == len(texts)


def test_each_kind_has_a_rate_and_no_held_row_was_taken_out() -> None:
    assert ASKED.keys() == GROUPS.keys()
    assert all(len(held(name)) >= rate["n"] for name, rate in ASKED.items())


def test_every_fourth_held_case_comes_out_at_the_rate_of_all() -> None:
    """Quick: over all kinds together, less the noise of so few."""
    some = {"all": [row for name in GROUPS for row in held(name)[::4]]}
    least = sum(least_of(name) * len(held(name)[::4]) for name in GROUPS) / len(some["all"])
    found = cases.rates(some, run)["all"]
    assert found.right / found.of >= least - 0.03


@pytest.mark.slow  # hundreds of calls
@pytest.mark.parametrize("name", GROUPS)
def test_a_kind_comes_out_as_expected_at_its_rate(name: str) -> None:
    found = cases.rates({name: held(name)}, run)[name]
    assert found.right / found.of >= least_of(name), f"{found.right} of {found.of}"
    if "missed" in ASKED[name]:
        assert found.right / found.of < ASKED[name]["at_least"], "it is missed no more: write rates.json anew"
