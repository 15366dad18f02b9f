"""Names of a conversation that a later question has put another name in the place of: "And the Pro plan?"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from intrinsics_core.embedded.rewrite import lexicon
from intrinsics_core.embedded.rewrite.fragments import plainly
from intrinsics_core.embedded.rewrite.lexicon import plain
from intrinsics_core.embedded.rewrite.phrases import names, things
from intrinsics_core.embedded.turns import Turn
from intrinsics_core.embedded.words import tokens

LONGEST = 400
"""Characters of a user's turn that is read for names, at most: a longer one is a text."""
TURNS = 12
"""The user's last turns, which are compared two at a time."""


class _Named(NamedTuple):
    """A thing with a name that a user's turn names ("the Pro plan")."""

    turn: int
    name: frozenset[str]
    kind: str  # of "Pro plan" the last word, of "Trek 2" the first
    question: tuple[str, ...]  # the words around it
    leans: bool  # the turn asks of an earlier thing, too


def replaced(history: Sequence[Turn]) -> frozenset[str]:
    """The terms of the names that were talked of before and are not any more.

    A later question of the user's names another thing of that kind ("the Plus plan", "the Pro plan"), or is the same
    question of another ("Who is Anna Berg?", "And Tom Hale?"). A name that comes up again from there on is talked of.
    """
    users = [i for i, (role, text) in enumerate(history) if role == "user" and len(text) <= LONGEST][-TURNS:]
    named = [each for i in users for each in _named(history, i)]
    told = _told(history)
    gone = frozenset[str]()
    for old, new in combinations(named, 2):
        another = old.turn < new.turn and not new.leans and new.name - old.name
        if another and (old.kind == new.kind or old.question == new.question):
            gone |= old.name - new.name - told[new.turn]
    return gone


def _named(history: Sequence[Turn], i: int) -> Iterator[_Named]:
    """The named things of a turn, a fragment read as the question that it stands for."""
    text = plainly(history[i][1], history[:i]) or history[i][1]
    words = tokens(text)
    leans = any(plain(word) in lexicon.PERSONAL | lexicon.DEMONSTRATIVE | lexicon.PLACES for word in words)
    for thing in things(text, lambda token: not token.is_stop):
        name = frozenset(token.term for held in names(thing) for token in held)
        around = tuple(plain(word) for word in words if word not in thing)
        # The first word of a question has a capital anyway: "Best known songs?"
        if around and (name - {words[0].term}):
            kind = thing[0] if len(thing[-1].text) == 1 or thing[-1].is_number else thing[-1]
            yield _Named(i, name, kind.term, around, leans)


def _told(history: Sequence[Turn]) -> list[frozenset[str]]:
    """For each turn the terms that stand in it or behind it."""
    found, behind = list[frozenset[str]](), frozenset[str]()
    for _, text in reversed(history):
        behind |= frozenset(token.term for token in tokens(text))
        found.append(behind)
    return found[::-1]
