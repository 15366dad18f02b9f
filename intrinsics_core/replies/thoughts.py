"""What a model thought before it answered is no part of its answer.

Reasoning models write drafts between tags (``<think>``, ``<thinking>``, ``<reasoning>``), and a draft often looks like
the answer. A reply is read from after the last closing tag, whether or not there is an opening one: a chat template may
have given that. Thoughts that never end were cut off: only what stands before them is read.

A reply that is JSON as a whole has no thoughts: a tag in it is text of a field.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from intrinsics_core.requests import Generated, TokenLogprob

_NAMES = "(?:think|thinking|reasoning)"
_CLOSING = re.compile(rf"</{_NAMES}\s*>", re.IGNORECASE)
_OPENING = re.compile(rf"^[ \t]*<{_NAMES}\s*>", re.IGNORECASE | re.MULTILINE)  # inside a line it is a word like others


def answer(reply: Generated) -> Generated:
    """The reply without its thoughts, with the log-probabilities of what is left; the same where it has none."""
    if "<" not in reply.text or not (place := _place(reply.text)):
        return reply
    begin, end = place
    return replace(reply, text=reply.text[begin:end], logprobs=_from(reply.logprobs, reply.text, begin))


def _place(text: str) -> tuple[int, int] | None:
    """Where the answer stands, None where all of the text is the answer."""
    if _is_json(text):
        return None
    ends = [match.end() for match in _CLOSING.finditer(text)]
    # Of an answer that is JSON as a whole, tags in it are text too; the first closing tag is then the thoughts' own.
    begin = next((at for at in ends[:1] if _is_json(text[at:])), ends[-1] if ends else 0)
    if begin and _is_json(text[begin:]):
        return begin, len(text)
    unclosed = _OPENING.search(text[begin:])
    end = begin + unclosed.start() if unclosed else len(text)
    return (begin, end) if (begin, end) != (0, len(text)) else None


def _is_json(text: str) -> bool:
    if text.lstrip()[:1] not in tuple('{["'):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _from(tokens: Sequence[TokenLogprob] | None, text: str, begin: int) -> tuple[TokenLogprob, ...] | None:
    """The tokens from a place in the text on; None where they do not spell that text."""
    if tokens is None:
        return None
    if not "".join(token.token for token in tokens).startswith(text[: begin + 1]):
        return None
    return tuple(_cut(tokens, begin))


def _cut(tokens: Sequence[TokenLogprob], begin: int) -> Iterator[TokenLogprob]:
    at = 0
    for token in tokens:
        skip, at = max(0, begin - at), at + len(token.token)
        if at <= begin:
            continue
        if skip:  # the answer begins within this token: alternatives to what was before it are no alternatives to it
            before, own = token.token[:skip], token.token[skip:]
            top = tuple((other[skip:], logprob) for other, logprob in token.top if other.startswith(before))
            token = replace(token, token=own, top=top)
        yield token
