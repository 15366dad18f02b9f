"""Answers that say nothing without their question: "No.", "Ja!", "Neither.", "Yes, it does.", or of a few words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from intrinsics_core.embedded.words import claim, terms
from intrinsics_core.text.layout import laid_out
from intrinsics_core.text.words import AUXILIARY, BEGINS, GREETING, NO, SADLY, SURELY, THANKS, YES

_YES, _NO = f"{YES}|true", f"{NO}|false|never"
# Those of other languages that are no word or abbreviation of another ("si", "hai" and "tak" are).
_ITS_YES = "ja|oui|sí|sì|да|evet|是|是的|对|はい|네"
_ITS_NO = "nein|non|não|нет|nie|hayır|不|不是|いいえ|아니요"
_OTHER = "always|both|neither|none|nothing|nobody|all|once|twice|one|only|just|each|either"
_BEGUN = re.compile(
    rf"\A\W*+(?:(?:{SADLY})\b,? )?"
    rf"(?:(?P<yes>{_YES}|{_ITS_YES})|(?P<no>{_NO}|{_ITS_NO})|(?:{_OTHER}))\b",
    re.IGNORECASE,
)
# The same in other words, to a question of yes or no. (`benchmarks/cases/short_answers.jsonl`: .59 right without it.)
_IT_IS = rf"(?:you|it|they|that|there)\s(?:{AUXILIARY}|may)"
_POLITE = re.compile(
    rf"\A\W*(?:(?P<yes>[👍👌✅✔]|(?:{SURELY})(?:,?\s{_IT_IS})?|(?:yes,?\s)?no\sproblem(?:\sat\sall)?"
    r"|that['’]s\s(?:fine|ok|okay|possible)|please\sdo)"
    rf"|(?P<no>[👎❌]|(?:{SADLY}|{SURELY}|i['’]m\s(?:sorry|afraid)),?\s(?:no|not|{_IT_IS}(?:\snot|n['’]t))))\W*\Z",
    re.IGNORECASE,
)
_PAUSE = re.compile(r"\s?[.,;:!–—-]")
_OF_ITSELF = re.compile(r"\b(?:i|my|mine|myself)\b", re.IGNORECASE)

# By so much must an answer win over its contrary. `python -m training.reader.short_answers READER` prints how many of
# the right and of the wrong ones then pass, on questions about texts that the reader was not trained on.
_MARGIN = 0.5
# From this logit on a no is more than a doubt: sources say what is, and seldom what is not.
_SURE = 1.0
_FEW = 3  # words of an answer that is read behind the user's turn even if that is a task
CLEARLY = 2.2
"""By so much the contrary wins where a yes or no is clearly wrong; it does for 5% of right ones."""

_INVERTED = rf"(?:\A|[.!?,;:]\s+|\b(?:and|so|but|or|then)\s+)(?:{AUXILIARY})\b"
_POLAR = re.compile(rf"{_INVERTED}(?!\s+you\b)", re.IGNORECASE)
_ASKS = re.compile(
    rf"\A\W*(?:(?:{GREETING}|{BEGINS}|{THANKS}|please|until|since|from|at|in|to|by|for)[,.!]? )*+"
    r"(?:(?:tell|let) me (?:know )?)?"
    rf"(?:who|whom|whose|what|which|when|where|why|how|if|whether|{AUXILIARY})\b",
    re.IGNORECASE,
)
SHORT = 10
"""Words from which on a sentence is read alone beside a part of its sources; shorter ones say little without their
question.
"""
LONGEST_QUESTION = 200
"""Characters of a question that an answer is read behind, at most: what is read has room for some sixty words."""
LONGEST_READ = 280
"""Characters of a question and an answer of several words together, at most, for the same reason."""


def _found(answer: str) -> re.Match[str] | None:
    text = unicodedata.normalize("NFC", answer)
    begun = _BEGUN.match(text)
    if begun is None or not any(character.isalnum() for character in text[begun.end() :]):
        return begun
    # "Yes, it does." says no more than "Yes.".
    return begun if _without_content(text) else None


def _without_content(text: str) -> bool:
    """Whether a text says nothing alone, and nothing of who speaks: "No, I can't." is a refusal."""
    return not (claim(text).units or "?" in text or _OF_ITSELF.search(text))


def _ahead(answer: str) -> str | None:
    """The yes or no, bare, that an answer begins with by itself; None where it begins with none ("No idea")."""
    text = unicodedata.normalize("NFC", answer)
    begun = _BEGUN.match(text)
    if begun is None or not (begun["yes"] or begun["no"]) or not _PAUSE.match(text, begun.end()):
        return None
    return "Yes." if begun["yes"] else "No."


def opens_with_yes_or_no(answer: str) -> bool:
    """Whether an answer begins with a yes or a no by itself ("No, that is too late."): it claims something then."""
    return _ahead(answer) is not None


def is_question(turn: str) -> bool:
    """Whether a text asks, with a question mark or without one ("when does it open"), and is no task."""
    return "?" in turn or _ASKS.match(turn) is not None


def is_polar(question: str) -> bool:
    """Whether a question asks for a yes or a no ("Is it open?"), and for no favour ("Can you help me?")."""
    return "?" in question and _POLAR.search(question) is not None


def is_bare(answer: str) -> bool:
    """Whether an answer is a yes, a no or another word that stands for a whole sentence, alone or with words that have
    no content: "No.", "Yes, it does.", "Nothing at all.".
    """
    return _found(answer) is not None


_TO_THE_USER = re.compile(r"\b(?:you|your)\b", re.IGNORECASE)
_FIRST = re.compile(r"\A\W*\w+\W+")
_POINTS = re.compile(r"\b(?:it|its|they|their|them|that)\b", re.IGNORECASE)
_AND = re.compile(rf",?\sand\s(?=(?:{AUXILIARY})\s)", re.IGNORECASE)


def questions_of(sentences: Sequence[str], question: str, *, whole: bool = True) -> list[str]:
    """For each sentence of an answer the question that it answers. A bare one ("No.") answers the question before it in
    the answer or, where a turn asks as many questions as there are answers, its own. The others answer the turn.

    ``whole``: whether the sentences are all of the answer.
    """
    asked = _questions_in(question) if whole and len(sentences) > 1 else ()
    own = asked if len(asked) == len(sentences) else [question] * len(sentences)
    found = []
    for i, text in enumerate(sentences):
        before = sentences[i - 1] if i else ""
        if not is_bare(text):
            found.append(question)
        elif is_polar(before) and not _TO_THE_USER.search(before):
            found.append(before)
        else:  # a question that says "it" goes on with the one before it
            found.append(f"{own[i - 1]} {own[i]}" if asked and i and _POINTS.search(own[i]) else own[i])
    return found


def plainly(sentences: Sequence[str], question: str, *, whole: bool = True) -> list[str]:
    """The sentences of an answer, without a yes in front that its question does not ask for ("When is it open?", "Yes,
    from nine."). "Of course." that is all of an answer to a question of yes or no is "Yes.".
    """
    if is_polar(question):
        polite = _POLITE.match(sentences[0]) if whole and len(sentences) == 1 else None
        return ["Yes." if polite["yes"] else "No."] if polite else list(sentences)
    asked_for = [_ahead(text) != "Yes." or is_bare(text) for text in sentences]
    return [text if yes else _FIRST.sub("", text) for text, yes in zip(sentences, asked_for, strict=True)]


def asked_of_each(sentences: Sequence[str], question: str, *, whole: bool = True) -> list[str]:
    """For each sentence of an answer the turn that a yes or a no of it answers, or its own question of a turn that asks
    several; "" where nobody can tell which of them it answers. ``whole``: whether the sentences are all of the answer.
    """
    asked = _questions_in(question)
    if len(asked) == 1:
        return [question] * len(sentences)
    return list(asked) if whole and len(asked) == len(sentences) else [""] * len(sentences)


def _questions_in(turn: str) -> tuple[str, ...]:
    """The questions of a turn that asks several, else the turn; nothing where it is too long to tell."""
    if turn.count("?") + len(_AND.findall(turn)) < 2:
        return (turn,)
    return _each_question(turn) if len(turn) <= 2 * LONGEST_QUESTION else ()


@lru_cache(maxsize=64)
def _each_question(turn: str) -> tuple[str, ...]:
    """The questions of a turn: "Is it open? Is it free?" and "Is it open, and is it free?" are two each."""
    asking = [text for span in laid_out(turn) if (text := span.text.strip()).endswith("?")]
    return tuple(f"{part.rstrip('?')}?" for each in asking for part in _AND.split(each))


def stated_each(sentences: Sequence[str], question: str, *, whole: bool = True) -> list[str]:
    """`stated` for the sentences of an answer, or of its end where they are not the ``whole``, behind what each answers
    (`questions_of`). One that is all of an answer stands behind its question where it has no words with content: "It
    did not.".
    """
    if (
        whole
        and len(sentences) == 1
        and "?" in question
        and any(map(str.isalnum, sentences[0]))
        and not is_bare(sentences[0])
    ):
        return [f"{question} {text}" if _without_content(text) else text for text in sentences]
    asked = questions_of(sentences, question, whole=whole)
    return [stated(text, one) for text, one in zip(sentences, asked, strict=True)]


def stated(answer: str, question: str) -> str:
    """What is looked up for a sentence of an answer: itself, or behind its question where it is bare ("No.").

    "Yes, it does." is "Yes.". So is a yes of another language: its letters are no word that sources could hold.
    """
    if not is_bare(answer) or not question.strip():
        return answer
    return f"{question_last(question)} {yes_or_no(answer) or answer}"


def in_context(answer: str, question: str, *, whole: bool = False) -> str:
    """What a reader is shown of a sentence of an answer: itself, or behind its question.

    Behind it, where the question is short enough to leave room for it, stand a bare answer, one so short that it may
    say nothing without ("Every day."), and any that is read beside the whole of its sources (``whole``). Where a reader
    sees a part of them only, most sentences of a long answer are about other things than the question's words. So they
    are where something is to be done ("Look up the rent and send it to Tom."). An answer that has just the words of its
    question is read alone: what was asked does not make it true.
    """
    if is_bare(answer):
        return stated(answer, question)
    asked = question.strip()
    # To `split`, a Chinese sentence is one word.
    short = len(answer) < 10 * SHORT and len(answer.split()) < SHORT
    if not is_question(asked) and len(answer.split()) > _FEW:
        return answer
    fits = len(question) <= LONGEST_QUESTION and (short or len(asked) + len(answer) <= LONGEST_READ)
    if not (asked and fits and (short or whole)) or set(terms(answer)) == set(terms(asked)):
        return answer
    return f"{question_last(asked)} {answer}"


@lru_cache(maxsize=64)
def question_last(turn: str) -> str:
    """A turn with its last question at its end, for an answer to stand behind: "Is it open? Thanks!" ends in thanks."""
    sentences = [span.text.strip() for span in laid_out(turn[: 2 * LONGEST_QUESTION])]
    asking = [i for i, each in enumerate(sentences) if each.endswith("?")]
    if not asking or asking[-1] + 1 == len(sentences) or len(turn) > 2 * LONGEST_QUESTION:
        return turn
    behind = asking[-1] + 1
    return " ".join([*sentences[behind:], *sentences[:behind]])


def yes_or_no(answer: str) -> str | None:
    """ "Yes." or "No." for an answer that says no more, else None."""
    found = _found(answer)
    return None if found is None else "Yes." if found["yes"] else "No." if found["no"] else None


def contrary(answer: str) -> str | None:
    """The answer that a bare yes or no is weighed against; None for any other text."""
    said = yes_or_no(answer)
    return None if said is None else "No." if said == "Yes." else "Yes."


def weighed(answer: str, own: float, other: float) -> float:
    """The logit of a bare yes or no, from the reader's logits of it and of its `contrary`."""
    won = own - other - _MARGIN
    if yes_or_no(answer) == "Yes.":
        return won
    return min(own, won) if own >= _SURE else min(0.0, won)


def leads(answer: str, question: str) -> str | None:
    """The yes or no in front of other words that answers a question of yes or no ("No, that is too late."), bare."""
    return _ahead(answer) if is_polar(question) and not is_bare(answer) else None


def led(logit: float, own: float, other: float) -> float:
    """The logit of a claim behind a yes or no, from the reader's logits of that alone and of its `contrary`: what is
    behind it may be true, and the yes be wrong.
    """
    return logit if own - other > -CLEARLY else min(logit, own - other)
