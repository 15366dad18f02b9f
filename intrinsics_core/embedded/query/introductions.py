"""What users say of who they are: "My name is Tom", "I have two kids", "I'm a nurse from Leeds", "We live in Hull".

What has happened to users is no introduction: "I lost my ticket" and "I am locked out" ask for help.
"""

from __future__ import annotations

import re

from intrinsics_core.text.courtesy import BEGINS, GREETING

_WORDS = r"\w++(?:[ -]\w++){0,2}"
_PLACE = r"\w++(?:[ -]\w++)?"
_TROUBLE = r"(?:missing|wrong|not|gone|spel(?:led|t)|misspel(?:led|t)|listed|there|on|in)\b"
_WHEN = r"(?:later|back|now|to(?:day|morrow|night)|when|if|at|on|in|before|after)\b"
_LITTLE = r"(?:bit|little|few|day|week|minute|hour|lot)\b"
_PEOPLE = (
    r"(?:kids?|child|children|sons?|daughters?|bab(?:y|ies)|toddlers?|teenagers?|twins?|wife|husband|partner|girlfriend"
    r"|boyfriend|brothers?|sisters?|parents|mother|father|grandchildren|family|people|persons?|adults?|couple|friends?"
    r"|colleagues?|dogs?|cats?)"
)
_COUNT = r"(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|\d{1,3}|no|some|my|our)"
_SOME = rf"(?:{_COUNT} )?(?:(?:small|little|young|old|grown|big|married|retired) )?{_PEOPLE}(?: of \w{{2,8}})?"
_INTRODUCES = re.compile(
    rf"(?:(?:{GREETING}|{BEGINS}) )?(?:"
    rf"(?:my|our) (?:first |last |full )?name(?: is|'s) (?!{_TROUBLE}){_WORDS}"
    rf"|(?:please |you can )?call me (?!{_WHEN})\w+"
    rf"|this is (?:(?:mr|ms|mrs|dr) )?(?:\w+ ){{1,2}}(?:speaking|from {_WORDS})"
    rf"|(?:i am|i'm|we are|we're) (?:{_SOME}(?: (?:and|with) {_SOME}){{0,3}}|\d{{1,3}}(?: years old)?"
    rf"|an? (?!{_LITTLE}){_WORDS}(?: (?:from|in|at) {_WORDS})?|(?:\w+ ){{0,2}}from {_WORDS}|(?:new|back) here)"
    rf"|(?:i|we)(?:'ve got| have(?: got)?) {_SOME}(?: (?:aged?|and) [\w ]{{1,30}})?"
    rf"|(?:i|we) (?:(?:live|work|study|teach) (?:in|at|for|as|near)|come from) {_PLACE}"
    r")",
    re.IGNORECASE,
)
_COUNTED = re.compile(rf"(?:for )?(?={_COUNT} ){_SOME}(?: (?:and|with) {_SOME}){{0,3}}(?: only)?", re.IGNORECASE)
_NAMED = re.compile(rf"(?:(?i:{GREETING}|{BEGINS}) )?(?:I am|I'm|[Tt]his is) [A-Z]\w+(?: [A-Z]\w+)?")


def introduces(part: str) -> bool:
    """Whether a part of a turn, with straight apostrophes and no mark at its end, says who the user is."""
    return bool(_INTRODUCES.fullmatch(part) or _NAMED.fullmatch(part))


def counts_people(part: str) -> bool:
    """Whether a part of a turn says no more than how many they are: "two adults and a child"."""
    return _COUNTED.fullmatch(part) is not None
