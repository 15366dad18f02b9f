"""Reading values out of a file from elsewhere: each has the wanted type, or the error names its key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from intrinsics_core.errors import InvalidInput

_MISSING: Any = object()


class Section:
    """A mapping of the file; ``where`` says which, for errors."""

    def __init__(self, value: Any, where: str) -> None:
        if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
            raise InvalidInput(f"{where} is not a mapping", expected="keys and values", got=repr(value)[:200])
        self._value, self.where = value, where

    def wrong(self, key: str, what: str, *, expected: str, got: Any = _MISSING) -> NoReturn:
        got = self._value.get(key) if got is _MISSING else got
        raise InvalidInput(f"{self._named(key)} {what}", expected=expected, got=repr(got)[:200])

    def only(self, known: Iterable[str]) -> None:
        """No other keys than these."""
        known = tuple(known)
        for key in self._value:
            if key not in known:
                self.wrong(key, "is an unknown key", expected=f"one of {', '.join(known)}", got=key)

    def get(self, key: str, kind: type | tuple[type, ...], expected: str, default: Any = _MISSING) -> Any:
        """The value of a key. A null counts as left out; a bool is never a number."""
        value = self._value.get(key)
        if value is None:
            if default is _MISSING:
                self.wrong(key, "is missing", expected=expected)
            return default
        kinds = kind if isinstance(kind, tuple) else (kind,)
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            self.wrong(key, "has the wrong type", expected=expected)
        return value

    def choice(self, key: str, options: tuple[str, ...]) -> Any:
        value = self.get(key, str, " or ".join(options), None)
        if value is not None and value not in options:
            self.wrong(key, "has an unknown value", expected=" or ".join(options))
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of strings."""
        value = self.get(key, list, "a list of names")
        if not value or not all(isinstance(item, str) for item in value):
            self.wrong(key, "is not a list of names", expected="one or more strings")
        return tuple(value)

    def section(self, key: str) -> Section | None:
        value = self._value.get(key)
        return None if value is None else Section(value, self._named(key))

    def items(self) -> Iterable[tuple[str, Any]]:
        return self._value.items()

    def __contains__(self, key: str) -> bool:
        return self._value.get(key) is not None

    def _named(self, key: str) -> str:
        return f"{self.where}{': ' if self.where.endswith('.yaml') else '.'}{key}"
