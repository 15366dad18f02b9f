"""The table of programs names tests that are there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_each_program_of_the_table_is_a_test() -> None:
    text = (ROOT / "benchmarks/results/programs.md").read_text(encoding="utf-8")
    table = text.split("## Judging the right thing")[1].split("\n## ")[0]
    named = re.findall(r"`(test_\w+)` \|$", table, re.MULTILINE)
    assert len(named) >= 30
    places = ("integrations/*/tests/**/*.py", "tests/chains/*.py", "tests/contract/*.py")
    files = [file for place in places for file in ROOT.glob(place)]
    there = "".join(file.read_text(encoding="utf-8") for file in files)
    assert [name for name in named if f"def {name}(" not in there] == []
