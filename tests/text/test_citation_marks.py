"""Marks of citations: each shape is blanked where it stands, all offsets stay, and what only looks like one stays."""

from __future__ import annotations

import re

import pytest

from intrinsics_core.text.citation_marks import SHAPES, blank_marks, unmarked

TEXTS = ["The rent is 950 euros.", "Fog is common in May; see argv[2]."]
CLAIM = "The rent is 950 euros"
MARKS = {
    "footnote": ["[^1]", "[^1^]", "[^note-2]"],
    "numbered link": ["[1](https://lease.example/a_(b))", "[[1]](https://lease.example)", "[^1](#fn1)"],
    "link in parentheses": ["([site](https://lease.example))", "([a](https://a.example), [b](https://b.example))"],
    "doubled brackets": ["[[1]]"],
    "lenticular brackets": ["【1†source】", "【4:0†lease.pdf】"],
    "label and number": ["[citation:1]", "[ID:0]", "(Passage 2)", "[doc1]", "[source 1, 2]", "(see page 12)"],
    "file": ["[lease.pdf]", "(lease.pdf, p. 3)", "[lease.docx#page=2]"],
    "address": ["(source: https://lease.example/x)", "[see https://lease.example]"],
    "raised tag": ["<sup>1</sup>", "<sup>[2]</sup>", "<sup>1, 2</sup>"],
    "tags around a number": ["<cite>1</cite>", "<ref>1, 2</ref>"],
    "link that is named like its site": ["[lease.example](https://www.lease.example/a)"],
    "tag": ["<cite>", "</cite>", '<ref name="a"/>', "<co:1>"],
    "private characters": ["\ue200cite\ue202turn0search1\ue201"],
    "comment": ["<!-- page 3 -->", "<!---->"],
    "raised number": ["¹", "¹²"],
    "taken out": [
        "[REDACTED_EMAIL]",
        "[PHONE_NUMBER]",
        "<email_hash:1a2b3c4d>",
        "anna@****.com",
        "****-****-****-1111",
    ],
    "token": ["<|im_end|>", "</s>", "<end_of_turn>", "<|eot_id|>", "[/INST]"],
}


def test_every_shape_has_an_example() -> None:
    assert set(MARKS) == set(SHAPES)


@pytest.mark.parametrize("mark", [mark for marks in MARKS.values() for mark in marks] + ["[1]", "[1, 2]", "[1][2]"])
def test_a_mark_is_blanked_wherever_it_stands(mark: str) -> None:
    apart = [f"{CLAIM} {mark}.", f"{CLAIM}. {mark}", f"{CLAIM} {mark} and more."]
    for text in apart if "*" in mark else [*apart, f"{CLAIM}{mark}.", f"{CLAIM}.{mark}"]:
        blank = blank_marks(text, TEXTS)
        assert len(blank) == len(text) and blank.split() == text.replace(mark, " ").split(), text
    (said,) = unmarked([f"{CLAIM} {mark}."], TEXTS)
    assert said == f"{CLAIM}."


@pytest.mark.parametrize("name", ["lease-7", "The lease (2024)", "https://lease.example/a?b=1", "scan 3.tiff"])
def test_a_name_of_a_document_is_a_mark(name: str) -> None:
    for text in (f"{CLAIM} [{name}].", f"{CLAIM} ({name})."):
        assert unmarked([text], TEXTS, [name]) == [f"{CLAIM}."]
    assert blank_marks(f"{CLAIM} as {name} says.", TEXTS, [name]) == f"{CLAIM} as {name} says."


@pytest.mark.parametrize(
    "text",
    [
        "Call `argv[1]` first.", "See argv[2].", "It costs [9] euros.", "Use List[int] here.", "He (Tom) left.",
        "A < B and C > D.", "It is 10 m² large.", "The code is [ok].", "Press [Enter].", "Write to anna@lease.example.",
        "The rent (950 euros) is due.", "[x] done", "Use <b>bold</b>.", "It opens at 9 (not 10).",
    ],
)  # fmt: skip
def test_what_is_no_mark_stays(text: str) -> None:
    assert blank_marks(text, TEXTS) == text


def test_a_link_is_its_words() -> None:
    text = "The [lease](https://lease.example/a) runs a year. ![plan](plan.png)"
    assert unmarked([text], TEXTS) == ["The lease runs a year. plan"] and len(blank_marks(text)) == len(text)


def test_lines_of_sources_say_nothing() -> None:
    lines = [CLAIM, "Sources:", "- lease.pdf, p. 3", "[1] https://lease.example"]
    assert unmarked(lines, TEXTS) == [CLAIM, "", "", ""]
    assert unmarked(["Sources: lease.pdf", "[^1]: The lease", "Source of the Nile: Lake Victoria"], TEXTS) == [
        "", "", "Source of the Nile: Lake Victoria",
    ]  # fmt: skip
    assert unmarked([CLAIM, "[1]", "(lease.pdf)"], TEXTS) == [CLAIM, "", ""]


@pytest.mark.parametrize("piece", ["[", "(", "【", "<", "[1", "([a](", "<!--", "*", "\ue200a", "[^", "¹", "@****"])
def test_a_long_text_of_half_marks_takes_a_bounded_number_of_steps(piece: str) -> None:
    text = piece * 20_000
    assert len(blank_marks(text, TEXTS)) == len(text)
    assert re.search(r"\S", blank_marks(text + CLAIM, TEXTS))
