"""Models that reason before they answer: what counts is said after the reasoning.

A draft inside ``<think>…</think>`` is no verdict, and reasoning that never ends is a truncated reply. Some chat
templates open the tag themselves, so a reply may hold the closing one alone. Servers that take the reasoning out of the
text still list its tokens among the log-probabilities; :func:`of_text` finds those that spell the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from intrinsics_core.errors import MalformedReply
from intrinsics_core.replies import thoughts
from intrinsics_core.requests import Generated, TokenLogprob

_OPEN, _CLOSE = "<think>", "</think>"
# Where the reply proper begins in what a model of the Harmony format (gpt-oss) generates.
_FINAL = re.compile(r"<\|channel\|>final(?:(?!<\|message\|>).){0,200}<\|message\|>", re.DOTALL)
_END = re.compile(r"(?:<[|/]?[a-z_]{1,30}[|]?>)\s{0,9}$")  # what a server may list after the text: the turn's end
_MARKERS = (_CLOSE, "<|message|>")


def verdict(reply: Generated) -> Generated:
    """The reply without its reasoning; one that holds none as it is.

    Raises:
        MalformedReply: it ends inside its reasoning.
    """
    text = reply.text
    if unfinished(reply):
        raise MalformedReply(
            "the reply ends inside its reasoning", expected="a verdict after it: a larger budget of tokens "
            "(reasoning_tokens in the runtime's config), or a model that is told not to reason",
            got=repr(text or reply.reasoning), raw=text or reply.reasoning or "",
        )  # fmt: skip
    return thoughts.answer(reply)


def unfinished(reply: Generated) -> bool:
    """Whether the reply ends inside its reasoning."""
    if reply.text.strip():
        return reply.text.lstrip().startswith(_OPEN) and _CLOSE not in reply.text
    return reply.finish_reason == "length" and bool(reply.reasoning or reply.usage.reasoning_tokens)


def of_text(tokens: Sequence[TokenLogprob], text: str) -> tuple[TokenLogprob, ...] | None:
    """The tokens that spell ``text``, of all that were generated; None where reasoning hides which they are.

    Tokens whose text a server could not spell (half a character) are left as they came.
    """
    spelled = "".join(token.token for token in tokens)
    marked = any(mark in spelled for mark in _MARKERS) and not any(mark in text for mark in _MARKERS)
    if spelled == text or (not marked and spelled.startswith(text)):
        return tuple(tokens)  # with the token that ends the turn, if the server lists it
    if final := list(_FINAL.finditer(spelled)):
        begin = spelled.find(text, final[-1].end())
    elif marked and _CLOSE in spelled:
        begin = spelled.find(text, spelled.rindex(_CLOSE) + len(_CLOSE))
    else:
        begin = _END.sub("", spelled).rfind(text)  # reasoning that the server took out with its tags
    if begin >= 0:
        return _after(tokens, begin)
    return None if marked or len(spelled) > 2 * len(text) + 40 else tuple(tokens)


def _after(tokens: Sequence[TokenLogprob], begin: int) -> tuple[TokenLogprob, ...]:
    """What is left of tokens after so many characters; of one in two halves, alternatives alike in the first."""
    at, left = 0, []
    for token in tokens:
        cut = max(0, begin - at)
        at += len(token.token)
        if at <= begin:
            continue
        first = token.token[:cut]
        top = tuple((name[cut:], logprob) for name, logprob in token.top if name.startswith(first))
        left.append(TokenLogprob(token.token[cut:], token.logprob, top) if cut else token)
    return tuple(left)
