"""Labels as true or false: one vocabulary for calibrations, tables and the test gate."""

from __future__ import annotations

from collections.abc import Mapping
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


def truth(value: Any, intrinsic: str, name: str = "label") -> bool:
    """A label as true or false.

    Args:
        value: a boolean, 0 or 1, a word of `PLAIN` or of the intrinsic's, in any case, or a result: an object or a
            mapping whose ``label`` is one of these.
        intrinsic: whose words count.
        name: of the label, for errors.

    Raises:
        InvalidInput: it is none of them.

    Example:
        >>> truth("Answerable", "answerability"), truth({"label": "unfaithful"}, "hallucination-detection")
        (True, False)
    """
    label = value.get("label") if isinstance(value, Mapping) else getattr(value, "label", value)
    words = {**PLAIN, **WORDS.get(intrinsic, {})}
    if isinstance(label, bool | int) and label in (0, 1):
        return bool(label)
    if isinstance(label, str) and label.casefold() in words:
        return words[label.casefold()]
    known = ", ".join(WORDS.get(intrinsic, PLAIN))
    raise InvalidInput(f"{name} is not a known label", expected=f"true, false or one of {known}", got=repr(value)[:80])
