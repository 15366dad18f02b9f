"""What a row says, as the result that is learnt: a word, true or false, or a result whose numbers may be left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from intrinsics_core.calibration.truths import truth
from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.protocol.results import Result
from intrinsics_core.protocol.task import Document
from intrinsics_core.replies.readers import ANSWERABLE, FAITHFULNESS, RELEVANCE, RELEVANCE_SCORES
from intrinsics_core.replies.sentence_ids import FAITHFULNESS_SCORES

_CERTAIN = {True: 0.95, False: 0.05}  # the outermost of the ten values that a certainty has


def whole_result(value: Any, intrinsic: str, documents: Sequence[Document]) -> Any:
    """The JSON of a result, with the numbers that a label implies where the row gives none.

    Args:
        value: a word or a boolean, see :mod:`intrinsics_core.calibration.truths`; the JSON of a result, with or without
            its probabilities; or a result. For context relevance also a list of labels, one for each document.
        intrinsic: the name of the intrinsic.
        documents: the documents of the row.

    Returns:
        A mapping from which the result is validated.

    Raises:
        InvalidInput: a label is no word of the intrinsic, or does not say the whole result.

    Example:
        >>> whole_result("answerable", "answerability", [])
        {'label': 'answerable', 'probability': 1.0}
        >>> whole_result({"certainty": 0.85}, "uncertainty", []), whole_result("wrong", "uncertainty", [])
        ({'certainty': 0.85}, {'certainty': 0.05})
    """
    if isinstance(value, Result):
        value = value.model_dump(mode="json")
    return _WHOLE[intrinsic](value, documents) if intrinsic in _WHOLE else value


def _answerability(value: Any, documents: Sequence[Document]) -> Any:
    given = _mapping(value)
    label = _word(given.get("label"), "answerability", ANSWERABLE)
    return {**given, "label": label, "probability": given.get("probability", float(label == "answerable"))}


def _uncertainty(value: Any, documents: Sequence[Document]) -> Any:
    return value if isinstance(value, Mapping) else {"certainty": _CERTAIN[truth(value, "uncertainty")]}


def _context_relevance(value: Any, documents: Sequence[Document]) -> Any:
    given: Mapping[str, Any] = value if isinstance(value, Mapping) else {}
    judgements = given.get("judgements", value)
    if isinstance(judgements, str) or not isinstance(judgements, Sequence):
        judgements = [judgements]
    if len(judgements) != len(documents):
        raise InvalidInput("label must have one label for each document", expected=f"{len(documents)} labels",
                           got=str(len(judgements)))  # fmt: skip
    return {**given, "judgements": [_judgement(_mapping(one), at, documents[at])
                                    for at, one in enumerate(judgements)]}  # fmt: skip


def _judgement(given: Mapping[str, Any], at: int, document: Document) -> dict[str, Any]:
    label = _word(given.get("label"), "context-relevance", RELEVANCE)
    usual = {"document_id": document.id or str(at), "index": at, "score": RELEVANCE_SCORES[label]}
    return {**usual, **given, "label": label}


def _hallucination(value: Any, documents: Sequence[Document]) -> Any:
    if not isinstance(value, Mapping) or not isinstance(value.get("sentences"), Sequence):
        raise InvalidInput("label does not say which sentences are unfaithful", got=repr(value)[:80],
                           expected='{"sentences": [{"begin", "end", "text", "label"}, ...]}')  # fmt: skip
    sentences = [_sentence(_mapping(one)) for one in value["sentences"]]
    claims = [one["score"] for one in sentences if one["score"] is not None]
    worst = next((one for one in reversed(FAITHFULNESS[:3]) if one in {each["label"] for each in sentences}), "NA")
    return {"label": worst, "score": min(claims, default=None), **value, "sentences": sentences}


def _sentence(given: Mapping[str, Any]) -> dict[str, Any]:
    label = _word(given.get("label"), "hallucination-detection", FAITHFULNESS)
    return {"score": FAITHFULNESS_SCORES[label], **given, "label": label}  # type: ignore[index]


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {"label": value}


def _word(label: Any, intrinsic: str, words: Sequence[str]) -> str:
    """The intrinsic's own word: the first of two for true, the last of those that are no NA for false."""
    if isinstance(label, str) and (found := {word.casefold(): word for word in words}.get(label.casefold())):
        return found
    claims = [word for word in words if word != "NA"]
    return claims[0] if truth(label, intrinsic) else claims[-1]


_WHOLE: dict[str, Callable[[Any, Sequence[Document]], Any]] = {
    "answerability": _answerability,
    "uncertainty": _uncertainty,
    "context-relevance": _context_relevance,
    "hallucination-detection": _hallucination,
}
