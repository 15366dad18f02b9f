"""A fragment in the frame of an earlier question: by rules where there is one place for it, else as readings."""

import pytest

from intrinsics_core.embedded.query.fragments import framed, new_thing, plainly
from intrinsics_core.embedded.query.rewriting import rewrite


def said(*turns):
    """User and assistant by turns, the user first."""
    return [("user" if i % 2 == 0 else "assistant", text) for i, text in enumerate(turns)]


@pytest.mark.parametrize(
    ("earlier", "asked", "meant"),
    [
        ("Who wrote Macbeth?", "What about Romeo and Juliet?", "Who wrote Romeo and Juliet?"),
        ("When should a boiler be serviced?", "What about a heat pump?", "When should a heat pump be serviced?"),
        ("When is the museum open on weekdays?", "And on Sundays?", "When is the museum open on Sundays?"),
        ("Where can I hire a bike in Sandhaven?", "and in winter?", None),  # in Sandhaven, or anywhere?
        ("What does the Plus plan cost?", "and the Pro plan?", "What does the Pro plan cost?"),
        ("What is the fee for a lost card?", "And a lost key?", "What is the fee for a lost key?"),
        ("How hot is Zarifa in July?", "how about in december", "How hot is Zarifa in december?"),
        ("How many people live in Lagos?", "and Accra?", "How many people live in Accra?"),
        ("Is the lift open in winter?", "what about in the morning", "Is the lift open in the morning?"),
        ("Which is the longest river in Poland?", "Thanks, that helps a lot.", None),
        ("Who wrote the anthem of Finland?", "Translate \"good morning\" into Finnish.", None),
        ("What is the difference between copper and brass?", "What about bronze?", None),
        ("Hm.", "What about croup?", None),
        # what stands behind the place stays
        ("How much does shipping to Canada cost?", "and to Mexico?", "How much does shipping to Mexico cost?"),
        ("How do I install numpy in Python 3.11?", "and in Python 3.12?", "How do I install numpy in Python 3.12?"),
        ("which hotels in rome allow dogs", "in milan", None),
        ("What time does the pool open on weekdays?", "and the gym?", None),  # "open" may be the pool's, or a verb
        # remarks, guesses, wishes how to answer, parts of a name
        ("what is the capital of france?", "cool", None),
        ("Who wrote Hamlet?", "ok thanks Bob", None),
        ("What is the capital of Australia?", "Why Canberra?", None),
        ("How do I reset my router?", "for sure", None),
        ("How do I reset my router?", "and in one sentence?", None),
        ("When did World War I start?", "And World War II?", None),
        ("Does it work on Android?", "And Copilot?", None),
        ("My name is Anna", "and from Berlin?", None),
        ("What is the boiling point of water?", "and the melting point of gold", None),
    ],
)  # fmt: skip
def test_rules_put_a_fragment_where_there_is_one_place_for_it(earlier, asked, meant):
    assert plainly(asked, said(earlier, "Sure.")) == meant
    if meant:
        assert rewrite([*said(earlier, "Sure."), ("user", asked)]).question == meant


def test_what_answers_a_question_of_the_assistant_asks_nothing():
    assert plainly("and Milan?", said("How much is a ticket to Rome?", "30 euros.")) == "How much is a ticket to Milan?"
    assert plainly("and Milan?", said("How much is a ticket to Rome?", "Where do you leave from?")) is None


@pytest.mark.parametrize(
    ("earlier", "asked", "meant"),
    [
        ("how fast does bamboo grow", "What about oak?", "how fast does oak grow?"),
        ("Where can I hire a bike in Sandhaven?", "a kayak?", "Where can I hire a kayak in Sandhaven?"),
        ("Where can I hire a bike in Sandhaven?", "and in winter?", "Where can I hire a bike in Sandhaven in winter?"),
        ("How much water do I need for basmati rice?", "and couscous", "How much water do I need for couscous?"),
        ("Can I bring a dog on the ferry?", "and cats?", "Can I bring cats on the ferry?"),
        ("Does the warranty cover water damage?", "what about scratches?", "Does the warranty cover scratches?"),
        ("Does the pass cover the castle?", "and the zoo", "Does the pass cover the zoo?"),
        ("When does the last bus to town leave?", "and the first one?", "When does the first bus to town leave?"),
        ("How long should dough rest in the fridge?", "On the counter?", "How long should dough rest on the counter?"),
        ("How many people live in the UK?", "and Germany?", "How many people live in Germany?"),
        ("What time does the pool open on weekdays?", "and the gym?", "What time does the gym open on weekdays?"),
        ("which hotels in rome allow dogs", "in milan", "which hotels in milan allow dogs?"),
        ("Can dogs eat chocolate?", "And cats?", "Can cats eat chocolate?"),
        ("Until when may I use last year's holidays?", "And overtime?", "Until when may I use last year's overtime?"),
    ],
)  # fmt: skip
def test_what_a_fragment_may_mean_is_among_its_readings(earlier, asked, meant):
    assert meant in list(framed(asked, said(earlier, "Sure.")))


def test_a_fragment_behind_a_fragment_goes_into_the_question_before_both():
    talk = said("How long did it take to dig the Corinth Canal?", "Eleven years.", "How about the Suez Canal?", "Ten.")
    assert "How long did it take to dig the Kiel Canal?" in list(framed("And the Kiel Canal?", talk))
    assert plainly("And the Kiel Canal?", talk) is None  # of which of the two, rules do not say


@pytest.mark.parametrize(
    ("asked", "thing"),
    [
        ("What about Hull?", "Hull"), ("ok, and in spring?", "in spring"), ("peonies?", "peonies"),
        ("how about the second one", "the second one"), ("any discounts?", ""), ("Make it shorter.", ""),
        ("perfect, thank you!", ""), ("Why did he leave?", ""), ("", ""), ("?!", ""), ("and \N{THUMBS UP SIGN}?", ""),
    ],
)  # fmt: skip
def test_what_is_a_fragment(asked, thing):
    assert new_thing(asked) == thing
