"""Which of a run of content words name a thing. There is no tagger here: verbs are told by where they stand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby

from intrinsics_core.embedded.lexical import Token, tokens, word_set
from intrinsics_core.embedded.phrases import adjacent
from intrinsics_core.embedded.salience import plain

BE = word_set("is are was were be been isn't aren't wasn't weren't")
AUXILIARIES = BE | word_set("do does did can could will would should must may has have had")
PRONOUNS = word_set("it they them he him she her this that these those one ones both")
WH = word_set("what when where why how which who")
_BEFORE_VERBS = word_set("i you we they he she it who what whom that to how")
_BEHIND_VERBS = word_set("the a an this these those my your his her its their our it them him me us you")
_IMPERATIVES = word_set("compare tell explain describe list show give name find summarize summarise")


_KEPT = 20_000  # characters of the longest text whose words are kept: the cache is bounded in bytes too


@lru_cache(maxsize=64)
def _words(text: str) -> tuple[tuple[Token, ...], dict[int, int]]:
    words = tuple(tokens(text))
    return words, {token.begin: i for i, token in enumerate(words)}


def named(text: str, run: Sequence[Token]) -> list[Token]:
    """A run of words without the verb before or behind the thing: "who [wrote] Macbeth", "Orbita [stops] the sync"."""
    words, place = _words(text) if len(text) <= _KEPT else _words.__wrapped__(text)
    first, last = place[run[0].begin], place[run[-1].begin]
    before = plain(words[first - 1]) if first and adjacent(text, words[first - 1], run[0]) else ""
    after = plain(words[last + 1]) if last + 1 < len(words) and adjacent(text, run[-1], words[last + 1]) else ""
    kept = list(run)
    verb = before in _BEFORE_VERBS and (before != "to" or bool(after))
    verb = verb or (before in BE and kept[0].text.endswith("ed"))
    if (verb and not kept[0].is_capitalised) or (not before and plain(kept[0]) in _IMPERATIVES):
        kept = kept[1:]
    if kept and after in _BEHIND_VERBS and not kept[-1].is_capitalised:
        kept = kept[:-1]
    return kept


def names(run: Sequence[Token]) -> Iterator[list[Token]]:
    """The stretches of capitalised words in a run, with the number behind one: "Python 3.12"."""
    is_name = [t.is_capitalised or (i > 0 and t.is_number and run[i - 1].is_capitalised) for i, t in enumerate(run)]
    groups = groupby(zip(is_name, run, strict=True), key=lambda pair: pair[0])
    return ([token for _, token in some] for found, some in groups if found)


def inverted(text: str, run: Sequence[Token]) -> bool:
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
