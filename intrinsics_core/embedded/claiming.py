"""Whether an answer claims anything, told from its words alone: for guards that have no document to judge it by."""

from __future__ import annotations

from intrinsics_core.intrinsics.calling import Messages
from intrinsics_core.protocol.task import check
from intrinsics_core.text.layout import laid_out


def claims_something(messages: Messages) -> bool:
    """Whether a sentence of the last assistant turn claims something.

    Courtesy, an offer, a question back, "I don't know" and the report of an action whose tool call stands in the turn
    (``tool_calls``) claim nothing.

    Args:
        messages: a conversation that ends with an assistant turn.

    Raises:
        InvalidInput: the conversation is wrong, or does not end so.
    """
    from intrinsics_core.embedded.scoring.claims import asks, makes_claim
    from intrinsics_core.embedded.scoring.reports import reports_a_call

    task = check("hallucination-detection", messages, (), ends_with=("assistant",), blank_answer=True)
    said = [sentence.text for sentence in laid_out(task.response)]
    alone = len(said) == 1 and asks(task.query)
    return any(makes_claim(text, alone=alone) and not reports_a_call(text, task) for text in said)
