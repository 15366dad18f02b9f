"""Labels of a row: one vocabulary for training, calibrations, tables and the test gate. docs/labels.md lists it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from intrinsics_core.protocol.errors import InvalidInput

PLAIN = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
WORDS: dict[str, dict[str, bool]] = {
    "answerability": {"answerable": True, "unanswerable": False},
    "context-relevance": {"relevant": True, "partially relevant": True, "irrelevant": False},
    "hallucination-detection": {"faithful": True, "supported": True, "unfaithful": False, "partial": False},
    "fact-check": {"supported": True, "unsupported": False},
    "uncertainty": {"right": True, "wrong": False, "correct": True, "incorrect": False},
}
"""Each intrinsic's own words, beside `PLAIN`."""

COLUMNS = ("label", "result")
"""Where a row has its label: the first of these that it has."""


def label_of(row: Mapping[str, Any]) -> Any:
    """What a row says in ``label``, else in ``result``; None where it has neither."""
    return next((row[name] for name in COLUMNS if row.get(name) is not None), None)


def truth(value: Any, intrinsic: str, name: str = "label") -> bool:
    """A label as true or false.

    Args:
        value: a boolean, 0 or 1, a word of `PLAIN` or of the intrinsic's, in any case, or a result: an object or a
            mapping whose ``label`` is one of these, whose only judgement has such a label, or whose ``certainty`` is a
            probability above or below one half.
        intrinsic: whose words count.
        name: of the label, for errors.

    Raises:
        InvalidInput: it is none of them.

    Example:
        >>> truth("Answerable", "answerability"), truth({"label": "unfaithful"}, "hallucination-detection")
        (True, False)
        >>> truth({"certainty": 0.85}, "uncertainty")
        True
    """
    label = _said(value)
    words = {**PLAIN, **WORDS.get(intrinsic, {})}
    if isinstance(label, bool | int) and label in (0, 1):
        return bool(label)
    if isinstance(label, str) and label.casefold() in words:
        return words[label.casefold()]
    known = ", ".join(WORDS.get(intrinsic, PLAIN))
    raise InvalidInput(f"{name} is not a known label", expected=f"true, false or one of {known}", got=repr(value)[:80])


def _said(value: Any) -> Any:
    """The label that a result says, or the value itself where it is no result."""
    judgements, certainty = _field(value, "judgements"), _field(value, "certainty")
    if isinstance(judgements, Sequence) and len(judgements) == 1:
        return _field(judgements[0], "label")
    is_number = isinstance(certainty, float | int) and not isinstance(certainty, bool)
    if is_number and 0 <= certainty <= 1 and certainty != 0.5:
        return bool(certainty > 0.5)
    return _field(value, "label", value)


def _field(value: Any, name: str, default: Any = None) -> Any:
    return value.get(name, default) if isinstance(value, Mapping) else getattr(value, name, default)
