"""Readings of a question that leans on its conversation: the right one is among them, and nothing is invented."""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from intrinsics_core.embedded.query import readings as of
from intrinsics_core.embedded.query.chooser import OPTIONS, ChoiceOfReading, as_read, choice
from intrinsics_core.embedded.query.readings import MOST

import intrinsics_core
from intrinsics_core.embedded.models.cross_encoder import CrossEncoder
from intrinsics_core.embedded.words import tokens

LIGHT = [("user", "Who built the Marram Light?"), ("assistant", "Ada Quill built it on a reef off Brinmouth in 1874.")]
BOILER = [("user", "How often should a boiler be serviced?"), ("assistant", "Once a year, for about 90 euros.")]
CHEESE = [("user", "How is Brindle Fell cheese made?"), ("assistant", "It is washed in cider and aged for ten weeks.")]
DIALOG = st.lists(st.tuples(st.sampled_from(["user", "assistant", "system"]), st.text(max_size=200)), max_size=6)


@pytest.fixture(scope="module")
def reader():
    with CrossEncoder(Path(intrinsics_core.__file__).parent / "data" / "reader") as made:
        yield made


def candidates(conversation):
    return [reading.text for reading in of.readings(conversation)]


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
        # what a question says of its subject is no part of it
        ([("user", "When is the pool open?"), ("assistant", "From nine.")], "How deep is it?", "How deep is the pool?"),
        ([("user", "Is the museum closed today?"), ("assistant", "Yes.")], "When does it open?",
         "When does the museum open?"),
        ([("user", "Is the ferry fast?"), ("assistant", "Yes.")], "Who runs it?", "Who runs the ferry?"),
        ([("user", "Is the garden shed locked?"), ("assistant", "Yes.")], "Who has its key?",
         "Who has the garden shed's key?"),
        ([("user", "Is parking free?"), ("assistant", "Yes.")], "Where is it?", "Where is parking?"),
        ([("user", "What is the wind speed?"), ("assistant", "9.")], "How is it measured?",
         "How is the wind speed measured?"),
        ([("user", "What is the free trial?"), ("assistant", "A month.")], "What does it cost?",
         "What does the free trial cost?"),
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


@pytest.mark.parametrize("last", ["Thanks a lot!", "Hello", "Thank you, that was it", "", "?!", "   "])
def test_what_asks_nothing_has_no_readings(last):
    assert candidates([*LIGHT, ("user", last)]) == []


@pytest.mark.parametrize("last", ["hi, is it free", "Hello, tell me about it", "thank you, when does it open"])
def test_what_asks_behind_a_greeting_has_readings(last):
    assert candidates([*LIGHT, ("user", last)])


@pytest.mark.parametrize(
    "reply",
    [
        "Ada Brink.",
        "Ada Brink built the tide mill in 1851.",
        "Ada Brink built it in 1820, and it ground flour until the war.",
    ],
)
def test_it_is_the_mill_and_not_its_builder_with_a_reader_as_without(reader, reply):
    talk = [("user", "Who built the tide mill?"), ("assistant", reply), ("user", "And when did it close?")]
    asked = choice(talk)
    assert asked.by_rules == "And when did the tide mill close?"
    assert asked.meant(reader.logits("meant", asked.pairs)) == asked.by_rules


@pytest.mark.parametrize(
    ("earlier", "reply"),
    [
        ("Does my insurance cover water damage?", "Yes, water damage from burst pipes is covered."),
        ("does the insurance cover water damage", "Yes, up to 500 euros."),
        ("Does the phone insurance cover water damage?", "Yes, once a year, with an excess of 50 euros."),
        ("does the policy reimburse water damage", "Yes, up to 500 euros."),
    ],
)
def test_drops_after_water_damage_are_not_water_drops(reader, earlier, reply):
    talk = [("user", earlier), ("assistant", reply), ("user", "what about drops then")]
    asked = choice(talk)
    assert "water drops" not in asked.meant(reader.logits("meant", asked.pairs))
    assert not any("water drops" in text for text in asked.asked)


def test_she_is_nobody_s_mill_where_somebody_was_named():
    talk = [("user", "Who built the tide mill?"), ("assistant", "Ada Brink built the mill in 1911.")]
    found = candidates([*talk, ("user", "How did she pay for the stones?")])
    assert "How did Ada Brink pay for the stones?" in found
    assert not any("did the mill" in text or "did the tide mill" in text for text in found)


def test_who_was_not_named_may_still_be_she():
    talk = [("user", "Who runs the ward?"), ("assistant", "The head nurse runs it."), ("user", "Where did she train?")]
    assert "Where did the head nurse train?" in candidates(talk)


@pytest.mark.parametrize("asked", ["And how, and why?", "why?", "How many?"])
def test_a_question_of_small_words_alone_is_of_nothing(asked):
    talk = [("user", "What does the mill grind?"), ("assistant", "It grinds oats."), ("user", asked)]
    assert not any(" of " in text for text in candidates(talk))


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
    assert ChoiceOfReading((ask, mill, weir), mill).meant([-4.0, 5.0, 1.0]) == mill  # reader and rules agree
    assert (
        ChoiceOfReading((ask, mill, weir), ask).meant([3.0, -6.0, -6.0]) == ask
    )  # it reads as it stands, and nothing else does
    assert ChoiceOfReading((ask,), ask).meant([0.0]) == ask


def test_what_reader_and_rules_agree_on_is_taken_though_its_share_is_small():
    asked, readings = "Does it still grind?", ["Does the mill still grind?", "Does Ada still grind?"]
    shares = [0.5, 0.3, 0.2]

    def least_of(logits, by_rules):
        choice = ChoiceOfReading((asked, *readings), by_rules)
        return choice.taken(choice.options(logits), shares, 0.5)

    assert least_of([-2.0, -1.0, -1.5], readings[0]) == 1
    assert least_of([-2.0, -1.0, -1.5], asked) == 0  # the rules have nothing to say
    assert least_of([-2.0, -1.0, -0.5], readings[0]) == 0  # the reader finds another likelier
    assert least_of([-0.5, -1.0, -1.5], readings[0]) == 0  # or the question as it stands
    assert ChoiceOfReading((asked,), asked).taken([(1.0, *[0.0] * (len(OPTIONS) - 1))], [1.0], 0.5) == 0


def test_readings_that_say_the_same_count_together():
    asked = ("Who built it?", "Who built the mill?", "Who built the tide mill?", "Who built the weir?")
    choice = ChoiceOfReading(asked, "Who built it?")
    rows = choice.options([-2.0, 0.0, 0.1, 0.0])
    assert choice.taken(rows, [0.2, 0.3, 0.35, 0.15], 0.6) == 2
    assert choice.taken(rows, [0.2, 0.15, 0.35, 0.3], 0.6) == 0
    assert choice.taken(rows, [0.66, 0.15, 0.17, 0.02], 0.3) == 0  # the question as it stands is likelier


def test_what_the_rules_say_is_the_first_reading():
    assert candidates([*LIGHT, ("user", "How tall is it?")])[0] == "How tall is the Marram Light?"


def test_the_end_of_a_long_conversation_is_told():
    assert as_read([("user", "a " * 100), ("assistant", "b c"), ("user", "d?")], most=5) == "/ b c / d?"
