"""What the encoder and the reader are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from intrinsics_core.calibration.logits import yes_logits
from intrinsics_core.protocol.requests import Embed, Embedded, Program, Reply, Request, Score, ScoreTask
from intrinsics_core.protocol.task import Document, Task
from intrinsics_core.text.cleaning import as_meant


def passage(document: Document) -> str:
    """A document as a passage: its text behind its title."""
    from intrinsics_core.embedded.scoring.answering import with_title

    return with_title(document.text, document.title)


def question_and_passages(task: Task, question: str, *, apart: bool = False) -> Sequence[Request]:
    """The vectors of a question and of every passage. ``apart``: as if each passage were the only one."""
    return [
        Embed(task.intrinsic, (question,), kind="query"),
        Embed(task.intrinsic, tuple(as_meant(passage(d)) for d in task.documents), kind="passage", apart=apart),
    ]


def vectors_of(replies: Sequence[Reply]) -> list[Sequence[Any]]:
    """The encoder's replies to such requests."""
    return [reply.vectors for reply in replies if isinstance(reply, Embedded)]


def read(
    task: Task, pairs: Sequence[Sequence[tuple[str, str]]], as_: ScoreTask = "entailment"
) -> Program[list[list[float]]]:
    """The reader's logits of each group of pairs."""
    asked = list(dict.fromkeys(pair for group in pairs for pair in group))
    if not asked:
        return [[] for _ in pairs]
    (scored,) = yield [Score(task.intrinsic, tuple(asked), as_, own=True)]
    logits = dict(zip(asked, yes_logits([scored]), strict=True))  # type: ignore[list-item]  # only replies are sent in
    return [[logits[pair] for pair in group] for group in pairs]
