"""Rows of tables as they are read: each cell behind the name of its column."""

import pytest

from intrinsics_core.text.layout import laid_out
from intrinsics_core.text.tables import in_words

PRICES = """Kettle Bay Cycle Hire

| Bike | Half day | Full day |
|---|:---:|---|
| City bike | €9 | €14 |
| Tandem | €18 | |
| out of order |

A half day is four hours."""


def sentences(text: str) -> list[str]:
    return [span.text for span in laid_out(text)]


def test_a_row_names_its_columns_and_all_else_stays() -> None:
    assert in_words(sentences(PRICES)) == [
        "Kettle Bay Cycle Hire",
        "",
        "",
        "Bike: City bike; Half day: €9; Full day: €14.",
        "Bike: Tandem; Half day: €18.",
        "| out of order |",
        "A half day is four hours.",
    ]


@pytest.mark.parametrize(
    ("rows", "read"),
    [
        (
            ["| Drink | Price |", "| Tea | 3 |"],
            ["", "Drink: Tea; Price: 3."],
        ),  # no rule: names have no digit, a row has
        (["Drink | Price | Size", "Tea | 3 | small"], ["", "Drink: Tea; Price: 3; Size: small."]),
        (["| Anna | Porto |", "| Bo | Lund |"], ["| Anna | Porto |", "| Bo | Lund |"]),  # nothing says what is a name
        (["| 2023 | 2024 |", "| 3 | 4 |"], ["| 2023 | 2024 |", "| 3 | 4 |"]),
        (["| Drink | Price |", "|---|---|"], ["| Drink | Price |", "|---|---|"]),
        (["| Drink | Price |", "|---|---|", "| | |"], ["", "", ""]),
        (["| only | row |"], ["| only | row |"]),
        (["a || b", "x"], ["a || b", "x"]),
        ([], []),
        (
            ["+------+------+", "| Name | Room |", "+======+======+", "| Ada  | 12   |"],
            ["", "", "", "Name: Ada; Room: 12."],
        ),
    ],
)
def test_what_is_a_table(rows: list[str], read: list[str]) -> None:
    assert in_words(rows) == read


def test_two_tables_have_columns_of_their_own() -> None:
    rows = ["| Tea | Price |", "| green | 3 |", "Cakes:", "| Cake | Price |", "| plum | 4 |"]
    assert in_words(rows) == ["", "Tea: green; Price: 3.", "Cakes:", "", "Cake: plum; Price: 4."]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (
            "Bike        Half day   Full day\nCity bike   €8         €12\nTandem      €18        €28",
            ["", "Bike: City bike; Half day: €8; Full day: €12.", "Bike: Tandem; Half day: €18; Full day: €28."],
        ),
        (
            "Size      Price\nSmall         9\nLarge        12",
            ["", "Size: Small; Price: 9.", "Size: Large; Price: 12."],
        ),
        ("Name\tRoom\nAda Brink\t12", ["", "Name: Ada Brink; Room: 12."]),
        ("He   left the house. She   came back in 1990.", ["He   left the house.", "She   came back in 1990."]),
        (  # lines of prose, spread to one width
            "The   master   keeps all keys\nin the   cupboard   behind the desk 12",
            ["The   master   keeps all keys", "in the   cupboard   behind the desk 12"],
        ),
    ],
)
def test_columns_that_are_made_by_spaces(text: str, read: list[str]) -> None:
    assert in_words(sentences(text)) == read


@pytest.mark.parametrize(
    ("rows", "read"),
    [
        (
            ["| Plan | Chat |", "|---|---|", "| Basic | – |", "| Pro | ✓ |"],
            ["Plan: Basic; Chat: no.", "Plan: Pro; Chat: yes."],
        ),
        (
            ["| Plan | Chat |", "|---|---|", "| Basic | |", "| Pro | x |"],
            ["Plan: Basic; Chat: no.", "Plan: Pro; Chat: yes."],
        ),
        (
            ["| Plan | Chat |", "|---|---|", "| Basic | x |", "| Pro | ✓ |"],
            ["Plan: Basic; Chat: no.", "Plan: Pro; Chat: yes."],
        ),
        (
            ["| Size | M |", "|---|---|", "| waist | - |", "| chest | 96 |"],
            ["Size: waist; M: -.", "Size: chest; M: 96."],
        ),
        (["| Size | M |", "|---|---|", "| waist | |", "| chest | 96 |"], ["Size: waist.", "Size: chest; M: 96."]),
        (["| a | b |", "|---|---|", "| x | 2 |", "| x | 3 |"], ["a: x; b: 2.", "a: x; b: 3."]),
        (["||Mon|Tue|", "|-|-|-|", "|Pool|10-20|9-17|"], ["Pool; Mon: 10-20; Tue: 9-17."]),
    ],
)
def test_a_dash_or_an_empty_cell_beside_ticks_says_no(rows: list[str], read: list[str]) -> None:
    assert in_words(rows)[2:] == read


@pytest.mark.parametrize(
    "rows",
    [
        ["| Choir | Mona Reuter | Monday |", "| Band | Pavel Simic | room 12 |", "| Theatre | Ines Roth | room 4 |"],
        ["| Monday | closed |", "| Tuesday | 9:00 |", "| Sunday | closed |"],
        ["| Ines Roth | the kitchen |", "| Mona Reuter | room 14 |"],
    ],
)
def test_rows_without_a_row_of_names_stay(rows: list[str]) -> None:
    assert in_words(rows) == rows


CSV = 'Crew\n\nName,Room,Duty\nAda Brink,12,nurse\n"Hale, Tom",14,cook'


@pytest.mark.parametrize("text", [CSV, CSV.replace(",", ";").replace("Hale; Tom", "Hale, Tom")])
def test_csv_is_read_with_its_columns(text: str) -> None:
    read = ["Crew", "", "Name: Ada Brink; Room: 12; Duty: nurse.", "Name: Hale, Tom; Room: 14; Duty: cook."]
    assert in_words(sentences(text)) == read


@pytest.mark.parametrize(
    "text",
    [
        "Bring bread, milk\nCall Ada, then Tom\nFeed hens, then geese.",  # a sentence ends in a stop
        "Ada,12\nTom,14\nMona,15",  # no names
        "Ada, nurse\nTom, cook",  # of two lines nothing tells
    ],
)
def test_lines_with_commas_are_no_table(text: str) -> None:
    assert in_words(sentences(text)) == sentences(text)


RECORDS = [
    "Name: Ada Brink\nRoom: 12\n\nName: Tom Hale\nRoom: 14",
    '[{\n "Name": "Ada Brink",\n "Room": "12"\n},\n{\n "Name": "Tom Hale",\n "Room": "14"\n}]',
]


@pytest.mark.parametrize("text", RECORDS)
def test_a_line_of_a_record_is_read_behind_its_first_one(text: str) -> None:
    said = in_words(sentences(text))
    assert "Name: Ada Brink; Room: 12." in said and "Name: Tom Hale; Room: 14." in said


@pytest.mark.parametrize(
    "lines", [["Room: 12", "Floor: 3", "Price: 9"], ["Q: Is it open?", "A: Yes.", "Q: Is it warm?", "A: No."]]
)
def test_other_lines_with_labels_are_no_records(lines: list[str]) -> None:
    assert in_words(lines) == lines
