"""What REC's own models are asked and reply: the published shapes (*REC: Rate, Explain and Cite*, appendix C).

C.1 rates: ``{"metriclabel", "justification"}``. C.2 explains and cites, too: ``{"answer", "feedback", "statements":
[{"statement_string", "citations": [{"snippet"}]}]}``, where a snippet is verbatim from the task prompt. One metric is
asked a request, for C.2, and the prompt ends with the published line; the words before it are ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from intrinsics_core.profiles.asking import TAIL, TEXT, array_of, enum_of, json_request, object_of, said, turns_of
from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.protocol.requests import Generate
from intrinsics_core.protocol.results import Metric, RatedMetric
from intrinsics_core.protocol.task import Message, Task
from intrinsics_core.replies import statements

RATINGS = ("Yes", "No")

METRICS: Mapping[Metric, str] = {
    "faithfulness": "the response holds only truthful content, and no invented or misleading facts that the documents "
    "(or, where there are none, the conversation) do not support",
    "instruction-following": "the response is relevant and does what was asked, without further or repeated tasks",
    "coherence": "the response is easy to understand, hangs together and has no errors of grammar",
    "completeness": "the response covers all of the content that was asked for, or names what is missing",
}

SHAPES: Mapping[str, tuple[str, bool]] = {
    "rating": ("explanation", True),
    "metriclabel": ("justification", False),
    "answer": ("feedback", True),
}
"""By the field that holds the rating: the field of the explanation, and whether statements follow."""

_INSTRUCTION = (
    "Judge whether the response meets the one criterion that the field 'criterion' names. Give the answer, 'Yes' or "
    "'No', and feedback that explains it in one to three sentences. Then divide the feedback into its statements, each "
    "with the snippets that it rests on, copied character by character from the documents or the conversation, as "
    "short as carries the point. A statement that rests on none of them has no citations."
)
_SHAPE = (
    '{"answer": "Yes" | "No", "feedback": "...", "statements": [{"statement_string": "...", "citations": '
    '[{"snippet": "..."}]}, ...]}'
)
_SCHEMA = object_of(
    answer=enum_of(RATINGS),
    feedback=TEXT,
    statements=array_of(object_of(statement_string=TEXT, citations=array_of(object_of(snippet=TEXT)))),
)
_LAST_LINE = "### Response (JSON only):"


def wanted(task: Task) -> bool:
    """Whether the caller asked for this style."""
    return task.options.get("style") == "rec"


def render(task: Task, shown: Mapping[str, Any]) -> Sequence[Generate]:
    """The request for one metric; ``shown`` are the documents, the conversation and the response."""
    metric: Metric = task.options.get("metric", "faithfulness")
    asked = {**shown, "criterion": f"{metric}: {METRICS[metric]}"}
    system, user = turns_of(_INSTRUCTION + TAIL + _SHAPE, asked)
    turns = (system, Message("user", f"{user.content}\n\n{_LAST_LINE}"))
    return json_request(task, "evaluate", turns, _SCHEMA, 1536)


def written(task: Task, rated: RatedMetric) -> str:
    """A rated metric as C.2 has it, without its probability.

    Raises:
        InvalidInput: a reader would take a snippet, which names no source, for another place than it is.
    """
    rows = [
        {"statement_string": row["text"], "citations": [{"snippet": cited["quote"]} for cited in row["citations"]]}
        for row in statements.written(task, rated.statements)
    ]
    for i, (row, statement) in enumerate(zip(rows, rated.statements, strict=True)):
        if statements.read(task, [row])[0] != (statement,):
            raise InvalidInput(
                f"statements[{i}] cites words that occur earlier in another text",
                expected="the first text of the prompt that contains the words",
            )
    return said(answer=str(rated.rating).capitalize(), feedback=rated.explanation or "", statements=rows)
