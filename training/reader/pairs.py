"""What the reader is trained on: two texts, a task, and how true it is of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

Task = Literal["support", "answers", "meant", "relevant"]
TASKS: tuple[Task, ...] = ("support", "answers", "meant", "relevant")
"""The heads of the model, in the order of its logits."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One judgement.

    text: what is read: source sentences (support), a passage window (answers), the turns before (meant), an
    answer (relevant).
    query: what is judged beside it: a claim, a question, a candidate question.
    label: 1 true of the text, 0 not; what lies between is a soft target.
    kind: how the pair was made, for tables by kind.
    """

    task: Task
    text: str
    query: str
    label: float
    kind: str


Unit = Sequence[Pair]
"""Pairs that belong in one batch: a sentence's true form beside its false twin."""


def relabelled(pair: Pair, query: str, label: float, kind: str) -> Pair:
    """The same text beside another query."""
    return replace(pair, query=query, label=label, kind=kind)
