"""What a fragment asks ("What about Hull?", "and in spring?"): the new thing in the frame of an earlier question."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from intrinsics_core.embedded.lexical import Token, is_stopword, tokens, word_set
from intrinsics_core.embedded.nouns import AUXILIARIES, WH, inverted, named, names
from intrinsics_core.embedded.phrases import article, runs
from intrinsics_core.embedded.salience import Turn, plain

QUESTIONS = 2
"""Earlier questions that serve as a frame, at most."""
PLACES = 4
"""Places of one question that the new thing is put into, at most."""
BEST = 5
"""How well a place fits at most."""

_FRAGMENT = re.compile(
    r"\A(?:(?:ok|okay|and|so|but|then|well|thanks|hm+|or)[,.! ]++)*+"
    r"(?:(?:(?:what|how)(?: about| of|['\u2019]s about)|and|why|or) )?+(?P<new>[^?!\n]{1,80}?)[.?!\s]*+\Z",
    re.IGNORECASE,
)
_ABOUT = re.compile(r"\A\W*(?:\w+[,.! ]+){0,2}(?:what|how)(?: about| of) ", re.IGNORECASE)
# What is a question, a wish or a remark of its own: "any discounts?", "Make it shorter.", "perfect, thank you!"
_WHOLE = re.compile(
    r"\A(?:any|anything|more|yes|no|please)\b"
    r"|\b(?:what|who|whom|whose|which|when|where|why|how|is|are|was|were|do|does|did|can|could|should|would|will|has|have"
    r"|had|tell|give|explain|describe|list|show|write|translate|make|summari[sz]e|compare|stop|let['\u2019]s"
    r"|i|i['\u2019]\w+|we|you|me|thanks|thank|please|that|it)\b|n['\u2019]t\b",
    re.IGNORECASE,
)
_LEADS = ("for", "in", "at", "on", "with", "to", "from", "by", "during", "after", "before")
_LEAD = re.compile(rf"\A(?P<lead>{'|'.join(_LEADS)}) ", re.IGNORECASE)
_QUESTION = re.compile(r"(?<![^.!?\n])[^.!?\n]++\?")
_ARTICLE = re.compile(r"\A(?:the|an?) ", re.IGNORECASE)
_THEIR_ARTICLE = re.compile(r"\b(?:the|an?) \Z", re.IGNORECASE)

_ONE = re.compile(r"\A(?:the )?(?P<which>\w+) ones?\Z", re.IGNORECASE)

_COMPARES = word_set("between among vs versus both compare compares compared")
_OPENERS = AUXILIARIES | WH | word_set("what's who's where's how's whom whose tell explain describe")
_PRONOUNS = word_set("it they them he him she her this that these those one ones both")
_TIMES = word_set(
    "january february march april may june july august september october november december monday tuesday wednesday "
    "thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays weekday weekdays "
    "weekend weekends spring summer autumn fall winter morning mornings afternoon afternoons evening evenings night "
    "nights noon midnight today tomorrow yesterday holiday holidays christmas easter year month week day"
)


def about(question: str) -> bool:
    """Whether a question begins as "what about" does."""
    return _ABOUT.match(question) is not None


def new_thing(question: str) -> str:
    """X of "what about X?", "and X?" or X alone, of at most eight words; empty where a question is no such fragment."""
    match = _FRAGMENT.match(question)
    if match is None or (_WHOLE.search(match["new"]) and not about(question)):
        return ""
    new = match["new"].strip()
    words = new.split(maxsplit=9)
    if not words or len(words) > 8:
        return ""
    return new[0].lower() + new[1:] if is_stopword(words[0]) else new  # "On Sundays?"


def framed(question: str, history: Sequence[Turn]) -> Iterator[str]:
    """The new thing of a fragment in the frame of the last `QUESTIONS` that are none themselves, the likelier first."""
    new = new_thing(question)
    asked = (text for role, text in reversed(history) if new and role == "user" and not new_thing(text))
    for frame in islice(filter(None, map(_frame, asked)), QUESTIONS):
        yield from (f"{made}?" for made in _put(new, frame))


def plainly(question: str, history: Sequence[Turn]) -> str | None:
    """A fragment in the frame of the question before, where there is one place for it: None where that is not plain.

    "In spring" behind a question, or in place of another time; "the Pro plan" in place of "the Plus plan"; the one
    place that is of its kind.
    """
    new = new_thing(question)
    last = next((text for role, text in reversed(history) if role == "user"), "")
    earlier = _frame(last) if new and not new_thing(last) else ""
    if not earlier or not _COMPARES.isdisjoint(map(plain, tokens(earlier))):
        return None
    made = list(_put(new, earlier))
    if not _LEAD.match(new) and not _ONE.match(new) and not _alike(new, slots := _slots(earlier)):
        fits = sorted((_fit(new, earlier, slot) for slot in slots), reverse=True)
        if fits[:1] != [BEST] or fits[1:2] == [BEST]:
            return None
        made = made[:1]
    return f"{made[0]}?" if len(made) == 1 else None


def _frame(text: str) -> str:
    """The last question of a turn without its mark, "" where it asks nothing, or in too few words or too many."""
    asked = (_QUESTION.findall(text) or [text])[-1].strip().rstrip("?!. ")
    words = asked.split(maxsplit=26)
    return asked if 3 <= len(words) <= 25 and not _OPENERS.isdisjoint(w.casefold() for w in words[:3]) else ""


def _put(new: str, earlier: str) -> Iterator[str]:
    old = tokens(earlier)
    if lead := _LEAD.match(new):
        yield from _behind(new, earlier, old, lead["lead"].lower())
        return
    slots = _slots(earlier)
    like = _alike(new, slots)
    if one := _ONE.match(new):
        for slot in (slot for slot in slots if len(slot) > 1 and article(earlier, slot)):
            yield earlier[: slot[0].begin] + one["which"] + " " + earlier[slot[1].begin :]
        return
    for slot in [like] if like else sorted(slots, key=lambda slot: -_fit(new, earlier, slot))[:PLACES]:
        yield earlier[: _begin(new, earlier, slot)] + new + earlier[slot[-1].end :]
    for pronoun in (t for t in old if plain(t) in _PRONOUNS):
        yield f"{earlier[: pronoun.begin]}{new}{earlier[pronoun.end :]}"


def _behind(new: str, earlier: str, old: Sequence[Token], lead: str) -> Iterator[str]:
    """ "in spring" in place of the question's own last "in ...", or at its end."""
    theirs = [i for i in range(1, len(old)) if plain(old[i]) in _LEADS]
    same = [i for i in theirs if plain(old[i]) == lead]
    alike = [i for i in (same or theirs)[-1:] if _is_time(tokens(new)) == _is_time(old[i:])]
    for i in alike or same[-1:]:
        yield f"{earlier[: old[i].begin].rstrip()} {new}"
    if not (same and alike):
        yield f"{earlier} {new}"


def _slots(earlier: str) -> list[list[Token]]:
    """The phrases of a question that may name a thing, the last ones first."""
    found: list[list[Token]] = []
    for run in runs(earlier, lambda t: not t.is_stop):
        thing = named(earlier, run)
        if not thing:
            continue
        held = list(names(thing))
        found += held
        if thing[-1].is_capitalised:
            found += [thing] if held != [thing] else []
            continue
        verb = inverted(earlier, thing)
        alone = len(thing) == 1 and verb and not _THEIR_ARTICLE.search(earlier[: thing[0].begin])
        # "does bamboo [grow]", "be [serviced]"; but "on [the ferry]", "for [basmati rice]", "cover [scratches]" end so
        found += [thing[:-1]] if verb and len(thing) > 1 else []
        owned = {i + 1 for i, token in enumerate(thing) if token.text.endswith(("'s", "\u2019s"))}
        begins = (i for i in range(len(thing)) if not i or i in owned or (verb and len(thing) > 2))
        found += [] if alone else [thing[i:] for i in begins]
    return found[::-1]


def _alike(new: str, slots: Sequence[list[Token]]) -> list[Token] | None:
    """The slot that ends, or begins, as the new thing does: "the Plus plan" for "the Pro plan"."""
    mine = [t.term for t in tokens(new) if not t.is_stop]
    if len(mine) < 2:
        return None
    ends = [slot[: i + 1] for slot in slots for i, token in enumerate(slot) if token.term == mine[-1]]
    begins = [slot for slot in slots if len(slot) == len(mine) and slot[0].term == mine[0]]
    return max(ends or begins, key=len, default=None)


def _fit(new: str, earlier: str, slot: Sequence[Token]) -> int:
    """How much a slot is of the new thing's kind: times, names, "a boiler" beside "a heat pump"."""
    mine = tokens(new)
    is_name = any(t.is_capitalised for t in mine)
    kinds = (_is_time(mine) == _is_time(slot), is_name == any(t.is_capitalised for t in slot))
    return BEST - 1 - 2 * kinds.count(False) + (bool(_ARTICLE.match(new)) == bool(article(earlier, slot)))


def _is_time(words: Sequence[Token]) -> bool:
    return any(plain(t) in _TIMES or (t.is_number and t.text.isdigit() and len(t.text) == 4) for t in words)


def _begin(new: str, earlier: str, slot: Sequence[Token]) -> int:
    """Where the new thing begins: before the slot's article where it has its own, or takes none."""
    own = _THEIR_ARTICLE.search(earlier[max(0, slot[0].begin - 5) : slot[0].begin])
    return slot[0].begin - len(own[0]) if own and not _keeps(new, own[0]) else slot[0].begin


def _keeps(new: str, own: str) -> bool:
    """Whether a slot's own article goes with the new thing."""
    if _ARTICLE.match(new):
        return False
    return own.lower() == "the " or not (new[:1].isupper() or new.endswith("s"))
