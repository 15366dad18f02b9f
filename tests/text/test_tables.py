"""Rows of tables as they are read: each cell behind the name of its column. Which are judged right, the cases say."""

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
CSV = 'Crew\n\nName,Room,Duty\nAda Brink,12,nurse\n"Hale, Tom",14,cook'


def sentences(text: str) -> list[str]:
    return [span.text for span in laid_out(text)]


def read(text: str) -> list[str]:
    return [said for said in in_words(sentences(text)) if said]


READ = {
    PRICES: ["Kettle Bay Cycle Hire", "Bike: City bike; Half day: €9; Full day: €14.", "Bike: Tandem; Half day: €18.",
             "| out of order |", "A half day is four hours."],
    "| Drink | Price |\n| Tea | 3 |": ["Drink: Tea; Price: 3."],  # no rule: names have no digit, a row has
    "Drink | Price | Size\nTea | 3 | small": ["Drink: Tea; Price: 3; Size: small."],
    "| Drink | Price |\n|---|---|\n| | |": [],
    "+------+------+\n| Name | Room |\n+======+======+\n| Ada  | 12   |": ["Name: Ada; Room: 12."],
    "| Tea | Price |\n| green | 3 |\nCakes:\n| Cake | Price |\n| plum | 4 |": ["Tea: green; Price: 3.", "Cakes:",
                                                                             "Cake: plum; Price: 4."],
    "Bike        Half day   Full day\nCity bike   €8         €12": ["Bike: City bike; Half day: €8; Full day: €12."],
    "Size      Price\nSmall         9\nLarge        12": ["Size: Small; Price: 9.", "Size: Large; Price: 12."],
    "Name\tRoom\nAda Brink\t12": ["Name: Ada Brink; Room: 12."],
    # a dash or an empty cell beside ticks says no
    "| Plan | Chat |\n|---|---|\n| Basic | – |\n| Pro | ✓ |": ["Plan: Basic; Chat: no.", "Plan: Pro; Chat: yes."],
    "| Plan | Chat |\n|---|---|\n| Basic | |\n| Pro | x |": ["Plan: Basic; Chat: no.", "Plan: Pro; Chat: yes."],
    "| Plan | Chat |\n|---|---|\n| Basic | x |\n| Pro | ✓ |": ["Plan: Basic; Chat: no.", "Plan: Pro; Chat: yes."],
    "| Size | M |\n|---|---|\n| waist | - |\n| chest | 96 |": ["Size: waist; M: -.", "Size: chest; M: 96."],
    "||Mon|Tue|\n|-|-|-|\n|Pool|10-20|9-17|": ["Pool; Mon: 10-20; Tue: 9-17."],
    CSV: ["Crew", "Name: Ada Brink; Room: 12; Duty: nurse.", "Name: Hale, Tom; Room: 14; Duty: cook."],
    "Name: Ada Brink\nRoom: 12\n\nName: Tom Hale\nRoom: 14": [
        "Name: Ada Brink", "Name: Ada Brink; Room: 12.", "Name: Tom Hale", "Name: Tom Hale; Room: 14."],
}  # fmt: skip
AS_IT_STANDS = [
    "", "| only | row |", "a || b\nx", "| Drink | Price |\n|---|---|",
    "| Anna | Porto |\n| Bo | Lund |",  # nothing says what is a name
    "| 2023 | 2024 |\n| 3 | 4 |",
    "| Choir | Mona Reuter | Monday |\n| Band | Pavel Simic | room 12 |\n| Theatre | Ines Roth | room 4 |",
    "| Monday | closed |\n| Tuesday | 9:00 |\n| Sunday | closed |",
    "He   left the house. She   came back in 1990.",
    "The   master   keeps all keys\nin the   cupboard   behind the desk 12",  # prose, spread to one width
    "Bring bread, milk\nCall Ada, then Tom\nFeed hens, then geese.",  # a sentence ends in a stop
    "Ada,12\nTom,14\nMona,15",  # no names
    "Ada, nurse\nTom, cook",  # of two lines nothing tells
    "Room: 12\nFloor: 3\nPrice: 9", "Q: Is it open?\nA: Yes.\nQ: Is it warm?\nA: No.",
]  # fmt: skip


@pytest.mark.parametrize("text", READ)
def test_a_row_names_its_columns_and_all_else_stays(text: str) -> None:
    assert read(text) == READ[text]


@pytest.mark.parametrize("text", AS_IT_STANDS)
def test_what_is_no_table_stays(text: str) -> None:
    assert in_words(sentences(text)) == sentences(text)
