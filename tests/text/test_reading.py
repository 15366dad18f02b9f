"""The sentences of a document as models read them. How often claims about them are judged right, the cases say."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from intrinsics_core.embedded.words import is_known
from intrinsics_core.text.cleaning import cleaned
from intrinsics_core.text.layout import laid_out
from intrinsics_core.text.reading import as_read, columns_of, readings
from tests.drawing import drawn


def read(text: str) -> list[str]:
    """What is read of a document as evidence; as many texts as sentences."""
    spans = laid_out(text)
    found = readings([span.text for span in spans], columns_of(text, spans))
    assert len(found) == len(spans)
    return [each.text for each in found if each.text]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Q: Can I park?\nA: No, it closes at 11.\n\nQ: How much is it?\nA: 3 euros.",
         ["Can not I park: it closes at 11.", "How much is it: 3 euros."]),
        ("### Is there a lift?\n\nYes.", ["Is there a lift."]),
        ("Is the bridge open? Many people ask us.", ["Many people ask us."]),
        ("When does the pool open?", []),
        ("Not covered:\n- water damage;\n- fire\nAll else is.",
         ["Not covered: water damage.", "Not covered: fire.", "All else is."]),
        ("- Garden Hotel\n  - double room: 70 euros\n- Harbour Hotel",
         ["Garden Hotel: double room: 70 euros.", "- Harbour Hotel"]),
        ("The pool is closed.\n- The sauna is open.", ["The pool is closed.", "- The sauna is open."]),
        ("[x] vegan\n[ ] spicy", ["vegan: yes.", "not spicy."]),
        ("☐ Lock the cabinet", ["Lock the cabinet."]),
        ("Use a[x] to read [x](page) or [ ].", ["Use a[x] to read [x](page) or [ ]."]),
        ("```\n| a | b |\n|---|---|\n| 1 | 2 |\n- [x] c\n```", ["```", "a: 1; b: 2.", "- [x] c", "```"]),
    ],
)  # fmt: skip
def test_each_sentence_says_by_itself_what_it_means(text: str, said: list[str]) -> None:
    assert read(text) == said


def test_an_answer_in_a_passage_stands_behind_its_question_as_it_is() -> None:
    assert as_read(["Is there a gym?", "On the second floor.", "Bring a towel."]) == [
        "", "Is there a gym? On the second floor.", "Bring a towel."
    ]  # fmt: skip


def test_columns_are_counted_in_the_line_of_a_sentence() -> None:
    text = "One. Two.\n  - three\r\n\t- four\n"
    assert columns_of(text, laid_out(text)) == [0, -1, 2, 4]
    assert as_read([]) == readings([]) == []


def test_a_long_line_is_put_in_front_of_no_item() -> None:
    assert sum(map(len, read("x" * 2_000 + "\n" + "- a\n" * 100))) < 5_000


PIECES = [
    "> ", ">", ">> ", "- ", "* ", "1. ", "a) ", "[ ] ", "[x] ", "☐ ", "```", "## ", "**", "|", "|---|", "\t", "\f",
    "<p>", "</p>", "<br>", "<div hidden>", "</div>", "<tr>", "</tr>", "<td>", "<!--", "-->", "&amp;",
    "The pool opens at 9 a.m.", "Is breakfast included?", "No.", "No, 9 euros.", "Monday: 9-17", "closed", "Tom: ",
    "cancella-", "tions", "Page 3 of 9", "1 Safety ...... 3", "Not covered:", "?", ":", "(", ")", "[1]", "中文。",
]  # fmt: skip
LINES = st.lists(st.sampled_from(PIECES), max_size=6).map("".join)


@settings(max_examples=drawn(400))
@given(st.lists(LINES, max_size=12).map("\n".join))
@example("> The pool is closed today because of the storm\n>\n> It opens again tomorrow.")  # a quoted mail
def test_any_lines_are_read_as_many_texts_as_sentences(text: str) -> None:
    spans = laid_out(text)
    sentences = [span.text for span in spans]
    assert sentences == [text[span.begin : span.end] for span in spans]
    said = cleaned(sentences, is_known)
    assert len(readings(said, columns_of(text, spans))) == len(as_read(said)) == len(sentences)
