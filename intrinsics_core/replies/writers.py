"""How results become replies again: the inverse of `readers`, shared by the profiles that ask a language model.

What a reply has no place for is left out:

- ``dropped``, ``usage``, and a rewrite's ``changed`` and retrieval forms.
- Probabilities, scores and ``expected`` of log-probabilities, where the reply states no confidence; the label stays.
  Where it states one, it is the confidence that gives the score, or the nearest score that the label allows.
- The label and score of a whole response, and the score of a sentence whose reply has a label alone.
- Space around a text; a blank explanation. Citations are in order of their sentences, each link once.

All else that a reply cannot say is :class:`~intrinsics_core.protocol.errors.InvalidInput`, which names the field.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, TypeVar

from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.protocol.results import (
    Answerability,
    AnswerRelevance,
    Citations,
    Faithfulness,
    HallucinationDetection,
    Judgement,
    QueryRewrite,
    Ranking,
    RatedMetric,
    Result,
    SentenceVerdict,
    Uncertainty,
)
from intrinsics_core.protocol.task import Task
from intrinsics_core.replies import readers, sentence_ids
from intrinsics_core.replies.placeholders import says_nothing
from intrinsics_core.text.sentences import Span

T = TypeVar("T")
_FALLBACK = "is a fallback, which cannot be written as a verdict"


def given(value: Any, kind: type[T]) -> T:
    """The value, if it is a result of this kind that a model gave, and no fallback."""
    if not isinstance(value, kind) or isinstance(value, bool):
        raise InvalidInput("value is not a result of this format", expected=kind.__name__, got=type(value).__name__)
    if isinstance(value, Result) and value.degraded is not None:
        _wrong("degraded", _FALLBACK, "a result without it", value.degraded)
    return value


def as_json(value: Any, indent: int | None = None) -> str:
    """The value as JSON, letters as themselves. A text in it that no encoding can hold is `InvalidInput`."""
    return _encodable(json.dumps(value, ensure_ascii=False, indent=indent))


def without_quotes(text: str) -> str:
    """A JSON string whose inner quotes are spelled ``\\u0022``, for constraints that allow no quote inside."""
    return '"' + re.sub(r"\\(.)", lambda m: r"\u0022" if m[1] == '"' else m[0], as_json(text)[1:-1]) + '"'


def _encodable(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        _wrong("value", "contains half of a surrogate pair", "text that can be written as UTF-8", text)
    return text


def _scored(score: float | None, field: str = "score") -> float:
    """The score of a verdict; a fallback has none."""
    if score is None:
        _wrong(field, _FALLBACK, "a number", None)
    return score


def _wrong(field: str, what: str, expected: str, got: Any) -> NoReturn:
    raise InvalidInput(f"{field}: {what}", expected=expected, got=repr(got))


# --- texts ------------------------------------------------------------------------------------------------------------


def free_text(value: Any, stop: Sequence[str] = ()) -> str:
    """The text as a reply. It is not blank, and holds no text of ``stop``, at which the reply would end."""
    text = _encodable(given(value, str).strip())
    if not text:
        _wrong("value", "is blank", "text", value)
    if cut := next((mark for mark in stop if mark in text), None):
        _wrong("value", "contains a stop text, at which the reply would end", f"text without {cut!r}", value)
    return text


def first_query(value: Any, stop: Sequence[str] = ()) -> str:
    """The query as a reply of which the first line counts: it has one line, with words in it."""
    text = free_text(value, stop)
    if len(text.splitlines()) > 1 or not any(character.isalnum() for character in text):
        _wrong("value", "is not a query of one line", "one line with words in it", value)
    return text


def query(task: Task, value: QueryRewrite) -> str:
    """The rewritten query."""
    given(value, QueryRewrite)
    if value.original != task.query:
        _wrong("original", "is not this task's last user turn", repr(task.query[:200]), value.original)
    text = value.query.strip()
    if not text:
        _wrong("query", "is blank", "text", value.query)
    if says_nothing(text) and text != task.query.strip():
        _wrong("query", "says nothing", "a question", value.query)
    return text


# --- labels -----------------------------------------------------------------------------------------------------------


def answerability(value: Answerability) -> str:
    """The label."""
    given(value, Answerability)
    _scored(value.probability, "probability")
    return value.label


def judgement(task: Task, value: Judgement) -> str:
    """The label."""
    given(value, Judgement)
    if value.document_id != task.document_id(0):
        _wrong("document_id", "is not this task's document", repr(task.document_id(0)), value.document_id)
    _scored(value.score)
    return value.label


def answer_relevance(value: AnswerRelevance) -> tuple[str, float]:
    """The label and its score. A rewrite is asked for by itself."""
    given(value, AnswerRelevance)
    score = _scored(None if value.label is None else value.score)
    return str(value.label), score


def rating(value: RatedMetric) -> tuple[str, float]:
    """The rating and the probability of "yes"."""
    if value.rating is None or value.score is None:
        _wrong("rating", "nothing was rated", "yes or no, with a score", None)
    return value.rating, value.score


def certainty(value: Uncertainty, labels: Mapping[str, float] = readers.CERTAINTIES) -> str:
    """The label that stands for this certainty."""
    given(value, Uncertainty)
    for label, meant in labels.items():
        if value.certainty is not None and math.isclose(round(meant, 2), value.certainty, abs_tol=1e-6):
            return label
    known = ", ".join(str(round(meant, 2)) for meant in labels.values())
    _wrong("certainty", "is not a value that the reply can state", f"one of {known}", value.certainty)


def share(value: Any) -> float:
    """A number in 0..1, as comparisons and entailment have it."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        _wrong("value", "is not between 0 and 1", "a number from 0 to 1", value)
    return float(value)


def confidence(wanted: float, options: int, read: Callable[[float], float]) -> float:
    """The confidence in a label, of as few digits as will do, from which ``read`` gives the wanted score.

    Args:
        wanted: the score; the nearest that the label allows counts.
        options: how many labels there are: what is read is never below an even chance.
        read: from a confidence to the score, linear above an even chance; what the parser does.
    """
    even = 1 / options
    lowest, highest = read(even), read(1.0)
    if lowest == highest:
        return 1.0  # whatever the confidence, the score is the same
    place = min(1.0, max(0.0, (wanted - lowest) / (highest - lowest)))
    exact = even + place * (1 - even)
    short = (min(1.0, round(exact, digits)) for digits in range(1, 17))
    near = (min(1.0, math.nextafter(exact, towards)) for towards in (0.0, 1.0))
    return next((c for c in (*short, exact, *near) if read(c) == wanted), exact)


# --- orders -----------------------------------------------------------------------------------------------------------


def order(task: Task, value: Ranking) -> list[int]:
    """The positions of the documents, best first. Scores follow from the order and are left out."""
    given(value, Ranking)
    found = [row.index for row in value.ranking]
    if sorted(found) != list(range(len(task.documents))):
        _wrong("ranking", "does not contain every document exactly once", f"{len(task.documents)} documents", found)
    return found


# --- sentences --------------------------------------------------------------------------------------------------------


def verdicts(task: Task, value: HallucinationDetection) -> Sequence[SentenceVerdict]:
    """A verdict for each sentence of this task's response, in order."""
    given(value, HallucinationDetection)
    sentences = _response(task)
    if len(value.sentences) != len(sentences):
        expected = f"{len(sentences)}, as the profile splits it"
        _wrong("sentences", "are not the sentences of the response", expected, len(value.sentences))
    for i, (verdict, sentence) in enumerate(zip(value.sentences, sentences, strict=True)):
        if (said := (verdict.begin, verdict.end, verdict.text)) != sentence:
            _wrong(f"sentences[{i}]", "is not a sentence of the response", repr(tuple(sentence)), said)
    return value.sentences


def entailment(detect: Callable[[Task, HallucinationDetection], str] | None) -> Callable[[Task, float], str] | None:
    """Support for the whole answer as the verdicts of a hallucination adapter: the nearest label, for every sentence.

    Exact are 0, .5 and 1. For training a hallucination adapter write its own results: one number does not tell which
    sentence fails.
    """
    if detect is None:
        return None

    def write(task: Task, value: float) -> str:
        labels: tuple[Faithfulness, ...] = ("unfaithful", "partial", "faithful")
        verdict: sentence_ids.Verdict = (labels[round(2 * share(value))], None, None)
        return detect(task, sentence_ids.hallucination(task, enumerate([verdict] * len(task.response_sentences))))

    return write


def cited(task: Task, value: Citations) -> list[list[int]]:
    """For each response sentence the numbers of the document sentences that it rests on, ascending.

    Document sentences are numbered through all documents, from 0. A citation of several becomes all their numbers.
    """
    given(value, Citations)
    numbers: list[set[int]] = [set() for _ in _response(task)]
    responses = {(s.begin, s.end): i for i, s in enumerate(task.response_sentences)}
    texts = {task.document_id(d): document.text for d, document in enumerate(task.documents)}
    every = [(task.document_id(d), s) for d, sentences in enumerate(task.document_sentences) for s in sentences]
    first = {(document, sentence.begin): number for number, (document, sentence) in enumerate(every)}
    last = {(document, sentence.end): number for number, (document, sentence) in enumerate(every)}
    for i, c in enumerate(value.citations):
        at = responses.get((c.response_begin, c.response_end), -1)
        begin = first.get((c.document_id, c.document_begin), len(every))
        end = last.get((c.document_id, c.document_end), -1)
        right = {
            "response_begin": at >= 0,
            "document_id": c.document_id in texts,
            "document_begin": begin <= end,
            "response_text": c.response_text == task.response[c.response_begin : c.response_end],
            "document_text": c.document_text == texts.get(c.document_id, "")[c.document_begin : c.document_end],
        }
        for name in (name for name, is_right in right.items() if not is_right):
            what = "does not belong to a sentence of the response and to whole sentences of a document"
            _wrong(f"citations[{i}].{name}", what, "the spans of whole sentences, and their texts", getattr(c, name))
        numbers[at].update(range(begin, end + 1))
    return [sorted(found) for found in numbers]


def _response(task: Task) -> Sequence[Span]:
    if not task.response_sentences:
        raise InvalidInput("messages has no response to write about", expected="a last turn of the assistant")
    return task.response_sentences
