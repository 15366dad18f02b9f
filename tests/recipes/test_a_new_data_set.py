"""The recipe for a data set: one function in one file. Tables, fitting and training then read it by its name."""

from __future__ import annotations

import gzip
import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from intrinsics_core import run
from intrinsics_core.bench.datasets import CLAIMS
from intrinsics_core.bench.fact_check_table import TABLE
from intrinsics_core.bench.folder import DataFolder

THE_ONE_FILE = '''
from intrinsics_core.bench.datasets import ClaimRow, claim_set


@claim_set("parking", "fact-check")
def parking(folder):
    """What residents say of the town's parking rules, checked against them."""
    for row in folder.rows("parking"):
        yield ClaimRow(row["said"], (row["rules"],), row["right"])
'''
RULES = "Residents park free of charge on Sundays. On other days an hour costs two euros."
ROWS = [
    {"said": "Residents park free of charge on Sundays.", "rules": RULES, "right": True},
    {"said": "The mayor owns eleven submarines.", "rules": RULES, "right": False},
]


@pytest.fixture
def parking(tmp_path: Path) -> Iterator[DataFolder]:
    """The user's file is imported, and the set's rows lie in a data folder."""
    file = tmp_path / "parking.py"
    file.write_text(THE_ONE_FILE, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("parking", file)
    assert spec and spec.loader
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    lines = "".join(json.dumps(row) + "\n" for row in ROWS)
    (tmp_path / "parking.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    yield DataFolder(tmp_path)
    del CLAIMS["parking"]


def test_the_table_that_it_names_shows_it(parking: DataFolder) -> None:
    assert "parking" in TABLE.sets
    cases = list(TABLE.sets["parking"](parking))
    seen = [case.observe(run(case.call())).labelled["response"][0] for case in cases]
    assert [truth for truth, _, _ in seen] == [True, False]
    assert seen[0][2] > 0.5 > seen[1][2]  # type: ignore[operator]  # both have scores


def test_other_tables_do_not(parking: DataFolder) -> None:
    from intrinsics_core.bench.citations_table import TABLE as CITATIONS

    assert "parking" not in CITATIONS.sets


def test_heads_and_the_reader_can_be_fitted_and_measured_on_it(parking: DataFolder) -> None:
    from training.reader.measuring import evidence_pairs
    from training.support_data import claims

    examples = list(claims("parking")(parking.path))
    assert [(e.sentences, e.label) for e in examples] == [([row["said"]], float(row["right"])) for row in ROWS]
    assert len(examples[0].sources) == 2
    measured = list(evidence_pairs("parking")(parking.path, None))  # type: ignore[arg-type]  # reads no dictionary
    assert [e.label for e in measured] == [1.0, 0.0]
