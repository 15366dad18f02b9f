"""Answerability: a gate that says "the documents don't answer this"."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Literal

from intrinsics_core.intrinsics.calling import Documents, Messages, call, nothing_to_judge_by
from intrinsics_core.intrinsics.table import register, telling
from intrinsics_core.protocol.call import Call
from intrinsics_core.protocol.errors import IntrinsicsError
from intrinsics_core.protocol.profile import Profile
from intrinsics_core.protocol.requests import Program
from intrinsics_core.protocol.results import Answerability
from intrinsics_core.protocol.task import Task

_OPEN = telling("degraded", lambda task: Answerability(label="answerable", probability=None))
_CLOSED = telling("degraded", lambda task: Answerability(label="unanswerable", probability=None))


def nothing(task: Task, why: str) -> Answerability:
    """There is nothing to answer from."""
    return Answerability(label="unanswerable", probability=0.0, reason=why)


@register(
    "answerability",
    result=Answerability,
    ends_with=("user",),
    needs_documents=True,
    empty=nothing,
    fallbacks={"fallback": _OPEN, "open": _OPEN, "closed": _CLOSED},
    score=lambda result: result.probability,
    judges="the documents answer the question",
    needs="question, documents",
    gives="answerable or not, and how likely",
)
def answerability(
    messages: Messages,
    documents: Documents,
    *,
    on_error: Literal["raise", "fallback", "open", "closed"] = "raise",
    date: str | None = None,
) -> Call[Answerability]:
    """Judge whether the documents answer the last user turn.

    Args:
        messages: a conversation that ends with a user turn.
        documents: any number; an empty list is unanswerable, with the reason "nothing retrieved". So are documents
            without text, with another reason. The default lets a turn pass that asks nothing ("Thanks!"), whatever the
            documents are.
        on_error: ``"open"`` (also ``"fallback"``) lets the question pass where the judgement failed, ``"closed"``
            stops it; both mark the result as degraded and give no probability.
        date: date text for prompts that carry one; the day of the call where left out.

    Returns:
        A call whose result has a label (``"answerable"`` or ``"unanswerable"``) and the probability, 0 to 1, that the
        documents answer the question.

    Raises:
        InvalidInput: if the input is invalid. It is raised by this function, not by `run`.

    Source: *A Library of LLM Intrinsics for RAG* (2025), answerability determination.

    Example:

        >>> from intrinsics_core import answerability, run
        >>> question = [{"role": "user", "content": "Who built the lighthouse?"}]
        >>> documents = ["Ada Brink built the lighthouse in 1911.", "Fog is common in May."]
        >>> run(answerability(question, documents)).label
        'answerable'
    """
    made: Call[Answerability] = call("answerability", messages, documents, date=date, on_error=on_error)
    return replace(made, program=partial(_unless_nothing_is_asked, made.program))


def _unless_nothing_is_asked(
    program: Callable[[Task, Profile], Program[Answerability]], task: Task, profile: Profile
) -> Program[Answerability]:
    """A turn that asks nothing passes, also where nothing was retrieved, or a filter kept nothing."""
    if nothing_to_judge_by(task) and (said := _without_asking(task, profile)):
        return said
    return (yield from program(task, profile))


def _without_asking(task: Task, profile: Profile) -> Answerability | None:
    """What the profile says of a turn by its form, before it asks a model; None where it would ask one."""
    asking = profile.ask("answerability", task)
    try:
        next(asking)
    except StopIteration as stop:
        said: Answerability = stop.value
        return said if said.answerable and said.reason else None
    except IntrinsicsError:  # the program says what is wrong, if it has to ask
        return None
    finally:
        asking.close()
    return None
