"""What is a heading, for layout, for what a sentence claims and for what revise drops."""

from __future__ import annotations

import pytest

from intrinsics_core.text.layout import laid_out
from intrinsics_core.text.lines import BOLD, heading


@pytest.mark.parametrize(
    ("line", "level", "name"),
    [
        ("# Prices", 1, "Prices"),
        ("### **Prices**", 3, "Prices"),
        ("**Prices**", BOLD, "Prices"),
        ("**Prices:**", BOLD, "Prices:"),
        ("__Prices__ :", BOLD, "Prices"),
        ("**Prices** (in euros)", BOLD, "Prices"),
        ("**Dogs** ❌", BOLD, "Dogs"),
    ],
)
def test_a_heading_has_a_level_and_a_name(line: str, level: int, name: str) -> None:
    assert heading(line) == (level, name)


@pytest.mark.parametrize("line", ["", "#", "#1 of them", "**80 euros**.", "**Prices**: 6 euros", "Prices:", "****"])
def test_another_line_is_no_heading(line: str) -> None:
    assert heading(line) is None


def test_a_line_in_bold_with_a_remark_stands_alone() -> None:
    assert [span.text for span in laid_out("**Prices** (in euros)\nAdults pay six.")] == [
        "**Prices** (in euros)",
        "Adults pay six.",
    ]
