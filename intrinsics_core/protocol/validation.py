"""What pydantic expected and where, in the words of this library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_EXPECTED = {
    "bool_parsing": "true or false",
    "bool_type": "true or false",
    "dict_type": "an object",
    "float_parsing": "a number",
    "float_type": "a number",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "int_type": "a whole number",
    "json_invalid": "a JSON object",
    "list_type": "a list",
    "mapping_type": "an object",
    "missing": "a value",
    "model_attributes_type": "an object",
    "model_type": "an object",
    "string_type": "text",
    "tuple_type": "a list",
}


def expected_by(problem: Mapping[str, Any]) -> str:
    """What would have been right, of one of pydantic's errors."""
    return _EXPECTED.get(problem["type"]) or str(problem["msg"]).removeprefix("Input should be ")


def located(loc: Sequence[int | str], value: Any, *, lacking: bool) -> tuple[list[int | str], Any]:
    """The steps of a place that are the value's own, and what is there; pydantic adds the names of types it tried.

    Args:
        loc: the place, of one of pydantic's errors.
        value: what was checked.
        lacking: whether the last step is what the value lacks.

    Returns:
        The steps, and what stands there.
    """
    steps: list[int | str] = []
    for i, step in enumerate(loc):
        lacked = lacking and i == len(loc) - 1
        if isinstance(value, Mapping) and isinstance(step, str) and (step in value or lacked):
            steps.append(step)
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            steps.append(step)
            value = value[step]
    return steps, value
