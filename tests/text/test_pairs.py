"""Marks that come in pairs on one line."""

from __future__ import annotations

import pytest

from intrinsics_core.text.pairs import pairs


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ('He said: "Come (soon)."', ['"Come (soon)."', "(soon)"]),
        ("**Dogs** and **cats**", ["**Dogs**", "**cats**"]),
        ("„Ja“ und “yes” et «oui»", ["„Ja“", "“yes”", "«oui»"]),
        ("「はい」（注）", ["「はい」", "（注）"]),
        ("a) one, b) two (or three)", ["(or three)"]),
        ('A 5" pipe', []),
        ('A 5" pipe is "thick"', []),  # which of three belong together is not to be told
        ("(open [wrong) closed]", ["(open [wrong)"]),
        ("<p>One <b>two</b><br></p>", ["<p>One <b>two</b><br></p>", "<b>two</b>"]),
        ('<UL class="a"><li>one<li>two</ul>', ['<UL class="a"><li>one<li>two</ul>']),
        ("a < b > c, <br/> and </p>", []),
        ("none", []),
    ],
)
def test_pairs(line: str, found: list[str]) -> None:
    assert [line[first.start() : second.end()] for first, second in pairs(line)] == found
