"""Readings of a question that leans on its conversation: the right one is among them, and nothing is invented."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from intrinsics_core.embedded.candidates import MOST, OPTIONS, candidates, chosen, options, taken, told
from intrinsics_core.embedded.lexical import tokens

LIGHT = [("user", "Who built the Marram Light?"), ("assistant", "Ada Quill built it on a reef off Brinmouth in 1874.")]
BOILER = [("user", "How often should a boiler be serviced?"), ("assistant", "Once a year, for about 90 euros.")]
CHEESE = [("user", "How is Brindle Fell cheese made?"), ("assistant", "It is washed in cider and aged for ten weeks.")]
DIALOG = st.lists(st.tuples(st.sampled_from(["user", "assistant", "system"]), st.text(max_size=200)), max_size=6)


@pytest.mark.parametrize(
    ("history", "asked", "reading"),
    [
        (LIGHT, "what else did she build", "what else did Ada Quill build"),
        (LIGHT, "When was it built?", "When was the Marram Light built?"),
        (LIGHT, "Who lived there?", "Who lived in the Marram Light?"),
        (CHEESE, "What are the main ingredients?", "What are the main ingredients of Brindle Fell cheese?"),
        (CHEESE, "What is its price?", "What is Brindle Fell cheese's price?"),
        (BOILER, "What about a heat pump?", "How often should a heat pump be serviced?"),
        (BOILER, "and in old houses?", "How often should a boiler be serviced in old houses?"),
        ([("user", "Who wrote Macbeth?"), ("assistant", "Shakespeare, around 1606.")], "What about Romeo and Juliet?",
         "Who wrote Romeo and Juliet?"),
        ([("user", "When is the museum open on weekdays?"), ("assistant", "From ten.")], "And on Sundays?",
         "When is the museum open on Sundays?"),
        ([("user", "Tell me about the treaty of Versailles."), ("assistant", "It ended a war.")], "Who signed it?",
         "Who signed the treaty of Versailles?"),
        # the verb or adjective that ends a question is no part of its subject
        ([("user", "What does the company Veldra produce?"), ("assistant", "Sensors.")], "Where is that based?",
         "Where is the company Veldra based?"),
        ([("user", "Is the Quellmar dishwasher quiet?"), ("assistant", "Yes.")], "and how heavy is it",
         "and how heavy is the Quellmar dishwasher"),
        ([("user", "Who runs the library?"), ("assistant", "The Ostrander Museum shows Roman glass there.")],
         "When does it open?", "When does the Ostrander Museum open?"),
        ([("user", "Can I export to Notara?"), ("assistant", "Yes.")], "is that one free", "is Notara free"),
        ([("user", "Which disease is it?"), ("assistant", "It is malaria.")], "How is that transmitted?",
         "How is malaria transmitted?"),
    ],
)  # fmt: skip
def test_the_reading_a_person_means_is_proposed(history, asked, reading):
    assert reading in candidates([*history, ("user", asked)])


@pytest.mark.parametrize("last", ["Thanks a lot!", "Hello", "", "?!", "   "])
def test_what_asks_nothing_has_no_readings(last):
    assert candidates([*LIGHT, ("user", last)]) == []


def test_a_first_question_has_no_readings():
    assert candidates([("user", "Who built it?")]) == []


def test_there_is_no_place_in_are_there():
    assert not [c for c in candidates([*LIGHT, ("user", "Are there any tours?")]) if "in the Marram Light any" in c]


@given(DIALOG, st.text(max_size=120))
@example([("user", "of of of")], "it it it it it it")
@example([("assistant", "\ud800")], "what about \ud800?")
def test_any_conversation_has_few_readings_made_of_its_own_words(history, last):
    conversation = [*history, ("user", last)]
    found = candidates(conversation)
    assert len(found) <= MOST and len(set(found)) == len(found) and last.strip() not in found
    said = {t.term for _, text in conversation for t in tokens(text)} | {t.term for t in tokens("in of for the")}
    for reading in found:
        assert {t.term for t in tokens(reading) if not t.is_stop} <= said


def test_a_reading_is_taken_only_where_it_is_likely_enough():
    ask, mill, weir = "Is it open?", "Is the mill open?", "Is the weir open?"
    assert chosen([ask, mill, weir], [-4.0, 5.0, 1.0], mill) == mill  # reader and rules agree
    assert chosen([ask, mill, weir], [3.0, -6.0, -6.0], ask) == ask  # it reads as it stands, and nothing else does
    assert chosen([ask], [0.0], ask) == ask


def test_what_reader_and_rules_agree_on_is_taken_though_its_share_is_small():
    asked, readings = "Does it still grind?", ["Does the mill still grind?", "Does Ada still grind?"]
    shares = [0.5, 0.3, 0.2]

    def least_of(logits, by_rules):
        return taken([asked, *readings], options([asked, *readings], logits, by_rules), shares, 0.5)

    assert least_of([-2.0, -1.0, -1.5], readings[0]) == 1
    assert least_of([-2.0, -1.0, -1.5], asked) == 0  # the rules have nothing to say
    assert least_of([-2.0, -1.0, -0.5], readings[0]) == 0  # the reader finds another likelier
    assert least_of([-0.5, -1.0, -1.5], readings[0]) == 0  # or the question as it stands
    assert taken([asked], [(1.0, *[0.0] * (len(OPTIONS) - 1))], [1.0], 0.5) == 0


def test_readings_that_say_the_same_count_together():
    asked = ["Who built it?", "Who built the mill?", "Who built the tide mill?", "Who built the weir?"]
    rows = options(asked, [-2.0, 0.0, 0.1, 0.0], "Who built it?")
    assert taken(asked, rows, [0.2, 0.3, 0.35, 0.15], 0.6) == 2
    assert taken(asked, rows, [0.2, 0.15, 0.35, 0.3], 0.6) == 0
    assert taken(asked, rows, [0.66, 0.15, 0.17, 0.02], 0.3) == 0  # the question as it stands is likelier


def test_what_the_rules_say_is_a_reading_too():
    assert (
        candidates([*LIGHT, ("user", "How tall?")], "How tall is the Marram Light?")[0]
        == "How tall is the Marram Light?"
    )


def test_the_end_of_a_long_conversation_is_told():
    assert told([("user", "a " * 100), ("assistant", "b c"), ("user", "d?")], most=5) == "/ b c / d?"
