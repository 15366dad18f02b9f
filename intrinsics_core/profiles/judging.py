"""How an instruction-following model is asked to judge answers: rate, explain and cite; compare; relevance.

The four metrics and their wording follow *REC: Rate, Explain and Cite* (2024). All metrics of one answer are asked with
the same beginning (the system turn, documents, conversation, response), so that a server reads it once; what to rate
comes last. The explanation comes before the rating: a rating that was given first is only defended. REC's own reply
shapes are read too, and asked for where ``style="rec"`` says so (`rec`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from intrinsics_core.profiles import rec
from intrinsics_core.profiles.asking import (
    CONFIDENCE,
    PAIR,
    TEXT,
    UNTOLD,
    Labelled,
    array_of,
    asking,
    documents_shown,
    enum_of,
    object_of,
    preferred,
    read_object,
    relevance_said,
    said,
    share_said,
    text_format,
    turns_shown,
)
from intrinsics_core.protocol.profile import Format
from intrinsics_core.protocol.requests import Generate, Reply
from intrinsics_core.protocol.results import AnswerRelevance, Evaluation, RatedMetric
from intrinsics_core.protocol.task import Task
from intrinsics_core.replies import json_reply, readers, statements, writers
from intrinsics_core.text.markup import defuse

_RATINGS = ("yes", "no")
_CITED = object_of(source={"type": "string", "pattern": "^(response|[dm][0-9]+)$"}, quote=TEXT)

# --- what the model is shown --------------------------------------------------------------------------------------


def _answered(task: Task) -> dict[str, Any]:
    """Documents first: they are the longest part that calls have in common."""
    turns = [{"id": f"m{i}", **turn} for i, turn in enumerate(turns_shown(task)[:-1])]
    return {"documents": documents_shown(task), "conversation": turns, "response": defuse(task.response)}


def _rated(task: Task) -> dict[str, Any]:
    return _answered(task) | {"metric": task.options.get("metric", "faithfulness")}


def _two_answers(task: Task) -> dict[str, Any]:
    pair = {name: defuse(task.arguments.get(name, "")) for name in PAIR}
    return {"documents": documents_shown(task), "conversation": turns_shown(task), "responses": pair}


# --- how a reply is read and written ------------------------------------------------------------------------------


def _evaluation(task: Task, replies: Sequence[Reply]) -> Evaluation:
    value, reply = read_object(replies, f"an object with one of {', '.join(rec.SHAPES)}: yes or no")
    name = next((name for name in rec.SHAPES if name in value), "rating")
    explained, cites = rec.SHAPES[name]
    explanation = json_reply.field(value, explained, str, "a string", reply.text).strip()
    rows = json_reply.field(value, "statements", list, "a list of statements", reply.text) if cites else []
    spelled = json_reply.field(value, name, str, "yes or no", reply.text)
    options = rec.RATINGS if spelled.strip()[:1].isupper() else _RATINGS  # as its tokens are spelled
    chosen = json_reply.label(spelled, options, reply.text)
    start = readers.value_start(reply, name)
    share = readers.probabilities(chosen, options, reply, start, value.get("confidence"))[options[0]]
    found, dropped = statements.read(task, rows)
    rated = {
        "name": task.options.get("metric", "faithfulness"),
        "rating": chosen.lower(),
        "score": min(1.0, share),
        "explanation": explanation or None,
        "statements": found,
    }
    return Evaluation(metrics=(RatedMetric.model_validate(rated),), dropped=dropped)


def _write_evaluation(task: Task, value: Evaluation) -> str:
    (rated,) = writers.given(value, Evaluation).metrics
    rating, score = writers.rating(rated)
    if rec.wanted(task):
        return rec.written(task, rated)

    def read(stated: float) -> float:
        return readers.probabilities(rating, _RATINGS, UNTOLD, stated=stated)["yes"]

    return said(
        explanation=rated.explanation or "",
        statements=statements.written(task, rated.statements),
        rating=rating,
        confidence=writers.confidence(score, len(_RATINGS), read),
    )


def _answer_relevance(task: Task, replies: Sequence[Reply]) -> AnswerRelevance:
    found = Labelled.read(replies, "answer_relevance", readers.RELEVANCE)
    label, score = readers.relevance(found.text, found.reply, found.start, found.stated)
    return AnswerRelevance.model_validate({"label": label, "score": score})


_ask_own = asking(
    "evaluate",
    "Judge the response, which answers the conversation, by the one metric that the field 'metric' names:\n"
    + "".join(f"- {name}: {meaning}.\n" for name, meaning in rec.METRICS.items())
    + "First explain your judgement in one to three sentences. Then give the statements that it rests on, each "
    "with citations: the id of the source ('d0' … for documents, 'm0' … for turns of the conversation, "
    "'response') and a quote copied from it character by character, as short as carries the point. A "
    "statement on something that is missing has no citations. Last give the rating, 'yes' if the response "
    "meets the metric, else 'no', and your confidence in it from 0 to 1.",
    '{"explanation": "...", "statements": [{"text": "...", "citations": [{"source": "d0", "quote": "..."}]}, '
    '...], "rating": "...", "confidence": ...}',
    object_of(
        explanation=TEXT,
        statements=array_of(object_of(text=TEXT, citations=array_of(_CITED))),
        rating=enum_of(_RATINGS),
        confidence=CONFIDENCE,
    ),
    _rated,
    1536,
)


def _rate(task: Task) -> Sequence[Generate]:
    return rec.render(task, _answered(task)) if rec.wanted(task) else _ask_own(task)


# --- the table ----------------------------------------------------------------------------------------------------

FORMATS: Mapping[str, Format[Any]] = {
    "evaluate": Format(_rate, _evaluation, _write_evaluation),
    "preference": Format(
        asking(
            "preference",
            "Judge which of the two responses, A or B, answers the last user turn of the conversation better: "
            "faithful to the documents where there are any, doing what was asked, complete and clear. Neither the "
            "order of the responses nor their length means anything. State your confidence in the choice from 0 to 1.",
            '{"preferred": "...", "confidence": ...}',
            object_of(preferred=enum_of(PAIR), confidence=CONFIDENCE),
            _two_answers,
            100,
        ),
        preferred,
        share_said("preferred", PAIR),
    ),
    "answer-relevance": Format(
        asking(
            "answer-relevance",
            "Judge whether the response addresses the last user turn of the conversation, be it true or not. Say "
            "'relevant' if it answers what was asked, 'partially relevant' if it answers a part, is vague, or buries "
            "the answer in what was not asked, 'irrelevant' if it answers something else or does not attempt to "
            "answer. State your confidence in the label from 0 to 1.",
            '{"answer_relevance": "...", "confidence": ...}',
            object_of(answer_relevance=enum_of(readers.RELEVANCE), confidence=CONFIDENCE),
            _answered,
            100,
        ),
        _answer_relevance,
        lambda task, value: relevance_said("answer_relevance", *writers.answer_relevance(value)),
    ),
    "answer-rewrite": text_format(
        "answer-rewrite",
        "The response does not address the last user turn of the conversation well. Rewrite it so that it answers "
        "what was asked, fully and directly, and leaves out what was not. Use facts from the documents alone, or, "
        "where there are none, from the response. If they do not hold the answer, say so.",
        "rewritten_answer",
        _answered,
        1024,
    ),
}
