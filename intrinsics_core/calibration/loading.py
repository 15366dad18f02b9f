"""Calibrations as a config names them: objects, their JSON, or the files that ``calibrate`` wrote."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from intrinsics_core.protocol.errors import InvalidInput, within
from intrinsics_core.protocol.names import find, keyed

if TYPE_CHECKING:
    from intrinsics_core.calibration.fitting import Calibration

CALIBRATED = (
    "answerability",
    "answer-relevance",
    "context-relevance",
    "fact-check",
    "hallucination-detection",
    "uncertainty",
)


def loaded(given: Mapping[str, Any]) -> dict[str, Calibration]:
    """Calibrations by intrinsic, from objects, their JSON objects, or the paths of their files.

    Raises:
        InvalidInput: an intrinsic has none, or a calibration cannot be read or is one of another intrinsic; the message
            names it.
    """
    if not isinstance(given, Mapping):
        raise InvalidInput("calibrations is not a mapping", expected="{intrinsic: calibration}", got=repr(given))
    known = keyed("calibrations", given, CALIBRATED)
    return {name: _its_own(name, _one(name, value)) for name, value in known.items()}


def _its_own(name: str, found: Calibration) -> Calibration:
    if found.intrinsic is not None and find(found.intrinsic, [name]) is None:
        raise InvalidInput(f"calibrations.{name} was fitted to the scores of another intrinsic",
                           expected=f"a calibration of {name}", got=f"one of {found.intrinsic}")  # fmt: skip
    return found


def _one(name: str, value: Any) -> Calibration:
    from intrinsics_core.calibration.fitting import Calibration  # numpy: only where there is one

    if isinstance(value, Calibration):
        return value
    if isinstance(value, Mapping):
        text = json.dumps(dict(value))
    elif isinstance(value, str | Path):
        try:
            text = Path(value).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError, ValueError) as error:
            raise InvalidInput(f"calibrations.{name} cannot be read: {error}") from error
    else:
        raise InvalidInput(f"calibrations.{name} is not a calibration", got=type(value).__name__,
                           expected="a Calibration, its JSON object, or the path of its file")  # fmt: skip
    with within(f"calibrations.{name}"):
        return Calibration.from_json(text)
