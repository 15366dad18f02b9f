"""Sentences with exact offsets into the caller's own text.

The published adapters were trained on NLTK's ``PunktSentenceTokenizer()`` *untrained* ("by Dr. | A. Moreau" is two
sentences), and their prompts must match byte for byte: that is :func:`punkt`, which needs no downloaded data.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, NamedTuple

from intrinsics_core.text.memory import remembered


class Span(NamedTuple):
    """A sentence: ``source[begin:end] == text``, in characters."""

    begin: int
    end: int
    text: str


# A word of two or more letters, an end mark, then another word: untrained, Punkt always breaks here. It knows no
# abbreviations, and initials, numbers and ellipses, which it looks at twice, are none of these.
_PLAIN_BREAK = re.compile(r"\A[A-Za-z]{2,}+[.!?][ \t\r\n]+[A-Za-z0-9]")

_CONTEXT = 4_000  # characters around an end mark that are looked at


@cache
def _punkt() -> Any:
    # Half a second of imports: only when needed.
    from nltk.tokenize.punkt import PunktLanguageVars, PunktSentenceTokenizer

    class Language(PunktLanguageVars):
        """The same two patterns over whole texts, without NLTK's limit of five seconds: they take linear time."""

        re_boundary_realignment = re.compile(
            PunktLanguageVars.re_boundary_realignment.pattern, re.MULTILINE
        )  # NLTK's own is of another library, where it has the limit

        def period_context_re(self) -> re.Pattern[str]:
            return _compiled(
                self._period_context_fmt % {"NonWord": self._re_non_word_chars, "SentEndChars": self._re_sent_end_chars}
            )

    class Punkt(PunktSentenceTokenizer):
        """The same decisions, the plain ones without annotating tokens: five times faster on prose."""

        def text_contains_sentbreak(self, text: str) -> bool:
            if len(text) > _CONTEXT:  # a word of any length with an end mark: its two ends decide
                text = text[: _CONTEXT // 2] + text[-_CONTEXT // 2 :]
            return bool(_PLAIN_BREAK.match(text)) or bool(super().text_contains_sentbreak(text))

    return Punkt(lang_vars=Language())


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.UNICODE | re.VERBOSE)


@remembered(1024)
def punkt(text: str) -> tuple[Span, ...]:
    """Sentences of a text, in order, without the whitespace between them.

    Every character that is not whitespace lies in exactly one sentence, and ``text[s.begin:s.end] == s.text`` holds
    for each. An empty or blank text has no sentences. A passage that several intrinsics look at is split once.
    """
    if not text.strip():
        return ()
    return tuple(Span(begin, end, text[begin:end]) for begin, end in _punkt().span_tokenize(text))


def ready() -> bool:
    """Whether the splitter is loaded: the first text takes a second more."""
    return _punkt.cache_info().currsize > 0
