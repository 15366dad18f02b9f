"""Commands that docs/measured.md names, run on a few rows: a change of the core must not leave them broken."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DATA = os.environ.get("RAG_INTRINSICS_DATA")


@pytest.mark.slow
@pytest.mark.skipif(not DATA, reason="RAG_INTRINSICS_DATA names no folder")
def test_support_is_measured_with_the_reader_that_ships() -> None:
    command = [sys.executable, "-m", "benchmarks.quality_support", "--reader", "intrinsics_core/data/reader"]
    done = subprocess.run(
        [*command, "--limit", "3"], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    rows = [line.split(" | ") for line in done.stdout.splitlines() if line.startswith("| lfqa_rag |")]
    assert len(rows) == 2 and all(0 <= float(row[4]) <= 1 for row in rows)  # answers and sentences: AUROC
