"""Phrases spelled as the texts spell them, and which of them name a thing.

There is no tagger here: verbs are told by where they stand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from intrinsics_core.embedded.rewrite import lexicon
from intrinsics_core.embedded.rewrite.lexicon import AUXILIARIES, BE, DETERMINERS, PREPOSITIONS, WH, plain
from intrinsics_core.embedded.words import Token, tokens

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


def things(text: str, keep: Callable[[Token], bool]) -> list[list[Token]]:
    """The `runs` without the verb before or behind a thing: "who [wrote] Macbeth", "Orbita [stops] the sync"."""
    words = tokens(text)  # made once for all the runs of a text
    place = {token.begin: i for i, token in enumerate(words)}
    found = []
    for run in runs(text, keep):
        first, last = place[run[0].begin], place[run[-1].begin]
        before = plain(words[first - 1]) if first and adjacent(text, words[first - 1], run[0]) else ""
        after = plain(words[last + 1]) if last + 1 < len(words) and adjacent(text, run[-1], words[last + 1]) else ""
        verb = before in lexicon.BEFORE_VERBS and (before != "to" or bool(after))
        verb = verb or (before in BE and run[0].text.endswith("ed"))
        if verb and not run[0].is_capitalised:
            run = run[1:]
        run = _subject(run, [plain(word) for word in words[max(0, first - 2) : first]])
        if run and after in lexicon.BEHIND_VERBS and not run[-1].is_capitalised:
            run = run[:-1]
        found += [run] if run else []
    return found


def _subject(run: list[Token], before: Sequence[str]) -> list[Token]:
    """A run behind "is" or "are" without what they say of it: "is [the pool] open", "is [the museum] closed today"."""
    verb = before[:-1] if before and before[-1] in DETERMINERS else before
    if verb and verb[-1] in BE:
        for n in range(1, len(run)):
            if _is_predicate(run[n]) and all(plain(token) in lexicon.TIMES for token in run[n + 1 :]):
                return run[:n]
    return run


def _is_predicate(token: Token) -> bool:
    word = plain(token)
    done = len(word) > 4 and word.endswith("ed") and not word.endswith("eed")
    return not token.is_capitalised and (done or word in lexicon.PREDICATES)


def names(run: Sequence[Token]) -> Iterator[list[Token]]:
    """The stretches of capitalised words in a run, with the number behind one: "Python 3.12"."""
    is_name = [t.is_capitalised or (i > 0 and t.is_number and run[i - 1].is_capitalised) for i, t in enumerate(run)]
    groups = groupby(zip(is_name, run, strict=True), key=lambda pair: pair[0])
    return ([token for _, token in some] for found, some in groups if found)


def _inverted(text: str, run: Sequence[Token]) -> bool:
    """Whether a run ends a question whose verb stands before its subject, so that another, or an adjective, ends it."""
    if text[run[-1].end :].lstrip()[:1] not in ("", "?"):
        return False
    begin = max(text.rfind(mark, 0, run[0].begin) for mark in ".!?\n") + 1
    words = [word.lower() for word in text[begin : run[0].begin].split()[:8]]
    if not words or words[0] not in WH:
        return bool(words) and words[0] in AUXILIARIES
    if words[0] in ("what", "who", "which") and words[1:2] and words[1] in BE:
        return run[-1].text.endswith("ed")  # "What is the river called?", but "What is the return policy?"
    return not AUXILIARIES.isdisjoint(words[1:])


def parts(text: str, thing: list[Token]) -> Iterator[list[Token]]:
    """What a thing may be called: by its names, by all of its words, and in a question without the verbs among them."""
    held = list(names(thing))
    yield from held
    if thing[-1].is_capitalised:
        if len(held) == 1 and held != [thing]:  # "Ridley Scott directed Alien" is no name
            yield thing
        return
    ends = _inverted(text, thing)
    words = ["", "", *text[max(0, thing[0].begin - 40) : thing[0].begin].casefold().split()[-2:]]
    determined = words[-1] in DETERMINERS
    auxiliary = words[-2 if determined else -1]
    # "does bamboo [grow]", "be [serviced]"; but "on [the ferry]", "for [basmati rice]" end so
    if ends or auxiliary in AUXILIARIES:
        yield from (thing[:n] for n in (len(thing) - 1, 1)[: len(thing) - 1])
    owned = {i + 1 for i, token in enumerate(thing[:-1]) if token.text.endswith(("'s", "\u2019s"))}
    # The last of four words or more is seldom a thing of its own: "does the policy reimburse water damage".
    split = range(1, len(thing) - (len(thing) > 3)) if ends and len(thing) > 2 else ()
    # "Does bamboo grow" has a verb in it: it is no thing as a whole.
    whole = auxiliary not in AUXILIARIES - BE or len(thing) == 1 if ends else True
    if len(thing) > 1 or not ends or determined or words[-1] in PREPOSITIONS:
        yield from (thing[i:] for i in sorted({*split, *owned, *([0] if whole else ())}))


def surface(text: str, run: Sequence[Token]) -> str:
    """A run as the text has it, without a closing possessive."""
    return re.sub(r"['\u2019]s?$", "", text[run[0].begin : run[-1].end])


def article(text: str, run: Sequence[Token]) -> str:
    """What goes before a run where an article stands there: what was "a mill" is "the mill" when it comes up again."""
    return "the " if _ARTICLE.search(text[max(0, run[0].begin - 5) : run[0].begin]) else ""
