"""The form of an answer decides nothing: lists, headings, emojis, citations, courtesy, "we", a "No." of its own."""

from __future__ import annotations

import pytest

from intrinsics_core import hallucination_detection, run
from intrinsics_core.embedded.scoring.form import only_names, without_form
from intrinsics_core.embedded.scoring.loops import without_loops
from intrinsics_core.text.layout import laid_out

POOL = [
    {
        "title": "Riverside Pool",
        "text": """Riverside Pool is open every day from 7 am to 9 pm. On Sundays it closes at 6 pm. A single ticket
costs 9 euros for adults. Swimming caps are required in the big pool. The sauna is closed for
repairs until March.""",
    }
]
HOTELS = [
    {
        "title": "Harbour Hotel",
        "text": """The Harbour Hotel has 42 rooms. A double room costs 110 euros a night, breakfast included. There is
a pool on the roof. Dogs are welcome for 15 euros a night.""",
    },
    {
        "title": "Garden Hotel",
        "text": """The Garden Hotel has 18 rooms. A double room costs 85 euros a night; breakfast is 12 euros extra.
There is no pool, but a sauna. Dogs are not allowed.""",
    },
]
CAMP = [
    {
        "title": "Lakeside Camping",
        "text": """There is a restaurant by the lake, open from noon to 10 pm. Dogs are welcome. Bookings can be
cancelled free of charge until 14 days before arrival. Wifi is free on the whole site.""",
    }
]
OVEN = [
    {
        "title": "Manual",
        "text": """To clean the oven, let it cool down first. Remove the racks and wash them by hand with warm soapy
water. Never use steel wool, because it scratches the enamel.""",
    }
]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("1. **Opening hours**\n- daily", ["**Opening hours**", "- Opening hours: daily"]),
        ("**1. Opening hours**\n- daily", ["**Opening hours**", "- Opening hours: daily"]),
        ("**Key facts**\n- open daily", ["**Key facts**", "- open daily"]),
        ("### 1. Opening hours\nDaily.", ["### Opening hours", "Daily."]),
        ("Harbour Hotel\n2) sauna", ["**Harbour Hotel**", "- Harbour Hotel: sauna"]),
        ("Step 1: Cool down.\nStep 2: Remove the racks.", ["- Cool down.", "- Remove the racks."]),
        ("**Not included:**\n- drinks", ["**Not included**", "- Not included: drinks"]),
        ("- ✅ Lunch\n- ❌ Drinks", ["- Lunch: yes.", "- Drinks: no."]),
        ("It lasts four years (Document 4).", ["It lasts four years."]),
        ("| a | b |\n|---|---|\n| x | 2 |", ["", "", "a: x; b: 2."]),
        ("**Ada Brink**", ["**Ada Brink**"]),
        ("It is 2 m² large.\n\nSources: handbook.pdf, p. 3", ["It is 2 m² large.", ""]),
        ("The rent is due in May¹.\n\nReferences\n[1] Price list", ["The rent is due in May.", "", ""]),
        ("It opens at nine.[^1]\n\n[^1]: Handbook, section 2.", ["It opens at nine.", ""]),
        ("The lido opens at 9 a.m.[4]", ["The lido opens at 9 a.m."]),
        ("It costs 6 euros.[1, 3] Dogs stay out.", ["It costs 6 euros.", "Dogs stay out."]),
        ("Ask Anna Brink, [REDACTED_EMAIL].", ["Ask Anna Brink,."]),
        ("Ask <email_hash:1a2b3c4d> or Anna.", ["Ask or Anna."]),
        ("The card is ****-****-****-1111.", ["The card is."]),
        ("It is on ************1111 or ****4567.", ["It is on or."]),
        ("Ask anna@****.com or [MASKED_URL].", ["Ask or."]),
        ("The fee is [REDACTED].", ["The fee is [REDACTED]."]),
        ("Ask anna_b@lease.example.", ["Ask anna_b@lease.example."]),
        ("Set <user_name> or [MAX_SIZE].", ["Set <user_name> or [MAX_SIZE]."]),
        ("The hotel has **** stars.", ["The hotel has **** stars."]),
        ("The range is [1, 5].", ["The range is [1, 5]."]),
        ("The first item of it is [5].", ["The first item of it is [5]."]),
        ("Take the value of x[2].", ["Take the value of x[2]."]),
        ("It was built in [1911](https://example.org/mill).", ["It was built in 1911."]),
        ("Document 1 says that it was built in 1911.", ["It was built in 1911."]),
        ("[1] The rent is 900 euros.", ["[1] The rent is 900 euros."]),
        ("Source: the well is on the hill.", ["Source: the well is on the hill."]),
        ("It left today.\n\nKind regards,\nAnna Schmidt", ["It left today.", "Kind regards,", ""]),
        ("- **Free wifi**\n- **Free parking**", ["- **Free wifi**", "- **Free parking**"]),
        ("- [x] a passport\n- [ ] a booking number", ["- a passport", "- a booking number"]),
        ("[1] Ada Brink designed the garden.", ["[1] Ada Brink designed the garden."]),
        ("Sources: wind, coal and nuclear power", ["Sources: wind, coal and nuclear power"]),
        ("Sources:\nThe hotel offers a casino at night.", ["", "The hotel offers a casino at night."]),
        ("The tile has 10 inch².", ["The tile has 10 inch²."]),
        ("| # | Beds |\n|---|---|\n| Lily | 1 |\n| Rose | 2 |", ["", "", "#: Lily; Beds: 1.", "#: Rose; Beds: 2."]),
        ("Dogs ❌", ["Dogs: no."]),
        (
            "| # | Who | Dogs |\n|---|---|---|\n| 1 | Guests | ✅ |\n| 2 | Staff | ❌ |",
            ["", "", "Who: Guests; Dogs: yes.", "Who: Staff; Dogs: no."],
        ),
        (
            "Bus 12 leaves at:\n- 7:15\n- 8:15",
            ["Bus 12 leaves at:", "- Bus 12 leaves at 7:15", "- Bus 12 leaves at 8:15"],
        ),
    ],
)
def test_marks_of_form_are_left_out(answer: str, said: list[str]) -> None:
    assert without_form([span.text for span in laid_out(answer)]) == said


def test_a_heading_names_something_only_above_something() -> None:
    assert only_names("**Pets**", "- none") and only_names("**Do not bring**", "- drones")
    assert not only_names("**Pets**", "") and not only_names("**Dogs are not allowed**", "Cats are.")


def judged(documents: list[dict[str, str]], question: str, answer: str, *before: str) -> str | None:
    turns = [
        {"role": ("user", "assistant")[i % 2], "content": text} for i, text in enumerate((*before, question, answer))
    ]
    return run(hallucination_detection(turns, documents)).label


@pytest.mark.parametrize(
    ("documents", "question", "answer"),
    [
        (OVEN, "How do I clean my oven?", "1. Let the oven cool down.\n2. Remove the racks."),
        (POOL, "Tell me about Riverside Pool", "1. **Opening hours**\n- every day: 7 am to 9 pm"),
        (POOL, "Tell me about Riverside Pool", "🕐 **Opening hours**\n- every day: 7 am to 9 pm"),
        (POOL, "When does it close on Sundays?", "On Sundays the pool closes at 6 pm (Document 1)."),
        (POOL, "When does the pool close on Sundays?", "On Sundays the pool closes at 6 pm. Enjoy your swim!"),
        (POOL, "When does the pool close on Sundays?", "On Sundays the pool closes at 6 pm.\n\nConfidence: high"),
        (POOL, "Is the sauna open?", "No. The sauna is closed for repairs until March."),
        (POOL, "Is the sauna open?", "🚫 No\n\nThe sauna is closed for repairs until March."),
        (HOTELS, "Does the Garden Hotel have a pool?", "No. There is no pool, but a sauna."),
        (POOL, "What does a ticket cost?", "A single ticket costs 9 euros for adults.\n\nSource: prices.pdf, p. 2"),
        (POOL, "What does a ticket cost?", "## Prices\n\n| Who | Price |\n|---|---|\n| Adults | 9 euros |"),
        (POOL, "What does a ticket cost?", "Dear Ms Miller,\n\na ticket costs 9 euros for adults.\n\nBest,\nTom"),
        (POOL, "Does a single ticket cost 6 euros?", "A single ticket costs 9 euros for adults, not 6."),
        (POOL, "Look up the price of a ticket and mail it to Tom.", "A single ticket costs 9 euros for adults."),
        (POOL, "Tell me about the pool.", "Are caps required in the big pool? Yes. Is the sauna closed? Yes."),
        (POOL, "What does a ticket cost?", "## Helpful facts for you\n\nA single ticket costs 9 euros for adults."),
        (POOL, "what does a ticket cost", "It is 9 euros for adults."),
        (POOL, "We come on a Sunday at 5. Is it open?", "You said that you come at 5. On Sundays it closes at 6 pm."),
    ],
)  # fmt: skip
def test_form_does_not_make_a_right_answer_wrong(documents: list[dict[str, str]], question: str, answer: str) -> None:
    assert judged(documents, question, answer) == "faithful"


@pytest.mark.parametrize(
    ("documents", "question", "answer"),
    [
        (CAMP, "Do you have a restaurant?", "No, we don't have a restaurant."),
        (CAMP, "Can I cancel?", "Unfortunately we can't refund bookings that are cancelled 20 days before arrival."),
        (CAMP, "Do you have a restaurant?", "I'm glad to tell you that there is a casino with 200 seats."),
        (POOL, "When does the pool close on Sundays?", "Happy to help: on Sundays it closes at 8 pm."),
        (POOL, "When does the pool close on Sundays?", "Sure, 8 pm."),
        (POOL, "Is the sauna open?", "Yes, the sauna is closed for repairs until March."),
        (POOL, "Are swimming caps required?", "No. Swimming caps are required in the big pool."),
        (HOTELS, "Which hotel allows dogs?", "**Garden Hotel**"),
        (HOTELS, "Tell me about the hotels", "Harbour Hotel\n- sauna\n- no pool\n\nGarden Hotel\n- pool on the roof"),
        (HOTELS, "Tell me about the Garden Hotel.", "It has 18 rooms. Dogs are welcome for 15 euros a night."),
        (POOL, "What is there?", "- **Free towels**\n- **Free parking**\n- **Free lockers**"),
        (POOL, "When does it close?", "**Parking included**\n\nOn Sundays the pool closes at 6 pm."),
        (POOL, "When does the pool close on Sundays?", "On Sundays the pool closes at 5 pm, not 6 pm."),
        (CAMP, "Am I charged for wifi on the site?", "You are charged for wifi on the site."),
        (POOL, "Is the sauna open?", "[1] Tom Rowe designed the sauna."),
        (POOL, "When does it open?", "Riverside Pool opens at:\n- 3:15\n- 4:45"),
        (POOL, "What does a ticket cost?", "A single ticket costs 12 euros for adults.\n\nSource: prices.pdf"),
        (HOTELS, "Compare the hotels.", "The Garden Hotel has a sauna. Dogs are welcome there."),
    ],
)  # fmt: skip
def test_form_does_not_hide_a_wrong_answer(documents: list[dict[str, str]], question: str, answer: str) -> None:
    assert judged(documents, question, answer) in ("unfaithful", "partial")


def test_a_follow_up_is_about_what_was_talked_of() -> None:
    before = ("Tell me about the Garden Hotel.", "It has 18 rooms.")
    assert judged(HOTELS, "Does it have a pool?", "Yes, on the roof.", *before) != "faithful"
    assert judged(HOTELS, "Does it have a pool?", "No, but a sauna.", *before) == "faithful"
    assert judged(HOTELS, "How much is breakfast there?", "Breakfast costs 12 euros.", *before) == "faithful"
    before = ("Tell me about the Harbour Hotel.", "It has 42 rooms.")
    assert judged(HOTELS, "How much is breakfast there?", "Breakfast costs 12 euros.", *before) != "faithful"
    assert judged(HOTELS, "Where is there a sauna?", "There is a sauna in the Garden Hotel.", *before) == "faithful"


def test_a_number_in_a_question_names_a_chapter() -> None:
    chapters = [{"title": f"Chapter {i}", "text": f"The hero is {age} years old."} for i, age in ((3, 40), (4, 12))]
    assert judged(chapters, "How old is the hero in chapter 4?", "He is 40 years old.") != "faithful"
    assert judged(chapters, "How old is the hero in chapter 4?", "He is 12 years old.") == "faithful"


@pytest.mark.parametrize("title", ["Kettle manual, part {}", "manual.pdf p. {}", "Section {}"])
def test_a_number_in_words_names_no_chunk_of_a_document(title: str) -> None:
    texts = ("Fill it up to the mark.", "Descale it once a month.", "The warranty lasts two years.")
    chunks = [{"title": title.format(i), "text": text} for i, text in enumerate(texts, 1)]
    assert judged(chunks, "How long is the warranty?", "The warranty lasts two years.") == "faithful"
    trek = [{"title": f"Trek {i}", "text": f"It weighs {weight} kg."} for i, weight in ((1, 14), (2, 11))]
    assert judged(trek, "How heavy is the Trek 1?", "The Trek 1 weighs 11 kg.") != "faithful"


def test_the_words_of_another_thing_are_no_quote() -> None:
    recipe = [
        {"text": "Pancakes need half a litre of milk and three eggs. The cake needs 200 ml of milk and two eggs."}
    ]
    for answer in ("The cake needs half a litre of milk.", "You need half a litre of milk for the cake."):
        assert judged(recipe, "How much milk does the cake need?", answer) != "faithful"


TARIFFS = [
    {"title": "Tariff Lumo Basic", "text": "It includes 5 GB of data. The connection fee is €20. There is no 5G."},
    {"title": "Tariff Lumo Flex", "text": "It includes 12 GB of data. There is no connection fee. 5G is included."},
]


@pytest.mark.parametrize(
    "lead",
    [
        "Lumo Flex can be cancelled at any time. However, it includes {} GB of data.",
        "Lumo Flex can be cancelled at any time. That may matter to you. This tariff includes {} GB of data.",
        "There are two choices, Lumo Basic and Lumo Flex. The latter includes {} GB of data.",
        "**Lumo Flex** (first choice)\n\n- Data: {} GB",
        "- Lumo Flex\n  - Data: {} GB",
        "Lumo Flex has these features:\n\n- data: {} GB",
        "## Lumo Flex\n\n**Details**\n\n- data: {} GB",
        "**Data**\n- Tariff Lumo Flex: {} GB",
    ],
)
def test_what_a_line_is_about_is_carried_on(lead: str) -> None:
    question, turns = "What should I know about the two tariffs?", [12, 5]
    labels = [
        run(
            hallucination_detection(
                [{"role": "user", "content": question}, {"role": "assistant", "content": lead.format(data)}], TARIFFS
            )
        )
        .sentences[-1]
        .label
        for data in turns
    ]
    assert labels[0] == "faithful" and labels[1] in ("unfaithful", "partial")


def test_a_number_of_another_subject_keeps_a_response_below_faithful() -> None:
    answer = (
        "Lumo Flex has 5G. There is no connection fee. Lumo Basic has no 5G. It has a fee. Lumo Flex has 5 GB of data."
    )
    assert judged(TARIFFS, "What should I know about the two tariffs?", answer) != "faithful"


@pytest.mark.parametrize(
    "line",
    [
        "Here are the main differences between the two tariffs.",
        "Which one is better depends on your needs.",
        "### Option 2: Tariff Lumo Flex",
        "- Tariff Lumo Flex",
    ],
)
def test_what_only_introduces_claims_nothing(line: str) -> None:
    turns = [
        {"role": "user", "content": "What should I know about the two tariffs?"},
        {"role": "assistant", "content": f"{line}\n\n- 12 GB of data"},
    ]
    assert run(hallucination_detection(turns, TARIFFS)).sentences[0].label == "NA"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("zebra " * 50, "zebra zebra zebra"),
        ("It opens at nine. " + "ha ho " * 40, "It opens at nine. " + "ha ho " * 2 + "ha ho"),
        ("x y z. " * 50, "x y z. x y z. x y z."),
        ("no, no, no", "no, no, no"),
        ("The  price is\n9 euros", "The  price is\n9 euros"),
        ("", ""),
    ],
)
def test_a_loop_is_read_three_times(text: str, left: str) -> None:
    assert without_loops(text) == left


@pytest.mark.parametrize("loop", ["zebra ", "ha ", "dogs bite "])
def test_an_answer_that_ran_into_a_loop_is_not_faithful(loop: str) -> None:
    said = "The monthly rent is 950 euros. "
    for answer in (loop * 60, said + loop * 60):
        turns = [{"role": "user", "content": "What is the rent?"}, {"role": "assistant", "content": answer}]
        assert run(hallucination_detection(turns, [said])).label == "unfaithful"
    turns[-1]["content"] = said * 3
    assert run(hallucination_detection(turns, [said])).label == "faithful"
