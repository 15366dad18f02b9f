"""Errors as ``application/problem+json`` (RFC 9457), with the names of the library's own types."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from intrinsics_core import (
    ContextTooLong,
    IntrinsicsError,
    InvalidInput,
    MalformedReply,
    RequestTimeout,
    RuntimeUnavailable,
)
from intrinsics_core.protocol.validation import expected_by
from intrinsics_core.running.rows import written
from intrinsics_core.service.misfits import misfit

TYPE = "application/problem+json"
RETRY_AFTER = 1  # seconds that a client waits before it asks a full or absent runtime again

Hide = Callable[[str], str]


class NotHere(InvalidInput):
    """What a request names is not served here; the message has the nearest name."""


class TooMuch(InvalidInput):
    """A request is larger than this service takes."""


# The first that fits counts. What the library raises has its own name; these two are reported as InvalidInput.
_STATUS: tuple[tuple[type[IntrinsicsError], int], ...] = (
    (NotHere, 404),
    (TooMuch, 413),
    (ContextTooLong, 413),
    (InvalidInput, 400),
    (MalformedReply, 502),
    (RuntimeUnavailable, 503),
    (RequestTimeout, 504),
)
_REASONS = {400: "InvalidInput", 404: "NotFound", 405: "MethodNotAllowed", 413: "InvalidInput"}


def problem(status: int, title: str, detail: str, *, headers: Mapping[str, str] | None = None, **more: Any) -> Response:
    """A response that says what is wrong.

    Args:
        title: the type of the error, as the library names it.
        detail: one sentence for whoever reads the log.
        more: further members; those that are None are left out.
    """
    said = {"type": f"urn:rag-intrinsics:error:{title}", "title": title, "status": status, "detail": detail}
    said |= {name: value for name, value in more.items() if value is not None}
    said["error"] = {"message": detail, "type": title, "param": None, "code": None}  # what OpenAI's clients read
    waiting = {"retry-after": str(RETRY_AFTER)} if status == 503 else {}
    return Response(written(said), status, headers=waiting | dict(headers or {}), media_type=TYPE)


def status_of(error: IntrinsicsError) -> int:
    """The HTTP status of an error of the library."""
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


def name_of(error: IntrinsicsError) -> str:
    """The name of the library's own type that an error has."""
    return "InvalidInput" if isinstance(error, NotHere | TooMuch) else type(error).__name__


def of_error(error: IntrinsicsError, hide: Hide = str, **more: Any) -> Response:
    """The response to a request that ended in an error of the library.

    Args:
        hide: takes keys out of what is said.
    """
    details: dict[str, Any] = {"expected": error.expected, "got": error.got, "raw": error.raw}
    details = {name: value and hide(value) for name, value in details.items()}
    return problem(status_of(error), name_of(error), hide(str(error)), intrinsic=error.intrinsic, **details, **more)


def install(app: FastAPI, hide: Hide) -> None:
    """Have every error of an app answered as a problem."""

    @app.exception_handler(IntrinsicsError)
    async def ours(request: Request, error: IntrinsicsError) -> Response:
        return of_error(error, hide)

    @app.exception_handler(RequestValidationError)
    async def unfit(request: Request, error: RequestValidationError) -> Response:
        found = error.errors()
        if isinstance(own := found[0].get("ctx", {}).get("error"), IntrinsicsError):
            return of_error(own, hide)
        if found[0]["type"] == "json_invalid":
            return of_error(InvalidInput("the body is not JSON", expected=expected_by(found[0])))
        return of_error(misfit((one | {"loc": one["loc"][1:]} for one in found), error.body, "the body"))

    @app.exception_handler(HTTPException)
    async def plain(request: Request, error: HTTPException) -> Response:
        title = _REASONS.get(error.status_code, "HttpError")
        return problem(error.status_code, title, hide(str(error.detail)), headers=error.headers)

    @app.exception_handler(Exception)
    async def unexpected(request: Request, error: Exception) -> Response:
        # What it says may hold anything: it stands in the log, with where it came from.
        return problem(500, "IntrinsicsError", f"unexpected {type(error).__name__}")
