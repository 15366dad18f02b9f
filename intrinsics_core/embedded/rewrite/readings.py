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
from itertools import combinations, groupby, pairwise, takewhile
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
from intrinsics_core.embedded.values import NUMBER_WORDS
from intrinsics_core.embedded.words import Token, tokens
from intrinsics_core.text import stops
from intrinsics_core.text.words import BEGINS, GREETING, MONTHS, PRAISE, THANKS, WEEKDAYS, word_set

MOST = 7
"""Phrases that are tried in place of a pronoun, at most."""
MARGIN = 1.2
"""How much likelier than the next a phrase is that the rules are sure of."""
LONGEST, READ, LONGEST_PHRASE = 400, 4_000, 5
"""Characters of a question that is completed, and of each earlier turn that is read; words of a phrase."""

BE, AT = word_set("is are was were be been"), word_set("in at of from to near")
DETERMINERS = word_set("the a an my your our his her its their this that these those another each every which")
PREPOSITIONS = word_set("for in at on with to from by during after before without near over until since within of")
_SUBJECTS = word_set("i we you they he she it who")
_OBJECTS = word_set("the a an my your our his her its their this that these those it them him me us you")
_MODALS = word_set("can could may must will would should might")
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


_ONE = ("ss", "us", "is")
"""How words end that are not many."""


class Phrase(NamedTuple):
    """A phrase of the earlier turns, with "the" where it had an article, and how likely a question leans on it."""

    text: str
    score: float
    is_salient: bool
    is_name: bool
    is_place: bool  # "at Port Ellery"

    @property
    def is_many(self) -> bool:
        thing = self.text.partition(" of ")[0]
        return thing.endswith("s") and not thing.endswith(_ONE)


def readings(conversation: Sequence[Turn]) -> list[Reading]:
    """Readings of the last turn, none twice and none equal to the turn itself, the likelier first.

    Empty for a turn that asks nothing, and without earlier turns.

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


def things(text: str, keep: Callable[[Token], bool]) -> list[list[Token]]:
    """What of the `runs` names a thing."""
    words, found = tokens(text), list[list[Token]]()
    place = {token.begin: i for i, token in enumerate(words)}
    for run in runs(text, keep):
        i, j = place[run[0].begin], place[run[-1].begin] + 1
        begin = 1 + max(text.rfind(mark, 0, run[0].begin) for mark in ".!?\n")
        stop = min((at for mark in ".!?\n" if (at := text.find(mark, run[-1].end)) >= 0), default=len(text))
        before = [plain(word) for word in words[max(0, i - 8) : i] if word.begin >= begin]
        behind = [plain(word) for word in words[j : j + 12] if word.end <= stop]
        found.append(_thing(run, before, behind, text[stop : stop + 1] in ("", "?")))
    return list(filter(None, found))


def _thing(run: list[Token], before: list[str], behind: list[str], asks: bool) -> list[Token]:
    """The words of a run that name a thing, without a verb before it and what is said of it behind: "is [the pool]
    open", "when does [the bus] leave", "you can return [shoes]", "[the soup] keeps".

    Args:
        before, behind: the words of its sentence on either side.
        asks: whether its sentence is a question.
    """
    determined, first, after = before[-1:] != [] and before[-1] in DETERMINERS, plain(run[0]), {*behind[:1]}
    *lead, verb = ["", *(before[:-1] if determined else before)]
    alone = len(run) == 1 and not determined and not (run[0].is_capitalised and verb)
    if before[-1:] == ["how"] or first.isdigit() or first in NUMBER_WORDS or (len(run) == 1 and _kind(run)[0]):
        return []  # "how fast does bamboo grow", "41 metres tall"
    if alone and (
        (verb in {"", *ASKING} and after & _OBJECTS)  # "Hold the button"
        or (verb in BE and not asks and (first.endswith("ed") or after & PREPOSITIONS))  # "It is closed"
        or (verb in JOINERS and not asks and first.endswith("s") and after & PREPOSITIONS)  # "and closes at eight"
    ):
        return []
    acts = verb in _SUBJECTS or verb in ("be", "been") or (verb == "to" and behind) or (verb in _MODALS and lead[1:])
    if acts and not determined and not run[0].is_capitalised and (verb not in _MODALS or lead[-1] not in ASKING):
        run = run[1:]  # "you can return shoes"
    while len(run) > 1 and (_kind(run[-1:])[0] or plain(run[-1]) in ("last", "next")) and "'" not in plain(run[-2]):
        run = run[:-1]  # "closed today"
    if len(run) > 1 and verb not in BE and after & _OBJECTS and not run[-1].is_capitalised:
        run = run[:-1]  # "Orbita stops the sync"
    told = not asks and not verb and AUXILIARIES.isdisjoint(takewhile(lambda word: word not in JOINERS, behind))
    for n in range(1, len(run)):
        word = plain(run[n])
        acts = word.endswith("s") and not (word.endswith("ss") or run[n - 1].text.endswith("s"))
        done = len(word) > 4 and word.endswith("ed") and not word.endswith("eed")
        said = done or word == "open" if verb in BE else told and (acts or done)
        if said and not run[n].is_capitalised:
            return run[:n]
    polar = {*lead} <= {"", "and", "so"}
    inverted = asks and verb in AUXILIARIES - (BE if behind or not polar else set()) and AUXILIARIES.isdisjoint(lead)
    # "how old is [the tide mill]", "does [the Plus plan] have"
    if len(run) < 2 or run[-1].is_capitalised or not inverted or after - (PREPOSITIONS | _OBJECTS | JOINERS):
        return run
    return run[:1] if polar and verb not in BE else run[:-1]  # "can [dogs] eat chocolate", "when does [the pool] open"


def names(run: Sequence[Token]) -> list[list[Token]]:
    """The stretches of capitalised words in a run, with the number behind one: "Python 3.12"."""
    is_name = [t.is_capitalised or (i > 0 and t.is_number and run[i - 1].is_capitalised) for i, t in enumerate(run)]
    groups = groupby(zip(is_name, run, strict=True), key=lambda pair: pair[0])
    return [[token for _, token in some] for found, some in groups if found]


def _parts(text: str, run: list[Token]) -> list[list[Token]]:
    """What of a run may be a thing: all of it behind an article, its names where it ends with one, else both."""
    found = names(run)
    if not found or (_article(text, run) and len(found) == 1):
        return [run] if not found or run[-1] is not found[0][-1] or run == found[0] else [*found, run]
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
    small = {token.term for _, text in near for token in tokens(text) if token.text.islower()}
    best: dict[str, Phrase] = {}
    for age, text in enumerate(latest_first(near)):
        begins = frozenset(stops.starts(text))
        whole = things(text, lambda t: not t.is_stop and t.term in likely)
        of = [
            [*a, *takewhile(lambda token: token.is_capitalised, b)]
            for a, b in pairwise(whole)
            if b[0].is_capitalised and text[a[-1].end : b[0].begin] in (" of ", " of the ")
        ]
        for run in [*of, *whole]:
            for part in _parts(text, run):
                past = {token.term for token in run} & gone
                named = {token.term for token in run if token.is_capitalised or token.is_number}
                if len(part) > LONGEST_PHRASE or (past and (past >= named or past & {token.term for token in part})):
                    continue
                held, text_of, before = [likely[t.term] for t in part], surface(text, part), text[: part[0].begin][-12:]
                first = part[0].begin in begins and (part[0].term in small or not part[-1].is_capitalised)
                text_of = text_of[0].lower() + text_of[1:] if first else text_of  # "Dogs are welcome"
                score = sum(held) / len(held) * (1.0 + 0.2 * (len(part) - 1)) - 0.001 * age
                is_place = part[0].is_capitalised and not AT.isdisjoint(before.split()[-2:])
                score *= 0.3 if is_place else 1.0  # "Is there a mill at Port Ellery?" asks about the mill
                if (known := best.get(text_of.casefold())) is None or known.score < score:
                    is_name = part[0].is_capitalised and part[-1].is_capitalised and len(part[0].text) > 1 and not first
                    whole_of = ("the " if _ARTICLE.search(before) else "") + text_of
                    best[text_of.casefold()] = Phrase(whole_of, score, max(held) >= least, is_name, is_place)
    return sorted(best.values(), key=lambda phrase: -phrase.score)[: 8 * MOST]


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
        owned = word in POSSESSIVE and i + 1 < len(words) and not (word == "her" and words[i + 1].is_stop)
        able = [phrase for phrase in found if not phrase.text.isdigit()]  # "it" is no year
        if word in PERSON:  # nobody is called "the Glass Museum"
            people = [each for each in able if each.is_name and not (each.is_place or each.text.startswith("the "))]
            able = sorted(people, key=lambda phrase: " " not in phrase.text) or able
        if word in PLURAL or word in ("it", "its"):  # "it" is no stamps
            able = [phrase for phrase in able if phrase.is_name or phrase.is_many == (word in PLURAL)]
        others = [phrase.score for phrase in able[1:] if phrase.text not in able[0].text]
        clear = bool(able) and able[0].is_salient and able[0].score > MARGIN * max(others, default=0.0)
        clear = clear and (word not in PLURAL or able[0].is_many) and word in THIRD
        for phrase in able[:MOST]:
            suffix = ("'" if phrase.text.endswith("s") else "'s") if owned else ""
            put = f"{'in ' if is_place else ''}{phrase.text}{suffix}"
            yield Reading(f"{question[: token.begin]}{put}{question[token.end :]}", clear and phrase is able[0])
        return


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
    if (LEANING - PLACES) & {plain(token) for text in (new, earlier) for token in tokens(text)}:
        return ""
    put = _behind if plain(tokens(new)[0]) in PREPOSITIONS else _instead if _kind(tokens(new))[0] else _put
    made = put(new, earlier)
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
            same = plain(old[i]) == lead or _kind(mine)[0] or {plain(old[i]), lead} <= {"in", "on", "at"}
            return f"{earlier[: old[i].begin].rstrip()} {new}{earlier[phrase[-1].end :]}" if same else ""
    return f"{earlier} {new}"


def _instead(new: str, earlier: str) -> str:
    """ "tomorrow" in place of the question's own "today", or at its end."""
    old = next((token for token in tokens(earlier) if _kind([token])[0]), None)
    return f"{earlier[: old.begin]}{new}{earlier[old.end :]}" if old else f"{earlier} {new}"


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
