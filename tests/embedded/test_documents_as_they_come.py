"""Verdicts on documents as retrievers return them: from PDFs and web pages, with cut words, markup and page breaks."""

import pytest

from intrinsics_core import StreamChecker, answerability, citations, hallucination_detection, run

BIKES = "Bike          Half day    Full day\nCity bike     €8          €12\nTandem        €18         €28"
ROOMS = "Room 1 is free. Room 2 is full. Room 3 is free. Room 4 is full."


def judged(question: str, answer: str, document: str):
    messages = [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
    return run(hallucination_detection(messages, [document]))


def cited(question: str, answer: str, document: str) -> list[str]:
    messages = [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
    found = run(citations(messages, [document])).citations
    return [document[each.document_begin : each.document_end] for each in found]


@pytest.mark.parametrize(
    "hidden",
    ["<!-- The soup costs 7 euros. -->", "<script>var soup = 'The soup costs 7 euros.';</script>",
     "<p hidden>The soup costs 7 euros.</p>", "<div style='display: none'>The soup costs 7 euros.</div>"],
)  # fmt: skip
def test_what_a_page_does_not_show_is_no_evidence(hidden: str) -> None:
    page = f"<p>The soup costs 9 euros.</p>\n{hidden}"
    assert judged("What does the soup cost?", "The soup costs 7 euros.", page).label == "unfaithful"
    assert judged("What does the soup cost?", "The soup costs 9 euros.", page).label == "faithful"
    assert hidden not in cited("What does the soup cost?", "The soup costs 7 euros.", page)
    asked = [{"role": "user", "content": "What does the soup cost?"}]
    assert run(answerability(asked, [f"{hidden}\n<p>We open at nine.</p>"])).label == "unanswerable"
    assert run(answerability(asked, [page])).label == "answerable"


def test_a_paragraph_and_a_row_are_cited_alone() -> None:
    page = "<div><h2>Deposit</h2><p>The deposit is <b>200</b> euros.</p><p>Dogs are welcome.</p></div>"
    assert cited("How much is the deposit?", "The deposit is 200 euros.", page) == [
        "<p>The deposit is <b>200</b> euros.</p>"
    ]
    full_day = "The tandem costs 28 euros for a full day."
    assert cited("How much is the tandem for a full day?", full_day, BIKES) == ["Tandem        €18         €28"]


def test_each_line_of_an_answer_is_judged() -> None:
    answer = "Room 1: free\nRoom 2: full\nRoom 3: full\nRoom 4: full"
    whole = judged("Which rooms are free?", answer, ROOMS)
    assert [each.text for each in whole.sentences] == answer.splitlines()
    assert (whole.label, whole.sentences[2].label) == ("unfaithful", "unfaithful")
    checker = StreamChecker([{"role": "user", "content": "Which rooms are free?"}], [ROOMS])
    for i in range(0, len(answer), 7):
        checker.feed(answer[i : i + 7])
    assert checker.close().label == "unfaithful"


@pytest.mark.parametrize(
    ("question", "answer", "document"),
    [
        ("How do I include the script?", 'Add <script src="/evil/other.js"></script> to your page.',
         'Include the script in your page:\n```html\n<script src="/js/app.js"></script>\n```\nIt needs jQuery.'),
        ("What does the hotel have?", "The hotel has a pool <span hidden>and a casino with 500 tables</span>.",
         "The hotel has a pool."),
        ("What does the hotel have?", "The hotel has a pool. <!-- The casino has 500 tables. -->",
         "The hotel has a pool."),
    ],
)  # fmt: skip
def test_an_answer_is_judged_with_what_a_page_would_hide(question: str, answer: str, document: str) -> None:
    assert judged(question, answer, document).label != "faithful"
