"""What a question that leans on its conversation may mean: readings made by substitution.

A phrase of the earlier turns stands in place of a pronoun ("Is it treatable?"), or the new thing of a fragment ("And in
spring?") in the frame of an earlier question. Which reading is meant, or none, is told in `standing_alone`. Span edits
in the sense of *Incomplete Utterance Rewriting as Semantic Segmentation* (Liu et al., EMNLP 2020).

What this is not: generation, a parser or a coreference model. A reading holds words of the conversation alone, and "in"
before a place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, groupby, pairwise
from typing import NamedTuple

from intrinsics_core.embedded.heads import load_head
from intrinsics_core.embedded.rewrite.salience import (
    ASKING,
    AUXILIARIES,
    LEANING,
    PERSON,
    PLACES,
    PLURAL,
    POSSESSIVE,
    THIRD,
    heard,
    latest_first,
    plain,
    salience,
)
from intrinsics_core.embedded.turns import Turn, kind_of
from intrinsics_core.embedded.words import Token, tokens
from intrinsics_core.text import stops
from intrinsics_core.text.words import BEGINS, GREETING, MONTHS, PRAISE, THANKS, WEEKDAYS, word_set

MOST = 7
"""Phrases that are tried in place of a pronoun, at most."""
MARGIN = 1.3
"""How much likelier than the next a phrase is that the rules are sure of."""
LONGEST, READ, LONGEST_PHRASE = 400, 4_000, 5
"""Characters of a question that is completed, and of each earlier turn that is read; words of a phrase."""

BE, AT = word_set("is are was were be been"), word_set("in at of from to near")
DETERMINERS = word_set("the a an my your our this that these those each every")
PREPOSITIONS = word_set("for in at on with to from by during after before without near over until since within of")
JOINERS = word_set("and but or if when because while so then that which who whose as since")
_OWN = word_set("i we you me let's please thanks thank that it")
WHOLE = (AUXILIARIES - word_set("may be been must might")) | ASKING | _OWN
"""A turn with one in it asks or says something of its own: it is no fragment."""
TIMES = frozenset((*MONTHS, *WEEKDAYS)) | word_set(
    "weekday weekend spring summer autumn fall winter morning afternoon evening night noon today tomorrow holiday year"
)
_ABOUT = r"(?:what|how)(?: about| of|['\u2019]s about)"
_SAID = rf"{BEGINS}|{GREETING}|{THANKS}|{PRAISE}"
_FRAGMENT = re.compile(
    rf"\A(?P<cue>(?:(?:{_SAID})[,.! ]++)*+(?P<about>{_ABOUT} )?+)(?P<new>[^?!\n]{{1,80}}?)"
    r"(?:,?+ (?:then|too|though|instead))?[.?!\s]*+\Z",
    re.IGNORECASE,
)
_ARTICLE = re.compile(rf"\b(?:{'|'.join(sorted(DETERMINERS))}) \Z", re.IGNORECASE)


class Reading(NamedTuple):
    """What a question may mean. is_sure: whether the rules would take it without a reader."""

    text: str
    is_sure: bool = False


class Phrase(NamedTuple):
    """A phrase of the earlier turns, with "the" where it had an article, and how likely a question leans on it."""

    text: str
    score: float
    is_salient: bool
    is_name: bool


def readings(conversation: Sequence[Turn]) -> list[Reading]:
    """Readings of the last turn, none twice and none equal to the turn itself, the likelier first.

    Empty for a turn that asks nothing, and
    without earlier turns.

    Raises:
        ValueError: the conversation is empty or its last turn is not the user's.
    """
    *history, (_, last) = heard(conversation)
    question = last.strip() if len(last) <= LONGEST else ""
    if not history or not tokens(question) or kind_of(conversation) == "nothing":
        return []
    if whole := framed(question, history):
        return [Reading(whole, True)]
    found = _pronouns(question, mentioned([*history, ("user", question)]))
    made = {each.text: each for each in found if each.text != question and len(each.text) <= 2 * LONGEST}
    return list(made.values())


# Phrases.


def runs(text: str, keep: Callable[[Token], bool]) -> list[list[Token]]:
    """Longest runs of neighbouring tokens that all satisfy ``keep``."""
    found: list[list[Token]] = []
    previous: Token | None = None
    for token in tokens(text):
        if keep(token):
            beside = previous is not None and (
                text[previous.end : token.begin] in (" ", "-") or previous.end >= token.begin
            )
            if beside and found and found[-1][-1] is previous:
                found[-1].append(token)
            else:
                found.append([token])
        previous = token
    return found


def things(text: str, keep: Callable[[Token], bool]) -> Iterator[list[Token]]:
    """The `runs` that may name a thing. A verb that stands before its subject has its rest behind it: "is [the pool]
    open", "when does [the bus] leave".
    """
    return (run[:size] for run in runs(text, keep) if (size := _size(text, run)))


def _size(text: str, run: Sequence[Token]) -> int:
    """How many words of a run name a thing."""
    before = [word.strip(",.!?").casefold() for word in text[: run[0].begin][-40:].split()]
    rest, size = text[run[-1].end :][:LONGEST], len(run)
    asks = next((mark for mark in rest if mark in "?.!\n"), "?") == "?"
    if before[-1:] == ["how"]:
        return 0  # "how fast does bamboo grow"
    while size > 1 and _kind(run[size - 1 : size])[0]:
        size -= 1  # "closed today"
    verb = before[:-1] if before and before[-1] in DETERMINERS else before
    inverted = (
        asks and verb and verb[-1] in AUXILIARIES and (verb[-1] not in BE or not {*verb[-2:-1]} & {"what", "who"})
    )
    if (
        not inverted
        or size < 2
        or run[size - 1].is_capitalised
        or not (verb[-1] not in BE or rest.lstrip()[:1] in ("", "?"))
    ):
        return size
    return size - 1 if verb is not before else 1  # "can [dogs] eat chocolate"


def names(run: Sequence[Token]) -> list[list[Token]]:
    """The stretches of capitalised words in a run, with the number behind one: "Python 3.12"."""
    is_name = [t.is_capitalised or (i > 0 and t.is_number and run[i - 1].is_capitalised) for i, t in enumerate(run)]
    groups = groupby(zip(is_name, run, strict=True), key=lambda pair: pair[0])
    return [[token for _, token in some] for found, some in groups if found]


def _parts(text: str, run: list[Token]) -> list[list[Token]]:
    """What of a run may be a thing: all of it behind an article, its names where it ends with one, else both."""
    found = names(run)
    if _article(text, run) and len(found) < 2:
        return [run]
    return found if run[-1].is_capitalised else [*found, run]


def surface(text: str, run: Sequence[Token]) -> str:
    """A run as the text has it, without a closing possessive."""
    return re.sub(r"['\u2019]s?\Z", "", text[run[0].begin : run[-1].end])


def mentioned(conversation: Sequence[Turn]) -> list[Phrase]:
    """Phrases of the earlier turns that the last one may lean on, the likeliest first, an article with each."""
    *history, last = conversation
    near = [(role, text[-READ:] if role == "user" else text[:READ]) for role, text in history]
    likely, least = salience([*history, last]), load_head("rewrite").thresholds["substitute"]
    # "They" are those that were talked of before, too.
    gone = frozenset[str]() if PLURAL & set(map(plain, tokens(last[1]))) else replaced(near)
    asked = [(text, run) for _, text in [*near, last] for run in runs(text, lambda t: not t.is_stop)]
    verbs = {token.term for text, run in asked for token in run[_size(text, run) or len(run) :]}  # "opens", then
    best: dict[str, Phrase] = {}
    for age, text in enumerate(latest_first(near)):
        for run in things(text, lambda t: not t.is_stop and t.term in likely):
            while len(run) > 1 and run[-1].term in verbs and not run[-1].is_capitalised:
                run = run[:-1]
            for part in _parts(text, run):
                past = {token.term for token in run} & gone
                named = {token.term for token in run if token.is_capitalised or token.is_number}
                if len(part) > LONGEST_PHRASE or (past and (past >= named or past & {token.term for token in part})):
                    continue
                held, text_of, before = [likely[t.term] for t in part], surface(text, part), text[: part[0].begin][-12:]
                score = sum(held) / len(held) * (1.0 + 0.2 * (len(part) - 1)) - 0.001 * age
                if part[0].is_capitalised and AT & {*before.split()[-2:]}:
                    score *= 0.5  # "Is there a mill at Port Ellery?" asks about the mill
                if (known := best.get(text_of.casefold())) is None or known.score < score:
                    is_name = part[0].is_capitalised and part[-1].is_capitalised and len(part[0].text) > 1
                    best[text_of.casefold()] = Phrase(
                        ("the " if re.search(r"\b(?:the|an?) \Z", before, re.IGNORECASE) else "") + text_of,
                        score,
                        max(held) >= least,
                        is_name,
                    )
    kept: list[Phrase] = []
    for phrase in sorted(best.values(), key=lambda phrase: -phrase.score)[: 8 * MOST]:
        # One spelling of a thing is enough, the longer one; but "Ada Quill built" may hold a name and a verb.
        if phrase.text.istitle() or not any(phrase.text.removeprefix("the ") in other.text for other in kept):
            kept.append(phrase)
    return kept


def replaced(history: Sequence[Turn]) -> frozenset[str]:
    """The terms of the names that were talked of before and are not any more.

    A later question of the user's names another thing of that kind ("the Plus plan", "the Pro plan"), or is the same
    question of another ("Who is Anna Berg?", "And Tom Hale?"). A name that comes up again from there on is talked of.
    """
    asked = [i for i, (role, text) in enumerate(history) if role == "user" and len(text) <= LONGEST][-12:]
    named: list[tuple[int, frozenset[str], str, tuple[str, ...]]] = []
    for i in asked:
        text = framed(history[i][1], history[:i]) or history[i][1]
        words = tokens(text)
        leans = any(plain(word) in LEANING for word in words)
        for thing in things(text, lambda token: not token.is_stop):
            name = frozenset(token.term for held in names(thing) for token in held)
            if name - {words[0].term}:  # which has a capital anyway
                around = () if leans else tuple(plain(word) for word in words if word not in thing)
                kind = (
                    "" if leans else (thing[0] if thing[-1].is_number or len(thing[-1].text) == 1 else thing[-1]).term
                )
                named.append((i, name, kind, around))
    gone = frozenset[str]()
    for (i, old, kind, around), (j, new, *now) in combinations(named, 2):
        if i < j and new - old and now[0] and (kind == now[0] or around == now[1]):
            gone |= old - new - {token.term for _, text in history[j:] for token in tokens(text)}
    return gone


def _pronouns(question: str, found: Sequence[Phrase]) -> Iterator[Reading]:
    """The first pronoun that can only point to an earlier turn, replaced by each phrase.

    The rules are sure of the likeliest phrase, where it is salient and the next one is far behind.
    """
    words = tokens(question)
    for i, token in enumerate(words):
        word, prior, closes = plain(token), plain(words[i - 1]) if i else "", not question[token.end :].strip(" ?!.,")
        is_place = word in PLACES and i > 0 and (prior not in BE or closes)  # not "Are there any ..."
        if not is_place and word not in THIRD:
            continue
        if _points_inside(question, words[:i]) or (prior in BE and [*map(plain, words[i + 2 : i + 3])] == ["to"]):
            return  # "Is it possible to ..."
        owned = word in POSSESSIVE and i + 1 < len(words) and not (word == "her" and words[i + 1].is_stop)
        able = [phrase for phrase in found if not phrase.text.isdigit()]  # "it" is no year
        able = [phrase for phrase in able if phrase.is_name or word not in PERSON] or able
        able = [phrase for phrase in able if phrase.is_name or phrase.text.endswith("s") or word not in PLURAL]
        others = [phrase.score for phrase in able[1:] if phrase.text not in able[0].text]
        clear = bool(able) and able[0].is_salient and able[0].score > MARGIN * max(others, default=0.0)
        clear = clear and (word not in PLURAL or able[0].text.endswith("s")) and word in THIRD
        for phrase in able[:MOST]:
            suffix = ("'" if phrase.text.endswith("s") else "'s") if owned else ""
            put = f"{'in ' if is_place else ''}{phrase.text}{suffix}"
            yield Reading(f"{question[: token.begin]}{put}{question[token.end :]}", clear and phrase is able[0])
        return


def _points_inside(question: str, before: Sequence[Token]) -> bool:
    """Whether what stands before a pronoun may be what it means: "What is X and how is it taxed?". The word that opens
    the question joins nothing: "Who built it?"
    """
    return any(not word.is_stop for word in before) and (
        any(plain(word) in JOINERS or (word.is_capitalised and not word.is_stop) for word in before[1:])
        or re.search(r"[.!?;:,]\s", question[: before[-1].end + 2]) is not None
    )


# Fragments.


def new_thing(question: str) -> str:
    """X of "what about X?", "and X?" or X alone, of at most eight words; empty where a question is no such fragment."""
    match = _FRAGMENT.match(question)
    new = match["new"].strip() if match else ""
    words = [plain(token) for token in tokens(new)]
    parts = {part for word in words for part in (word, word.split("'")[0], word[-3:])}  # "it's", "isn't"
    if not match or not words or len(new.split()) > 8 or ((WHOLE | {"n't"}) & parts and not match["about"]):
        return ""
    opens = words[0] in PREPOSITIONS or words[0] in DETERMINERS
    return new[0].lower() + new[1:] if opens else new  # "On Sundays?"


def is_framed(question: str, reading: str) -> bool:
    """Whether a reading of a fragment is another question with the new thing in it, not the fragment with more."""
    return bool(new_thing(question.strip())) and not reading.startswith(question.strip().rstrip("?!. "))


def framed(question: str, history: Sequence[Turn]) -> str:
    """The question before with the new thing of a fragment in the one place of its kind; "" where there is none."""
    new = new_thing(question)
    asked = (text for role, text in reversed(history) if new and role == "user" and not new_thing(text))
    earlier, match = _last_question(next(asked, "")), _FRAGMENT.match(question)
    if not earlier or not match or not (match["cue"] or question.endswith("?")):  # "opening hours" may be all it asks
        return ""
    if LEANING & {plain(token) for text in (new, earlier) for token in tokens(text)}:
        return ""
    made = _behind(new, earlier) if plain(tokens(new)[0]) in PREPOSITIONS else _put(new, earlier)
    return made and f"{made}?"


def _last_question(text: str) -> str:
    """The last question of a turn without its mark; "" for one of too few words or too many."""
    begins = [*stops.starts(text, names=True), len(text)]
    pieces = [text[begin:end].strip() for begin, end in pairwise(begins)]
    asked = next((piece for piece in reversed(pieces) if piece.endswith("?")), text).strip().rstrip("?!. ")
    return asked if 3 <= len(asked.split(maxsplit=26)) <= 25 else ""


def _behind(new: str, earlier: str) -> str:
    """ "in spring" in place of the question's own "in autumn", or at its end."""
    old, lead, mine = tokens(earlier), plain(tokens(new)[0]), tokens(new)[1:]
    for i in [i for i in range(1, len(old)) if plain(old[i]) in PREPOSITIONS][::-1]:
        some = runs(earlier, lambda t: not t.is_stop or t.is_capitalised)  # "May" is a stop word
        phrase = next((run for run in some if run[0].begin > old[i].begin), None)
        if phrase and _kind(mine) == _kind(phrase):
            phrase = (names(phrase) if phrase[0].is_capitalised else [phrase])[0]
            same = plain(old[i]) == lead or _kind(mine)[0]
            return f"{earlier[: old[i].begin].rstrip()} {new}{earlier[phrase[-1].end :]}" if same else ""
    return f"{earlier} {new}"


def _put(new: str, earlier: str) -> str:
    """The new thing in place of the one phrase of the question that is of its kind."""
    slots = [part for thing in things(earlier, lambda t: not t.is_stop) for part in _parts(earlier, thing)]
    mine = [token.term for token in tokens(new) if not token.is_stop]
    same = [s[i : i + len(mine)] for s in slots for i in range(len(s) - len(mine) + 1) if len(mine) > 1]
    alike = [s for s in same if s[-1].term == mine[-1] or s[0].term == mine[0]]
    found = alike[-1:] or [slot for slot in slots if _fits(new, earlier, slot)]
    if len(found) != 1:
        return ""
    (slot,), own = found, _article(earlier, found[0])
    keeps = plain(tokens(new)[0]) not in DETERMINERS and (
        own.lower() == "the " or not (new[:1].isupper() or new.endswith("s"))
    )
    return f"{earlier[: slot[0].begin - (0 if keeps else len(own))]}{new}{earlier[slot[-1].end :]}"


def _fits(new: str, earlier: str, slot: Sequence[Token]) -> bool:
    """Whether a phrase is of the new thing's kind: times, names, "a boiler" beside "a heat pump", one or many."""
    mine = tokens(new)
    many = _kind(mine)[1] or mine[-1].text.endswith("s") == slot[-1].text.endswith("s")
    return _kind(mine) == _kind(slot) and (plain(mine[0]) in DETERMINERS) == bool(_article(earlier, slot)) and many


def _kind(words: Sequence[Token]) -> tuple[bool, bool]:
    """Whether words say when, and whether they are a name of another kind."""
    time = any({plain(t), plain(t).removesuffix("s")} & TIMES or (t.text.isdigit() and len(t.text) == 4) for t in words)
    return time, not time and any(t.is_capitalised for t in words)


def _article(earlier: str, slot: Sequence[Token]) -> str:
    """The article before a phrase, or what stands there instead of one."""
    found = _ARTICLE.search(earlier[: slot[0].begin][-8:])
    return found[0] if found else ""
