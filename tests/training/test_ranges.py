"""Texts that give one range or limit, and what follows from them: right by construction."""

from collections import Counter
from random import Random

import pytest

from training.reader.data import Passage
from training.reader.everyday_facts import Style, filled, slots
from training.reader.ranges import MEMBERS, SWAPPED, Ranges, blocks, values

BLOCKS = blocks()
STATED = {
    "dm": {"d1", "d2"}, "mm": {"m1", "m2"}, "tm": {"t1", "t2"}, "em": {"e1", "e2"}, "ym": {"y1", "y2"},
    "qm": {"q1", "q2"}, "am": {"a"}, "vb": {"v"}, "cb": {"c"}, "ub": {"u"}, "k": {"k"},
}  # fmt: skip
"""The slots of a statement, by a member of its range."""


def members(line):
    return {slot for slot in slots(line) if slot in SWAPPED}


def test_no_block_is_in_two_parts():
    parts = [{block.name for block in blocks(part)} for part in ("train", "dev")]
    assert all(parts)
    assert sum(map(len, parts)) == len(set().union(*parts)) == len(BLOCKS) >= 100


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.name)
def test_a_block_has_one_range_and_answers_on_both_sides_of_it(block):
    used = [members(asked.question + asked.answer) for asked in block.right]
    assert all(len(slot) == 1 for slot in used), "one member a line"
    sides = Counter(slot in MEMBERS for (slot,) in used)
    assert block.plain or min(sides[True], sides[False]) >= 2, "half of the lines lie on either side"
    (family,) = {slot if slot in MEMBERS else SWAPPED[slot] for (slot,) in used}
    assert all(set(slots(line)) - {"x"} == STATED[family] for line in block.said)
    assert not any(set(slots(line)) - {"x"} for line in block.open)
    style, filling = Style.drawn(Random(1)), values(Random(1)) | {"x": block.things[0]}
    assert not [line for line in (*block.said, *block.open) if "{" in filled(line, filling, style)]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.name)
def test_pairs_differ_in_the_member_alone(block):
    made = Ranges([Passage("written", "", ("The hall was painted in spring.",))])
    for i in range(20):
        right, wrong = made.claimed(block, Random(f"{block.name}/{i}"))
        assert (right.label, wrong.label) == (1.0, 0.0)
        assert right.text == wrong.text
        assert right.query != wrong.query
        answered, left_open = made.asked(block, Random(f"{block.name}/{i}"))
        assert (answered.label, left_open.label) == (1.0, 0.0)
        assert answered != left_open
        assert "{" not in right.text + right.query + wrong.query + answered.query + left_open.text + left_open.query


def test_a_member_is_on_its_side():
    for i in range(500):
        v = values(Random(i))
        for family in "tyq":
            assert v[f"{family}1"] < v[f"{family}m"] < v[f"{family}2"]
            assert not v[f"{family}1"] <= v[f"{family}x"] <= v[f"{family}2"]
        for family in "uvc":
            assert v[f"{family}b"] < v[family] < v[f"{family}a"]
        assert v["am"] < v["a"] < v["ax"]
        assert v["k"] != v["kx"]
        assert len({v[slot] for slot in ("e1", "e2", "em", "ex")}) == 4
        assert 9 <= v["tx"] <= 46


def test_a_line_swapped_twice_is_itself():
    assert all(asked.exchanged(SWAPPED).exchanged(SWAPPED) == asked for block in BLOCKS for asked in block.right)
