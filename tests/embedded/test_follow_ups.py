"""Conversations about several things of one kind: which of them a follow-up question and its answer are about."""

from typing import Any

import pytest

from intrinsics_core import answer_relevance, audit, citations, query_rewrite, run

PLANS = [
    {"id": "plus", "title": "Plus plan", "text": "The Plus plan costs 9 euros a month. It has 5 users."},
    {"id": "pro", "title": "Pro plan", "text": "The Pro plan costs 19 euros a month. It has 20 users."},
]
PRO = ("What does the Plus plan cost?", "9 euros.", "And the Pro plan?", "19 euros.")


def talk(*turns: str) -> list[dict[str, str]]:
    return [{"role": ("user", "assistant")[i % 2], "content": text} for i, text in enumerate(turns)]


def judged(documents: list[dict[str, str]], *turns: str) -> Any:
    return run(audit(talk(*turns), documents))


def rewritten(*turns: str) -> str:
    return run(query_rewrite(talk(*turns))).query


@pytest.mark.parametrize(
    "turns",
    [
        PRO,
        ("What does the Plus plan cost?", "9 euros.", "What does the Pro plan offer?", "Much more."),
        (*PRO, "Is there a discount?", "No."),
    ],
)
def test_it_is_what_was_asked_about_last(turns: tuple[str, ...]) -> None:
    asked = (*turns, "How many users does it have?")
    assert "Plus" not in rewritten(*asked)
    assert judged(PLANS, *asked, "It has 20 users.").label == "faithful"
    assert judged(PLANS, *asked, "It has 5 users.").label != "faithful"


@pytest.mark.parametrize(
    "turns",
    [
        ("Where is the Glass Museum?", "In Mill Street.", "Where is the Tide Museum?", "At the port.", "Is it big?"),
        ("Who is Anna Berg?", "The manager.", "And Tom Hale?", "A librarian.", "Where is his office?"),
        ("What is the capital of France?", "Paris.", "And of Germany?", "Berlin.", "What is its population?"),
    ],
)
def test_what_another_name_took_the_place_of_is_no_reading(turns: tuple[str, ...]) -> None:
    assert not any(name in rewritten(*turns) for name in ("Glass", "Anna", "France"))


@pytest.mark.parametrize(
    ("turns", "query"),
    [
        # a name of another kind
        (("Does the Plus plan support Linux?", "Yes.", "And Windows?", "Yes.", "How many users does it have?"), "Plus"),
        (("Where is the Tide Mill?", "In Ely.", "Can I pay with Visa?", "Yes.", "When was it built?"), "Tide Mill"),
        # a day
        (("Where is the Tide Mill?", "In Ely.", "Is it open on Sundays?", "Yes.", "When was it built?"), "Tide Mill"),
        # a question about both
        (("Who is Anna Berg?", "The manager.", "Does she know Tom Hale?", "Yes.", "Where does she live?"), "Anna Berg"),
        # a name that the answer comes back to
        (("Who is Anna Berg?", "The manager.", "And who is Tom Hale?", "The brother of Anna Berg.",
          "What is her phone number?"), "Anna Berg"),
    ],
)  # fmt: skip
def test_a_name_that_is_still_talked_of_is_a_reading(turns: tuple[str, ...], query: str) -> None:
    assert query in rewritten(*turns)


HOTELS = [
    {"id": "g", "title": "Garden Hotel", "text": "The Garden Hotel is 2 km from the station. Breakfast costs 9 euros."},
    {"id": "h", "title": "Harbour Hotel", "text": "The Harbour Hotel is 300 m from the station. "
     "Breakfast costs 14 euros. The hotel has a sauna. Parking costs 18 euros a day."},
]  # fmt: skip
GARDEN = ("Where is the Garden Hotel?", "It is 2 km from the station.")


@pytest.mark.parametrize(
    "question",
    [
        "How much is breakfast for two there?",
        "What does breakfast cost each of us?",
        "Is any breakfast offered, and for how much?",
        "We are three. How much is breakfast?",
        "How much is breakfast, at most?",
        "How much is breakfast on the other days?",
        "What is the cheapest breakfast they have?",
        "Which price does breakfast have?",
    ],
)
def test_how_many_and_how_often_change_nothing_in_what_is_talked_of(question: str) -> None:
    assert judged(HOTELS, *GARDEN, question, "Breakfast costs 9 euros.").label == "faithful"
    assert judged(HOTELS, *GARDEN, question, "Breakfast costs 14 euros.").label != "faithful"


def test_words_of_number_in_an_answer_change_nothing_either() -> None:
    question = "How much is breakfast at the Garden Hotel?"
    assert judged(HOTELS, question, "Breakfast costs 9 euros each.").label == "faithful"
    assert judged(HOTELS, question, "Breakfast costs 14 euros each.").label != "faithful"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What does parking cost there?", "Parking costs 18 euros a day."),
        ("Is there a sauna?", "Yes, the hotel has a sauna."),
        ("Can I park my car?", "Yes, parking costs 18 euros a day."),
    ],
)
def test_what_only_another_of_its_kind_offers_is_no_answer(question: str, answer: str) -> None:
    assert judged(HOTELS, *GARDEN, question, answer).label != "faithful"


def test_a_document_of_another_kind_may_have_the_answer() -> None:
    tax = {"id": "tax", "title": "City tax", "text": "The city tax is 3 euros a night."}
    asked = (*GARDEN, "How much is the city tax?", "The city tax is 3 euros a night.")
    assert judged([*HOTELS, tax], *asked).label == "faithful"


BOTH = (*GARDEN, "And the Harbour Hotel?", "The Harbour Hotel is 300 m from the station.")
LISTED = ("Which hotels are there?", "There are the Garden Hotel and the Harbour Hotel.")


def test_another_of_its_kind_is_not_put_behind_a_name() -> None:
    asked = "What does a room cost at the Garden Hotel?"
    assert rewritten(asked, "80 euros.", "And at the other hotel?") == "And at the other hotel?"
    assert (
        rewritten(asked, "80 euros.", "And on other days?")
        == "What does a room cost at the Garden Hotel on other days?"
    )


@pytest.mark.parametrize("order", [1, -1])
def test_a_follow_up_is_cited_from_what_it_is_about(order: int) -> None:
    documents = [each | {"text": f"{each['text']} Dogs are welcome."} for each in HOTELS][::order]
    asked = talk(*GARDEN, "Are dogs welcome there?", "Dogs are welcome.")
    assert [cited.document_id for cited in run(citations(asked, documents)).citations] == ["g"]
    assert {c.document_id for sentence in run(audit(asked, documents)).sentences for c in sentence.citations} == {"g"}


@pytest.mark.parametrize(
    "said",
    [
        "80 euros. Would you like to know about breakfast? Just let me know!",
        "80 euros. Do you need information about breakfast?",
        "80 euros. Are you interested in breakfast, too?",
        "80 euros. Want me to check breakfast?",
    ],
)
@pytest.mark.parametrize("yes", ["Yes please", "yes, do that"])
def test_an_accepted_offer_is_what_is_asked(said: str, yes: str) -> None:
    assert "breakfast" in rewritten("What does a room cost?", said, yes)


@pytest.mark.parametrize(
    "said",
    [
        "80 euros. Anything else?",
        "80 euros. Do you need any help?",
        "Do you want breakfast? It costs 9 euros.",
        "You can pay for breakfast by card, if you like.",
        "Are you interested in breakfast? We have eggs. Let me know!",
    ],
)
def test_a_yes_to_anything_else_stands_as_it_is(said: str) -> None:
    assert rewritten("What does a room cost?", said, "Yes") == "Yes"


DOGS = [{"text": "The lido is open on Sundays. Dogs are not admitted. A day ticket costs 6 euros."}]


@pytest.mark.parametrize(
    "behind", ["I have a small terrier.", "Thanks a lot in advance and have a nice day.", "Be quick."]
)
def test_what_stands_behind_the_question_changes_no_answer(behind: str) -> None:
    assert judged(DOGS, f"Are dogs admitted? {behind}", "No.").label == "faithful"
    assert judged(DOGS, f"Are dogs admitted? {behind}", "Yes.").label == "unfaithful"


MINE = ("We are two people with a dog and arrive at 5 p.m.", "Welcome! How can I help you?", "When can we check in?")
CHECK_IN = [{"text": "Check-in is from 3 p.m. Dogs are welcome."}]


@pytest.mark.parametrize("said", ["You said that you arrive at 5 p.m.", "You are two people with a dog."])
def test_what_the_user_told_before_may_be_said_back(said: str) -> None:
    sentences = judged(CHECK_IN, *MINE, f"{said} Check-in is from 3 p.m.").sentences
    assert [sentence.label for sentence in sentences] == ["NA", "faithful"]


@pytest.mark.parametrize(
    "said", ["You said that you arrive at 7 p.m. with nine cats.", "You have a room with a balcony."]
)
def test_what_the_user_did_not_tell_is_judged(said: str) -> None:
    assert judged(CHECK_IN, *MINE, f"{said} Check-in is from 3 p.m.").sentences[0].label in ("partial", "unfaithful")


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        ("For adults or for children?", None),
        ("Do you mean a ticket for a day?", None),
        ("I'm sorry, but I don't know that.", "irrelevant"),
        ("I don't know. Anything else?", "irrelevant"),
        ("Can I help you with anything else?", None),
    ],
)
def test_a_question_back_is_neither_relevant_nor_irrelevant(answer: str, label: str | None) -> None:
    assert run(answer_relevance(talk("How much is a ticket?", answer))).label == label


@pytest.mark.parametrize("begin", ["Hey", "Hi", "Oh", "Alright", "Hmm", "Thx", "Good evening", "Perfect"])
def test_a_follow_up_may_begin_with_any_word_of_courtesy(begin: str) -> None:
    talk = ("What does a day ticket for the lido cost?", "6 euros.", f"{begin}, and on Sundays?")
    assert rewritten(*talk).startswith("What does a day ticket for the lido cost on Sundays?")
