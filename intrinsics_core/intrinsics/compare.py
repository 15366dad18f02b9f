"""Which of two answers is better, asked in both orders: models prefer what they read first, or last.

Not in the table of intrinsics: it takes two answers instead of documents alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from intrinsics_core.intrinsics.calling import NOTHING_SAID, Documents, Messages, OnError, wrong
from intrinsics_core.protocol.call import Call
from intrinsics_core.protocol.errors import raised
from intrinsics_core.protocol.profile import Profile
from intrinsics_core.protocol.requests import Program
from intrinsics_core.protocol.results import Preference
from intrinsics_core.protocol.task import Task, check

_ON_ERROR = ("raise", "fallback")


def _failed(task: Task, why: str) -> Preference:
    return Preference(choice="tie", score=None, degraded=why)


def compare(
    messages: Messages,
    first: str,
    second: str,
    documents: Documents = (),
    *,
    on_error: OnError = "raise",
    date: str | None = None,
) -> Call[Preference]:
    """Choose the better of two answers to the last user turn. One batch of two requests, one for each order.

    Args:
        messages: a conversation that ends with a user turn.
        first, second: the answers. Against one without words the other wins, and nothing is asked.
        documents: what the answers should rest on, if anything.
        on_error: ``"fallback"`` gives a tie without a score, marked as degraded.
        date: date text for prompts that carry one; the day of the call where left out.

    Returns:
        A call whose ``choice`` is the answer that wins in both orders, else a tie; ``score`` is the mean probability
        that the first is the better one.

    Raises:
        InvalidInput: if the input is invalid. It is raised by this function, not by `run`.
        UnsupportedIntrinsic: when run, where the profile has no language model to ask.

    Source: *REC: Rate, Explain and Cite* (2024), pairwise evaluation.

    Example:

        >>> from intrinsics_core import compare, run
        >>> from intrinsics_core.runtimes.scripted import Scripted  # a real program passes a server or chat model here
        >>> question = [{"role": "user", "content": "Who built the lighthouse?"}]
        >>> replies = [{"preferred": "A", "confidence": 0.9}, {"preferred": "B", "confidence": 0.9}]  # both orders
        >>> run(compare(question, "Ada Brink built it.", "Fog."), Scripted(replies)).choice
        'first'
    """
    if on_error not in _ON_ERROR:
        raise wrong("compare", "on_error is unknown", f"one of {', '.join(_ON_ERROR)}", on_error)
    for name, text in (("first", first), ("second", second)):
        if not isinstance(text, str):
            raise wrong("compare", f"{name} is not text", "a string", text)
    task = check("compare", messages, documents, ends_with=("user",), date=date)
    task = replace(task, arguments={"A": first, "B": second})
    return Call(task, _program, _failed if on_error == "fallback" else None)


def _program(task: Task, profile: Profile) -> Program[Preference]:
    first, second = task.arguments["A"], task.arguments["B"]
    if not (first.strip() and second.strip()):
        likely = 0.5 if not first.strip() and not second.strip() else 1.0 if first.strip() else 0.0
        return _preference([likely]).model_copy(update={"reason": NOTHING_SAID})
    if first == second:
        return _preference([0.5]).model_copy(update={"reason": "the answers are the same"})
    turned = replace(task, arguments={"A": second, "B": first})
    likely, turned_likely = map(raised, (yield from profile.ask_many("preference", [task, turned])))
    return _preference([likely, 1 - turned_likely])


def _preference(likely: Sequence[float]) -> Preference:
    """From the probability that the first is better, in each order."""
    agreed = {"first" if share > 0.5 else "second" if share < 0.5 else "tie" for share in likely}
    choice = agreed.pop() if len(agreed) == 1 else "tie"
    return Preference.model_validate({"choice": choice, "score": min(1.0, max(0.0, sum(likely) / len(likely)))})
