"""If some of the questions behind a result fail, the others are used, and the result names the failures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from intrinsics_core.protocol.errors import IntrinsicsError, InvalidInput


def checked(answers: Sequence[Any]) -> list[IntrinsicsError]:
    """The failures among the answers, none of which spoils the others.

    Raises:
        IntrinsicsError: an input is wrong, which spoils all, or there are no others.
    """
    failures = [answer for answer in answers if isinstance(answer, IntrinsicsError)]
    for failure in failures:
        if isinstance(failure, InvalidInput) or len(failures) == len(answers):
            raise failure
    return failures


def failure_note(failures: Sequence[IntrinsicsError], of: int, what: str) -> str | None:
    """What a result says of them: how many of how many, the first by name. Short, however many there are."""
    if not failures:
        return None
    return f"{len(failures)} of {of} {what}: {type(failures[0]).__name__}: {failures[0].message}"
