"""What a question that leans on its conversation may mean: every reading that substitution can make of it.

A phrase of the earlier turns in place of each pronoun ("Is it treatable?"), behind a question that lacks its "of what"
("What are the side effects?"), and, for "what about X?" and other fragments, X in the frame of an earlier question. A
reading that rules are sure of is marked. Which reading is meant is the chooser's to say (`chooser`). Span edits in the
sense of *Incomplete Utterance Rewriting as Semantic Segmentation* (Liu et al., EMNLP 2020).

What this is not: generation, a parser or a coreference model. A reading holds words of the conversation, and "of", "in"
or "for" between them. Where somebody was named, "he" and "she" stand for a
name. The rules know no gender, and no number beyond a closing "s".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from typing import NamedTuple

from intrinsics_core.embedded.heads import load_head
from intrinsics_core.embedded.rewrite import lexicon
from intrinsics_core.embedded.rewrite.fragments import about, framed, plainly
from intrinsics_core.embedded.rewrite.lexicon import AUXILIARIES, BE, POSSESSIVE, PRONOUNS, plain
from intrinsics_core.embedded.rewrite.phrases import LONGEST_PHRASE, article, parts, runs, surface, things
from intrinsics_core.embedded.rewrite.replaced import replaced
from intrinsics_core.embedded.rewrite.salience import heard, latest_first, salience
from intrinsics_core.embedded.turns import Turn, kind_of
from intrinsics_core.embedded.words import Token, tokens

MOST = 16
"""Readings of one question, at most."""
PHRASES = 7
"""Phrases of the history that are tried in one place, at most."""
READ = 4_000
"""Characters of each earlier turn that phrases are taken from."""
LONGEST = 400
"""Characters of a question that is completed, at most: a longer one stands alone."""
FAR = 40
"""Words into a question beyond which no pronoun is looked at: it would point inside."""
FULL_NAME = 1.5
"""What a name of several words is worth as a person, next to one capitalised word."""
PLACE = 0.5
"""What a place is worth as an antecedent, next to what is at that place; so is whom a "who" asked for, behind "it"."""
SINGULAR = 0.7
"""What a phrase that ends in no "s" is worth behind "they"."""

_OF = re.compile(r" of (?:the )?")
_AT = re.compile(r"\b(?:in|at|of|from|to|near) (?:the )?$")
_LACKS_OF_WHAT = re.compile(
    r"^(?:what|who|which)(?:['\u2019]s| is| are| was| were)\s+(?:the|some|other|some other|some of the)\s",
    re.IGNORECASE,
)


class Reading(NamedTuple):
    """What a question may mean. ``rule``: what makes the rules sure of it; "" where they are not."""

    text: str
    rule: str = ""


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase of the earlier turns, its article with it, and how well it fits where a question leans on something."""

    text: str
    score: float
    is_salient: bool
    is_name: bool
    is_place: bool
    is_answer: bool  # whom a "who" asked for

    def fit(self, pronoun: str) -> float:
        """How likely the phrase is what a pronoun stands for; below 0 where rules would never take it."""
        if pronoun in lexicon.PERSON:
            is_person = self.is_name and not self.is_place
            return self.score * (FULL_NAME if " " in self.text else 1.0) if is_person else self.score - 10.0
        worth = self.score * (PLACE if self.is_place and pronoun not in lexicon.PLACES else 1.0)
        worth *= PLACE if self.is_answer and pronoun in ("it", "its") else 1.0
        return worth * (SINGULAR if pronoun in lexicon.PLURAL and not (self.is_name or self.text[-1] == "s") else 1.0)


def readings(conversation: Sequence[Turn]) -> list[Reading]:
    """Readings of the last turn, none twice and none equal to the turn itself, at most `MOST`.

    The one that rules are surest of is the first. The others are of three kinds, which take turns, and of each kind
    the likelier phrases come first. Empty for a turn that asks nothing, and without earlier turns.

    Raises:
        ValueError: the conversation is empty or its last turn is not the user's.
    """
    *history, (_, last) = heard(conversation)
    question = last.strip() if len(last) <= LONGEST else ""
    if not history or not tokens(question) or kind_of(conversation) == "nothing":
        return []
    found = mentioned([*history, ("user", question)])
    put = plainly(question, history)
    frames = [Reading(text, "fragment" if text == put else "") for text in framed(question, history)]
    pointed = list(_pronouns(put or question, found, "fragment" if put else "pronoun"))
    kinds = (pointed, frames, [] if frames else list(_of_what(question, found)))
    sure = [reading for kind in kinds for reading in kind if reading.rule][:1]
    others = (Reading(each.text) for some in zip_longest(*kinds) for each in some if each)
    made: dict[str, Reading] = {}
    for each in (*sure, *others):
        if each.text != question and len(each.text) <= 2 * LONGEST:
            made.setdefault(each.text, each)
    return list(made.values())[:MOST]


def mentioned(conversation: Sequence[Turn]) -> list[Phrase]:
    """Phrases of the earlier turns that the last one may lean on, the likeliest first, an article with each."""
    *history, last = conversation
    near = [(role, text[-READ:] if role == "user" else text[:READ]) for role, text in history]
    likely, least, answers = salience([*history, last]), load_head("rewrite").thresholds["substitute"], _answers(near)
    best: dict[str, Phrase] = {}
    # "They" are those that were talked of before, too.
    plural = not lexicon.PLURAL.isdisjoint(map(plain, tokens(last[1])))
    cut, gone = set[str](), frozenset[str]() if plural else replaced(near)
    for age, text in enumerate(latest_first(near)):
        whole = things(text, lambda t: not t.is_stop and t.term in likely)
        for run, is_whole in [*((run, False) for run in _joined(text, whole)), *((run, True) for run in whole)]:
            for part in parts(text, run):
                if len(part) > LONGEST_PHRASE or _is_of(gone, part, run):
                    continue
                held, name = [likely[t.term] for t in part], surface(text, part)
                is_name = part[0].is_capitalised and part[-1].is_capitalised and len(part[0].text) > 1
                # Of "the range of the monitor" no more is likely than of its words; "Treaty of Versailles" is one name.
                more = 0.2 * (len(part) - 1) if is_name or is_whole else 0.0
                is_cut = part[0] is run[0] and part[-1] is not run[-1]
                score = sum(held) / len(held) * (1.0 + more) - 0.001 * age - 0.05 * is_cut
                cut |= {name.casefold()} if is_cut else set()
                if (known := best.get(name.casefold())) is None or known.score < score:
                    best[name.casefold()] = Phrase(
                        article(text, part) + name,
                        score,
                        max(held) >= least,
                        is_name,
                        part[0].is_capitalised and bool(_AT.search(text[max(0, part[0].begin - 12) : part[0].begin])),
                        is_name and answers.issuperset(t.term for t in part),
                    )
    kept: list[Phrase] = []
    for key, phrase in sorted(best.items(), key=lambda item: -item[1].score)[: 8 * PHRASES]:
        # One spelling of a thing is enough, the longer one; but "Ada Quill built" may hold a name and a verb.
        longer = (f" {other.text.casefold()} " for other in kept)
        if phrase.text.istitle() or key in cut or not any(f" {key} " in other for other in longer):
            kept.append(phrase)
    return kept


def _is_of(terms: Set[str], part: Sequence[Token], run: Sequence[Token]) -> bool:
    """Whether a part of a run is of one of these names: it holds it, or the run holds no other ("Plus plan cost")."""
    named = [token for token in run if token.is_capitalised or token.is_number]
    held = [token for token in named if token.term in terms]
    return len(held) == len(named) > 0 or any(token in held for token in part)


def _answers(history: Sequence[Turn]) -> set[str]:
    """The terms of the names that answer a question that asks who."""
    found = set[str]()
    for (role, question), (_, reply) in pairwise(history):
        asked = tokens(question[-LONGEST:])
        if role == "user" and not lexicon.WHO.isdisjoint(plain(t) for t in asked):
            known = {t.term for t in asked}
            named = runs(reply[:LONGEST], lambda t: t.is_capitalised and not t.is_stop)
            new = (run for run in named if run[0].term not in known)
            found |= {t.term for t in next(new, [])}
    return found


def _joined(text: str, found: Sequence[list[Token]]) -> Iterator[list[Token]]:
    """Two runs with "of" between them: "treaty of Versailles"."""
    for left, right in pairwise(found):
        if _OF.fullmatch(text[left[-1].end : right[0].begin]) and len(left) + len(right) <= LONGEST_PHRASE:
            yield [*left, *right]


def _pronouns(question: str, found: Sequence[Phrase], rule: str) -> Iterator[Reading]:
    """Each pronoun of the first `FAR` words replaced; "this process" as a whole as well.

    Rules are sure of the first pronoun that can only point to an earlier turn, where a phrase is salient enough.
    """
    words, unseen = tokens(question), True
    for i, token in enumerate(words[:FAR]):
        word, after = plain(token), words[i + 1] if i + 1 < len(words) else None
        prior = plain(words[i - 1]) if i else ""
        is_subject = prior in AUXILIARIES
        begin, ends, whole = token.begin, [token.end], False
        is_place = word in lexicon.PLACES and bool(i)
        if not is_place and word not in PRONOUNS | POSSESSIVE:
            continue
        if is_place and prior in BE and not _closes(question, token.end):
            continue  # "Are there any ..."
        owned = word in POSSESSIVE and after is not None and not (word == "her" and after.is_stop)
        # "this process" and "that one" give way whole; a pointer before a function word stands alone, and what stands
        # behind "is" and "does" may be either: "is that word rude", "is that transmitted".
        if word in lexicon.POINTERS and after is not None and (not after.is_stop or plain(after) in ("one", "ones")):
            whole, ends = True, [after.end, token.end] if is_subject and not after.is_stop else [after.end]
        elif word == "that" and i and after is not None and not is_subject and not _closes(question, token.end):
            continue  # "the book that he wrote"
        points = unseen and word in lexicon.THIRD and not _points_inside(question, words, i)
        able = [phrase for phrase in found if whole or not phrase.text.isdigit()]  # "it" is no year, "that year" is
        if word in lexicon.PERSON:  # "she" is no mill where somebody was named
            able = [phrase for phrase in able if phrase.fit(word) > 0.0] or able
        ranked = sorted(able, key=lambda phrase: -phrase.fit(word))[:PHRASES]
        for end in ends:
            for phrase in ranked:
                suffix = ("'" if phrase.text.endswith("s") else "'s") if owned else ""
                sure = points and phrase is ranked[0] and phrase.is_salient and phrase.fit(word) > 0.0
                text = f"{question[:begin]}{'in ' if is_place else ''}{phrase.text}{suffix}{question[end:]}"
                yield Reading(text, rule if sure else "")
        unseen = unseen and not points


def _closes(question: str, end: int) -> bool:
    return not question[end:].strip(" ?!.,")


def _points_inside(question: str, words: Sequence[Token], i: int) -> bool:
    """Whether what stands before word ``i`` may be what it means: "what is X and how is it taxed". The word that opens
    the question joins nothing: "Who built it?"
    """
    before = words[:i]
    return any(not w.is_stop for w in before) and bool(
        any(plain(w) in lexicon.JOINERS for w in before[1:])
        or any(w.is_capitalised and not w.is_stop for w in before[1:])
        or re.search(r"[.!?;:,]\s", question[: words[i].begin])
    )


def _of_what(question: str, found: Sequence[Phrase]) -> Iterator[Reading]:
    """ "What are the side effects?" with "of X", for short questions without a pronoun.

    Rules are sure where the question asks for a part or property: a common noun at its end, and no preposition.
    """
    words = tokens(question)
    points = {plain(t) for t in words} & (PRONOUNS | lexicon.PERSONAL | lexicon.DEMONSTRATIVE)
    if len(words) > 12 or points or all(token.is_stop for token in words):
        return
    body = question.rstrip("?!. ")
    tail = question[len(body) :]
    lacks = _LACKS_OF_WHAT.match(question)
    rest = [token for token in words if lacks and token.begin >= lacks.end() and len(words) <= 8]
    asks = rest and not rest[-1].is_stop and not rest[-1].is_capitalised
    asks = asks and lexicon.PREPOSITIONS.isdisjoint(map(plain, rest))
    able = sorted((each for each in found if not each.text.isdigit()), key=lambda phrase: -phrase.fit("it"))
    for phrase in able[:4]:
        sure = asks and phrase is able[0] and phrase.is_salient
        yield Reading(f"{body} of {phrase.text}{tail}", "of what" if sure else "")
        if not about(question):
            yield Reading(f"{body} {'in' if phrase.text[:1].isupper() else 'for'} {phrase.text}{tail}")
