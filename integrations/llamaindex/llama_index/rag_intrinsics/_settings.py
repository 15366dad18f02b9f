"""Settings with a wrong name or a wrong choice, told when something is built, with the nearest right one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from inspect import signature
from typing import Any, TypeVar

from pydantic import BeforeValidator, ValidationError

from intrinsics_core import InvalidInput
from intrinsics_core.protocol.names import unknown

F = TypeVar("F", bound=Callable[..., Any])


def _several(values: object) -> object:
    if isinstance(values, str):
        return (values,)  # one name, not its letters
    return tuple(values) if isinstance(values, Iterable) else values


Several = BeforeValidator(_several)
"""Of a setting that is one name or several of them: it is then a tuple."""

_CHOICES = ("literal_error", "enum")  # pydantic's names for a value that is none of those allowed


def check_names(given: Iterable[str], known: Iterable[str], *, called: str) -> None:
    """Whether every setting is one that there is.

    Args:
        called: the class that is built, for the message.

    Raises:
        InvalidInput: one is not; the message has the nearest name.
    """
    names = list(dict.fromkeys(known))
    for name in given:
        if name not in names:
            raise unknown(f"{called} has no setting of that name", name, names)


def checks_names(init: F) -> F:
    """A constructor that tells a misspelt keyword with the nearest name, as :func:`check_names` does."""
    known = [name for name in signature(init).parameters if name != "self"]

    @wraps(init)
    def checked(self: Any, *args: Any, **settings: Any) -> None:
        check_names(settings, known, called=type(self).__name__)
        init(self, *args, **settings)

    return checked  # type: ignore[return-value]


def wrong_choice(error: ValidationError) -> InvalidInput | None:
    """Pydantic's error as ours, where a value is none of those that a setting takes; None where it is another one."""
    for found in error.errors():
        expected = _context(found).get("expected")
        if found["type"] in _CHOICES and isinstance(expected, str):
            place = ".".join(map(str, found["loc"]))
            return unknown(f"{place} is unknown", found["input"], re.findall(r"'([^']*)'", expected))
    return None


def _context(found: Mapping[str, Any]) -> Mapping[str, Any]:
    context: Mapping[str, Any] = found.get("ctx") or {}
    return context
