"""The sentences of a document as models read them."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from intrinsics_core.embedded.words import is_known
from intrinsics_core.text.cleaning import cleaned
from intrinsics_core.text.layout import laid_out
from intrinsics_core.text.outline import columns_of
from intrinsics_core.text.reading import as_read, readings
from tests.drawing import drawn


def read(text: str) -> list[str]:
    """What is read of a document as evidence; as many texts as sentences."""
    spans = laid_out(text)
    found = readings([span.text for span in spans], columns_of(text, spans))
    assert len(found) == len(spans)
    return [each.text for each in found if each.text]


PARKING = """Q: Can I park overnight?
A: Unfortunately not, the car park closes at 11 pm.

Q: Is there a charger?
A: Yes, on level 2.

Q: How much is an hour?
A: 3 euros."""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            PARKING,
            [
                "Can not I park overnight: the car park closes at 11 pm.",
                "Is there a charger: on level 2.",
                "How much is an hour: 3 euros.",
            ],
        ),
        (
            "### Is breakfast included?\n\nNo. You can book it at the desk.\n\n### Is there a lift?\n\nYes.",
            ["Is not breakfast included.", "You can book it at the desk.", "Is there a lift."],
        ),
        ("Guest: Has the heating been repaired?\nHost: No, not yet.", ["Has not the heating been repaired: not yet."]),
        ("Is breakfast included? It costs 9 euros extra.", ["About breakfast: It costs 9 euros extra."]),
        (
            "Why did the mill burn down? A lamp had been left on.",
            ["Why did the mill burn down: A lamp had been left on."],
        ),
        ("Is the bridge open? Has the ferry been repaired?", []),
        ("When does the pool open?", []),
        ("Can you deliver on Sundays? Never.", ["Never."]),
        ("Could you please wait? No.", ["Could not you please wait."]),
        ("Is the bridge open? Many people ask us.", ["Many people ask us."]),
    ],
)
def test_an_answer_is_read_with_its_question_and_a_question_alone_is_not(text: str, said: list[str]) -> None:
    assert read(text) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Is there a gym?\nOn the second floor, open from 6 to 22.", "On the second floor, open from 6 to 22."),
        ("Are dogs allowed? Of course, for 5 euros.", "Are dogs allowed: for 5 euros."),
        ("Can I bring a friend? Of course not.", "Can not I bring a friend."),
        ("Is there a larger room? No. 12 is larger.", "No. 12 is larger."),
        ("Are you over 65? You pay 5 euros.", "If you are over 65: You pay 5 euros."),
        ("Have you already paid? The fee is returned.", "If you have already paid: The fee is returned."),
        ("Did you buy it before 2020? It has five years.", "If you buy it before 2020: It has five years."),
        ("Do you have a pool? The nearest one is in Kolding.", "The nearest one is in Kolding."),
        ("Are you open on Sunday? From nine to five.", "From nine to five."),
        ("Have you a pool? It is heated.", "About you: It is heated."),
    ],
)
def test_an_answer_that_is_neither_yes_nor_no_may_stand_behind_a_condition(text: str, said: str) -> None:
    assert read(text) == [said]


@pytest.mark.parametrize(
    "text",
    [
        "Did you know that the tower is 300 m tall? It was built in 1889.",
        "Did you know the pool is heated? It was built in 1999.",
        "Have you ever wondered how the tide mill of Lundby, built in 1911, works? The sea drives it.",
        "Do you remember when Ada Brink opened the mill on 3 May 1911? It rained.",
        "Are you free on Sunday, when entrance is free? Come and see us.",
        "What is better than the lake, which is 22 degrees warm? A bath is not.",
    ],
)
def test_a_question_may_tell_what_it_seems_to_ask(text: str) -> None:
    assert read(text) == [span.text for span in laid_out(text)]


@pytest.mark.parametrize(
    "text",
    ["Did you know where the key is? It is here.", "Have you noticed a leak? It is usual.",
     "Do you know whether it is open? It is.", "When is breakfast, and who is the cook? It is at nine.",
     "Are you aware of any fee? It is not charged."],
)  # fmt: skip
def test_a_question_that_asks_tells_nothing(text: str) -> None:
    question, _, _ = text.partition("?")
    assert not any(said.startswith(f"{question}?") for said in read(text))


def test_an_answer_in_a_passage_stands_behind_its_question_as_it_is() -> None:
    assert as_read(["Is there a gym?", "On the second floor.", "Bring a towel."]) == [
        "",
        "Is there a gym? On the second floor.",
        "Bring a towel.",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "My order 5512 has not arrived, can you check where it is?",
        "She asked whether the bridge is open. Nobody knew.",
        "Tell us if you come by car. No dogs are allowed.",
        "Could you please send the plumber before 15 March? My neighbour has a key.",
        "How about Thursday at 3 in the library?",
        "“Is it open?” he asked. It was.",
        "Ist das Haus offen? Ja.",
    ],
)
def test_what_tells_something_stays(text: str) -> None:
    assert read(text) == [span.text for span in laid_out(text)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "The following are not covered:\n- theft\n- water damage\n\nThe following are covered:\n- fire",
            [
                "The following are not covered: theft.",
                "The following are not covered: water damage.",
                "The following are covered: fire.",
            ],
        ),
        (
            "(1) The landlord pays for\na) heating,\nb) the roof.\n(2) The tenant pays for\na) taps and\nb) blinds.",
            [
                "The landlord pays for: heating.",
                "The landlord pays for: the roof.",
                "The tenant pays for: taps.",
                "The tenant pays for: blinds.",
            ],
        ),
        (
            "- Harbour Hotel\n  - pool: yes\n  - rooms:\n    - single\n- Garden Hotel\n  - pool: no",
            ["Harbour Hotel: pool: yes.", "Harbour Hotel: rooms: single.", "Garden Hotel: pool: no."],
        ),
        (
            "# Plans\n\n## Basic\n\nStorage: 5 GB.\n\n## Pro\n\nIt is the best plan.\n- Storage: 50 GB",
            [
                "# Plans",
                "## Basic",
                "Basic: Storage: 5 GB.",
                "## Pro",
                "It is the best plan.",
                "Pro: Storage: 50 GB.",
            ],
        ),
        (
            "What must guests bring?\n1. towels\n2. soap",
            ["What must guests bring: towels.", "What must guests bring: soap."],
        ),
    ],
)
def test_an_item_is_read_behind_what_introduces_it(text: str, said: list[str]) -> None:
    assert read(text) == said


@pytest.mark.parametrize(
    "text",
    [
        "The house has three rooms.\n- one with a balcony\n- two without",
        "Household insurance.\n- not covered: theft\n- covered: fire",
        "# Deposit\n\nDeposit: 200 euros.",  # one heading tells nothing apart
        "The tour ends at the harbour. Bring: a coat.",
        "> Is quoted\n> and goes on",
        f"{'word ' * 26}:\n- item",
    ],
)
def test_what_nothing_introduces_stays(text: str) -> None:
    assert read(text) == [span.text for span in laid_out(text)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Soup\n[x] vegan\n[ ] spicy\nStew\n[ ] vegan", ["Soup: vegan: yes.", "Soup: not spicy.", "Stew: not vegan."]),
        ("Room 4 has: [x] shower [ ] bathtub", ["Room 4 has: shower: yes; not bathtub."]),
        ("- [ ] Order lunch\n- [X] Book the bus.", ["not Order lunch.", "Book the bus: yes."]),
        ("shower ☑ bathtub ☐", ["shower: yes; not bathtub."]),
        ("Use a[x] to read [x](page) or [ ].", ["Use a[x] to read [x](page) or [ ]."]),
        ("It has footnotes. [1] And more.", ["It has footnotes.", "[1] And more."]),
    ],
)
def test_boxes_are_read_in_words(text: str, said: list[str]) -> None:
    assert read(text) == said


def test_columns_are_counted_in_the_line_of_a_sentence() -> None:
    text = "One. Two.\n  - three\r\n\t- four\n"
    assert columns_of(text, laid_out(text)) == [0, -1, 2, 4]
    assert as_read([]) == readings([]) == []


@pytest.mark.parametrize(
    "text",
    [
        "Infants\tfree\nPupils\t5 euros\nAdults\t10 euros",
        "Anna Berg\tnone\nTom Hale\t7\nIda Moe\t9",
        "Monday\tclosed\nTuesday\t9-17\nSunday\t10-12",
        "| Breakfast | included |\n| Dinner | 20 euros |\n| Lunch | 12 euros |",
        "Basic\tunlimited\nPro\t5\nMax\t9",
    ],
)
def test_a_first_row_with_a_value_names_no_columns(text: str) -> None:
    assert len(read(text)) == text.count("\n") + 1


@pytest.mark.parametrize("first", ["Ticket\tPrice", "Name\tPoints", "Day\tOpening hours", "Meal\tPrice", "Plan\tUsers"])
def test_a_first_row_without_a_value_names_columns(first: str) -> None:
    name = first.partition("\t")[2]
    assert read(f"{first}\nOne\t5\nTwo\t9")[0].endswith(f"{name}: 5.")


@pytest.mark.parametrize(
    "text",
    ["Use [x] to match the letter x and [ ] to match a space in the pattern.", "Use [ ] to make an empty list.",
     "Array access a [x] returns the value.", "Tick [x] where it applies.", "Write [ ] for none."],
)  # fmt: skip
def test_prose_may_speak_of_boxes(text: str) -> None:
    assert read(text) == [text]
    assert read(f"```\n- [ ] {text}\n```")[1] == f"- [ ] {text}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (  # a list to be ticked
            "Night shift:\n☐ Count the keys\n☐ Lock the cabinet",
            ["Night shift: Count the keys.", "Night shift: Lock the cabinet."],
        ),
        ("- [ ] Choose tiles\n- [ ] Order sinks", ["Choose tiles.", "Order sinks."]),
        ("- [x] Order sinks\n- [ ] Choose tiles", ["Order sinks: yes.", "not Choose tiles."]),
        (  # numbered headings
            "Excused: Karin Holm\n\n1. Water pump\nThe old pump leaks.\n\n2. Heating\nIt works again.",
            ["Excused: Karin Holm", "1. Water pump", "The old pump leaks.", "2. Heating", "It works again."],
        ),
        ("Not covered:\n1. Flood\n2. Theft", ["Not covered: Flood.", "Not covered: Theft."]),
        (  # a numbered sentence is no heading of what follows
            "House rules\n1. Keep quiet after ten.\nThe desk closes at nine.",
            ["House rules: Keep quiet after ten.", "The desk closes at nine."],
        ),
    ],
)
def test_empty_boxes_and_numbers_that_say_nothing(text: str, said: list[str]) -> None:
    assert read(text) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[x] vegan", "vegan: yes."),
        ("- [ ] spicy", "spicy."),
        ("Payment: [x] cash [ ] card.", "Payment: cash: yes; not card."),
        ("shower [x] bathtub [ ]", "shower: yes; not bathtub."),
        ("Breakfast [x]", "Breakfast: yes."),
    ],
)
def test_boxes_are_put_in_words(text: str, said: str) -> None:
    assert read(text) == [said]


@pytest.mark.parametrize(("name", "said"), [("Symbol", "x"), ("Size", "x"), ("Lift", "yes")])
def test_an_x_may_be_a_symbol(name: str, said: str) -> None:
    assert read(f"| Term | {name} |\n|---|---|\n| one | x |\n| two | - |")[0] == f"Term: one; {name}: {said}."


def test_a_long_line_is_put_in_front_of_no_item() -> None:
    assert sum(map(len, read("x" * 2_000 + "\n" + "- a\n" * 100))) < 5_000


@pytest.mark.parametrize(
    "text",
    [
        "The pool is closed.[3]\n- The sauna is open.",
        "酒店有一个游泳池。\n- 早餐免费",
        "“It is closed.”\n- The sauna is open.",
        "It is closed![^1][2]\n- The sauna is open.",
    ],
)
def test_a_sentence_that_has_ended_introduces_no_list(text: str) -> None:
    assert read(text) == text.split("\n")


@pytest.mark.parametrize("text", ["Not covered[2]\n- theft", "Not covered:\n- theft", "**Not covered**\n- theft"])
def test_a_line_that_has_no_end_introduces_a_list(text: str) -> None:
    (said,) = read(text)
    assert said.startswith("Not covered") and said.endswith(": theft.")


MARKS = [
    "> ",
    ">",
    ">> ",
    "- ",
    "* ",
    "1. ",
    "a) ",
    "[ ] ",
    "[x] ",
    "☐ ",
    "```",
    "## ",
    "**",
    "|",
    "|---|",
    "\t",
    "   ",
    "\f",
    " ",
]
TAGS = ["<p>", "</p>", "<br>", "<div hidden>", "</div>", "<!--", "-->", "&amp;"]
SAYS = [
    "The pool opens at 9 a.m.",
    "Is breakfast included?",
    "No.",
    "No, 9 euros.",
    "Monday: 9-17",
    "closed",
    "Tom: ",
    "cancella-",
    "tions",
    "Page 3 of 9",
    "Contents",
    "1 Safety ...... 3",
    "Not covered:",
    "?",
    ":",
    "(",
    ")",
    "[1]",
    "中文。",
]
LINES = st.lists(st.sampled_from([*MARKS, *TAGS, *SAYS]), max_size=6).map("".join)


@settings(max_examples=drawn(400))
@given(st.lists(LINES, max_size=12).map("\n".join))
@example("> The pool is closed today because of the storm\n>\n> It opens again tomorrow.")  # a quoted mail
def test_any_lines_are_read_as_many_texts_as_sentences(text: str) -> None:
    spans = laid_out(text)
    sentences = [span.text for span in spans]
    assert sentences == [text[span.begin : span.end] for span in spans]
    said = cleaned(sentences, is_known)
    assert len(readings(said, columns_of(text, spans))) == len(as_read(said)) == len(sentences)
