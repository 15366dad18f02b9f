"""Models that reason before they answer: the answer is what stands outside the reasoning.

A draft between tags (`text.reasoning`) often looks like the answer. A reply is read from after the last closing tag,
with an opening one or without: a chat template may have written that. Reasoning that never ends was cut off: only what
stands before it is read. In a reply that is JSON as a whole a tag is text of a field. One in the channels of the
Harmony format is read in its last final channel; where there is none yet, it ends inside its reasoning.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace

from intrinsics_core.protocol.requests import Constraint, Generated, JsonSchema, TokenLogprob
from intrinsics_core.replies import json_reply
from intrinsics_core.text.reasoning import CLOSING, ENDS, OPENING

_ANALYSIS = r"(?:<\|start\|>assistant)?<\|channel\|>analysis"
_OPENING = re.compile(rf"^[ \t]*(?:{OPENING}|{_ANALYSIS})", re.IGNORECASE | re.MULTILINE)  # in a line it is a word
_BEGINNINGS = "<[\u25c1"  # what every mark begins with
# Where the reply proper begins in what a model of the Harmony format (gpt-oss) generates.
_FINAL = re.compile(r"<\|channel\|>final(?:(?!<\|message\|>).){0,200}<\|message\|>", re.DOTALL)
_OVER = ("<|return|>", "<|end|>")  # end a message of that format
_MARK = re.compile(rf"{CLOSING}|<\|message\|>", re.IGNORECASE)
_END = re.compile(r"(?:<[|/]?[a-z_]{1,30}[|]?>)\s{0,9}$")  # what a server may list after the text: the turn's end


def answer(reply: Generated) -> Generated:
    """The reply without its reasoning, with the log-probabilities of what is left; one without reasoning as it is.

    Raises:
        MalformedReply: it ends inside its reasoning, and nothing stands before that.
    """
    if unfinished(reply):
        expected = ("a verdict after the reasoning; allow more tokens (reasoning_tokens in the runtime's config) "
                    "or turn the model's reasoning off")  # fmt: skip
        raise json_reply.malformed("the reply ends inside its reasoning", reply.text or reply.reasoning or "", expected)
    begin, end = _place(reply.text)
    if (begin, end) == (0, len(reply.text)):
        return reply
    tokens = reply.logprobs
    if tokens is not None:
        spelled = "".join(token.token for token in tokens)
        tokens = _after(tokens, begin) if spelled.startswith(reply.text[: begin + 1]) else None
    return replace(reply, text=reply.text[begin:end], logprobs=tokens)


def unfinished(reply: Generated, constraint: Constraint | None = None) -> bool:
    """Whether the reply ends inside its reasoning, and nothing stands before that.

    Where the ``constraint`` asks for JSON, prose that was cut off before it came to any is reasoning without a tag.
    """
    if not reply.text.strip():
        return reply.ended_at_limit and bool(reply.reasoning or reply.usage.reasoning_tokens)
    begin, end = _place(reply.text)
    if isinstance(constraint, JsonSchema) and reply.ended_at_limit:
        kind = list if constraint.schema.get("type") == "array" else dict
        if json_reply.cut_off_before(reply.text[begin:end], kind):
            return True
    return end < len(reply.text) and not reply.text[begin:end].strip()


def of_text(tokens: Sequence[TokenLogprob], text: str) -> tuple[TokenLogprob, ...] | None:
    """The tokens that spell ``text``, of all that were generated; None where reasoning hides which they are.

    Servers that take the reasoning out of the text still list its tokens. Where a server could not spell the text of
    tokens (half a character), all are left as they came.
    """
    spelled = "".join(token.token for token in tokens)
    marks = [] if _MARK.search(text) else [match.end() for match in _MARK.finditer(spelled)]
    if spelled == text or (not marks and spelled.startswith(text)):
        return tuple(tokens)  # with the token that ends the turn, if the server lists it
    if final := list(_FINAL.finditer(spelled)):
        begin = spelled.find(text, final[-1].end())
    elif marks and ENDS.search(spelled):
        begin = spelled.find(text, [match.end() for match in ENDS.finditer(spelled)][-1])
    else:
        begin = _END.sub("", spelled).rfind(text)  # reasoning that the server took out with its tags
    if begin >= 0:
        return _after(tokens, begin)
    return None if marks or len(spelled) > 2 * len(text) + 40 else tuple(tokens)


def _place(text: str) -> tuple[int, int]:
    """Where the answer begins and ends; what is cut off behind it is reasoning that never ends."""
    if not any(begin in text for begin in _BEGINNINGS) or _is_json(text):
        return 0, len(text)
    if final := list(_FINAL.finditer(text)):
        begin = final[-1].end()
        return begin, min((at for mark in _OVER if (at := text.find(mark, begin)) >= 0), default=len(text))
    ends = [match.end() for match in ENDS.finditer(text)]
    # Of an answer that is JSON as a whole, tags in it are text too; the first closing tag is then the reasoning's own.
    begin = next((at for at in ends[:1] if _is_json(text[at:])), ends[-1] if ends else 0)
    unclosed = None if begin and _is_json(text[begin:]) else _OPENING.search(text[begin:])
    return begin, begin + unclosed.start() if unclosed else len(text)


def _is_json(text: str) -> bool:
    if text.lstrip()[:1] not in tuple('{["'):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


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
