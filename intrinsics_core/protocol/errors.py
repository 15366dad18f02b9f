"""The one exception tree. Every error names the intrinsic, what was expected and what came.

A gate never turns a failure into a verdict by itself: these errors reach the caller unless the caller chose a
fallback, and then the result says that it is degraded and why.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

T = TypeVar("T")

_RAW_LIMIT = 2_000  # characters of what came that the message shows
_KEPT = (
    20_000  # characters of what came, and of a raw reply, that an error holds: one may be kept for each row of a file
)

# Control characters (a terminal obeys them; tab and line feed stay), halves of surrogate pairs (no encoding has them)
# and direction overrides (they make text read as it is not written).
UNSHOWABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")


class IntrinsicsError(Exception):
    """Base of all errors raised by this library.

    Attributes:
        intrinsic: name of the intrinsic at work (``"answerability"``), or None outside of one.
        expected: what would have been right.
        got: what came instead.
        raw: the raw reply of the model, where there was one, as it came; cut after 20,000 characters.

    Its text holds no control characters: each is written as its escape (``\\x1b``).
    """

    def __init__(
        self,
        message: str = "",
        *,
        intrinsic: str | None = None,
        expected: str | None = None,
        got: str | None = None,
        raw: str | None = None,
    ) -> None:
        self.message, self.intrinsic, self.expected, self.got, self.raw = (
            _escaped(message),
            intrinsic,
            expected if expected is None else _escaped(expected),
            _cut(got if got is None else _escaped(got)),
            _cut(raw),
        )
        super().__init__(self.message)

    def __str__(self) -> str:
        parts = [self.message or type(self).__name__]
        if self.expected is not None:
            parts.append(f"expected {self.expected}")
        if self.got is not None:
            parts.append(f"got {self.got[:_RAW_LIMIT]}")
        text = "; ".join(parts)
        return _escaped(f"{self.intrinsic}: {text}" if self.intrinsic else text)

    def __reduce__(self) -> tuple[object, ...]:
        # Exceptions cross process borders (multiprocessing, Ray); keyword-only arguments need telling how.
        known = {"intrinsic": self.intrinsic, "expected": self.expected, "got": self.got, "raw": self.raw}
        return partial(type(self), self.message, **known), ()

    def named(self, intrinsic: str) -> IntrinsicsError:
        """This error, with the intrinsic's name filled in where it was missing."""
        if self.intrinsic is None:
            self.intrinsic = intrinsic
        return self


def _escaped(text: str) -> str:
    return UNSHOWABLE.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def _cut(text: str | None) -> str | None:
    if text is None or len(text) <= _KEPT + 100:  # what was cut once is not cut again where an error is copied
        return text
    return f"{text[:_KEPT]} ... ({len(text)} characters in all)"


class InvalidInput(IntrinsicsError, ValueError):
    """The caller's input cannot be used; the message names the field and the fix."""


@contextmanager
def within(place: str) -> Iterator[None]:
    """What is wrong with an input in here is told with the place that it stands at.

    Raises:
        InvalidInput: as it was raised in here; its message begins with the place.
    """
    try:
        yield
    except InvalidInput as error:
        raise InvalidInput(f"{place}: {error.message}", expected=error.expected, got=error.got) from None


class UnsupportedIntrinsic(InvalidInput):
    """The chosen profile has no format for this intrinsic."""


class MalformedReply(IntrinsicsError):
    """The model's reply does not have the agreed form, after documented repairs and retries."""


class RuntimeUnavailable(IntrinsicsError):
    """The runtime cannot serve: not installed, refused, cut off, or answering with a server error."""


class UnknownAdapter(RuntimeUnavailable):
    """The runtime has no adapter of that name; the message lists what it has."""


class ContextTooLong(IntrinsicsError):
    """The request does not fit into the model's context window."""


class RequestTimeout(IntrinsicsError, TimeoutError):
    """The runtime gave no answer in time."""


def raised(outcome: T | IntrinsicsError) -> T:
    """The outcome itself; an error is raised."""
    if isinstance(outcome, IntrinsicsError):
        raise outcome
    return outcome


def as_intrinsics_error(error: Exception, *, copied: bool = False) -> IntrinsicsError:
    """The error as one of ours, with the original as its cause; a copy of its own where several rows share it."""
    if isinstance(error, IntrinsicsError):
        if not copied:
            return error
        own = copy.copy(error)
        own.__cause__ = error.__cause__ or error
        return own
    wrapped = IntrinsicsError(f"unexpected {type(error).__name__}: {error}")
    wrapped.__cause__ = error
    return wrapped
