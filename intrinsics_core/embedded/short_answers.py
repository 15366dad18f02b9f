"""Answers that say nothing without their question: "No.", "Ja!", "Neither.", "Yes, it does.", or of a few words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from intrinsics_core.embedded.words import claim, terms
from intrinsics_core.text.layout import laid_out
from intrinsics_core.text.memory import remembered
from intrinsics_core.text.words import AUXILIARY, BEGINS, GREETING, NO, SADLY, SURELY, THANKS, YES

# The words of other languages are no word or abbreviation of another ("si", "hai" and "tak" are).
_YES = rf"(?P<yes>{YES}|true|ja|oui|sí|sì|да|evet|是|是的|对|はい|네)"
_NO = rf"(?P<no>{NO}|false|never|nein|non|não|нет|nie|hayır|不|不是|いいえ|아니요)"
_OTHER = "always|both|neither|none|nothing|nobody|all|once|twice|one|only|just|each|either"
_BEGUN = re.compile(rf"\A\W*+(?:(?:{SADLY})\b,? )?(?:{_YES}|{_NO}|(?:{_OTHER}))\b", re.IGNORECASE)
# The same in other words, to a question of yes or no. (`benchmarks/cases/short_answers.jsonl`: .72 right without it.)
_IT_IS = rf"(?:you|it|they|that|there)\s(?:{AUXILIARY}|may)"
_POLITE = re.compile(
    rf"\A\W*(?:(?P<yes>[👍👌✅✔]|(?:{SURELY})(?:,?\s{_IT_IS})?|(?:yes,?\s)?no\sproblem(?:\sat\sall)?"
    r"|that['’]s\s(?:fine|ok|okay|possible)|please\sdo)"
    rf"|(?P<no>[👎❌]|(?:{SADLY}|{SURELY}|i['’]m\s(?:sorry|afraid)),?\s(?:no|not|{_IT_IS}(?:\snot|n['’]t))))\W*\Z",
    re.IGNORECASE,
)
_PAUSE = re.compile(r"\s?[.,;:!–—-]")
_POLAR = re.compile(rf"(?:\A|[.!?,;:]\s+|\b(?:and|so|but|or|then)\s+)(?:{AUXILIARY})\b(?!\s+you\b)", re.IGNORECASE)
_ASKS = re.compile(
    rf"\A\W*(?:(?:{GREETING}|{BEGINS}|{THANKS}|please|until|since|from|at|in|to|by|for)[,.!]? )*+"
    rf"(?:(?:tell|let) me (?:know )?)?(?:who|whom|whose|what|which|when|where|why|how|if|whether|{AUXILIARY})\b",
    re.IGNORECASE,
)
_FIRST = re.compile(r"\A\W*\w+\W+")
_AND = re.compile(rf",?\sand\s(?=(?:{AUXILIARY})\s)", re.IGNORECASE)

# By so much must an answer win over its contrary. `python -m training.reader.short_answers READER` prints how many of
# the right and of the wrong ones then pass, on questions about texts that the reader was not trained on.
_MARGIN = 0.5
_SURE = 1.0  # from this logit on a no is more than a doubt: sources say what is, and seldom what is not
CLEARLY = 2.2
"""By so much the contrary wins where a yes or no is clearly wrong; it does for 5% of right ones."""
_FEW = 3  # words of an answer that is read behind the user's turn even if that is a task
_SHORT = 10  # words from which on a sentence is read alone beside a part of its sources
_LONGEST_QUESTION = 200  # characters of a question: what is read has room for some sixty words
_LONGEST_READ = 280  # characters of a question and an answer of several words together


class Beginning(NamedTuple):
    """How an answer begins.

    is_bare: it is a yes, a no or another word that stands for a whole sentence, alone or with words that have no
    content: "No.", "Yes, it does.", "Nothing at all.". says: "Yes." or "No." for one that says no more. opens:
    "Yes." or "No." where the answer begins with one by itself ("No, that is too late."), and not as in "No idea".
    """

    is_bare: bool = False
    says: str | None = None
    opens: str | None = None


@remembered(1024)
def beginning(answer: str) -> Beginning:
    text = unicodedata.normalize("NFC", answer)
    found = _BEGUN.match(text)
    if found is None:
        return Beginning()
    said = "Yes." if found["yes"] else "No." if found["no"] else None
    is_bare = not any(map(str.isalnum, text[found.end() :])) or _without_content(text)
    return Beginning(is_bare, said if is_bare else None, said if _PAUSE.match(text, found.end()) else None)


def _without_content(text: str) -> bool:
    """Whether a text says nothing alone."""
    return not claim(text).units


def is_polar(question: str) -> bool:
    """Whether a question asks for a yes or a no ("Is it open?"), and for no favour ("Can you help me?")."""
    return "?" in question and _POLAR.search(question) is not None


def plainly(sentences: Sequence[str], question: str, *, whole: bool = True) -> list[str]:
    """The sentences of an answer, without a yes in front that its question does not ask for ("When is it open?", "Yes,
    from nine."). "Of course." that is all of an answer to a question of yes or no is "Yes.".
    """
    if is_polar(question):
        polite = _POLITE.match(sentences[0]) if whole and len(sentences) == 1 else None
        return ["Yes." if polite["yes"] else "No."] if polite else list(sentences)
    read = [(text, beginning(text)) for text in sentences]
    return [_FIRST.sub("", text) if how.opens == "Yes." and not how.is_bare else text for text, how in read]


def questions_of(sentences: Sequence[str], question: str, *, whole: bool = True) -> list[str]:
    """For each sentence of an answer the question that it answers. A bare one ("No.") answers the question before it in
    the answer or, where a turn asks as many questions as there are answers, its own. The others answer the turn.
    """
    asked = _questions_in(question) if whole and len(sentences) > 1 else ()
    own = asked if len(asked) == len(sentences) else ()
    found = []
    for i, text in enumerate(sentences):
        before = sentences[i - 1] if i else ""
        if not beginning(text).is_bare:
            found.append(question)
        else:
            found.append(before if is_polar(before) else own[i] if own else question)
    return found


def asked_of_each(sentences: Sequence[str], question: str, *, whole: bool = True) -> list[str]:
    """For each sentence of an answer the turn that a yes or a no of it answers, or its own question of a turn that asks
    several; "" where nobody can tell which.
    """
    asked = _questions_in(question)
    if len(asked) == 1:
        return [question] * len(sentences)
    return list(asked) if whole and len(asked) == len(sentences) else [""] * len(sentences)


@lru_cache(maxsize=64)
def _questions_in(turn: str) -> tuple[str, ...]:
    """The questions of a turn that asks several ("Is it open, and is it free?"), else the turn; () if too long."""
    if turn.count("?") + len(_AND.findall(turn)) < 2:
        return (turn,)
    if len(turn) > 2 * _LONGEST_QUESTION:
        return ()
    asking = [text for span in laid_out(turn) if (text := span.text.strip()).endswith("?")]
    return tuple(f"{part.rstrip('?')}?" for each in asking for part in _AND.split(each))


def stated_each(sentences: Sequence[str], question: str, *, whole: bool = True) -> list[str]:
    """`stated` for the sentences of an answer, or of its end where they are not the ``whole``, behind what each answers
    (`questions_of`). All of an answer stands behind its question where it has no words with content: "It did not.".
    """
    asked = questions_of(sentences, question, whole=whole)
    found = [stated(text, one) for text, one in zip(sentences, asked, strict=True)]
    if whole and found == list(sentences) and len(found) == 1 and "?" in question:
        (text,) = found
        return [f"{question} {text}" if any(map(str.isalnum, text)) and _without_content(text) else text]
    return found


def stated(answer: str, question: str) -> str:
    """What is looked up for a sentence of an answer: itself, or behind its question where it is bare. "Yes, it does."
    is "Yes.", and so is a yes of another language.
    """
    how = beginning(answer)
    return f"{_question_last(question)} {how.says or answer}" if how.is_bare and question.strip() else answer


def in_context(answer: str, question: str, *, whole: bool = False) -> str:
    """What a reader is shown of a sentence of an answer: itself, or behind its question where there is room for both.

    Behind it stand a bare answer, one so short that it may say nothing without ("Every day."), and any that is read
    beside the ``whole`` of its sources; not so where something is to be done ("Look up the rent and send it to Tom.").
    An answer that has just the words of its question is read alone: what was asked does not make it true.
    """
    if beginning(answer).is_bare:
        return stated(answer, question)
    asked, words = question.strip(), len(answer.split())
    short = words < _SHORT and len(answer) < 10 * _SHORT  # to `split`, a Chinese sentence is one word
    fits = len(question) <= _LONGEST_QUESTION and (short or len(asked) + len(answer) <= _LONGEST_READ)
    answers = words <= _FEW or "?" in asked or _ASKS.match(asked)
    if not (asked and answers and fits and (short or whole)) or set(terms(answer)) == set(terms(asked)):
        return answer
    return f"{_question_last(asked)} {answer}"


@lru_cache(maxsize=64)
def _question_last(turn: str) -> str:
    """A turn with its last question at its end, for an answer to stand behind: "Is it open? Thanks!" ends in thanks."""
    if len(turn) > 2 * _LONGEST_QUESTION:
        return turn
    sentences = [span.text.strip() for span in laid_out(turn)]
    behind = max((i for i, each in enumerate(sentences, 1) if each.endswith("?")), default=len(sentences))
    return turn if behind == len(sentences) else " ".join([*sentences[behind:], *sentences[:behind]])


def contrary(answer: str) -> str | None:
    """The answer that a bare yes or no is weighed against; None for any other text."""
    said = beginning(answer).says
    return said and ("No." if said == "Yes." else "Yes.")


def weighed(answer: str, own: float, other: float) -> float:
    """The logit of a bare yes or no, from the reader's logits of it and of its `contrary`."""
    won = own - other - _MARGIN
    if beginning(answer).says == "Yes.":
        return won
    return min(own, won) if own >= _SURE else min(0.0, won)


def leads(answer: str, question: str) -> str | None:
    """The yes or no in front of other words that answers a question of yes or no ("No, that is too late."), bare."""
    how = beginning(answer)
    return how.opens if is_polar(question) and not how.is_bare else None


def led(logit: float, own: float, other: float) -> float:
    """The logit of a claim behind a yes or no, from the reader's of that alone and of its `contrary`: the yes may be
    wrong, and what is behind it true.
    """
    return logit if own - other > -CLEARLY else min(logit, own - other)
