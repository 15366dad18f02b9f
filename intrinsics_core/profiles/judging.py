"""How an instruction-following model is asked to judge answers: rate, explain and cite; compare; relevance.

The four metrics and their wording follow *REC: Rate, Explain and Cite* (2024). All metrics of one answer are asked with
the same beginning (the system turn, documents, conversation, response), so that a server reads it once; what to rate
comes last. The explanation comes before the rating: a rating that was given first is only defended.

REC's own reply shapes (appendix C) are read, too. C.1 rates: ``{"metriclabel", "justification"}``. C.2 explains and
cites: ``{"answer", "feedback", "statements": [{"statement_string", "citations": [{"snippet"}]}]}``, where a snippet is
verbatim from the task prompt. ``style="rec"`` asks for C.2, one metric a request. Its prompt ends with the published
line; the words before it are ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from intrinsics_core.profiles import asking, auditing
from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.protocol.profile import Format
from intrinsics_core.protocol.requests import Generate, Reply
from intrinsics_core.protocol.results import AnswerRelevance, Evaluation, Metric, RatedMetric
from intrinsics_core.protocol.task import Task
from intrinsics_core.replies import json_reply, readers, statements, writers
from intrinsics_core.text.markup import defuse

_REC_RATINGS = ("Yes", "No")
_METRICS: Mapping[Metric, str] = {
    "faithfulness": "the response holds only truthful content, and no invented or misleading facts that the documents "
    "(or, where there are none, the conversation) do not support",
    "instruction-following": "the response is relevant and does what was asked, without further or repeated tasks",
    "coherence": "the response is easy to understand, hangs together and has no errors of grammar",
    "completeness": "the response covers all of the content that was asked for, or names what is missing",
}
_SHAPES: Mapping[str, tuple[str, bool]] = {
    "rating": ("explanation", True),
    "metriclabel": ("justification", False),
    "answer": ("feedback", True),
}
"""By the field that holds the rating: the field of the explanation, and whether statements follow."""

_REC_INSTRUCTION = (
    "Judge whether the response meets the one criterion that the field 'criterion' names. Give the answer, 'Yes' or "
    "'No', and feedback that explains it in one to three sentences. Then divide the feedback into its statements, each "
    "with the snippets that it rests on, copied character by character from the documents or the conversation, as "
    "short as carries the point. A statement that rests on none of them has no citations."
)
_REC_LAST_LINE = "\n\n### Response (JSON only):"
_REC_SHAPE = (
    '{"answer": "Yes" | "No", "feedback": "...", "statements": [{"statement_string": "...", "citations": '
    '[{"snippet": "..."}]}, ...]}'
)
_SNIPPET = asking.object_of(snippet=asking.TEXT)
_REC_SCHEMA = asking.object_of(
    answer=asking.enum_of(_REC_RATINGS),
    feedback=asking.TEXT,
    statements=asking.array_of(asking.object_of(statement_string=asking.TEXT, citations=asking.array_of(_SNIPPET))),
)


def _answered(task: Task) -> dict[str, Any]:
    """Documents first: they are the longest part that calls have in common."""
    shown = asking.before_response(task)
    turns = [{"id": f"m{i}", **turn} for i, turn in enumerate(shown["conversation"])]
    return {**shown, "conversation": turns, "response": defuse(task.response)}


def _metric(task: Task) -> Metric:
    return task.options.get("metric", "faithfulness")  # type: ignore[no-any-return]


def _two_answers(task: Task) -> dict[str, Any]:
    return asking.documents_and_turns(task) | {"responses": {n: defuse(task.arguments.get(n, "")) for n in asking.PAIR}}


_CITED = asking.object_of(source={"type": "string", "pattern": "^(response|[dm][0-9]+)$"}, quote=asking.TEXT)
_ask_own = asking.for_json(
    "evaluate",
    "Judge the response, which answers the conversation, by the one metric that the field 'metric' names:\n"
    + "".join(f"- {name}: {meaning}.\n" for name, meaning in _METRICS.items())
    + "First explain your judgement in one to three sentences. Then give the statements that it rests on, each "
    "with citations: the id of the source ('d0' … for documents, 'm0' … for turns of the conversation, "
    "'response') and a quote copied from it character by character, as short as carries the point. A "
    "statement on something that is missing has no citations. Last give the rating, 'yes' if the response "
    "meets the metric, else 'no', and your confidence in it from 0 to 1.",
    '{"explanation": "...", "statements": [{"text": "...", "citations": [{"source": "...", "quote": "..."}]}, '
    '...], "rating": "...", "confidence": ...}',
    asking.object_of(
        explanation=asking.TEXT,
        statements=asking.array_of(asking.object_of(text=asking.TEXT, citations=asking.array_of(_CITED))),
        rating=asking.enum_of(asking.YES_NO),
        confidence=asking.CONFIDENCE,
    ),
    lambda task: _answered(task) | {"metric": _metric(task)},
    1536,
)


def _rate(task: Task) -> Sequence[Generate]:
    if task.options.get("style") != "rec":
        return _ask_own(task)
    shown = {**_answered(task), "criterion": f"{_metric(task)}: {_METRICS[_metric(task)]}"}
    asked = ("evaluate", _REC_INSTRUCTION, _REC_SHAPE, shown, _REC_SCHEMA, _REC_LAST_LINE)
    return asking.json_request(task, *asked, max_tokens=1536)


def _evaluation(task: Task, replies: Sequence[Reply]) -> Evaluation:
    value, reply = asking.read_object(replies, f"an object with one of {', '.join(_SHAPES)}: yes or no")
    name = next((name for name in _SHAPES if name in value), "rating")
    explained, cites = _SHAPES[name]
    explanation = json_reply.field(value, explained, str, "a string", reply.text).strip()
    rows = json_reply.field(value, "statements", list, "a list of statements", reply.text) if cites else []
    spelled = json_reply.field(value, name, str, "yes or no", reply.text)
    options = _REC_RATINGS if spelled.strip()[:1].isupper() else asking.YES_NO  # as its tokens are spelled
    found, dropped = statements.read(task, rows)
    rated = {
        "name": _metric(task),
        "rating": json_reply.label(spelled, options, reply.text).lower(),
        "score": asking.share(asking.label_in(value, reply, name, value.get("confidence")), options),
        "explanation": explanation or None,
        "statements": found,
    }
    return Evaluation(metrics=(RatedMetric.model_validate(rated),), dropped=dropped)


def _write_evaluation(task: Task, value: Evaluation) -> str:
    (rated,) = writers.given(value, Evaluation).metrics
    rating, score = writers.rating(rated)
    if task.options.get("style") == "rec":
        return _write_rec(task, rated)
    fields = asking.label_fields("rating", asking.YES_NO, asking.yes, rating, score)
    rows = statements.written(task, rated.statements)
    return asking.said(explanation=rated.explanation or "", statements=rows, **fields)


def _write_rec(task: Task, rated: RatedMetric) -> str:
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
    return asking.said(answer=str(rated.rating).capitalize(), feedback=rated.explanation or "", statements=rows)


def _answer_relevance(task: Task, label: asking.Label) -> AnswerRelevance:
    found, score = readers.relevance(*label)
    return AnswerRelevance.model_validate({"label": found, "score": score})


FORMATS: Mapping[str, Format[Any]] = {
    "evaluate": Format(_rate, _evaluation, _write_evaluation),
    "preference": asking.share_format(
        "preference",
        "Judge which of the two responses, A or B, answers the last user turn of the conversation better: faithful to "
        "the documents where there are any, doing what was asked, complete and clear. Neither the order of the "
        "responses nor their length means anything. State your confidence in the choice from 0 to 1.",
        "preferred",
        asking.PAIR,
        _two_answers,
    ),
    "answer-relevance": asking.label_format(
        "answer-relevance",
        f"{auditing.ANSWERS} Say 'relevant' if it answers what was asked, 'partially relevant' if it answers a part, "
        "is vague, or buries the answer in what was not asked, 'irrelevant' if it answers something else or does not "
        "attempt to answer. State your confidence in the label from 0 to 1.",
        "answer_relevance",
        readers.RELEVANCE,
        _answered,
        _answer_relevance,
        asking.relevance,
        lambda task, value: writers.answer_relevance(value),
    ),
    "answer-rewrite": asking.text_format(
        "answer-rewrite",
        "The response does not address the last user turn of the conversation well. Rewrite it so that it answers "
        "what was asked, fully and directly, and leaves out what was not. Use facts from the documents alone, or, "
        "where there are none, from the response. If they do not hold the answer, say so.",
        "rewritten_answer",
        _answered,
        128,
        per="sentence",
    ),
}
