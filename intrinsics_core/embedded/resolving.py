"""Pronouns and ellipsis of a question, resolved by substitution where that is safe.

What this is: word tables and one estimate. The tables say which pronouns can only point to an earlier turn and
which questions lack their "of what"; ``salience`` says which phrase of the conversation is most likely meant.
Span edits in the sense of *Incomplete Utterance Rewriting as Semantic Segmentation* (Liu et al., EMNLP 2020).

What this is not: a parser or a coreference model. It knows neither gender nor number beyond a closing "s", resolves
one pronoun a question, and only English. Among two things named in a turn it takes the more prominent, not the one
meant; a language model does better there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from intrinsics_core.embedded.framing import plainly
from intrinsics_core.embedded.head import load_head
from intrinsics_core.embedded.lexical import Token, tokens, word_set
from intrinsics_core.embedded.nouns import named
from intrinsics_core.embedded.phrases import LONGEST_PHRASE, article, runs, surface
from intrinsics_core.embedded.salience import (
    AUXILIARY,
    DEMONSTRATIVE,
    PERSONAL,
    Turn,
    latest_first,
    plain,
    salience,
)

FAR = 40
"""Words into a question beyond which no pronoun is looked at: it would point inside."""
FULL_NAME = 1.5
"""What a name of several words is worth as a person, next to one capitalised word."""
PLACE = 0.5
"""What a place is worth as an antecedent, next to what is at that place."""

_POSSESSIVE = word_set("its their his her")
_PERSON = word_set("he him his she her")
_PLURAL = word_set("they them their")
_SUBSTITUTED = word_set("it its they them their he him his she her")
_POINTERS_AT_END = word_set("this that these those")
_BEFORE_POINTER = word_set("about of for with to from in on by after before than like is are was were do does did")
_JOINERS = word_set("and but or if when because while so then that which who whether as since")
_IT_VERBS = word_set("take takes rain rains snow seem seems matter mean")
_EXPLETIVE = re.compile(
    r"^\s+(?:(?:still|really|even|also|not|more|less|very|usually|generally|always)\s+)*"
    r"(?:\w+\s+){1,2}(?:to|that|if|for\s+\w+\s+to)\b",
    re.IGNORECASE,
)

_LACKS_OF_WHAT = re.compile(
    r"^(?:what|who|which)(?:['\u2019]s| is| are| was| were)\s+(?:the|some|other|some other|some of the)\s",
    re.IGNORECASE,
)
_PREPOSITION = word_set("of in for to on at by with from about during between among around than besides like as into")


def complete(conversation: Sequence[Turn]) -> list[Turn]:
    """The conversation with a fragment at its end ("What about X?", "and in spring?") put in the frame of the user's
    question before, where there is one place for it (`framing.plainly`); as it is otherwise.
    """
    *history, (_, last) = conversation
    made = plainly(last.strip(), history)
    return [*history, ("user", made)] if made else list(conversation)


def attach(conversation: Sequence[Turn]) -> str:
    """The last turn with "of X" added where it asks for a part or property of something it does not name.

    Only "What are the main advantages?" and its like: short, a common noun at the end, no preposition and no
    pronoun. X is the antecedent that a pronoun would have.
    """
    question = conversation[-1][1]
    words = tokens(question)
    match = _LACKS_OF_WHAT.match(question)
    if not match or len(words) > 8 or words[-1].is_stop or words[-1].is_capitalised:
        return question
    rest = {plain(token) for token in words if token.begin >= match.end()}
    if rest & _PREPOSITION or rest & (PERSONAL | DEMONSTRATIVE):
        return question
    phrase = antecedent(conversation)
    if phrase is None:
        return question
    end = words[-1].end
    return f"{question[:end]} of {phrase}{question[end:]}"


def resolve(conversation: Sequence[Turn]) -> str:
    """The last turn with the first pronoun that can only point back replaced by its antecedent.

    Left alone: pronouns that may point inside the question ("what is X and how is it taxed"), "it" without
    meaning ("is it possible to"), and those for which no phrase is salient enough.
    """
    question = conversation[-1][1]
    words = tokens(question)[:FAR]
    for i, token in enumerate(words):
        word = plain(token)
        if not _points_outside(question, words, i):
            continue
        phrase = antecedent(conversation, person=word in _PERSON, plural=word in _PLURAL)
        if phrase is None:
            return question
        follower = words[i + 1] if i + 1 < len(words) else None
        followed = follower is not None and not follower.is_stop
        owned = followed if word == "her" else word in _POSSESSIVE
        suffix = ("'" if phrase.endswith("s") else "'s") if owned else ""
        return question[: token.begin] + phrase + suffix + question[token.end :]
    return question


def _points_outside(question: str, words: Sequence[Token], i: int) -> bool:
    """Whether word ``i`` is a pronoun whose antecedent must lie in an earlier turn."""
    word = plain(words[i])
    before, after = words[:i], words[i + 1 :]
    # The word that opens the question joins nothing: "Who built it?"
    if any(plain(w) in _JOINERS for w in before[1:]) and any(not w.is_stop for w in before):
        return False
    if any(w.is_capitalised and not w.is_stop for w in before[1:]):
        return False
    if re.search(r"[.!?;:,]\s", question[: words[i].begin]) and any(not w.is_stop for w in before):
        return False
    if word in _POINTERS_AT_END:
        ends = not after or bool(re.match(r"\s*[.!?,]", question[words[i].end :]))
        return ends and bool(before) and plain(before[-1]) in _BEFORE_POINTER
    if word == "it":
        tail = question[words[i].end :]
        if after and plain(after[0]) in _IT_VERBS:
            return False
        asks = bool(before) and plain(before[-1]) in AUXILIARY
        return not (asks and _EXPLETIVE.match(tail)) and not (
            after and plain(after[0]) in ("is", "was") and _EXPLETIVE.match(question[after[0].end :])
        )
    return word in _SUBSTITUTED


def antecedent(conversation: Sequence[Turn], *, person: bool = False, plural: bool = False) -> str | None:
    """The phrase of the earlier turns that a pronoun of the last one most likely stands for.

    It grows from the most salient term to its neighbours at least half as salient (a quarter, inside a name).
    ``person`` asks for a capitalised phrase, ``plural`` prefers one that ends in "s" or is capitalised. None
    where no term is salient enough (threshold ``substitute`` of the head). An article before it comes along.
    """
    *history, _ = conversation
    likely = salience(conversation)
    least = load_head("rewrite").thresholds["substitute"]
    best: tuple[float, str] | None = None
    for age, text in enumerate(latest_first(history)):
        # A person is a name, and a name ends where its capitals do: "Ada Brink" in "Ada Brink built it".
        for run in runs(text, lambda t: likely.get(t.term, 0.0) >= least / 4.0 and (t.is_capitalised or not person)):
            head = max(run, key=lambda token: likely[token.term])
            top = likely[head.term]
            if top < least:
                continue
            phrase = named(text, _around(run, run.index(head), likely, top))
            if not phrase or surface(text, phrase).isdigit():
                continue
            is_name = phrase[0].is_capitalised and phrase[-1].is_capitalised and len(phrase[0].text) > 1
            many = plain(phrase[-1]).endswith("s")
            if person and (not is_name or _is_place(text, phrase)):
                continue
            mean = sum(likely[token.term] for token in phrase) / len(phrase)
            score = mean * (1.0 + 0.2 * (len(phrase) - 1)) - 0.001 * age
            score *= 0.7 if plural and not (many or is_name) else 1.0
            score *= FULL_NAME if person and len(phrase) > 1 else 1.0
            score *= PLACE if not person and _is_place(text, phrase) else 1.0
            if best is None or score > best[0]:
                best = (score, article(text, phrase) + surface(text, phrase))
    return best[1] if best else None


def _is_place(text: str, phrase: Sequence[Token]) -> bool:
    """Whether capitalised words follow "in", "at" and the like: rather a place than what is talked about."""
    return phrase[0].is_capitalised and bool(
        re.search(r"\b(?:in|at|of|from|to|near) (?:the )?$", text[: phrase[0].begin][-12:])
    )


def _around(run: Sequence[Token], at: int, likely: Mapping[str, float], top: float) -> Sequence[Token]:
    """The part of a run around one token whose neighbours are salient too; ``LONGEST_PHRASE`` at most."""

    def keep(token: Token) -> bool:
        return likely[token.term] >= top / (4.0 if token.is_capitalised and run[at].is_capitalised else 2.0)

    begin, end = at, at + 1
    while end < len(run) and end - begin < LONGEST_PHRASE and keep(run[end]):
        end += 1
    while begin > 0 and end - begin < LONGEST_PHRASE and keep(run[begin - 1]):
        begin -= 1
    return run[begin:end]
