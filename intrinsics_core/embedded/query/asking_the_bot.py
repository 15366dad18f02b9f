"""Questions to whoever answers, about who that is or whether a question may be asked: "Who are you?"."""

from __future__ import annotations

import re

from intrinsics_core.text.courtesy import BEGINS, GREETING, HELLO

_A_QUESTION = (
    r"(?:something|anything|for (?:some )?help|(?:an?|another|one|one more|a few|some|two)"
    r"(?: (?:other|quick|short|more|simple|silly))? (?:questions?|things?))"
)
_HUMAN = r"human|person|man|woman"
_PROGRAM = r"chat ?bot|bot|robot|ai|machine|computer|program|language model"
_KIND = r"(?:an? |the |still )?(?:real |actual |living )?"
_TO_THE_BOT = re.compile(
    rf"(?:(?:{GREETING}|{BEGINS}|excuse me|sorry|please) )?(?:"
    rf"(?:can|could|may|might) (?:i|we) (?:please |just )?ask(?: you)?(?: {_A_QUESTION})?(?: (?:else|please))?"
    r"|(?:can|could|will|would) you (?:please )?(?:help|assist|hear|understand)(?: me| us)?(?: out)?(?: please)?"
    r"|do you (?:understand|hear)(?: me| us)?|do you have a (?:minute|moment|second|name)(?: for me)?"
    r"|(?:who|what) are you(?: exactly| really)?|what(?: is|'s) your name"
    r"|(?:what can you do|how can you help)(?: for)?(?: me| us)?"
    r"|who am i (?:talking|speaking|chatting|writing) (?:to|with)"
    r"|(?:are you(?: \w{1,20} or are you)?|am i (?:talking|speaking|chatting|writing) (?:to|with))"
    rf" (?:(?:really|actually|just|only|maybe) )?{_KIND}"
    rf"(?:(?P<human>{_HUMAN})|(?P<program>{_PROGRAM})|assistant|real|there)(?: being| assistant)?"
    rf"|is this {_KIND}(?:human|person|chat ?bot|bot|robot|ai|assistant|real|there)(?: being| assistant)?"
    r"|how are you(?: doing)?(?: today)?|(?:is )?(?:anyone|anybody|someone|somebody|you) (?:still )?there"
    rf"|{HELLO})",
    re.IGNORECASE,
)


def asks_the_bot(part: str) -> bool:
    """Whether a part of a turn, with straight apostrophes and no mark at its end, is such a question."""
    return _TO_THE_BOT.fullmatch(part) is not None


def true_answer(part: str) -> str | None:
    """What a program truly answers to such a part: "No." to "are you a human", "Yes." to "are you a bot"."""
    asked = _TO_THE_BOT.fullmatch(part)
    return None if asked is None else "No." if asked["human"] else "Yes." if asked["program"] else None
