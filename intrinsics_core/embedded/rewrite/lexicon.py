"""The words that the rules of query rewriting know. They are English, in lower case, with a straight apostrophe."""

from __future__ import annotations

from intrinsics_core.embedded.words import Token
from intrinsics_core.text.words import AUXILIARY, MONTHS, WEEKDAYS, word_set


def plain(token: Token) -> str:
    """A token's lower-case form with a straight apostrophe, as the tables here spell it."""
    return token.text.casefold().replace("\u2019", "'")


# Pronouns, and what else points at something that was named before.
PERSON = word_set("he him his she her")
PLURAL = word_set("they them their")
POSSESSIVE = word_set("its their his her")
THIRD = PERSON | PLURAL | word_set("it its")
POINTERS = word_set("this that these those")
PRONOUNS = (THIRD - word_set("its their his")) | POINTERS | word_set("one ones both")
PERSONAL = THIRD | word_set("it's itself they're theirs themselves he's himself hers she's herself")
DEMONSTRATIVE = POINTERS | word_set("that's there such")
OPEN_SET = word_set("other others else another more any some same both one ones either neither rest")
PLACES = word_set("there here")

# Verbs. "May" is a month, too.
BE = word_set("is are was were be been isn't aren't wasn't weren't")
AUXILIARIES = BE | frozenset(AUXILIARY.split("|")) | word_set("am might don't doesn't didn't can't won't")
CONTRACTED = word_set("what's who's where's how's it's that's")
IMPERATIVES = word_set("compare tell explain describe list show give name find summarize summarise")

# Question words, and what a question opens with.
WHO = word_set("who whom whose who's")
WH = word_set("what when where why how which who")
OPENERS = AUXILIARIES | CONTRACTED | WH | WHO
ASKING = OPENERS | IMPERATIVES | word_set("whats whos")

# Determiners and prepositions.
DETERMINERS = word_set("the a an my your our his her its their this these another each every")
ADDED = word_set("for in at on with to from by during after before without near under over until since within via")
"""Prepositions that may begin what is added at the end of a question."""
PREPOSITIONS = ADDED | word_set("of about than per around except like between among besides as into")

JOINERS = word_set("and but or if when because while so then that which who whether as since")

PREDICATES = word_set(
    "open closed shut free full empty late early ready available busy broken included allowed accessible valid possible"
    " necessary required compulsory refundable waterproof vegan vegetarian warm cold hot wet dry clean dirty quiet loud"
    " noisy dangerous cheap expensive big large small long short deep wide high heavy light fast slow new old far near"
    " nearby better worse good bad true"
)
"""Words that a question says of its subject behind it: "Is the pool warm?"."""

# What stands beside a verb, which is no part of a thing's name then.
BEFORE_VERBS = word_set("i you we they he she it who what whom that to how")
BEHIND_VERBS = DETERMINERS | word_set("those it them him me us you")

# Talk.
SMALL_TALK = word_set(
    "great good nice cool awesome perfect interesting wow hmm um sure right question wonder wondering love"
    " glad sounds guess understand help appreciate"
)
WHOLE = (ASKING - word_set("may name find be been must might")) | word_set(
    "write translate summarize summarise make stop let's i we you me thanks thank please that it n't"
)
"""A turn with one in it asks or says something of its own: it is no fragment."""
# "for now", "in short", "with sources"
TIMES = frozenset((*MONTHS, *WEEKDAYS)) | word_set(
    "weekday weekend spring summer autumn fall winter morning afternoon evening night"
    " noon midnight today tomorrow yesterday holiday christmas easter year month week day hour minute"
)
"""Words that say when; all but a few with an "s", too."""
