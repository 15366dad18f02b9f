"""Judges that other projects' tables are made with, asked of any language model: typed, and never a number made up.

A rating that cannot be read is a :class:`MalformedReply` after the profile's retries, not the middle of the scale.

- RAGAS-style faithfulness (Es et al. 2024): the answer's statements, and of them the share that the documents support.
- RAD-Bench (Kuo et al. 2024): an answer rated 1 to 10 against a reference.
- IDK: does the answer say that it does not know: yes, in part, no (1, .5, 0); MT-RAG gates its other judges by it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import Field

from intrinsics_core.profiles.asking import (
    TEXT,
    array_of,
    documents_shown,
    enum_of,
    for_json,
    id_of,
    object_of,
    read_object,
    turns_shown,
)
from intrinsics_core.protocol.call import Call
from intrinsics_core.protocol.errors import MalformedReply
from intrinsics_core.protocol.profile import Format, Profile
from intrinsics_core.protocol.requests import Program, Reply
from intrinsics_core.protocol.results import Result
from intrinsics_core.protocol.task import DocumentLike, MessageLike, Task, check
from intrinsics_core.replies import json_reply
from intrinsics_core.text.markup import defuse

_DONT_KNOW = {"yes": 1.0, "partial": 0.5, "no": 0.0}


class Judged(Result):
    """``score`` in 0..1, None where there was nothing to judge; ``details`` are what it was made of, by name."""

    score: float | None = Field(ge=0, le=1)
    details: Mapping[str, Any] = Field(default_factory=dict)


def ragas_faithfulness(messages: Sequence[MessageLike], documents: Sequence[DocumentLike]) -> Call[Judged]:
    """Supported statements of the answer, by all that it makes. Two requests, one after the other.

    Raises:
        InvalidInput: if the input is invalid. It is raised by this function, not by `run`.
        MalformedReply: by `run`, if a verdict is missing.
    """
    task = check("ragas-faithfulness", messages, documents, ends_with=("assistant",), blank_answer=True)

    def program(task: Task, _: Profile) -> Program[Judged]:
        if not task.response.strip() or not task.documents:
            return Judged(score=None, reason="nothing to judge")
        statements = yield from JUDGES.ask("statements", task)
        if not statements:
            return Judged(score=None, reason="the answer makes no statements")
        numbered = {f"s{i}": text for i, text in enumerate(statements)}
        verdicts = yield from JUDGES.ask("verdicts", replace(task, arguments=numbered))
        held = [verdicts[name] for name in numbered]
        return Judged(score=sum(held) / len(held), details={"statements": dict(zip(statements, held, strict=True))})

    return Call(task, program)


def rad_bench(messages: Sequence[MessageLike], reference: str) -> Call[Judged]:
    """The answer rated 1 to 10 beside a reference; ``score`` is (rating - 1) / 9, ``details["rating"]`` the rating."""
    return Call(replace(_answered("rad-bench", messages), arguments={"reference": reference}), _one)


def idk(messages: Sequence[MessageLike]) -> Call[Judged]:
    """How far the answer says that it does not know."""
    return Call(_answered("idk", messages), _one)


def _answered(name: str, messages: Sequence[MessageLike]) -> Task:
    return check(name, messages, ends_with=("assistant",))


def _one(task: Task, _: Profile) -> Program[Judged]:
    found: Judged = yield from JUDGES.ask(task.intrinsic, task)
    return found


# --- what the model is shown, and how its reply is read -----------------------------------------------------------


def _exchange(task: Task) -> dict[str, Any]:
    return {"conversation": turns_shown(task)[:-1], "response": defuse(task.response)}


def _statements(task: Task, replies: Sequence[Reply]) -> list[str]:
    value, reply = read_object(replies, '{"statements": [...]}')
    found = json_reply.field(value, "statements", list, "a list of texts", reply.text)
    if not all(isinstance(text, str) for text in found):
        raise MalformedReply("a statement is not text", raw=reply.text)
    return [text for text in dict.fromkeys(found) if text.strip()]


def _verdicts(task: Task, replies: Sequence[Reply]) -> dict[str, bool]:
    value, reply = read_object(replies, '{"verdicts": [{"id": ..., "supported": true or false}]}')
    rows = json_reply.field(value, "verdicts", list, "a list of objects", reply.text)
    given = {row.get("id"): row.get("supported") for row in rows if isinstance(row, dict)}
    found = {name: held for name in task.arguments if isinstance(held := given.get(name), bool)}
    # The share is of the statements made: one without a verdict would shrink what it is divided by.
    if missing := [name for name in task.arguments if name not in found]:
        raise MalformedReply(f"the reply has no verdict on {', '.join(missing)}", raw=reply.text)
    return found


def _rating(task: Task, replies: Sequence[Reply]) -> Judged:
    value, reply = read_object(replies, '{"reason": "...", "rating": 1 to 10}')
    rating = json_reply.field(value, "rating", int, "a whole number from 1 to 10", reply.text)
    if isinstance(rating, bool) or not 1 <= rating <= 10:
        raise MalformedReply(
            f"the rating must be a whole number from 1 to 10, but the reply has {rating!r}", raw=reply.text
        )
    return Judged(score=(rating - 1) / 9, details={"rating": rating})


def _dont_know(task: Task, replies: Sequence[Reply]) -> Judged:
    value, reply = read_object(replies, '{"does_not_know": "yes", "partial" or "no"}')
    said = json_reply.field(value, "does_not_know", str, "yes, partial or no", reply.text)
    chosen = json_reply.label(said, tuple(_DONT_KNOW), reply.text)
    return Judged(score=_DONT_KNOW[chosen], details={"label": chosen})


JUDGES = Profile(
    "judges",
    {
        "statements": Format(
            for_json(
                "statements",
                "Take the response apart into short statements that stand alone: every claim it makes, no pronouns, "
                "nothing added. Greetings, questions and offers are no statements.",
                '{"statements": ["...", ...]}',
                object_of(statements=array_of(TEXT)),
                _exchange,
                1000,
            ),
            _statements,
        ),
        "verdicts": Format(
            for_json(
                "verdicts",
                "For each statement: is it supported by the documents alone, whatever else you know?",
                '{"verdicts": [{"id": "s0", "supported": true or false}, ...]}, one for each statement',
                object_of(verdicts=array_of(object_of(id=id_of("s"), supported={"type": "boolean"}))),
                lambda task: {
                    "documents": documents_shown(task),
                    "statements": {name: defuse(text) for name, text in task.arguments.items()},
                },
                2000,
            ),
            _verdicts,
        ),
        "rad-bench": Format(
            for_json(
                "rad-bench",
                "Rate the response to the last user turn from 1 (useless) to 10 (as good as the reference or better): "
                "is it right, complete, and faithful to what the reference says? Length is no merit.",
                '{"reason": "one sentence", "rating": 1 to 10}',
                object_of(reason=TEXT, rating={"type": "integer", "minimum": 1, "maximum": 10}),
                lambda task: _exchange(task) | {"reference": defuse(task.arguments["reference"])},
                300,
            ),
            _rating,
        ),
        "idk": Format(
            for_json(
                "idk",
                'Does the response say that it does not know, or that the answer was not found? "partial": it says so '
                "of a part and answers the rest.",
                '{"does_not_know": "yes", "partial" or "no"}',
                object_of(does_not_know=enum_of(tuple(_DONT_KNOW))),
                _exchange,
                30,
            ),
            _dont_know,
        ),
    },
)
