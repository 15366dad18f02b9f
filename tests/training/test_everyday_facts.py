"""Texts of frames, and what follows from them: made by rule, so that a label is right by construction."""

from collections import Counter
from random import Random

import pytest

from training.reader.everyday_facts import DAYS, Asked, Facts, Style, Text, drawn, filled, frames, slots, twin, written
from training.reader.mixture import SHARES, TEACHER
from training.reader.words import MONTHS

FACTS = Facts()
FRAMES = frames()


def texts(frame, count=40):
    return [written(frame, Random(f"{frame.name}/{i}")) for i in range(count)]


def test_no_frame_is_in_two_parts():
    parts = [{frame.name for frame in frames(part)} for part in ("train", "dev", "held")]
    assert all(parts)
    assert sum(map(len, parts)) == len(set().union(*parts)) == len(FRAMES) >= 60


@pytest.mark.parametrize("frame", FRAMES, ids=lambda frame: frame.name)
def test_every_line_of_a_frame_can_be_filled(frame):
    values, style = drawn(Random(1)) | {"x": frame.things[0]}, Style.drawn(Random(1))
    lines = [*frame.prose, frame.line, *(part for column in frame.columns for part in column), *frame.open]
    lines += [line for asked in (frame.listed, *frame.right, *frame.wrong) for line in (asked.question, asked.answer)]
    assert not [line for line in lines if "{" in filled(line, values, style)]
    said = {slot for line in frame.prose for slot in slots(line)}
    told = {slot for asked in frame.right for slot in asked.values}
    assert told <= said
    assert all(asked.question.endswith("?") or "?" in asked.question for asked in frame.right)


@pytest.mark.parametrize("frame", FRAMES, ids=lambda frame: frame.name)
def test_pairs_are_a_true_and_a_false_one_of_words_alone(frame):
    made = Counter()
    for i in range(30):
        for make in (FACTS.claimed, FACTS.asked, FACTS.told):
            unit = make(frame, Random(f"{frame.name}/{i}"))
            assert [pair.label for pair in unit] in ([], [1.0, 0.0])
            assert all(pair.text.strip() and pair.query.strip() and "{" not in pair.text + pair.query for pair in unit)
            assert len({(pair.text, pair.query) for pair in unit}) == len(unit)
            made[make.__name__] += len(unit)
    assert min(made.values()) >= 40


def test_what_is_inside_a_range_is_inside_and_what_is_outside_is_not():
    for i in range(300):
        v = drawn(Random(i))
        for options, kind in ((DAYS, "d"), (MONTHS, "m")):
            inside = options[options.index(v[f"{kind}1"]) : options.index(v[f"{kind}2"]) + 1]
            assert v[f"{kind}m"] in inside
            assert v[f"{kind}x"] not in inside
        assert v["am"] < v["a"] < v["ax"]
        assert v["q1"] <= v["qm"] <= v["q2"] < v["qx"]
        assert v["g1"] <= v["gm"] <= v["g2"] < v["gx"]
        assert v["t1"] < v["t2"]
        assert v["p1"] > v["p2"] > v["p3"]


def test_a_twin_has_the_value_of_the_thing_beside_or_of_another_slot_or_lies_outside():
    asked = Asked("When does the {x} open on {dm}?", "It opens at {t1}.")
    frame = FRAMES[0]
    for text in texts(frame):
        for i in range(20):
            wrong = twin(asked, text, 0, Random(i))
            assert wrong is not None
            line, values = wrong
            style = text.style
            said = filled(line.answer, values, style)
            assert said != filled(asked.answer, text.things[0], style)
            others = [filled("{t1}", beside, style) for beside in text.things[1:]]
            assert any(value in said for value in (*others, filled("{t2}", text.things[0], style)))
    member = Asked("Is the {x} open on {dm}s?", "On {dm}s the {x} is open.")
    line, _ = twin(member, texts(frame)[0], 0, Random(1))
    assert line == Asked("Is the {x} open on {dx}s?", "On {dx}s the {x} is open.")


def test_things_of_one_text_have_no_value_in_common():
    for frame in FRAMES[:20]:
        for text in texts(frame, 10):
            for slot in ("t1", "t2", "p1", "p2", "n", "w", "who"):
                values = [thing[slot] for thing in text.things]
                assert len(set(values)) == len(values), (frame.name, slot)


def test_a_modifier_is_dropped_only_where_it_tells_nothing_apart():
    from training.reader.everyday_facts import _less

    frame = FRAMES[0]
    values = drawn(Random(1))

    def text(*names):
        return Text(frame, (), (), (), " ", tuple(values | {"x": name} for name in names), (), Style.drawn(Random(1)))

    assert _less("The {x} closes.", text("reptile house", "aquarium"), 0) == "The house closes."
    assert _less("The {x} closes.", text("reptile house", "monkey house"), 0) == "The {x} closes."
    assert _less("The {x} closes.", text("aquarium", "monkey house"), 0) == "The {x} closes."


def test_they_are_in_both_mixtures():
    for shares in (SHARES, TEACHER):
        assert min(shares[f"everyday facts{task}"] for task in ("", " asked", " told")) > 0
