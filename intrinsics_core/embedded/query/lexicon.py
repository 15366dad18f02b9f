"""The words that the rules of query rewriting know. They are English, in lower case, with a straight apostrophe."""

from __future__ import annotations

from intrinsics_core.embedded.scoring.verbs import AUXILIARY
from intrinsics_core.embedded.words import Token
from intrinsics_core.text.courtesy import BEGINS, HELLO, THANKS, one_word
from intrinsics_core.text.months import MONTHS, WEEKDAYS
from intrinsics_core.text.words import word_set


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
WHICH = word_set("other first second third last former latter")

# Verbs. "May" is a month, too.
BE = word_set("is are was were be been isn't aren't wasn't weren't")
AUXILIARIES = BE | frozenset(AUXILIARY.split("|")) | word_set("am might don't doesn't didn't can't won't")
CONTRACTED = word_set("what's who's where's how's it's that's")
IMPERATIVES = word_set("compare tell explain describe list show give name find summarize summarise")
IMPERSONAL = word_set("take takes rain rains snow seem seems matter mean")
"""Verbs whose "it" stands for nothing: "how long does it take"."""
TRANSITIVE = word_set(
    "cover covers include includes allow allows accept accepts provide require requires contain contains sell sells"
    " serve serves insure replace eat drink prevent treat export import deliver"
)
"""Verbs with an object behind them: what stands behind one is a thing, whole."""
PHRASAL = word_set("turn log sign set put switch have need want going able")

# Question words, and what a question opens with.
WHO = word_set("who whom whose who's")
WH = word_set("what when where why how which who")
OPENERS = AUXILIARIES | CONTRACTED | WH | WHO
ASKING = OPENERS | IMPERATIVES | word_set("whats whos")
COUNTED = word_set("which what whose many much")

# Determiners and prepositions.
DETERMINERS = word_set("the a an my your our his her its their this these another each every")
ADDED = word_set("for in at on with to from by during after before without near under over until since within via")
"""Prepositions that may begin what is added at the end of a question."""
PREPOSITIONS = ADDED | word_set("of about than per around except like between among besides as into")
JOINERS = word_set("and but or if when because while so then that which who whether as since")
COMPARING = word_set("between among vs versus both compare compares compared")

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
BEFORE_POINTERS = PREPOSITIONS | AUXILIARIES
BEFORE_ASKING = PREPOSITIONS | one_word(BEGINS, HELLO, THANKS)

# Talk.
COURTESY = one_word(HELLO, THANKS) | word_set("bye goodbye")
SMALL_TALK = word_set(
    "great good nice cool awesome perfect interesting wow hmm um sure right question wonder wondering love"
    " glad sounds guess understand help appreciate"
)
REMARKS = COURTESY | word_set("any anything more yes no please")
"""A turn that begins with one is no fragment: "any discounts?"."""
WHOLE = (ASKING - word_set("may name find be been must might")) | word_set(
    "write translate summarize summarise make stop let's i we you me thanks thank please that it n't"
)
"""A turn with one in it asks or says something of its own: it is no fragment."""
LANGUAGES = word_set(
    "english german french spanish italian dutch polish portuguese russian ukrainian czech turkish greek arabic hindi"
    " chinese japanese korean swedish danish norwegian finnish"
)
NATIONS = word_set(
    "american british scottish welsh irish canadian australian austrian swiss belgian brazilian mexican indian african"
    " asian european romanian hungarian croatian serbian bulgarian syrian afghan iranian israeli egyptian vietnamese"
    " thai"
)
"""What people are, too, that is no language: "I am Swiss."."""
# "for now", "in short", "with sources"
HOW_TO = LANGUAGES | word_set(
    "sure now example instance fact short general detail details sentence sentences words bullet bullets points"
    " least last all once pleasure second clear way case real sources examples table"
)
"""Words about how to answer, not about what."""
ELSEWHERE = POSSESSIVE | POINTERS | word_set("other same also too only just still not instead sorry of my")
"""Words that no new thing has."""
OF_A_THING = word_set(
    "price prices cost costs fee fees weight size height length width depth colour color address number phone email "
    "deadline duration capacity warranty distance age password reason"
)
"""What things have: a new one is asked of the old thing and does not take its place."""
TIMES = frozenset((*MONTHS, *WEEKDAYS)) | word_set(
    "weekday weekend spring summer autumn fall winter morning afternoon evening night"
    " noon midnight today tomorrow yesterday holiday christmas easter year month week day hour minute"
)
"""Words that say when; all but a few with an "s", too."""
