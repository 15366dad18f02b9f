"""Terms spelled as the texts spell them: runs of neighbouring words, and phrases that cover chosen terms."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from intrinsics_core.embedded.lexical import Token, tokens

LONGEST_PHRASE = 5
"""Words in a phrase, at most."""
_ARTICLE = re.compile(r"\b(?:the|an?) $", re.IGNORECASE)


def adjacent(text: str, left: Token, right: Token) -> bool:
    """Whether nothing but one space or hyphen lies between two tokens (those of unspaced scripts overlap)."""
    return text[left.end : right.begin] in (" ", "-") or left.end >= right.begin


def runs(text: str, keep: Callable[[Token], bool]) -> list[list[Token]]:
    """Longest runs of neighbouring tokens that all satisfy ``keep``."""
    found: list[list[Token]] = []
    previous: Token | None = None
    for token in tokens(text):
        if keep(token):
            if previous is not None and found and found[-1][-1] is previous and adjacent(text, previous, token):
                found[-1].append(token)
            else:
                found.append([token])
        previous = token
    return found


def surface(text: str, run: Sequence[Token]) -> str:
    """A run as the text has it, without a closing possessive."""
    return re.sub(r"['\u2019]s?$", "", text[run[0].begin : run[-1].end])


def article(text: str, run: Sequence[Token]) -> str:
    """What goes before a run where an article stands there: what was "a mill" is "the mill" when it comes up again."""
    return "the " if _ARTICLE.search(text[max(0, run[0].begin - 5) : run[0].begin]) else ""


def phrases(texts: Sequence[str], chosen: Sequence[str]) -> list[str]:
    """The chosen terms as the texts spell them, neighbours joined, each term once, in the order chosen.

    Earlier texts are preferred for the spelling, longer phrases for the joining.
    """
    left = set(chosen)
    found: dict[str, list[str]] = {}
    pieces = [(text, run) for text in texts for run in runs(text, lambda token: token.term in left)]
    for text, run in sorted(pieces, key=lambda item: -len({token.term for token in item[1]})):
        spelled = [token.term for token in run]
        if len(spelled) <= LONGEST_PHRASE and len(set(spelled)) == len(spelled) and left.issuperset(spelled):
            found[surface(text, run)] = spelled
            left.difference_update(spelled)
    # A term that only ever occurs in runs partly used up, or too long, goes in alone.
    for text, run in pieces:
        for token in run:
            if token.term in left:
                found[surface(text, [token])] = [token.term]
                left.discard(token.term)
    rank = {term: i for i, term in enumerate(chosen)}
    return sorted(found, key=lambda phrase: min(rank[term] for term in found[phrase]))
