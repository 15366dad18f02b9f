"""Numbers of documents that an answer cites are no claims: "The rent is 950 euros [2]."."""

from __future__ import annotations

import pytest

from intrinsics_core import hallucination_detection, run
from intrinsics_core.embedded.scoring.document_marks import without_document_marks

TEXTS = [
    "Dogs are allowed if the landlord agrees in writing.",
    "The monthly rent is 950 euros and is due on the third working day of the month.",
    "Fog is common in May.",
    "The lift stops at each floor. The first argument is argv[1].",
    "Bins are emptied on Monday. The allowed range is [1, 5].",
]


@pytest.mark.parametrize(
    ("cited", "said"),
    [
        ("The monthly rent is 950 euros [2].", "The monthly rent is 950 euros."),
        ("The monthly rent is 950 euros[2].", "The monthly rent is 950 euros."),
        (
            "A double room costs 85 euros [1][2], and breakfast 12 [3].",
            "A double room costs 85 euros, and breakfast 12.",
        ),
        ("It is **950 euros [2]** or **960 euros** [1, 3].", "It is **950 euros** or **960 euros**."),
        ("The house [4] is open in May [3] and on Mondays.", "The house is open in May and on Mondays."),
        ("The mill was built by Ada Brink[1]", "The mill was built by Ada Brink"),
        ("Install it with `pip install mill` [2].", "Install it with `pip install mill`."),
        ("Du zahlst 950 Euro [2].", "Du zahlst 950 Euro."),
        ("| Rent | 950 euros [2] |", "| Rent | 950 euros |"),
        ("租金是950欧元[2]。", "租金是950欧元。"),
    ],
)
def test_the_number_of_a_document_is_no_claim(cited: str, said: str) -> None:
    assert without_document_marks([cited], TEXTS) == [said]


@pytest.mark.parametrize(
    "said",
    [
        "The monthly rent is 950 euros [7].",  # no document has this number
        "The rent is [3].",
        "The allowed range is [1, 5].",
        "The interval [1, 5] is closed.",
        "It takes [2] days, and there are [3] dogs.",
        "Press button [2].",
        "See figure [4] or table [1].",
        "The second argument is argv[2].",  # a document has "argv["
        "It reads x[2].",
        "It prints users[2].name.",
        "It prints `rows [2]`, and then it ends.",
        "```\na = b [2]\n```",
        "[1] Ada Brink designed the garden.",
        "It stands on [2](https://example.org/hill).",
    ],
)
def test_a_value_stays(said: str) -> None:
    assert without_document_marks([said], TEXTS) == [said]


@pytest.mark.parametrize("mark", [" [2]", "[2]", " [1][4]", "[3, 4]"])
@pytest.mark.parametrize(
    "answer",
    [
        "The monthly rent is 950 euros{}.",
        "The monthly rent{} is 950 euros{}.",
        "Dogs are allowed{} if the landlord agrees in writing{}.",
        "- Bins are emptied on Monday{}",
        "The monthly rent is 780 euros{}.",
    ],
)
def test_a_mark_does_not_change_a_verdict(answer: str, mark: str) -> None:
    def judged(text: str) -> tuple[str | None, float | None]:
        turns = [{"role": "user", "content": "Tell me about it."}, {"role": "assistant", "content": text}]
        [sentence] = run(hallucination_detection(turns, [{"text": each} for each in TEXTS])).sentences
        return sentence.label, sentence.score

    found, expected = judged(answer.replace("{}", mark)), judged(answer.replace("{}", ""))
    assert found == expected
    assert (found[0] == "faithful") is ("780" not in answer)
