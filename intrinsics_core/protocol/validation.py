"""What pydantic expected, in the words of this library."""

from __future__ import annotations

from collections.abc import Mapping
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
