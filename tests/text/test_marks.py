"""No form of mark lowers the rate of right answers that are called faithful; `revise` keeps them."""

from __future__ import annotations

import pytest

import intrinsics_core
from benchmarks.quality_marks import SHAPES, rates, right

ANSWERS = right(20)


@pytest.mark.parametrize("quick", [True, pytest.param(False, marks=pytest.mark.slow)], ids=["quick", "thorough"])
def test_no_form_of_mark_lowers_the_rate(quick: bool) -> None:
    answers, names = (ANSWERS, list(SHAPES)[::4]) if quick else (right(5), list(SHAPES))
    runtime = intrinsics_core.as_runtime({"kind": "embedded"})
    [(_, plain, kept)] = rates(answers, runtime, ["none"])  # type: ignore[arg-type]  # it is the embedded one
    found = {name: told for name, *told in rates(answers, runtime, names)}  # type: ignore[arg-type]
    least = plain - len(answers) // 20
    assert {name: told for name, told in found.items() if told[0] < least or told[1] < kept - 1} == {}
