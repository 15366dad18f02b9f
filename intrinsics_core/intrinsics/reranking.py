"""Passage reranking: all documents, best first, by lists, by comparisons or one by one.

``listwise``: a model names many documents in order (`_listwise`). ``pairwise``: it compares two at a time
(`_pairwise`). ``pointwise``: each document has a probability of relevance, and they are sorted. A profile serves those
modes that it has the formats for: ``listwise``, ``comparison``, and ``pointwise`` or ``context-relevance``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Literal, get_args

from intrinsics_core.intrinsics import _costs
from intrinsics_core.intrinsics._listwise import listwise
from intrinsics_core.intrinsics._pairwise import ALL_PAIRS as ALL_PAIRS
from intrinsics_core.intrinsics._pairwise import pairwise
from intrinsics_core.intrinsics.calling import Documents, Messages, OnError, call
from intrinsics_core.intrinsics.table import register
from intrinsics_core.protocol.call import Call
from intrinsics_core.protocol.errors import IntrinsicsError, InvalidInput
from intrinsics_core.protocol.profile import Profile
from intrinsics_core.protocol.requests import Program
from intrinsics_core.protocol.results import Ranking
from intrinsics_core.protocol.task import Task
from intrinsics_core.replies.rankings import ranking

Mode = Literal["listwise", "pairwise", "pointwise"]

WINDOW = 20  # documents in one list
MAX_CHARACTERS = 2000  # of a document in a list: some 500 tokens, so a list of 20 fits where 16,000 do

# By the format that serves it. Where a profile names no default, the first that its formats serve.
_MODES: dict[str, Mode] = {"pointwise": "pointwise", "listwise": "listwise", "comparison": "pairwise"}


def _original_order(task: Task, why: str) -> Ranking:
    scores = [document.score for document in task.documents]
    return ranking(task, range(len(scores)), scores, degraded=why)


def _nothing(task: Task, why: str) -> Ranking:
    return Ranking(ranking=(), reason=why)


@register(
    "reranking",
    result=Ranking,
    ends_with=("user",),
    needs_documents=True,
    empty=_nothing,
    fallbacks={"fallback": _original_order},
    needs="question, documents",
    gives="every document once, with a true rank",
)
def reranking(
    messages: Messages,
    documents: Documents,
    *,
    mode: Mode | None = None,
    window: int = WINDOW,
    both_orders: bool = False,
    max_characters: int | None = MAX_CHARACTERS,
    on_error: OnError = "raise",
    date: str | None = None,
) -> Call[Ranking]:
    """Rank documents by how well they answer the last user turn.

    Args:
        messages: a conversation that ends with a user turn.
        documents: any number, in the retriever's order; none gives an empty ranking and asks nothing.
        mode: ``"listwise"``, ``"pairwise"`` or ``"pointwise"``; left out, the profile's own: pointwise for the embedded
            one, listwise for ``prompted``, pairwise for Granite. For 10, 20 and 50 documents a model is asked 1, 1 and
            4 times (listwise), 45, 55 and 64 times (pairwise), 10, 20 and 50 times (pointwise).
        window: documents in one list, from 2. Windows overlap by half.
        both_orders: ask about every pair, or list, in both orders against position bias, at twice the requests; where
            comparisons disagree both get half a win. No effect on the pointwise mode.
        max_characters: of each document in a list; what is longer is cut, and ``cut`` in the result counts it. None
            shows them whole.
        on_error: ``"fallback"`` gives the original order with the scores that were there, marked as degraded. Of the
            pointwise mode, a document whose judgement failed keeps the place and the score that it came with.
        date: date text for prompts that carry one; the day of the call where left out.

    Returns:
        A call whose result has every document once, with a rank from 1. ``score`` of the pointwise mode is the
        probability of relevance, which does not depend on the other documents; the order may use more, so it need not
        fall with the rank. Of the comparing modes it is the share of the others ranked below: no threshold fits that.
        A malformed list keeps its order and a malformed comparison is a tie; ``degraded`` says so. If all are
        malformed, that is raised. A document that a list leaves out is not lost: it comes after those that are named,
        in the order it was given in, and ``missing`` counts those that no list named, or whose judgement failed.

    Raises:
        InvalidInput: at once, where the input is wrong.
        IntrinsicsError: when run, where no comparison succeeds.

    Source: *A Library of LLM Intrinsics for RAG* (2025), passage reranking; for lists see `_listwise`.
    """
    if mode is not None and mode not in get_args(Mode):
        raise InvalidInput("mode is unknown", intrinsic="reranking", expected=f"one of {', '.join(get_args(Mode))}",
                           got=repr(mode))  # fmt: skip
    for name, value, least in (("window", window, 2), ("max_characters", max_characters, 1)):
        if name == "max_characters" and value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise InvalidInput(f"{name} is out of range", intrinsic="reranking",
                               expected=f"a whole number from {least}", got=repr(value))  # fmt: skip
    program = partial(_program, mode=mode, window=window, both_orders=both_orders, max_characters=max_characters,
                      keep=on_error == "fallback")  # fmt: skip
    return call("reranking", messages, documents, date=date, program=program, on_error=on_error)


def _program(
    task: Task,
    profile: Profile,
    *,
    mode: Mode | None,
    window: int,
    both_orders: bool,
    max_characters: int | None,
    keep: bool,
) -> Program[Ranking]:
    chosen = mode or _default(profile)
    if chosen == "listwise":
        found = yield from listwise(
            task, profile, both_orders=both_orders, window=window, max_characters=max_characters
        )
    elif chosen == "pairwise":
        found = yield from pairwise(task, profile, both_orders=both_orders)
    else:
        found = yield from _pointwise(task, profile, keep=keep)
    return found.model_copy(update={"mode": chosen})


def _default(profile: Profile) -> str:
    """The mode that a profile, or else the one below it, names or has the format for."""
    below: Profile | None = profile
    while below is not None:
        if below.reranking is not None:
            return below.reranking
        if found := next((mode for name, mode in _MODES.items() if name in below.formats), None):
            return found
        below = below.base
    return "pairwise"


def _pointwise(task: Task, profile: Profile, *, keep: bool) -> Program[Ranking]:
    """Sorted by probability, ties in the retriever's order. A format's pairs are (score, what to order by).

    With ``keep``, a document whose judgement failed keeps the place and the score that it came with.
    """
    if "pointwise" in profile:
        found: Sequence[float | tuple[float, float]] = yield from profile.ask("pointwise", task)
        pairs = [entry if isinstance(entry, tuple) else (entry, entry) for entry in found]
        order = sorted(range(len(pairs)), key=lambda i: -pairs[i][1])
        return ranking(task, order, [score for score, _ in pairs])
    judgements = yield from profile.ask_each("context-relevance", task)
    failures = _costs.checked(judgements)
    if failures and not keep:
        raise failures[0]
    failed = {i for i, judgement in enumerate(judgements) if isinstance(judgement, IntrinsicsError)}
    judged = iter(sorted(set(range(len(judgements))) - failed, key=lambda i: (-judgements[i].score, i)))
    order = [i if i in failed else next(judged) for i in range(len(judgements))]
    scores = [task.documents[i].score if i in failed else judgements[i].score for i in range(len(judgements))]
    degraded = _costs.told(failures, len(judgements), "documents kept their place")
    return ranking(task, order, scores, degraded=degraded, missing=len(failed))
