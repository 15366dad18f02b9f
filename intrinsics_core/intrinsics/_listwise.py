"""Ranking by lists: a model is shown many documents at once and names them best first.

Up to one window of documents is one call. Above, windows that overlap by half go over the list from its end to its
beginning, so that a document can rise from the last place to the first (Sun et al., *Is ChatGPT Good at Search?*,
EMNLP 2023, who also chose 20 and 10). They follow one another: each begins with what the one before found best.

A window that fails keeps its order and costs nothing else. Long documents are cut before they are shown: twenty whole
ones fill a context, and what one is about shows early.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from intrinsics_core.intrinsics import _costs
from intrinsics_core.protocol.errors import IntrinsicsError, InvalidInput, RuntimeUnavailable
from intrinsics_core.protocol.profile import Profile
from intrinsics_core.protocol.requests import Program
from intrinsics_core.protocol.results import Ranking
from intrinsics_core.protocol.task import Task
from intrinsics_core.replies.rankings import ranking


def listwise(
    task: Task, profile: Profile, *, both_orders: bool, window: int, max_characters: int | None
) -> Program[Ranking]:
    """The ranking; ``cut`` says how many documents were shown in part, ``dropped`` how many ids named nothing, and
    ``missing`` how many documents no list named."""
    shown, cut = _cut(task, max_characters)
    order = list(range(len(task.documents)))
    if len(order) < 2:
        return ranking(task, order)
    answers: list[Ranking | IntrinsicsError] = []
    named: set[int] = set()
    for begin in _begins(len(order), window):
        asked = order[begin : begin + window]
        lists = [asked, asked[::-1]] if both_orders else [asked]
        found = yield from profile.ask_many("listwise", [shown.only(*each) for each in lists])
        answers += found
        order[begin : begin + window] = _agreed(asked, lists, found)
        for given, answer in zip(lists, found, strict=True):
            if isinstance(answer, Ranking):  # what it did not name comes last in it
                named |= {given[row.index] for row in answer.ranking[: len(given) - answer.missing]}
            if isinstance(answer, InvalidInput | RuntimeUnavailable):  # what is wrong with all windows
                raise answer
    failures = _costs.checked(answers)
    dropped = sum(answer.dropped for answer in answers if isinstance(answer, Ranking))
    degraded = _costs.failure_note(failures, len(answers), "lists kept their order")
    missing = len(task.documents) - len(named)
    return ranking(task, order, dropped=dropped, cut=cut, degraded=degraded, missing=missing)


def _begins(count: int, window: int) -> list[int]:
    """Where the windows begin, the last first."""
    begins = list(range(max(0, count - window), 0, -max(1, window // 2)))
    return [*begins, 0]


def _agreed(
    asked: Sequence[int], lists: Sequence[Sequence[int]], found: Sequence[Ranking | IntrinsicsError]
) -> list[int]:
    """The documents by the sum of their ranks; ties, and all where no answer came, in the order they were in."""
    places = dict.fromkeys(asked, 0)
    for given, answer in zip(lists, found, strict=True):
        if isinstance(answer, Ranking):
            for row in answer.ranking:
                places[given[row.index]] += row.rank
    return sorted(asked, key=lambda i: places[i])


def _cut(task: Task, most: int | None) -> tuple[Task, int]:
    """The task with long documents cut after a word, and how many were."""
    if most is None:
        return task, 0
    long = [i for i, document in enumerate(task.documents) if len(document.text) > most]
    if not long:
        return task, 0
    documents = list(task.documents)
    for i in long:
        text = documents[i].text[:most]
        if not documents[i].text[most].isspace() and len(words := text.rsplit(maxsplit=1)) > 1:
            text = words[0]
        documents[i] = replace(documents[i], text=f"{text.rstrip()} …")
    return replace(task, documents=tuple(documents)), len(long)
