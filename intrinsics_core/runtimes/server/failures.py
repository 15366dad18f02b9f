"""What went wrong at the server, in the words of this library. Nothing here raises, and no error keeps the request:
its headers hold the API key.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from intrinsics_core.protocol.errors import (
    ContextTooLong,
    IntrinsicsError,
    InvalidInput,
    RequestTimeout,
    RuntimeUnavailable,
    UnknownAdapter,
)
from intrinsics_core.runtimes.server.transport import refused

if TYPE_CHECKING:
    import openai

_SAID = 20_000  # characters of an error's body that are looked at

_TOO_LONG = re.compile(
    r"maximum (context|model) length|context[ _](length|window)|max_model_len|too many (input )?tokens"
    r"|(prompt|input) is too long",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(
    r"model_not_found|\bmodel\b.{0,200}(not exist|not found|doesn't exist)", re.IGNORECASE | re.DOTALL
)

_KEY = "a key that the server knows: api_key in the runtime's config, or OPENAI_API_KEY in the environment"

# status -> error and what it means; every other 4xx is a request that the server finds invalid.
_STATUS: dict[int, tuple[type[IntrinsicsError], str]] = {
    403: (RuntimeUnavailable, "the server forbids the request"),
    404: (RuntimeUnavailable, "the server has no such endpoint (does base_url end with /v1?)"),
    405: (RuntimeUnavailable, "the server has no such endpoint (does base_url end with /v1?)"),
    408: (RequestTimeout, "the server gave up waiting"),
    409: (RuntimeUnavailable, "the server is in conflict"),
    413: (ContextTooLong, "the request is too large for the server"),
    429: (RuntimeUnavailable, "the server limits the rate of requests"),
}


def complaint(error: openai.APIStatusError) -> str:
    """What the server said, as far as it is worth searching in."""
    return f"{error.message[:_SAID]} {error.response.text[:_SAID]}"


def translate(
    error: openai.APIError, *, model: str, timeout: float, clean: Callable[[str], str], has_key: bool
) -> IntrinsicsError:
    """The error of the exception tree that says it.

    Args:
        has_key: whether an API key was sent.
        clean: takes secrets out of text that came from the server.
    """
    import openai

    if isinstance(error, openai.APITimeoutError):
        return RequestTimeout(f"the server did not answer within {timeout:g} s, and did not when it was asked again")
    if isinstance(error, openai.APIStatusError):
        return _of_status(error, model, clean, has_key)
    cause = error.__cause__
    why = f"{type(cause).__name__}: {cause}" if cause else error.message
    return RuntimeUnavailable(f"the server cannot be reached, or it closed the connection ({clean(why)})")


def _of_status(error: openai.APIStatusError, model: str, clean: Callable[[str], str], has_key: bool) -> IntrinsicsError:
    if own := refused(error):
        return own
    said, status = clean(_message(error)), error.status_code
    everything = complaint(error)
    if status in (400, 413, 422) and (error.param == "input_tokens" or _TOO_LONG.search(everything)):
        return ContextTooLong(f"the request does not fit into the context window of {model!r}", got=said)
    if status in (400, 404) and (_NO_MODEL.search(everything) or (status == 404 and error.param == "model")):
        return UnknownAdapter(f"the server has no model {model!r}", got=said)
    if status == 401:
        why = "the server refuses the API key" if has_key else "the server requires an API key, and none was given"
        return RuntimeUnavailable(f"{why} (401)", expected=_KEY, got=said)
    if status in _STATUS:
        kind, meaning = _STATUS[status]
        return kind(f"{meaning} ({status})", got=said)
    if status >= 500:
        return RuntimeUnavailable(f"the server failed ({status}), and failed again on the retry", got=said)
    return InvalidInput(f"the server rejects the request ({status})", got=said)


def _message(error: openai.APIStatusError) -> str:
    body: Any = error.body
    inner = body.get("message") if isinstance(body, dict) else None
    return str(inner or error.response.text or error.message)[:_SAID]
