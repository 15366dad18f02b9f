"""A structured answer (an object, a mapping, a list) as a person would read it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

_SENTENCE = 4  # words from which a text in a field stands for itself, and not for the field


def object_in(text: str) -> dict[str, Any] | list[Any] | None:
    """The object or list that a text is in JSON, from its first character to its last; None where it is neither.

    >>> object_in('{"builder": "Ada Brink"}'), object_in("[1] says so.")
    ({'builder': 'Ada Brink'}, None)
    """
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict | list) else None


def as_lines(value: Any, name: str = "") -> Iterator[str]:
    """The values of a structured answer, a line each: sentences as they are, others with the name of their field.

    >>> list(as_lines({"builder": "Ada Brink", "year_built": 1911, "why": "The old mill had burned down."}))
    ['builder: Ada Brink', 'year built: 1911', 'The old mill had burned down.']

    Args:
        value: an object of pydantic's or a dataclass, a mapping, a list, or a plain value.
        name: of the field that it is in.
    """
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json")
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = dataclasses.asdict(value)
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from as_lines(item, str(key))
    elif isinstance(value, list | tuple | set):
        for item in value:
            yield from as_lines(item, name)
    elif value is not None and str(value).strip():
        alone = isinstance(value, str) and len(value.split()) >= _SENTENCE
        yield str(value) if alone or not name else f"{name.replace('_', ' ')}: {value}"
