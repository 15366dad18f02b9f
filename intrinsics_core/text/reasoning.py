"""What a model wrote around its answer and claims nothing: reasoning before it, tokens of its format behind it."""

from __future__ import annotations

import re

_NAMES = "(?:think|thinking|reasoning|thoughts?|seed:think)"
# The marks that models write: in angle brackets, and those of Magistral, Kimi, Command A, OpenThinker and Apertus.
_PAIRS = (
    (rf"<{_NAMES}\s*>", rf"</{_NAMES}\s*>"),
    (r"(?-i:\[THINK\])", r"(?-i:\[/THINK\])"),
    (r"\u25c1think\u25b7", r"\u25c1/think\u25b7"),
    (r"<\|START_THINKING\|>", r"<\|END_THINKING\|>"),
    (r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),
    (r"<\|inner_prefix\|>", r"<\|inner_suffix\|>"),
)
OPENING, CLOSING = (f"(?:{'|'.join(marks)})" for marks in zip(*_PAIRS, strict=True))
_BEGINS = re.compile(rf"\A\s*{OPENING}", re.IGNORECASE)
ENDS = re.compile(CLOSING, re.IGNORECASE)


# Templates write the first tag, so that the answer has the last alone. One that prose speaks of ends no line.
_ENDS_ALONE = re.compile(rf"(?<!`){CLOSING}[ \t]*\n|^[ \t]*{CLOSING}", re.IGNORECASE | re.MULTILINE)
_TOKEN = (
    r"(?:<\|[A-Za-z][\w.-]{1,40}\|>|<\uff5c[\w\u2581]{1,40}\uff5c>|</?(?:s|eos|bos|pad)>|<(?:end|start)_of_[a-z]{1,20}>"
    r"|<(?:[A-Z]{1,20}_){1,5}TOKEN>|\[/?INST\])"
)
# Behind a word and a space a token is spoken of: "each turn ends with </s>".
_LEFT_OVER = re.compile(rf"(?:(?<=[\w,:])|(?<![\w\s,:])\s*+|(?<=\S)[ \t]*+\n\s*+){_TOKEN}(?:\s*+{_TOKEN})*+\s*\Z")
_TAIL = 400  # characters in which tokens at the end are looked for


def unended(answer: str) -> bool:
    """Whether an answer begins with reasoning that has no end (yet)."""
    return _BEGINS.match(answer) is not None and ENDS.search(answer) is None


def blanked(answer: str) -> str:
    """The answer with spaces in the place of reasoning that it begins with and of tokens left at its end, so that all
    places in it stay.

    Reasoning without an end is left as it is: a reader may take it for the answer. So is all of an answer that has
    nothing but reasoning without a beginning.

    >>> blanked("<think>Ada?</think> Ada.")
    '                    Ada.'
    """
    ends = ENDS.search(answer) if _BEGINS.match(answer) else _ENDS_ALONE.search(answer)
    if ends and (_BEGINS.match(answer) or answer[ends.end() :].strip()):
        answer = " " * ends.end() + answer[ends.end() :]
    tail = max(0, len(answer) - _TAIL)
    left = _LEFT_OVER.search(answer, tail) if answer.rstrip().endswith((">", "]")) else None
    return answer[: left.start()] + " " * (len(answer) - left.start()) if left else answer
