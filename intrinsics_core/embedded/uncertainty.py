"""How certain it is that an answer is right: from its answerability and from what supports it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from intrinsics_core.embedded.answers import answer_and_documents, support_of
from intrinsics_core.embedded.asking import question_and_passages
from intrinsics_core.embedded.commands import without_commands
from intrinsics_core.embedded.overrides import Overrides
from intrinsics_core.embedded.passages import answerable_by, look_at
from intrinsics_core.embedded.questions import asked_alone, standing_alone, turns_of
from intrinsics_core.protocol.requests import Program, Reply
from intrinsics_core.protocol.results import Uncertainty
from intrinsics_core.protocol.task import Task


def uncertainty_of(own: Overrides, task: Task) -> Program[Uncertainty]:
    from intrinsics_core.embedded.scoring.certainty import certainty, quantised
    from intrinsics_core.embedded.scoring.chunks import carried_on

    answerable, supported, claims = None, None, True
    if task.documents:
        alone = yield from standing_alone(own, task)
        text = (yield from asked_alone(own, task)) if alone is task else alone.query
        whole = without_commands(task, passages=True)
        whole = replace(whole, documents=carried_on(whole.documents))
        wave = [*question_and_passages(whole, text), *(answer_and_documents(alone) if task.response else ())]
        replies: Sequence[Reply] = yield wave  # type: ignore[assignment]  # only replies come
        if turns_of(task):
            looked_at = yield from look_at(own, whole, text, replies[:2])
            answerable = (yield from answerable_by(own, whole, looked_at)).probability
        if task.response:
            said = yield from support_of(own, alone, replies[2:])
            claims = said.label != "NA"
            supported = said.faithfulness if claims else None
    found = certainty(answerable, supported, claims=claims)
    return Uncertainty(certainty=quantised(found.expected), expected=found.expected)
