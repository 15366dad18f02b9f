"""How replies of trained adapters are understood: shared by the Granite profiles and by ``io.yaml``.

Documented repairs, beyond those of :mod:`intrinsics_core.json_reply`: a label is known by the first line of the reply;
a certainty may be given as a digit d (0.05 + 0.1 d) or as the percentage it stands for; sentence ids may be numbers or
tags (``7``, ``"7"``, ``"<c7>"``). Everything else is a :class:`~intrinsics_core.errors.MalformedReply`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, cast

from intrinsics_core import json_reply
from intrinsics_core.conversation import Task
from intrinsics_core.errors import MalformedReply
from intrinsics_core.exchange import Generated, Reply
from intrinsics_core.labels import label_probabilities
from intrinsics_core.results import Answerability, Faithfulness, Judgement, QueryRewrite, Uncertainty

ANSWERABLE = ("answerable", "unanswerable")
RELEVANCE = ("relevant", "partially relevant", "irrelevant")
FAITHFULNESS = ("faithful", "partial", "unfaithful", "NA")
DIGITS = tuple("0123456789")
PERCENTAGES = tuple(f"{5 + 10 * int(d):02d}%" for d in DIGITS)

_RELEVANCE_VALUE = {"relevant": 1.0, "partially relevant": 0.5, "irrelevant": 0.0}


def generated(replies: Sequence[Reply]) -> Generated:
    (reply,) = replies
    assert isinstance(reply, Generated)
    return reply


def first_line(reply: Generated) -> str:
    return next((line.strip() for line in reply.text.splitlines() if line.strip()), "")


def value_start(text: str, name: str) -> int:
    """Where in a JSON text the value of field ``name`` begins."""
    at = text.find(f'"{name}"')
    return 0 if at < 0 else text.find(":", at) + 1


def free_text(reply: Generated) -> str:
    """The reply as text.

    Raises:
        MalformedReply: it is empty, or is no text (half a surrogate pair).
    """
    text = reply.text.strip()
    try:
        text.encode()
    except UnicodeEncodeError:
        text = ""
    if not text:
        raise MalformedReply("the reply is empty", expected="text", got=repr(reply.text), raw=reply.text)
    return text


def first_query(reply: Generated) -> str:
    """The first line that holds letters or digits: a sampled query may come with an emoji or a blank line around."""
    for line in free_text(reply).splitlines():
        if any(character.isalnum() for character in line):
            return line.strip()
    raise MalformedReply("the reply holds no words", expected="a query", got=repr(reply.text), raw=reply.text)


def rewrite(task: Task, reply: Generated, name: str = "rewritten_question") -> QueryRewrite:
    value = json_reply.parse(reply.text, dict, f'{{"{name}": text}}')
    query = str(json_reply.field(value, name, str, "a string", reply.text)).strip()
    if not query:
        raise MalformedReply(f"field {name!r} of the reply is empty", expected="text", raw=reply.text)
    return QueryRewrite(query=query, original=task.query, changed=query != task.query.strip())


def answerability(label: str, reply: Generated, start: int = 0) -> Answerability:
    """A label, and the probability of *answerable*: from log-probabilities, else 1 or 0, as the label says."""
    chosen = json_reply.label(label, ANSWERABLE, reply.text)
    measured = label_probabilities(reply.logprobs, ANSWERABLE, start)
    probability = measured["answerable"] if measured else float(chosen == "answerable")
    return Answerability.model_validate({"label": chosen, "probability": min(1.0, probability)})


def judgement(task: Task, label: str, reply: Generated, start: int = 0) -> Judgement:
    """A relevance label, and its expected value (1, 0.5, 0): from log-probabilities, else the label's own."""
    chosen = json_reply.label(label, RELEVANCE, reply.text)
    measured = label_probabilities(reply.logprobs, RELEVANCE, start) or {chosen: 1.0}
    score = min(1.0, sum(_RELEVANCE_VALUE[option] * p for option, p in measured.items()))
    return Judgement.model_validate({"document_id": task.document_id(0), "label": chosen, "score": score})


def certainty(text: str, reply: Generated, start: int = 0) -> Uncertainty:
    """A certainty from a digit or a percentage; its expected value where there are log-probabilities."""
    text = text.strip().strip("\"'`")
    options = PERCENTAGES if text.endswith("%") else DIGITS
    wanted = text.rjust(3, "0") if text.endswith("%") else text
    if wanted not in options:
        raise MalformedReply("certainty is not one of ten", expected='"0" … "9", or "05%", "15%" … "95%"',
                             got=repr(text), raw=reply.text)  # fmt: skip
    values = dict(zip(options, (round(0.05 + 0.1 * d, 2) for d in range(10)), strict=True))
    measured = label_probabilities(reply.logprobs, options, start)
    expected = None if measured is None else min(1.0, sum(values[name] * p for name, p in measured.items()))
    return Uncertainty(certainty=values[wanted], expected=expected)


def faithfulness(text: str, reply: Generated) -> Faithfulness:
    return cast(Faithfulness, json_reply.label(text, FAITHFULNESS, reply.text))


def sentence_number(value: Any, prefix: str) -> int | None:
    """The number in a sentence id, None where it is no such id."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if not isinstance(value, str):
        return None
    match = re.fullmatch(rf"\s*<?\s*(?:{re.escape(prefix)})?([0-9]{{1,9}})\s*>?\s*", value)
    return int(match[1]) if match else None


def entries(reply: Generated, expected: str) -> list[dict[str, Any]]:
    """The reply as a list of objects."""
    rows = json_reply.parse(reply.text, list, expected)
    for row in rows:
        if not isinstance(row, dict):
            raise MalformedReply("an entry is not an object", expected=expected, got=repr(row), raw=reply.text)
    return cast(list[dict[str, Any]], rows)
