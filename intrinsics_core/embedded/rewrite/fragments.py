"""What a fragment asks ("What about Hull?", "and in spring?"): the new thing in the frame of an earlier question."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise

from intrinsics_core.embedded.rewrite import lexicon
from intrinsics_core.embedded.rewrite.lexicon import DETERMINERS, PREPOSITIONS, PRONOUNS, plain
from intrinsics_core.embedded.rewrite.phrases import names, parts, runs, things
from intrinsics_core.embedded.turns import Turn
from intrinsics_core.embedded.words import Token, tokens
from intrinsics_core.text import stops
from intrinsics_core.text.words import BEGINS, GREETING, PRAISE, THANKS

QUESTIONS = 2
"""Earlier questions that serve as a frame, at most."""
PLACES = 4
"""Places of one question that the new thing is put into, at most."""
BEST = 5
"""How well a place fits at most."""

_FRAGMENT = re.compile(
    rf"\A(?:(?:{BEGINS})[,.! ]++|(?:{GREETING}|{THANKS}|{PRAISE})[,.!]++ ?+)*+"
    r"(?:(?:(?:what|how)(?: about| of|['\u2019]s about)|and|or) )?+(?P<new>[^?!\n]{1,80}?)"
    r"(?:,?+ (?:then|too|though|instead))?[.?!\s]*+\Z",
    re.IGNORECASE,
)
_ABOUT = re.compile(r"\A\W*(?:\w+[,.! ]+){0,2}(?:what|how)(?: about| of) ", re.IGNORECASE)
_CUE = re.compile(
    rf"\A(?:(?:{BEGINS}|{GREETING}|{THANKS}|{PRAISE})[,.! ]+)?(?:and|or|what about|how about|what of)\b", re.IGNORECASE
)
_DETERMINER = "|".join(sorted(DETERMINERS))
_ARTICLE = re.compile(rf"\A(?:{_DETERMINER}) ", re.IGNORECASE)
_THEIR_ARTICLE = re.compile(rf"\b(?:{_DETERMINER}) \Z", re.IGNORECASE)
_ONE = re.compile(
    r"\A(?:the )?(?P<which>first|second|third|fourth|fifth|last|next|other|previous) ones?\Z", re.IGNORECASE
)


def about(question: str) -> bool:
    """Whether a question begins as "what about" does."""
    return _ABOUT.match(question) is not None


def new_thing(question: str) -> str:
    """X of "what about X?", "and X?" or X alone, of at most eight words; empty where a question is no such fragment."""
    match = _FRAGMENT.match(question)
    new = match["new"].strip() if match else ""
    words, said = new.split(maxsplit=9), [plain(token) for token in tokens(new)]
    if not said or len(words) > 8 or (_is_whole(said) and not about(question)):
        return ""
    opens = words[0].istitle() and (words[0].casefold() in PREPOSITIONS or _ARTICLE.match(new))
    return new[0].lower() + new[1:] if opens else new  # "On Sundays?"


def _is_whole(said: Sequence[str]) -> bool:
    """Whether words are a question, a wish or a remark of their own: "any discounts?", "perfect, thank you!"."""
    parts = {part for word in said for part in (word, word.split("'")[0], word[-3:])}  # "it's", "isn't"
    return not lexicon.WHOLE.isdisjoint(parts)


def is_framed(question: str, reading: str) -> bool:
    """Whether a reading of a fragment is another question with the new thing in it, not the fragment with more."""
    return bool(new_thing(question.strip())) and not reading.startswith(question.strip().rstrip("?!. "))


def framed(question: str, history: Sequence[Turn]) -> Iterator[str]:
    """The new thing of a fragment in the frame of the last `QUESTIONS` that are none themselves, the likelier first."""
    new = new_thing(question)
    asked = (text for role, text in reversed(history) if new and role == "user" and not new_thing(text))
    for frame in islice(filter(None, map(_frame, asked)), QUESTIONS):
        yield from (f"{made}?" for made in _put(new, frame))


def plainly(question: str, history: Sequence[Turn]) -> str | None:
    """A fragment in the frame of the question before, where it is said to be one ("and", "what about", a question mark)
    and there is one place for it; None for all others, which somebody has to read.

    "In spring" behind a question, or in place of another time; "the Pro plan" in place of "the Plus plan"; the one
    place that is of its kind.
    """
    new = new_thing(question)
    last = next((text for role, text in reversed(history) if role == "user"), "")
    earlier = _frame(last) if new and not new_thing(last) else ""
    replied = history[-1][0] == "assistant" and history[-1][1].rstrip().endswith("?") if history else False
    if not earlier or replied:
        return None
    old, slots = tokens(earlier), _slots(earlier)
    lead, like = _lead(new), _alike(new, slots)
    if not (_CUE.match(question) or (question.rstrip().endswith("?") and (lead or like))):
        return None
    made = _put(new, earlier)
    if not (lead or like or _ONE.match(new)):
        fits = sorted((_fit(new, earlier, slot) for slot in slots), reverse=True)
        if fits[:1] != [BEST] or fits[1:2] == [BEST] or not PRONOUNS.isdisjoint(map(plain, old)):
            return None
        made = made[:1]
    return f"{made[0]}?" if len(made) == 1 else None


def _lead(new: str) -> str:
    """The preposition that a new thing begins with."""
    first, *more = new.split()
    return first.lower() if more and first.lower() in PREPOSITIONS else ""


def _frame(text: str) -> str:
    """The last question of a turn without its mark; "" for one of too few words or too many."""
    cuts = pairwise([*stops.starts(text, names=True), len(text)])
    pieces = [piece for begin, end in cuts if (piece := text[begin:end].rstrip()).endswith("?")]
    asked = (pieces or [text])[-1].strip().rstrip("?!. ")
    return asked if 3 <= len(asked.split(maxsplit=26)) <= 25 else ""


def _put(new: str, earlier: str) -> list[str]:
    """The earlier question with the new thing in each of the places that it may have, none twice."""
    if lead := _lead(new):
        return list(dict.fromkeys(_behind(new, earlier, lead)))
    slots = _slots(earlier)
    if one := _ONE.match(new):
        pairs = [slot for slot in slots if len(slot) == 2 and _own(earlier, slot)]
        made = [f"{earlier[: slot[0].begin]}{one['which']} {earlier[slot[1].begin :]}" for slot in pairs]
        return list(dict.fromkeys(made))
    like = _alike(new, slots)
    found = list[str]()
    for slot in [like] if like else sorted(slots, key=lambda slot: -_fit(new, earlier, slot))[:PLACES]:
        own, begin = _own(earlier, slot), slot[0].begin
        # Before the article where the new thing has its own, or takes none.
        keeps = own.lower() == "the " or not (new[:1].isupper() or new.endswith("s"))
        begins = [begin if keeps and not _ARTICLE.match(new) else begin - len(own)]
        if new[:1].isupper() and slot[0].is_capitalised:
            begins.append(begin - len(own))  # "the UK", but "Germany"
        found += [earlier[:begin] + new + earlier[slot[-1].end :] for begin in begins]
    asked = [] if like else [t for t in tokens(earlier) if plain(t) in PRONOUNS]
    return list(dict.fromkeys([*found, *(f"{earlier[: t.begin]}{new}{earlier[t.end :]}" for t in asked)]))


def _behind(new: str, earlier: str, lead: str) -> Iterator[str]:
    """ "in spring" in place of the question's own last "in ...", or at its end."""
    old = tokens(earlier)
    leads = [i for i in range(1, len(old)) if plain(old[i]) in PREPOSITIONS]
    same = [i for i in leads if plain(old[i]) == lead]
    mine = tokens(new)[1:]
    alike = [i for i in (same or leads)[-1:] if _kind(mine) == _kind(_phrase(earlier, old, i))]
    for i in alike or same[-1:]:
        phrase = _phrase(earlier, old, i)
        if not phrase:
            continue
        ends = [phrase[-1].end]
        if not phrase[0].is_capitalised and len(phrase) > 1:  # "which hotels in Rome allow dogs", "in city hotels"
            ends += [token.end for token in phrase[:-1]]
        for end in ends:
            yield f"{earlier[: old[i].begin].rstrip()} {new}{earlier[end:]}"
    if not (same and alike) and (lead in lexicon.ADDED or alike):
        yield f"{earlier} {new}"


def _phrase(earlier: str, old: Sequence[Token], at: int) -> list[Token]:
    """The words that name what a preposition is about: those that come next, or its name."""
    for run in runs(earlier, lambda t: not t.is_stop or t.is_capitalised):  # "May" is a stop word
        if run[0].begin > old[at].begin:
            return next(names(run)) if run[0].is_capitalised else run
    return []


def _slots(earlier: str) -> list[list[Token]]:
    """The phrases of a question that may name a thing, the last ones first."""
    found = [part for thing in things(earlier, lambda t: not t.is_stop) for part in parts(earlier, thing)]
    return found[::-1]


def _alike(new: str, slots: Sequence[list[Token]]) -> list[Token] | None:
    """The place of as many words that ends, or begins, as the new thing does: "the Plus plan" for "the Pro plan"."""
    mine = [t.term for t in tokens(new) if not t.is_stop]
    if len(mine) < 2:
        return None
    spans = [slot[i : i + len(mine)] for slot in slots for i in range(len(slot) - len(mine) + 1)]
    ends = [span for span in spans if span[-1].term == mine[-1]]
    begins = [slot for slot in slots if len(slot) == len(mine) and slot[0].term == mine[0]]
    return next(iter(ends or begins), None)


def _fit(new: str, earlier: str, slot: Sequence[Token]) -> int:
    """How much a slot is of the new thing's kind: times, names, "a boiler" beside "a heat pump", one or many."""
    mine = tokens(new)
    is_name, many = _kind(mine)[1], mine[-1].text.endswith("s") == slot[-1].text.endswith("s")
    alike = [a == b for a, b in zip(_kind(mine), _kind(slot), strict=True)]
    same = bool(_ARTICLE.match(new)) == bool(_own(earlier, slot)) and (is_name or many)
    return BEST - 1 - 2 * alike.count(False) + same


def _kind(words: Sequence[Token]) -> tuple[bool, bool]:
    """Whether words say when, and whether they are a name of another kind."""
    said = {plain(t).removesuffix("s") for t in words} | {plain(t) for t in words}
    time = not said.isdisjoint(lexicon.TIMES) or any(t.text.isdigit() and len(t.text) == 4 for t in words)
    return time, not time and any(t.is_capitalised for t in words)


def _own(earlier: str, slot: Sequence[Token]) -> str:
    """The article before a slot, or what stands there instead of one."""
    found = _THEIR_ARTICLE.search(earlier[max(0, slot[0].begin - 8) : slot[0].begin])
    return found[0] if found else ""
