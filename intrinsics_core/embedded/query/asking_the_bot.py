"""Questions to whoever answers, about who that is or whether a question may be asked: "Who are you?"."""

from __future__ import annotations

import re

_A_QUESTION = (
    r"(?:something|anything|for (?:some )?help|(?:an?|another|one|one more|a few|some|two)"
    r"(?: (?:other|quick|short|more|simple|silly))? (?:questions?|things?))"
)
_SOMEBODY = r"(?:human|person|chat ?bot|bot|robot|ai|assistant|real|there)"
_TO_THE_BOT = re.compile(
    r"(?:(?:so|and|but|hey|hi|hello|excuse me|sorry|please) )?(?:"
    rf"(?:can|could|may|might) (?:i|we) (?:please |just )?ask(?: you)?(?: {_A_QUESTION})?(?: (?:else|please))?"
    r"|(?:can|could|will|would) you (?:please )?(?:help|assist|hear|understand)(?: me| us)?(?: out)?(?: please)?"
    r"|do you (?:understand|hear)(?: me| us)?|do you have a (?:minute|moment|second|name)(?: for me)?"
    r"|(?:who|what) are you(?: exactly| really)?|what(?: is|'s) your name"
    r"|(?:what can you do|how can you help)(?: for)?(?: me| us)?"
    r"|who am i (?:talking|speaking|chatting|writing) (?:to|with)"
    r"|(?:are you|am i (?:talking|speaking|chatting|writing) (?:to|with)|is this)"
    rf" (?:an? |the |still )?(?:real |actual |living )?{_SOMEBODY}(?: being| assistant)?"
    r"|how are you(?: doing)?(?: today)?|(?:is )?(?:anyone|anybody|someone|somebody|you) (?:still )?there|hello|hi"
    r")",
    re.IGNORECASE,
)


def asks_the_bot(part: str) -> bool:
    """Whether a part of a turn, with straight apostrophes and no mark at its end, is such a question."""
    return _TO_THE_BOT.fullmatch(part) is not None
