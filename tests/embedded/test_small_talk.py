"""Sentences that claim nothing about the documents' world are NA, and what only looks like them is judged."""

from __future__ import annotations

from typing import Any

import pytest

from intrinsics_core import hallucination_detection, run
from intrinsics_core.embedded.models.bi_encoder import BiEncoder
from intrinsics_core.embedded.scoring.claims import makes_claim
from intrinsics_core.embedded.scoring.reports import CallsMade
from intrinsics_core.protocol.task import check
from training.small_talk import REPORTS, TALK, rows

MILL = ["The tide mill stands on the east quay. Ada Brink built the mill in 1911. Entry is 4 euros."]
SENT = {"name": "send_email", "arguments": '{"to": "anna@example.org", "subject": "The mill"}'}


def verdicts(answer: str, calls: list[dict[str, str]] | None = None) -> list[str]:
    said = {"role": "assistant", "content": answer, "tool_calls": calls or []}
    found = run(hallucination_detection([{"role": "user", "content": "Mail Anna who built the mill."}, said], MILL))
    return [sentence.label for sentence in found.sentences]


@pytest.mark.parametrize(
    "text",
    [
        "You are welcome!", "No problem.", "Bye!", "Have a nice day.", "Shall I draft a reply to the landlord?",
        "I can also look that up for you if you like.", "Please tell me which model you have.",
        "I don't know.", "I'm afraid I can't help with that.",
    ],
)  # fmt: skip
def test_small_talk_is_na_in_an_answer(text: str) -> None:
    assert verdicts(text) == ["NA"]


@pytest.mark.parametrize(
    "text",
    [
        "You're welcome to visit until 9.", "I don't know of any fee for children under six.",
        "No problem with parking: there are 40 spaces.", "Sure, the museum opens at nine on Sundays.",
        "The last bus leaves at 22:10.", "Ada Brink.", "In 1911.",
    ],
)  # fmt: skip
def test_what_looks_like_small_talk_is_a_claim(encoder: BiEncoder, text: str) -> None:
    assert makes_claim(text, encoder.encode([text])[0])


RULES = """The warranty covers damage from water for two years. It does not cover frost. Dogs are allowed on the
terrace. Towels are not provided. A day pass costs 10,900. Table 7 is reserved. Oksana pays for the gate."""


def replied(question: str, answer: str) -> str | None:
    turns = [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
    return run(hallucination_detection(turns, [RULES])).label


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        ("Does the warranty cover water?", "Yes, it does.", "No, it does not."),
        ("May my dog be on the terrace?", "Yes, of course it may.", "No, it may not be there."),
        ("Are towels provided?", "Towels are not provided.", "Yes, they are."),
    ],
)
def test_a_short_answer_is_judged_with_its_question(question: str, right: str, wrong: str) -> None:
    assert (replied(question, right), replied(question, wrong)) == ("faithful", "unfaithful")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("price of a day pass", "10,900"), ("How much is a day pass?", "1.50"), ("Which table is taken?", "Table 7."),
        ("Who pays for the gate?", "Oksana."), ("Does it cover frost?", "No, it doesn't."),
        ("May I come with a dog?", "Yes, that's fine."), ("What does a dog cost?", "Nothing at all."),
        ("How often may I come?", "Just once."), ("Which of the two is free?", "Neither of them."),
        ("May I come with a dog?", "Sure, you can."), ("May I come with a dog?", "I'm afraid not."),
        ("The till is stuck again. What is the first step?", "Phone for assistance straight away."),
    ],
)  # fmt: skip
def test_what_answers_a_question_by_itself_is_judged(question: str, answer: str) -> None:
    assert replied(question, answer) != "NA"


@pytest.mark.parametrize(
    ("turn", "answer"),
    [
        ("Thanks!", "You're welcome!"), ("Who pays?", "No, I can't tell."), ("Who pays?", "No idea, sorry."),
        ("Is it far?", "Hard to say."), ("Is it far?", "No idea."), ("When does it open?", "The hours are not stated."),
        ("Thanks!", "Not at all."), ("Thanks!", "No problem!"), ("Can you help me?", "Sure, no problem."),
    ],
)  # fmt: skip
def test_small_talk_is_na_as_a_whole_answer(turn: str, answer: str) -> None:
    assert replied(turn, answer) == "NA"


def test_a_report_is_na_only_where_its_call_was_made() -> None:
    assert verdicts("I have sent the email to Anna.", [SENT]) == ["NA"]
    assert verdicts("Done!", [SENT]) == ["NA"]
    for calls in ([], [{"name": "cancel_order"}], [{"name": "search", "arguments": "Anna email"}]):
        assert verdicts("I have sent the email to Anna.", calls) != ["NA"], calls
    for claim in ("I have sent the email to Bruno.", "I sent Anna the news that the mill burned down in 1940."):
        assert verdicts(claim, [SENT]) != ["NA"]
    assert verdicts("I have sent the email to Anna. Ada Brink built the mill in 1911.", [SENT]) == ["NA", "faithful"]


BOOKED = {"name": "book_table", "arguments": {"people": 2, "time": "19:30"}}
BOOK = "Book a table for two at 19:30."
CANCELLED = {"name": "cancel_subscription", "arguments": {"what": "newsletter"}}


def said_later(asked: str, said: str, call: dict[str, Any], task: str) -> str:
    turns = [
        {"role": "user", "content": task},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": "ok"},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": asked},
        {"role": "assistant", "content": said},
    ]
    return run(hallucination_detection(turns, ["Ada Brink built the mill in 1911."])).label


@pytest.mark.parametrize(
    ("asked", "said", "call", "task"),
    [
        ("Did you send it?", "Yes, I sent the mail to Anna.", SENT, "Please mail that to Anna."),
        ("Thanks! Did you mail it to Anna?", "Yes.", SENT, "Please mail that to Anna."),
        ("Thanks. Sent?", "I have sent the email to Anna.", SENT, "Please mail that to Anna."),
        ("Was the table booked?", "Yes, I booked a table for two at 19:30.", BOOKED, BOOK),
        ("Thanks!", "You're welcome! I have booked the table.", BOOKED, BOOK),
        ("Are you sure that it is booked?", "Yes, your table is booked for 19:30.", BOOKED, BOOK),
    ],
)
def test_a_call_of_an_earlier_turn_is_reported_where_the_user_asks_what_was_done(
    asked: str, said: str, call: dict[str, Any], task: str
) -> None:
    assert said_later(asked, said, call, task) == "NA"


@pytest.mark.parametrize(
    ("asked", "said", "call", "task"),
    [
        ("Please send it to Bruno, too.", "I have sent the email to Bruno.", SENT, "Please mail that to Anna."),
        ("Send it again.", "I have sent it again.", SENT, "Please mail that to Anna."),
        ("Did it work? Send it to me as well.", "I have sent it.", SENT, "Please mail that to Anna."),
        ("Did you mail it to Bruno?", "Yes.", SENT, "Please mail that to Anna."),
        ("Did you cancel it?", "Yes.", BOOKED, BOOK),
        ("Did you send it to Bruno?", "Yes, I have sent it.", SENT, "Please mail that to Anna."),
        ("Did you cancel it?", "Yes, I have cancelled the table.", BOOKED, BOOK),
        ("Was the table booked?", "Yes, I booked a table for four at 21:00.", BOOKED, BOOK),
        ("Did you send it?", "I sent it to Anna, and the mill burned in 1940.", SENT, "Please mail that to Anna."),
        ("Did you send the house rules?", "Yes, I have sent the house rules.", SENT, "Please mail that to Anna."),
        ("Thanks!", "You're welcome! I have also sent the invoice to your boss.", SENT, "Please mail that to Anna."),
        ("Did you cancel the booking?", "Yes, I have cancelled the booking.", CANCELLED, "Cancel my newsletter."),
    ],
)
def test_a_call_of_an_earlier_turn_is_no_reason_to_believe_another_report(
    asked: str, said: str, call: dict[str, Any], task: str
) -> None:
    assert said_later(asked, said, call, task) in ("partial", "unfaithful")


def test_a_call_of_an_earlier_turn_is_no_call_of_this_one() -> None:
    turns = [
        {"role": "user", "content": "Mail Anna."},
        {"role": "assistant", "content": None, "tool_calls": [{"type": "function", "id": "1", "function": SENT}]},
        {"role": "tool", "content": "sent, message 5512", "tool_call_id": "1"},
    ]
    told = {"role": "assistant", "content": "I have sent the email to Anna, message 5512."}
    task = check("hallucination-detection", [*turns, told], (), ends_with=("assistant",))
    assert [call.name for call in task.tool_calls] == ["send_email"]
    assert CallsMade(task).reported_alone(task.response)
    later = check("x", [*turns, told, {"role": "user", "content": "And?"}, told], (), ends_with=("assistant",))
    assert later.tool_calls == () and not CallsMade(later).reported_alone(later.response)


@pytest.mark.slow
def test_the_held_half_is_told_apart_as_well_as_it_is_said(encoder: BiEncoder) -> None:
    found: dict[bool, list[bool]] = {False: [], True: []}
    for row in (row for kind in TALK for row in rows(kind, held=True)):
        found[row.claims].append(makes_claim(row.text, encoder.encode([row.text])[0]) is row.claims)
    assert min(sum(each) / len(each) for each in found.values()) > 0.92


def test_the_written_sentences_are_as_many_on_both_sides_and_none_twice() -> None:
    every = [row for kind in (*TALK, REPORTS) for held in (False, True) for row in rows(kind, held=held)]
    for kind in (*TALK, REPORTS):
        sides = [sum(row.claims is claims for row in every if row.kind == kind) for claims in (False, True)]
        assert min(sides) >= 200, kind
    assert len({(row.text, str(row.calls)) for row in every}) == len(every)


LEASE = ["The rent is 900 euros a month. The deposit is two months' rent. The tenant may keep one cat."]


@pytest.mark.parametrize(
    "claim",
    [
        "The lease does not mention dogs and the rent is 5000 euros a month.",
        "I could not find anything about dogs; the deposit is ten months' rent.",
        "The deposit is ten months' rent, so let me know if you need more.",
        "I apologise, the deposit is ten months' rent.",
        "I'm sorry, but there is no balcony.",
        "I'm sorry to say that the deposit is ten months' rent.",
        "Sorry for the confusion, but cats are not allowed.",
        "I'm sorry, you can't keep cats.",
        "We are sorry, but we don't have flats with a garden.",
        "Feel free to keep up to five dogs.",
        "The deposit is ten months' rent, right?",
        "Did you know that the tenant may keep two horses?",
    ],
)
def test_a_claim_beside_a_refusal_or_an_offer_is_judged(claim: str) -> None:
    turns = [{"role": "user", "content": "What about dogs?"}, {"role": "assistant", "content": f"I looked. {claim}"}]
    assert run(hallucination_detection(turns, LEASE)).label in ("unfaithful", "partial")


@pytest.mark.parametrize(
    "answer",
    [
        "I'm sorry, but I don't know how many dogs the tenant may keep.",
        "I'm sorry, but I could not find any information about dogs, cats or other pets in the lease.",
        "Unfortunately, the documents do not mention the notice period or the heating.",
        "The lease does not mention dogs and does not say anything about horses either.",
        "I'm sorry, but that is all I know.",
        "I'm sorry, but the question is unclear.",
        "I'm sorry that you had to wait.",
        "Sorry, nothing was found.",
        "We are sorry, but we can't answer that.",
        "If you have any other questions about the lease or the deposit, let me know.",
        "You're welcome!",
    ],
)
def test_a_refusal_or_an_offer_of_several_parts_is_na(answer: str) -> None:
    turns = [{"role": "user", "content": "How many dogs may I keep?"}, {"role": "assistant", "content": answer}]
    assert run(hallucination_detection(turns, LEASE)).label == "NA"


@pytest.mark.parametrize(
    ("question", "answer", "text"),
    [
        ("Does it contain latex?", "The material does not contain latex.", "The gloves are of a material with latex."),
        ("Is roaming included?", "The mobile data does not include roaming.", "The mobile data includes roaming."),
        ("May I use AI?", "AI-generated text is forbidden.", "Students may use AI-generated text if they mark it."),
        ("What is my reference?", "Reference: Z9PP1", "Your booking reference is K7XQ2."),
        ("May I bring my dog?", "Unfortunately, no.", "Dogs are welcome."),
    ],
)
def test_words_for_documents_are_used_of_things_too(question: str, answer: str, text: str) -> None:
    turns = [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
    assert run(hallucination_detection(turns, [text])).label in ("unfaithful", "partial")
