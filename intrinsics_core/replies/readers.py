"""How replies are understood: shared by all profiles that ask a language model.

Documented repairs, beyond those of `json_reply` and after the reasoning (`reasoning`): a label is known by the first
line of the reply; a certainty may be given as a digit d (0.05 + 0.1 d) or as the percentage it stands for; a confidence
as a share or in per cent; sentence ids may be numbers or tags in any case (``7``, ``"7"``, ``"<c7>"``, ``"C7"``).
Everything else is a :class:`~intrinsics_core.protocol.errors.MalformedReply`.

Probabilities come from log-probabilities. Where the runtime gives none they are what the model states of itself, if the
profile asks it to, else the label alone: exactly 1 for the label given and 0 for the others. That is no measurement.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, cast

from intrinsics_core.protocol.requests import Generated, Reply
from intrinsics_core.protocol.results import Answerability, Faithfulness, Judgement, QueryRewrite, Uncertainty
from intrinsics_core.protocol.task import Task
from intrinsics_core.replies import json_reply, literals, reasoning
from intrinsics_core.replies.json_reply import malformed
from intrinsics_core.replies.labels import label_probabilities
from intrinsics_core.replies.placeholders import says_nothing
from intrinsics_core.replies.sentence_ids import Verdict

ANSWERABLE = ("answerable", "unanswerable")
RELEVANCE = ("relevant", "partially relevant", "irrelevant")
FAITHFULNESS = ("faithful", "partial", "unfaithful", "NA")
DIGITS = tuple("0123456789")
PERCENTAGES = tuple(f"{5 + 10 * int(d):02d}%" for d in DIGITS)
CERTAINTIES, SHARES = ({name: round(0.05 + 0.1 * d, 2) for d, name in enumerate(of)} for of in (DIGITS, PERCENTAGES))
"""What each digit of a certainty stands for, and each percentage."""

_STATED = re.compile(r"(\d{1,20}(?:[.,]\d{0,20})?|[.,]\d{1,20}) ?(?:(%)|/ ?(\d{1,20}))?")
_ABOVE_EVEN = 0.01  # how far a label is above an even chance, about, where its confidence or odds are against it

RELEVANCE_SCORES = {"relevant": 1.0, "partially relevant": 0.5, "irrelevant": 0.0}


def generated(replies: Sequence[Reply]) -> Generated:
    """The one reply, without its reasoning. One that ends inside its reasoning is malformed."""
    (reply,) = replies
    assert isinstance(reply, Generated)
    return reasoning.answer(reply)


def first_line(reply: Generated) -> str:
    return next((line.strip() for line in reply.text.splitlines() if line.strip()), "")


def parsed(reply: Generated, kind: type, expected: str, decoder: json.JSONDecoder = json_reply.DECODER) -> Any:
    """The JSON value of ``kind`` (dict or list) in a reply (see `json_reply.parse`)."""
    return json_reply.parse(reply.text, kind, expected, decoder, cut_off=reply.ended_at_limit)


def value_start(reply: Generated, name: str) -> int:
    """Where in a reply the value of field ``name`` begins, in the object that is read; 0 where it has none."""
    if not reply.logprobs:  # which alone are looked up by it
        return 0
    found = json_reply.find(reply.text, dict, f'an object with "{name}"')
    return literals.value_place(reply.text, found.begin, name) if found.text == reply.text else 0


def free_text(reply: Generated) -> str:
    """The reply as text. One that is empty, or no text (half a surrogate pair), is malformed."""
    text = reply.text.strip()
    try:
        text.encode()
    except UnicodeEncodeError:
        text = ""
    if not text:
        raise malformed("the reply is empty", reply.text, "text")
    return text


def whole_text(reply: Generated) -> str:
    """The reply as text that takes the place of another. One that was cut off is malformed, too."""
    if cut := reply.cut_off:
        raise malformed(f"the reply {cut}", reply.text, "a whole text")
    return free_text(reply)


def first_query(reply: Generated) -> str:
    """The first line that holds letters or digits: a sampled query may come with an emoji or a blank line around."""
    for line in free_text(reply).splitlines():
        if any(character.isalnum() for character in line):
            return line.strip()
    raise malformed("the reply contains no words", reply.text, "a query")


def text_field(reply: Generated, name: str, copied: str = "...") -> str:
    """The text in a field of a JSON object, stripped. An empty one, and the one of the prompt's form, are malformed."""
    value = parsed(reply, dict, f'{{"{name}": text}}')
    text = str(json_reply.field(value, name, str, "a string", reply.text)).strip()
    if text in ("", copied):
        raise malformed(f"field {name!r} of the reply says nothing", reply.text, "text", text)
    return text


def rewrite(task: Task, replies: Sequence[Reply]) -> QueryRewrite:
    reply = generated(replies)
    return rewritten(task, text_field(reply, "rewritten_question", ""), reply)


def rewritten(task: Task, query: str, reply: Generated) -> QueryRewrite:
    """The question that a reply gives in place of the last user turn; "N/A" is none unless the turn says so, too."""
    changed = query != task.query.strip()
    if changed and says_nothing(query):
        raise malformed("the rewritten question says nothing", reply.text, "a question", query)
    return QueryRewrite(query=query, original=task.query, changed=changed)


def probabilities(
    chosen: str, options: Sequence[str], reply: Generated, start: int = 0, stated: Any = None
) -> dict[str, float]:
    """A probability for each option: from log-probabilities, else from a confidence in the label, else the label alone.

    Args:
        chosen: the label that the reply gives, one of ``options``.
        start: where in the reply's text the label begins.
        stated: the confidence in ``chosen`` that the model states.
    """
    if measured := label_probabilities(reply.logprobs, options, start):
        return _favouring(chosen, measured)
    confidence = _confidence_in_label(stated, len(options))
    rest = (1 - confidence) / (len(options) - 1)
    return {option: confidence if option == chosen else rest for option in options}


def _confidence_in_label(stated: Any, options: int) -> float:
    """The probability of the label that a model chose of so many ``options``, by the confidence that it states.

    Nothing stated leaves the label alone: 1. What is stated and cannot be read is hardly more than an even chance. So
    is less than an even chance: it contradicts the label, and the label counts.
    """
    if stated is None:
        return 1.0
    share, even = _share(stated), 1 / options
    return even + _ABOVE_EVEN if share is None or share < even else share


def _share(stated: Any) -> float | None:
    """A confidence in 0..1: a share, a number from 10 up to 100, or a text of either, with % or as ``8/10``.

    10 is 10 of 10, since nobody chooses a label that is 10% likely. None where it is none of these. So is 7, which may
    be 7% or 7 of 10.
    """
    if isinstance(stated, bool) or not isinstance(stated, int | float | str):
        return None
    whole: float | None = None
    if isinstance(stated, str):
        if not (said := _STATED.fullmatch(stated.strip())):
            return None
        stated, whole = float(said[1].replace(",", ".")), 100.0 if said[2] else float(said[3]) if said[3] else None
    if whole is None:
        whole = 10 if stated == 10 else 100 if 10 < stated <= 100 else 1
    return float(stated / whole) if 0 <= stated <= whole > 0 else None


def _favouring(chosen: str, measured: dict[str, float]) -> dict[str, float]:
    """The same. A label drawn against the odds counts: it is just ahead, the farther the likelier it was."""
    behind = max(measured.values()) - measured[chosen]
    kept = (1 - _ABOVE_EVEN * (1 + measured[chosen])) / (1 + behind) if behind else 1.0
    return {option: kept * share + (1 - kept) * (option == chosen) for option, share in measured.items()}


def answerability(label: str, reply: Generated, start: int = 0, stated: Any = None) -> Answerability:
    """A label, and the probability of *answerable* (see :func:`probabilities`)."""
    chosen = json_reply.label(label, ANSWERABLE, reply.text)
    share = min(1.0, probabilities(chosen, ANSWERABLE, reply, start, stated)["answerable"])
    return Answerability.model_validate({"label": chosen, "probability": share})


def relevance(label: str, reply: Generated, start: int = 0, stated: Any = None) -> tuple[str, float]:
    """A relevance label, and its expected value (1, 0.5, 0) over the :func:`probabilities`."""
    chosen = json_reply.label(label, RELEVANCE, reply.text)
    found = probabilities(chosen, RELEVANCE, reply, start, stated)
    return chosen, min(1.0, sum(RELEVANCE_SCORES[option] * p for option, p in found.items()))


def judgement(task: Task, label: str, reply: Generated, start: int = 0, stated: Any = None) -> Judgement:
    """A relevance label, and its :func:`relevance` score."""
    chosen, score = relevance(label, reply, start, stated)
    return Judgement.model_validate({"index": 0, "document_id": task.document_id(0), "label": chosen, "score": score})


def certainty(text: str, reply: Generated, start: int = 0) -> Uncertainty:
    """A certainty from a digit or a percentage; its expected value where there are log-probabilities."""
    text = text.strip().strip("\"'`")
    values, wanted = (SHARES, text.rjust(3, "0")) if text.endswith("%") else (CERTAINTIES, text)
    if wanted not in values:
        raise malformed("certainty is not one of ten", reply.text, '"0" … "9", or "05%", "15%" … "95%"', text)
    measured = label_probabilities(reply.logprobs, tuple(values), start)
    expected = None if measured is None else min(1.0, sum(values[name] * p for name, p in measured.items()))
    return Uncertainty(certainty=values[wanted], expected=expected)


def verdict(row: dict[str, Any], reply: Generated, label: str, reason: str | None, start: int = 0) -> Verdict:
    """The verdict in a row (fields ``label`` and ``reason``); its score is the expected value of what makes a claim."""
    given = json_reply.field(row, label, str, "a label", reply.text)
    chosen = cast(Faithfulness, json_reply.label(given, FAITHFULNESS, reply.text))
    whole, part, none, _ = probabilities(chosen, FAITHFULNESS, reply, start).values()
    why = row.get(reason or "")
    return chosen, (whole + part / 2) / (whole + part + none or 1), why if isinstance(why, str) else None


def sentence_number(value: Any, prefix: str) -> int | None:
    """The number in a sentence id, None where it is no such id."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if not isinstance(value, str):
        return None
    match = re.fullmatch(rf"<?\s*+(?:{re.escape(prefix)})?([0-9]{{1,9}})\s*+>?", value.strip(), re.IGNORECASE)
    return int(match[1]) if match else None


def row_numbers(rows: Sequence[dict[str, Any]], sentence: str, prefix: str = "r") -> list[int | None]:
    """The number of the response sentence that each row is about (field ``sentence``), None where its id is none."""
    return [sentence_number(row.get(sentence), prefix) for row in rows]


def label_places(reply: Generated, label: str, rows: int) -> list[int]:
    """Where the value of field ``label`` begins in each of so many rows; 0 where that is not known for all."""
    found = [place.end() for place in re.finditer(rf'"{label}"\s*:', reply.text)]
    return found if len(found) == rows else [0] * rows


def links(
    rows: Sequence[dict[str, Any]], reply: Generated, sentence: str, sources: str
) -> list[tuple[int | None, int | None]]:
    """(response sentence, document sentence) for each source in each row; the fields of both are named."""
    named = [json_reply.field(row, sources, list, "a list of sentence ids", reply.text) for row in rows]
    numbered = zip(row_numbers(rows, sentence), named, strict=True)
    if any(source == "..." for some in named for source in some):
        raise malformed("a source is no sentence", reply.text, "ids of document sentences", "...")
    return [(number, sentence_number(source, "c")) for number, some in numbered for source in some]


def entries(reply: Generated, expected: str) -> list[dict[str, Any]]:
    """The reply as a list of objects."""
    return objects(parsed(reply, list, expected), reply, expected)


def objects(rows: list[Any], reply: Generated, expected: str) -> list[dict[str, Any]]:
    """The same list, all of it objects."""
    for row in rows:
        if not isinstance(row, dict):
            raise malformed("an entry is not an object", reply.text, expected, row)
    return cast(list[dict[str, Any]], rows)
