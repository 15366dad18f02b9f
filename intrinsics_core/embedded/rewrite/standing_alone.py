"""The last question of a conversation as it stands alone, and its rewrite and expansion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from intrinsics_core.calibration.logits import yes_logits
from intrinsics_core.embedded.overrides import Overrides
from intrinsics_core.embedded.rewrite.chooser import ChoiceOfReading, choice
from intrinsics_core.embedded.rewrite.keywords import Rewrite, expand, rewrite
from intrinsics_core.embedded.rewrite.salience import LONGEST_TURN
from intrinsics_core.embedded.short_answers import is_bare, is_polar
from intrinsics_core.embedded.turns import Turn, accepted_offer, as_one_turn, asked_before, is_answered_itself
from intrinsics_core.protocol.requests import Program, Score
from intrinsics_core.protocol.results import ExpandedQuery, QueryExpansion, QueryRewrite
from intrinsics_core.protocol.task import Task

AS_SPOKEN = "as spoken"
"""The option of a task whose question was made to stand alone: the task as it was (`standing_alone`)."""


def question_by_rules(task: Task) -> str:
    """The question made to stand alone without a reader, "" without one."""
    turns = turns_of(task)
    return _choice(turns).by_rules if turns else ""


def turns_of(task: Task) -> tuple[Turn, ...]:
    """(role, text) up to the last user turn, which may be several messages in a row."""
    turns = [(m.role, m.content) for m in task.messages]
    while turns and turns[-1][0] != "user":
        turns.pop()
    return as_one_turn(turns) if len(turns) > 1 else tuple(turns)


def earlier_turns(task: Task) -> list[str]:
    """The turns before the last user turn, the newest first."""
    return [text for _, text in reversed(turns_of(task)[:-1])]


def turns_cut(task: Task) -> int:
    """Earlier turns of which a rewrite of the question reads the end alone, or nothing where the last is too long."""
    *earlier, last = turns_of(task) or (("user", ""),)
    whole = 0 if len(last[1]) > LONGEST_TURN else LONGEST_TURN
    return sum(role in ("user", "assistant") and len(text) > whole for role, text in earlier)


# One dialogue is looked at once, though context relevance and the fact check ask for it with every document.
@lru_cache(maxsize=32)
def _choice(turns: tuple[Turn, ...]) -> ChoiceOfReading:
    return choice(turns)


@lru_cache(maxsize=32)
def _rewritten(turns: tuple[Turn, ...], meant: str) -> Rewrite:
    return rewrite(turns, meant)


def _meant(own: Overrides, intrinsic: str, turns: tuple[Turn, ...]) -> Program[tuple[tuple[Turn, ...], str]]:
    """The turns, an accepted offer in place of its "Yes please", and the last question by the reading that is meant."""
    if offer := accepted_offer(turns):
        turns = (*turns[:-1], ("user", offer))
    asked = _choice(turns)
    if "meant" not in own.reads or not asked.pairs:
        return turns, asked.by_rules
    (scored,) = yield [Score(intrinsic, asked.pairs, "meant", own=True)]
    return turns, asked.meant(yes_logits([scored]))  # type: ignore[list-item]  # only replies are sent in


def asked_alone(own: Overrides, task: Task, *, back: bool = True) -> Program[str]:
    """The question as it stands alone, "" without one: neither encoder nor reader sees the history.

    ``back``: of a turn that is about the question before it ("Sorry?") it is that question.

    Without the keywords that a rewrite adds for retrieval: they draw the vector towards what was said before. (150
    MT-RAG tasks with a history, ELSER's top 5: answerability AUROC .64 with the plain question, .57 with keywords.)
    For ranking either will do: .478 against .471 nDCG on those tasks, .550 against .560 on others.
    """
    turns = turns_of(task)
    if len(turns) < 2:
        return turns[0][1] if turns else ""
    before = asked_before(turns) if back else None
    return (yield from _meant(own, task.intrinsic, turns if before is None else turns[: before + 1]))[1]


def standing_alone(own: Overrides, task: Task) -> Program[Task]:
    """The task with its question as it stands alone: what "it" is, an earlier turn may say. The option `AS_SPOKEN` is
    the task as it was, for what looks at the conversation itself.
    """
    turns = turns_of(task)
    question = (yield from _answered(own, task, turns)) if len(turns) > 1 else turns[0][1] if turns else ""
    if question == task.query:
        return task
    messages = list(task.messages)
    last = max(i for i, message in enumerate(messages) if message.role == "user")
    messages[last] = replace(messages[last], content=question)
    return replace(task, messages=tuple(messages), options={**task.options, AS_SPOKEN: task})


def _answered(own: Overrides, task: Task, turns: Sequence[Turn]) -> Program[str]:
    """The question that the answer of a task is an answer to.

    A yes behind "Are you sure?" or "Can you repeat that?" answers that turn, so the question before it is read as no
    question of yes or no.
    """
    said = asked_before(turns) is not None and is_answered_itself(turns)
    question = yield from asked_alone(own, task, back=not (said and is_bare(task.response)))
    return question.replace("?", ".") if said and is_polar(question) else question


def query_rewrite(own: Overrides, task: Task) -> Program[QueryRewrite]:
    turns, meant = yield from _meant(own, task.intrinsic, turns_of(task))
    found = _rewritten(turns, meant)
    return QueryRewrite(
        query=found.question,
        original=task.query,
        changed=found.question != task.query,
        retrieval_query=found.retrieval_query,
        terms=found.terms,
    )


def query_expansion(own: Overrides, task: Task) -> Program[QueryExpansion]:
    turns, meant = yield from _meant(own, task.intrinsic, turns_of(task))
    passages = [f"{document.title or ''}\n{document.text}" for document in task.documents]
    queries = expand(turns, passages, rewritten=_rewritten(turns, meant))
    return QueryExpansion(queries=tuple(ExpandedQuery(text=text, strategy=strategy) for text, strategy in queries))
