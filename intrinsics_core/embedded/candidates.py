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
from itertools import pairwise, zip_longest

from intrinsics_core.embedded.framing import about, framed, is_framed, new_thing
from intrinsics_core.embedded.head import bounded, load_head
from intrinsics_core.embedded.lexical import Token, terms, tokens, word_set
from intrinsics_core.embedded.nouns import AUXILIARIES, BE, PRONOUNS, inverted, named, names
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

_OWNERS = word_set("its their his her")
_POINTERS = word_set("this that these those")
_WHICH = word_set("other first second third last former latter")
_OF = re.compile(r" of (?:the )?")
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
    if not near or not words or (plain(words[0]) in _SMALL and not new_thing(question)):
        return []
    near = [(role, text[-READ:] if role == "user" else text[:READ]) for role, text in near]
    found = phrases([*near, ("user", question)])
    frames = list(framed(question, near))
    of_what = [] if frames else _of_what(question, words, _things(found))
    kinds = (frames, _pronouns(question, words, found), of_what)
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
        found = (named(text, run) for run in runs(text, lambda t: not t.is_stop and t.term in likely))
        plain_runs = [run for run in found if run]
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
    held = list(names(run))
    # "Ridley Scott directed Alien" is no name
    ends = not run[-1].is_capitalised and inverted(text, run) and (len(run) > 1 or not article(text, run))
    if len(run) <= LONGEST_PHRASE and not (len(held) > 1 and held[-1][-1] is run[-1]) and not (ends and len(run) == 1):
        yield run
    for name in held:
        if len(name) < len(run) or len(run) > LONGEST_PHRASE:
            yield name[-LONGEST_PHRASE:]
    if not held and len(run) > LONGEST_PHRASE:
        yield run[-3:]
    if 1 < len(run) <= LONGEST_PHRASE and ends:
        yield run[:-1]  # "What does the company Veldra produce?", "Is the dishwasher quiet?"


def _pronouns(question: str, words: Sequence[Token], found: Sequence[str]) -> Iterator[str]:
    """Each pronoun of the first forty words replaced; "this process" as a whole as well."""
    things = _things(found)
    for i, token in enumerate(words[:40]):
        word = plain(token)
        after = words[i + 1] if i + 1 < len(words) else None
        begin, end = token.begin, token.end
        if word in ("there", "here") and i:
            if plain(words[i - 1]) in BE and not _ends(question, end):
                continue  # "Are there any ..."
            for phrase in things:
                yield f"{question[:begin]}in {phrase}{question[end:]}"
            continue
        if word not in PRONOUNS and word not in _OWNERS:
            continue
        owned = word in _OWNERS and after is not None and not (word == "her" and after.is_stop)
        # "this process" and "that one" give way whole; a pointer before a function word stands alone, and what stands
        # behind "is" and "does" may be either: "is that word rude", "is that transmitted".
        whole = word in _POINTERS and after is not None and (not after.is_stop or plain(after) in ("one", "ones"))
        is_subject = bool(i) and plain(words[i - 1]) in AUXILIARIES
        if word == "that" and i and after is not None and not whole and not is_subject and not _ends(question, end):
            continue  # "the book that he wrote"
        ends = [after.end] if whole and after else [end]
        if whole and is_subject and after and not after.is_stop:
            ends.append(end)
        if word in ("one", "ones") and i > 1 and plain(words[i - 1]) in _WHICH and plain(words[i - 2]) == "the":
            begin = words[i - 2].begin  # "the other one"
        for stop in ends:
            for phrase in found if whole else things:
                suffix = ("'" if phrase.endswith("s") else "'s") if owned else ""
                yield question[:begin] + phrase + suffix + question[stop:]


def _things(found: Sequence[str]) -> list[str]:
    """Phrases that are more than a number: "it" is no year, but "that year" is."""
    return [phrase for phrase in found if not phrase.isdigit()]


def _ends(question: str, end: int) -> bool:
    return not question[end:].strip(" ?!.,")


def _of_what(question: str, words: Sequence[Token], found: Sequence[str]) -> Iterator[str]:
    """ "What are the side effects?" with "of X", for short questions without a pronoun."""
    if len(words) > 12 or {plain(t) for t in words} & (PRONOUNS | _OWNERS):
        return
    body = question.rstrip("?!. ")
    tail = question[len(body) :]
    is_about = about(question)
    for phrase in found[:4]:
        yield f"{body} of {phrase}{tail}"
        if not is_about:
            yield f"{body} {'in' if phrase[:1].isupper() else 'for'} {phrase}{tail}"


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
    fragment = new_thing(question) != ""
    rows: list[tuple[float, ...]] = [(1.0, own, float(fragment), 0.0, 0.0, 0.0, 0.0)]
    for place, (text, value) in enumerate(zip(readings, others, strict=True), 1):
        flags = (text == by_rules != question, is_framed(question, text))
        rows.append((0.0, 0.0, 0.0, value, 1.0 / place, *map(float, flags)))
    return rows


def chosen(asked: Sequence[str], logits: Sequence[float], by_rules: str) -> str:
    """The reading that is meant, or the question itself where none is likely enough; the arguments of `options`.

    A softmax over the options with the weights of the head ``readings`` (`training.reader.readings`); what is taken
    says `taken`, from the head's threshold of that name.
    """
    head = load_head("readings", OPTIONS)
    rows = options(asked, logits, by_rules)
    return asked[taken(asked, rows, softmax([head.logit(row) for row in rows]), head.thresholds["taken"])]


def taken(asked: Sequence[str], rows: Sequence[Sequence[float]], shares: Sequence[float], least: float) -> int:
    """Which of the `options` is taken: the likeliest reading, where it and those that say the same in fewer words or
    more ("the mill", "the tide mill") have enough of the shares together, or where the rules say the same as it and the
    reader finds no other likelier, nor the question as it stands; else 0, to leave the question alone.
    """
    if len(rows) < 2:
        return 0
    best = max(range(1, len(rows)), key=shares.__getitem__)
    meant, by_rules = OPTIONS.index("meant"), OPTIONS.index("by_rules")
    others = [rows[0][OPTIONS.index("own")], *(row[meant] for row in rows[1:])]
    agreed = rows[best][by_rules] == 1.0 and rows[best][meant] >= max(others)
    own, *added = (set(terms(text)) for text in asked)
    said = [words - own for words in added]
    top = said[best - 1]
    alike = sum(share for words, share in zip(said, shares[1:], strict=True) if words <= top or words >= top)
    return best if agreed or alike >= max(least, shares[0]) else 0


SHOWN = 80
"""Words of the conversation that a reading is judged beside, its last ones."""


def told(conversation: Sequence[Turn], most: int = SHOWN) -> str:
    """The turns as one text, as the reader was trained on them: the last ``most`` words, " / " between turns."""
    *history, last = conversation
    turns = [*(turn for turn in history[-most:] if turn[0] in ("user", "assistant")), last]
    # A word is seldom longer than this; a long turn is not split whole for its last words.
    ends = [text[-40 * most :] for _, text in turns]
    return " ".join(" / ".join(ends).split()[-most:])
