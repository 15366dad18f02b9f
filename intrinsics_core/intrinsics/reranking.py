"""Passage reranking: all documents, best first, by lists, by comparisons or one by one.

``listwise``: a model names many documents in order (`_listwise`). ``pairwise``: it compares two at a time
(`_pairwise`). ``pointwise``: each document has a probability of relevance, in which the retriever's own score takes
part (`_prior`), and they are sorted by it. A profile serves those modes that it has the formats for: ``listwise``,
``comparison``, and ``pointwise`` or ``context-relevance``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Literal, get_args

from intrinsics_core.intrinsics import _costs, _prior
from intrinsics_core.intrinsics._listwise import listwise
from intrinsics_core.intrinsics._pairwise import ALL_PAIRS as ALL_PAIRS
from intrinsics_core.intrinsics._pairwise import pairwise
from intrinsics_core.intrinsics._prior import Reading as Reading
from intrinsics_core.intrinsics.calling import Documents, Messages, OnError, call, wrong
from intrinsics_core.intrinsics.table import register
from intrinsics_core.protocol.call import Call
from intrinsics_core.protocol.errors import IntrinsicsError
from intrinsics_core.protocol.names import unknown
from intrinsics_core.protocol.profile import Profile
from intrinsics_core.protocol.requests import Program
from intrinsics_core.protocol.results import Ranking
from intrinsics_core.protocol.task import Task
from intrinsics_core.replies.rankings import ranking

Mode = Literal["listwise", "pairwise", "pointwise"]
_Ranker = Callable[[Task, Profile], Program[Ranking]]

OPTIONS = ("mode", "prior")
"""How a ranking is made: the keyword arguments that every integration's reranker has, too."""

WINDOW = 20  # documents in one list
MAX_CHARACTERS = 2000  # of a document in a list: some 500 tokens, so a list of 20 fits where 16,000 do

# By the format that serves it. Where a profile names no default, the first that its formats serve.
_MODES: dict[str, Mode] = {"pointwise": "pointwise", "listwise": "listwise", "comparison": "pairwise"}


def _original_order(task: Task, why: str) -> Ranking:
    scores = [document.score for document in task.documents]
    return ranking(task, range(len(scores)), scores, degraded=why)


@register(
    "reranking",
    result=Ranking,
    ends_with=("user",),
    needs_documents=True,
    of_each=True,
    empty=lambda task, why: Ranking(ranking=(), reason=why),
    fallbacks={"fallback": _original_order},
    needs="question, documents",
    gives="every document once, with its rank and score",
)
def reranking(
    messages: Messages,
    documents: Documents,
    *,
    mode: Mode | None = None,
    window: int = WINDOW,
    both_orders: bool = False,
    max_characters: int | None = MAX_CHARACTERS,
    prior: Reading | None = "auto",
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
        prior: how the retriever's own scores (``score`` of the documents) are read in the pointwise mode, where all
            documents have one. They move a probability by one logit at most (.5 to between .27 and .73). ``"higher"``:
            the larger of two is the better one; ``"lower"``: the smaller, of distances; ``"auto"``: as the list's own
            order tells, where scores that only rise down the list are distances, and a list that neither rises nor
            falls leaves its scores out. None leaves them out. No effect on the other modes.
        on_error: ``"fallback"`` gives the original order with the scores that were there, marked as degraded. Of the
            pointwise mode, a document whose judgement failed keeps its place, and its score is None.
        date: date text for prompts that carry one; the day of the call where left out.

    Returns:
        A call whose result has every document once, with a rank from 1, sorted by ``score``. Of the pointwise mode that
        is the probability of relevance. It does not depend on the other documents, but for the retriever's scores, and
        ``prior`` says which way these were read. Of the comparing modes it is the share of the others ranked below: no
        threshold fits that. A malformed list keeps its order and a malformed comparison is a tie; ``degraded`` says so.
        If all are malformed, that is raised. A document that a list leaves out is not lost: it comes after those that
        are named, in the order it was given in, and ``missing`` counts those that no list named, or whose judgement
        failed.

    Raises:
        InvalidInput: if the input is invalid. It is raised by this function, not by `run`.
        IntrinsicsError: when run, where no comparison succeeds.

    Source: *A Library of LLM Intrinsics for RAG* (2025), passage reranking; for lists see `_listwise`.

    Example:

        >>> from intrinsics_core import reranking, run
        >>> question = [{"role": "user", "content": "Who built the lighthouse?"}]
        >>> documents = ["Ada Brink built the lighthouse in 1911.", "Fog is common in May."]
        >>> [document.index for document in run(reranking(question, documents[::-1])).ranking]
        [1, 0]
    """
    if mode is not None and mode not in get_args(Mode):
        raise wrong("reranking", "mode is unknown", f"one of {', '.join(get_args(Mode))}", mode)
    most = 1 if max_characters is None else max_characters
    for name, value, least in (("window", window, 2), ("max_characters", most, 1)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise wrong("reranking", f"{name} is out of range", f"a whole number of at least {least}", value)
    if prior is not None and prior not in get_args(Reading):
        raise unknown("prior is unknown", prior, get_args(Reading), intrinsic="reranking")
    programs: dict[str, _Ranker] = {
        "listwise": partial(listwise, both_orders=both_orders, window=window, max_characters=max_characters),
        "pairwise": partial(pairwise, both_orders=both_orders),
        "pointwise": partial(_pointwise, prior=prior, keep=on_error == "fallback"),
    }
    program = partial(_program, mode=mode, programs=programs)
    return call("reranking", messages, documents, date=date, program=program, on_error=on_error)


def _program(task: Task, profile: Profile, *, mode: Mode | None, programs: Mapping[str, _Ranker]) -> Program[Ranking]:
    chosen = mode or _default(profile)
    if chosen not in programs:
        raise unknown("the mode of the profile is unknown", chosen, tuple(programs), intrinsic="reranking")
    found = yield from programs[chosen](task, profile)
    return found.model_copy(update={"mode": chosen})


def _default(profile: Profile) -> str:
    """The mode that a profile, or else the one below it, names or has the format for."""
    served = (mode for name, mode in _MODES.items() if name in profile.formats)
    if found := profile.reranking or next(served, None):
        return found
    return _default(profile.base) if profile.base else "pairwise"


def _pointwise(task: Task, profile: Profile, *, prior: Reading | None, keep: bool) -> Program[Ranking]:
    """Sorted by probability, ties in the retriever's order.

    With ``keep``, a document whose judgement failed keeps its place, without a score.
    """
    told, failures, name = None, list[IntrinsicsError](), "pointwise" if "pointwise" in profile else "context-relevance"
    if name == "pointwise":
        found: list[float | IntrinsicsError] = yield from profile.ask("pointwise", task)
    else:
        judgements = yield from profile.ask_each(name, task)
        failures = _costs.checked(judgements)
        if failures and not keep:
            raise failures[0]
        found = [each if isinstance(each, IntrinsicsError) else each.score for each in judgements]
        told = next((each.failure for each in judgements if getattr(each, "failure", None)), None)
    judged = {i: each for i, each in enumerate(found) if not isinstance(each, IntrinsicsError)}
    moved, way = _prior.with_prior(list(judged.values()), [task.documents[i].score for i in judged], prior)
    scores = dict(zip(judged, moved, strict=True))
    best_first = iter(sorted(judged, key=lambda i: -scores[i]))
    order = [next(best_first) if i in scores else i for i in range(len(found))]
    kept = _costs.failure_note(failures, len(found), "documents kept their place")
    notes = kept, told, profile.note_of(name, task)
    return ranking(task, order, [scores.get(i) for i in range(len(found))], prior=way,
                   degraded="; ".join(filter(None, notes)) or None, missing=len(found) - len(judged))  # fmt: skip
