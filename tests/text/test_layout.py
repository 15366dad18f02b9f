"""Sentences of text with a layout, as a caller's answers and documents have it."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from intrinsics_core.profiles import profile
from intrinsics_core.text.layout import laid_out
from intrinsics_core.text.lines import fenced
from intrinsics_core.text.sentences import punkt
from tests.drawing import drawn

PIECES = [
    "Ada keeps it. ", "Dr. A. Moreau left! ", "Why?", "\n\n", "\r\n", "- one\n- two\n", "1. First.\n2. Second.\n",
    "😀 🎉. ", "灯塔在海边。它很高。", "“好。”", "| a | b |\n", "|---|---|\n", "```\nx = 1. + 2\n```\n", "# Title\n",
    "[1]", "(Passage 2)", "\t", " ", "…", "e\u0301.", "\u2028", "\x00", "\x1c", "No. 5 is 3.14. ", "a line of\n",
    "the text ", "...", "?!", "नमस्ते। ", "e.g. ", "8 p.m. ", "مرحبا؟ ", "\x85", "*",
]  # fmt: skip
TEXTS = st.one_of(st.text(max_size=200), st.lists(st.sampled_from(PIECES), max_size=25).map("".join))


@settings(max_examples=drawn(500))
@given(TEXTS)
@example("")
@example(" \r\n ")
@example("```\n")
def test_offsets_are_exact_and_nothing_is_lost(text):
    end = 0
    for span in laid_out(text):
        assert text[span.begin : span.end] == span.text == span.text.strip() != ""
        assert span.begin >= end
        assert not text[end : span.begin].strip()
        end = span.end
    assert not text[end:].strip()


@settings(max_examples=drawn(300))
@given(TEXTS, TEXTS)
def test_a_blank_line_keeps_what_stands_before_it_as_it_is(before, after):
    assert laid_out(f"{before}\n\n{after}")[: len(laid_out(before))] == laid_out(before)


@settings(max_examples=drawn(300))
@given(st.lists(st.sampled_from(["Ada left", "it is 8 m high", "Rent, monthly", "灯塔", "42"]), min_size=1, max_size=8),
       st.sampled_from(["- ", "* ", "• ", "1. ", "2) ", "(3) ", "> "]), st.sampled_from(["\n", "\r\n"]))  # fmt: skip
def test_every_item_of_a_list_is_a_sentence_of_its_own(items, marker, line):
    text = line.join(marker + item for item in items)
    assert [s.text for s in laid_out(text)] == [marker + item for item in items]


CASES = {
    "- Height: 999 metres\n- Built: 1889\nLet me know!": ["- Height: 999 metres", "- Built: 1889", "Let me know!"],
    "1. Open it. Then wait.\n2. Close it.\n\n3) Go": ["1. Open it.", "Then wait.", "2. Close it.", "3) Go"],
    "Do so: 1. Mix it. 2. Bake it.": ["Do so: 1. Mix it.", "2. Bake it."],
    "It was built by Dr. A. Moreau. He left.": ["It was built by Dr. A. Moreau.", "He left."],
    "**1. Hours**\nIt opens at nine.\n__2. Slide__\nIt is shut.": ["**1. Hours**", "It opens at nine.", "__2. Slide__",
                                                                "It is shut."],
    "**Hours**\nDaily 9-20\n**Slide**\nMondays off": ["**Hours**", "Daily 9-20", "**Slide**", "Mondays off"],
    "```\n**a. b**\n```": ["```", "**a. b**", "```"],
    "**1.** Open it. **2.** Close it.": ["**1.** Open it.", "**2.** Close it."],
    "It was **Dr. Moreau** who left. She scored **12.** He lost.": ["It was **Dr. Moreau** who left.",
                                                                    "She scored **12.**", "He lost."],
    "The U.S. Army left at 8 p.m. Books may be lent.": ["The U.S. Army left at 8 p.m.", "Books may be lent."],
    "See Fig. 2 and No. 5. No. It closes.": ["See Fig. 2 and No. 5.", "No.", "It closes."],
    "Born in 1990. He left in Jan. 2001.": ["Born in 1990.", "He left in Jan. 2001."],
    "灯塔在海边。它很高。为什么？好！": ["灯塔在海边。", "它很高。", "为什么？", "好！"],
    "他说：“好。”然后走了。": ["他说：“好。”", "然后走了。"],
    "「行く。」と言った。": ["「行く。」と言った。"],
    "यह है। वह है।": ["यह है।", "वह है।"],
    "مرحبا بك؟ نعم.": ["مرحبا بك؟", "نعم."],
    "| a | b |\n|---|---|\n| 1. x | 2 |": ["| a | b |", "|---|---|", "| 1. x | 2 |"],
    "```python\nx = 1. + 2\n```\nDone.": ["```python", "x = 1. + 2", "```", "Done."],
    "# On time. Always\nIt ran.": ["# On time. Always", "It ran."],
    "It is blue.[1] It rains.[2][3] Yes.": ["It is blue.[1]", "It rains.[2][3]", "Yes."],
    "(Passage 2)\nThe sky is blue (Passage 1).": ["(Passage 2)", "The sky is blue (Passage 1)."],
    '"Why?" he asked. "Because."': ['"Why?" he asked.', '"Because."'],
    "the shop is open. it closes at five.": ["the shop is open.", "it closes at five."],
    "It was wet... and cold. Brr!": ["It was wet... and cold.", "Brr!"],
    "It cost 3.50. Visit example.com. Bye.": ["It cost 3.50.", "Visit example.com.", "Bye."],
    "Mon: 9-17\nTue: 9-17\nWed: 9-12\nThu: 9-17": ["Mon: 9-17", "Tue: 9-17", "Wed: 9-12", "Thu: 9-17"],
    "Call the office at Tel. 555 0144 or Fax. +49 431 555.": ["Call the office at Tel. 555 0144 or Fax. +49 431 555."],
    "It costs 119 euros incl. 19% VAT (excl. Breakfast).": ["It costs 119 euros incl. 19% VAT (excl. Breakfast)."],
    "Here it is:\n```\nDear Mona, I am glad. It is done.": ["Here it is:", "```", "Dear Mona, I am glad. It is done."],
    "Bike       Day\nTandem     €28\nCity bike  €12": ["Bike       Day", "Tandem     €28", "City bike  €12"],
}  # fmt: skip


@pytest.mark.parametrize("text", CASES)
def test_cases(text):
    assert [span.text for span in laid_out(text)] == CASES[text]


def test_lines_that_only_ran_out_of_room_are_joined():
    wrapped = (
        "The rent is due on the first working day of each month, and if\n"
        "it is not paid by then, a fee of 20 euros may be asked for. The\n"
        "Deposit is returned within 30 days.\n"
    )
    assert [" ".join(s.text.split()) for s in laid_out(wrapped)] == [
        "The rent is due on the first working day of each month, and if it is not paid by then, a fee of 20 euros may "
        "be asked for.",
        "The Deposit is returned within 30 days.",
    ]


WRAPPED = [
    "The master keeps the keys of all the boats\nin a cupboard behind the desk of the office\nand gives them away.",
    "THE MASTER KEEPS THE KEYS OF ALL THE BOATS\nIN A CUPBOARD BEHIND THE DESK OF THE OFFICE\nAND GIVES THEM AWAY.",
    "Der Vermieter gibt dem Mieter alle Schlüssel der\nWohnung und des Kellers zurück, sobald die letzte\nMiete da.",
    "Hours: the museum is open from nine in the morning\nuntil six, and on Thursdays until eight in the\nevening.",
    "She was born in the town of Kiel and she moved to\nBremen in the year 1990, where she worked for the\n12 sisters.",
]


@pytest.mark.parametrize("text", WRAPPED)
def test_wrapped_prose_is_one_sentence(text):
    assert len(laid_out(text)) == 1


def test_who_uses_which():
    for name in ("embedded", "prompted"):
        assert profile(name).split is laid_out
    for name in ("granite-3.2", "granite-3.3"):  # trained on NLTK's
        assert profile(name).split is punkt


def test_blocks_of_code_are_found():
    text = "a\n```py\nx\n```\nb\n~~~\ny"
    assert [text[begin:end] for begin, end in fenced(text)] == ["```py\nx\n```\n", "~~~\ny"]
    assert fenced("") == fenced("a ``` b") == []
