"""What a question that leans on its conversation may mean: every reading that substitution can make of it.

A phrase of the earlier turns in place of each pronoun ("Is it treatable?"), behind a question that lacks its "of what"
("What are the side effects?"), and, for "what about X?" and other fragments, X in the frame of an earlier question. The
readings are only proposed here: which of them is meant, or none, is the reader's to say (task ``meant`` of
`requests.Score`), or `resolving`'s where there is no reader.

What this is not: generation. A reading holds words of the conversation, and "of", "in" or "for" between them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise, zip_longest

from intrinsics_core.embedded.head import bounded, load_head
from intrinsics_core.embedded.lexical import Token, tokens, word_set
from intrinsics_core.embedded.phrases import LONGEST_PHRASE, article, runs, surface
from intrinsics_core.embedded.rewriting import leans
from intrinsics_core.embedded.salience import Turn, latest_first, plain, salience
from intrinsics_core.evaluation.probabilities import softmax

MOST = 16
"""Readings of one question, at most."""
TURNS = 8
"""Earlier turns that are looked at."""
PHRASES = 7
"""Phrases of the history that are tried in one place, at most."""
READ = 4_000
"""Characters of each earlier turn that phrases are taken from."""
LONGEST = 400
"""Characters of a question that is completed, at most: a longer one stands alone."""

_PRONOUNS = word_set("it they them he him she her this that these those one ones both")
_OWNERS = word_set("its their his her")
_POINTERS = word_set("this that these those")
_FRAGMENT = re.compile(
    r"\A(?:(?:ok|okay|and|so|but|then|well|thanks|hm+|or)[,.! ]++)*+"
    r"(?:(?:(?:what|how)(?: about| of|['\u2019]s about)|and|any|why|or) )?+(?P<new>[^?!\n]{1,80}?)[.?!\s]*+\Z",
    re.IGNORECASE,
)
_LEADS = re.compile(r"\A(?P<lead>for|in|at|on|with|to|from|by|during|after|before) ", re.IGNORECASE)
_ASKS = re.compile(
    r"\b(?:what|who|whom|whose|which|when|where|why|how|is|are|was|were|do|does|did|can|could|should|would|will|has|have"
    r"|had|tell|give|explain|describe|list|show)\b",
    re.IGNORECASE,
)
_QUESTION = re.compile(r"(?<![^.!?\n])[^.!?\n]++\?")
_OF = re.compile(r" of (?:the )?")
_ARTICLE = re.compile(r"\A(?:the|an?) ", re.IGNORECASE)
_ABOUT = re.compile(r"\A\W*(?:\w+[,.! ]+){0,2}(?:what|how)(?: about| of) ", re.IGNORECASE)
_BE = word_set("is are was were be been isn't aren't wasn't weren't")
_AUXILIARIES = _BE | word_set("do does did can could will would should must may has have had")
_WH = word_set("what when where why how which who")
_SMALL = word_set("thanks thank hello hi bye goodbye cheers yes no ok okay great sure")


def candidates(conversation: Sequence[Turn], by_rules: str = "") -> list[str]:
    """Readings of the last turn, none twice and none equal to the turn itself, at most `MOST`.

    Of each kind of reading the likelier phrases come first, and the kinds take turns. Empty for a turn that asks
    nothing, and without earlier turns of user or assistant.

    Args:
        conversation: ``(role, text)`` turns, oldest first.
        by_rules: what `resolving` makes of the last turn, which is a reading, too: the first.

    Raises:
        ValueError: the conversation is empty.
    """
    if not conversation:
        raise ValueError("conversation: no turns")
    question = conversation[-1][1]
    if len(question) > LONGEST:
        return []
    question, near = question.strip(), heard(conversation[:-1])
    words = tokens(question)
    if not near or not words or plain(words[0]) in _SMALL:
        return []
    near = [(role, text[-READ:] if role == "user" else text[:READ]) for role, text in near]
    found = phrases([*near, ("user", question)])
    kinds = (_fragment(question, near), _pronouns(question, words, found), _of_what(question, words, found))
    made = dict.fromkeys((by_rules, *(text for some in zip_longest(*kinds) for text in some)))
    return [text for text in made if text and text != question and len(text) <= 2 * LONGEST][:MOST]


def to_judge(conversation: Sequence[Turn], by_rules: str) -> list[tuple[str, str]]:
    """What a reader is asked for *meant*: the conversation as it is `told` beside the last turn as it stands, then
    beside each of its `candidates`. Empty where the turn leans on nothing (`rewriting.leans`) or has no readings.
    """
    found = candidates(conversation, by_rules) if leans(conversation) else []
    before = told(conversation) if found else ""
    return [(before, text) for text in (conversation[-1][1], *found)] if found else []


def heard(history: Sequence[Turn]) -> list[Turn]:
    """The last `TURNS` turns of user and assistant; others are passed over."""
    said = [turn for turn in history[-4 * TURNS :] if turn[0] in ("user", "assistant")]
    return said[-TURNS:]


def phrases(conversation: Sequence[Turn], most: int = PHRASES) -> list[str]:
    """Phrases of the earlier turns that the last one may lean on, the most salient first, an article with each."""
    *history, _ = conversation
    likely = salience(conversation)
    best: dict[str, tuple[float, str]] = {}
    cut = set[str]()
    for age, text in enumerate(latest_first(history)):
        plain_runs = runs(text, lambda t: not t.is_stop and t.term in likely)
        for run in [*_joined(text, plain_runs), *plain_runs]:
            for part in _parts(text, run):
                name = surface(text, part)
                key = name.casefold()
                score = max(likely[t.term] for t in part) + 0.02 * min(len(part), 3) - 0.004 * age
                if part[0] is run[0] and part[-1] is not run[-1]:
                    cut.add(key)
                    score -= 0.05
                if key not in best or best[key][0] < score:
                    best[key] = score, article(text, part) + name
    ranked = sorted(best.items(), key=lambda item: -item[1][0])
    kept: list[str] = []
    for key, (_, phrase) in ranked:
        # One spelling of a thing is enough, the longer one; but "Ada Quill built" may hold a name and a verb.
        if phrase.istitle() or key in cut or not any(f" {key} " in f" {other.casefold()} " for other in kept):
            kept.append(phrase)
        if len(kept) == most:
            break
    return kept


def _joined(text: str, found: Sequence[list[Token]]) -> Iterator[list[Token]]:
    """Two runs with "of" between them: "treaty of Versailles"."""
    for left, right in pairwise(found):
        if _OF.fullmatch(text[left[-1].end : right[0].begin]) and len(left) + len(right) <= LONGEST_PHRASE:
            yield [*left, *right]


def _parts(text: str, run: list[Token]) -> Iterator[list[Token]]:
    """A run of at most `LONGEST_PHRASE` words, its stretches of names, and what a question's verb stands behind."""
    if len(run) <= LONGEST_PHRASE:
        yield run
    names = [list(some) for named, some in groupby(run, key=lambda t: t.is_capitalised) if named]
    for name in names:
        if len(name) < len(run) or len(run) > LONGEST_PHRASE:
            yield name[-LONGEST_PHRASE:]
    if not names and len(run) > LONGEST_PHRASE:
        yield run[-3:]
    if 1 < len(run) <= LONGEST_PHRASE and not run[-1].is_capitalised and _inverted(text, run):
        yield run[:-1]  # "What does the company Veldra produce?", "Is the dishwasher quiet?"


def _inverted(text: str, run: Sequence[Token]) -> bool:
    """Whether a run ends a question whose verb stands before its subject, so that another, or an adjective, ends it."""
    if text[run[-1].end :].lstrip()[:1] not in ("", "?"):
        return False
    begin = max(text.rfind(mark, 0, run[0].begin) for mark in ".!?\n") + 1
    words = [word.lower() for word in text[begin : run[0].begin].split()[:8]]
    if not words or words[0] not in _WH:
        return bool(words) and words[0] in _AUXILIARIES
    is_what = words[0] in ("what", "who", "which") and words[1:2] and words[1] in _BE
    if is_what and set(words[2:]) <= {"the", "a", "an"}:
        return False  # "What is the return policy?"
    return not _AUXILIARIES.isdisjoint(words[1:])


def _pronouns(question: str, words: Sequence[Token], found: Sequence[str]) -> Iterator[str]:
    """Each pronoun of the first forty words replaced; "this process" as a whole as well."""
    for i, token in enumerate(words[:40]):
        word = plain(token)
        after = words[i + 1] if i + 1 < len(words) else None
        begin, end = token.begin, token.end
        if word in ("there", "here") and i:
            if plain(words[i - 1]) in _BE and not _ends(question, end):
                continue  # "Are there any ..."
            for phrase in found:
                yield f"{question[:begin]}in {phrase}{question[end:]}"
            continue
        if word not in _PRONOUNS and word not in _OWNERS:
            continue
        owned = word in _OWNERS and after is not None and not (word == "her" and after.is_stop)
        # "this process" and "that one" give way whole; a pointer before a function word stands alone, and what stands
        # behind "is" and "does" may be either: "is that word rude", "is that transmitted".
        whole = word in _POINTERS and after is not None and (not after.is_stop or plain(after) in ("one", "ones"))
        inverted = bool(i) and plain(words[i - 1]) in _AUXILIARIES
        if word == "that" and i and after is not None and not whole and not inverted and not _ends(question, end):
            continue  # "the book that he wrote"
        ends = [after.end] if whole and after else [end]
        if whole and inverted and after and not after.is_stop:
            ends.append(end)
        for stop in ends:
            for phrase in found:
                suffix = ("'" if phrase.endswith("s") else "'s") if owned else ""
                yield question[:begin] + phrase + suffix + question[stop:]


def _ends(question: str, end: int) -> bool:
    return not question[end:].strip(" ?!.,")


def _of_what(question: str, words: Sequence[Token], found: Sequence[str]) -> Iterator[str]:
    """ "What are the side effects?" with "of X", for short questions without a pronoun."""
    if len(words) > 12 or {plain(t) for t in words} & (_PRONOUNS | _OWNERS):
        return
    body = question.rstrip("?!. ")
    tail = question[len(body) :]
    about = _ABOUT.match(question)
    for phrase in found[:4]:
        yield f"{body} of {phrase}{tail}"
        if not about:
            yield f"{body} {'in' if phrase[:1].isupper() else 'for'} {phrase}{tail}"


def _new(question: str) -> str:
    """X of "what about X?", "and X?" or X alone, of at most eight words; empty where a question is no such fragment."""
    match = _FRAGMENT.match(question)
    if match is None or (_ASKS.search(match["new"]) and not _ABOUT.match(question)):
        return ""
    new = match["new"].strip()
    return new if len(new.split()) <= 8 else ""


def _fragment(question: str, history: Sequence[Turn]) -> Iterator[str]:
    """X of "what about X?", "and in spring?" in the frame of the last two questions, one phrase of it replaced."""
    new = _new(question)
    if not new:
        return
    asked = [text for role, text in reversed(history) if role == "user"][:2]
    lead = _LEADS.match(new)
    for text in asked:
        earlier = (_QUESTION.findall(text) or [text])[-1].strip().rstrip("?!. ")
        if not 3 <= len(earlier.split()) <= 25:
            continue
        old = tokens(earlier)
        if lead:
            at = next((t.begin for t in reversed(old) if plain(t) == lead["lead"].lower()), None)
            if at:
                yield f"{earlier[:at].rstrip()} {new}?"
            yield f"{earlier} {new}?"
            continue
        for run in reversed(runs(earlier, lambda t: not t.is_stop)):
            for part in {len(run): run, 1: run[-1:]}.values():
                yield f"{earlier[: part[0].begin]}{_fitting(new, earlier, part)}{earlier[part[-1].end :]}?"
        for pronoun in (t for t in old if plain(t) in _PRONOUNS):
            yield f"{earlier[: pronoun.begin]}{new}{earlier[pronoun.end :]}?"


def _fitting(new: str, earlier: str, part: Sequence[Token]) -> str:
    """``new`` without an article that the frame has already."""
    return _ARTICLE.sub("", new) if article(earlier, part) else new


OPTIONS = ("left_alone", "own", "fragment", "meant", "early", "by_rules", "framed")
"""What an option is weighed by: leaving the question alone has the first three (1, the reader's logit of the question
itself, whether it is a fragment), a reading the others (its logit, 1 over its place among the readings, whether the
rules say the same, whether it is a fragment in the frame of an earlier question)."""


def options(asked: Sequence[str], logits: Sequence[float], by_rules: str) -> list[tuple[float, ...]]:
    """`OPTIONS` of leaving a question alone, and of each of its readings.

    Args:
        asked: the last turn, then its `candidates`.
        logits: a reader's of *meant*, one for each of them.
        by_rules: the question as the rules resolve it.
    """
    question, *readings = asked
    own, *others = map(bounded, logits)
    fragment = _new(question) != ""
    body = question.rstrip("?!. ")
    rows: list[tuple[float, ...]] = [(1.0, own, float(fragment), 0.0, 0.0, 0.0, 0.0)]
    for place, (text, value) in enumerate(zip(readings, others, strict=True), 1):
        flags = (text == by_rules != question, fragment and not text.startswith(body))
        rows.append((0.0, 0.0, 0.0, value, 1.0 / place, *map(float, flags)))
    return rows


def chosen(asked: Sequence[str], logits: Sequence[float], by_rules: str) -> str:
    """The reading that is meant, or the question itself where none is likely enough; the arguments of `options`.

    A softmax over the options with the weights of the head ``readings`` (`training.reader.readings`); what is taken
    says `taken`, from the head's threshold of that name.
    """
    head = load_head("readings", OPTIONS)
    rows = options(asked, logits, by_rules)
    return asked[taken(rows, softmax([head.logit(row) for row in rows]), head.thresholds["taken"])]


def taken(rows: Sequence[Sequence[float]], shares: Sequence[float], least: float) -> int:
    """Which of the `options` is taken: the likeliest reading where its share is enough, or where the rules say the same
    and the reader finds no other likelier, nor the question as it stands; else 0, to leave the question alone.
    """
    if len(rows) < 2:
        return 0
    best = max(range(1, len(rows)), key=shares.__getitem__)
    meant, by_rules = OPTIONS.index("meant"), OPTIONS.index("by_rules")
    others = [rows[0][OPTIONS.index("own")], *(row[meant] for row in rows[1:])]
    agreed = rows[best][by_rules] == 1.0 and rows[best][meant] >= max(others)
    return best if agreed or shares[best] >= max(least, shares[0]) else 0


SHOWN = 80
"""Words of the conversation that a reading is judged beside, its last ones."""


def told(conversation: Sequence[Turn], most: int = SHOWN) -> str:
    """The turns as one text, as the reader was trained on them: the last ``most`` words, " / " between turns."""
    *history, last = conversation
    turns = [*(turn for turn in history[-most:] if turn[0] in ("user", "assistant")), last]
    # A word is seldom longer than this; a long turn is not split whole for its last words.
    ends = [text[-40 * most :] for _, text in turns]
    return " ".join(" / ".join(ends).split()[-most:])
