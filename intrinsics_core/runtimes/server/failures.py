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

# status -> error, and what the server at the address does; every other 4xx is a request that it finds invalid.
_STATUS: dict[int, tuple[type[IntrinsicsError], str]] = {
    403: (RuntimeUnavailable, "forbids the request"),
    404: (RuntimeUnavailable, "has no such endpoint (does base_url end with /v1?)"),
    405: (RuntimeUnavailable, "has no such endpoint (does base_url end with /v1?)"),
    408: (RequestTimeout, "gave up waiting"),
    409: (RuntimeUnavailable, "is in conflict"),
    413: (ContextTooLong, "finds the request too large"),
    429: (RuntimeUnavailable, "limits the rate of requests"),
}
_RETRIES = "x-stainless-retry-count"  # the client's header: how often it had tried before


def complaint(error: openai.APIStatusError) -> str:
    """What the server said, as far as it is worth searching in."""
    return f"{error.message[:_SAID]} {error.response.text[:_SAID]}"


def translate(
    error: openai.APIError,
    *,
    server: str,
    model: str,
    timeout: float,
    clean: Callable[[str], str],
    has_key: bool,
    tried: int = 0,
) -> IntrinsicsError:
    """The error of the exception tree that says it. It names the server: a program may have several.

    Args:
        server: its address, as it may be shown.
        has_key: whether an API key was sent.
        clean: takes secrets out of text that came from the server.
        tried: how often the request was sent before, by another than the client.
    """
    import openai

    server, tries = f"the server at {server}", f"(tries: {tried + _tries(error)})"
    if isinstance(error, openai.APITimeoutError):
        return RequestTimeout(
            f"{server} did not answer within {timeout:g} s {tries}",
            expected="a server that answers sooner, or a larger timeout in the runtime's config",
        )
    if isinstance(error, openai.APIStatusError):
        return _of_status(error, server, tries, model, clean, has_key)
    cause = error.__cause__
    why = f"{type(cause).__name__}: {cause}" if cause else error.message
    return RuntimeUnavailable(f"{server} cannot be reached, or it closed the connection ({clean(why)})",
                              expected="a server that runs at this base_url")  # fmt: skip


def _tries(error: openai.APIError) -> int:
    said = error.request.headers.get(_RETRIES, "0")
    return 1 + (int(said) if said.isdecimal() else 0)


def _of_status(
    error: openai.APIStatusError, server: str, tries: str, model: str, clean: Callable[[str], str], has_key: bool
) -> IntrinsicsError:
    if own := refused(error):
        return own
    said, status = clean(_message(error)), error.status_code
    everything = complaint(error)
    if status in (400, 413, 422) and (error.param == "input_tokens" or _TOO_LONG.search(everything)):
        return ContextTooLong(f"the request does not fit into the context window of {model!r}", got=said)
    if status in (400, 404) and (_NO_MODEL.search(everything) or (status == 404 and error.param == "model")):
        return UnknownAdapter(f"{server} has no model {model!r}", got=said)
    if status == 401:
        why = "refuses the API key" if has_key else "requires an API key, and none was given"
        return RuntimeUnavailable(f"{server} {why} (401)", expected=_KEY, got=said)
    if status in _STATUS:
        kind, meaning = _STATUS[status]
        return kind(f"{server} {meaning} ({status})", got=said)
    if status >= 500:
        return RuntimeUnavailable(f"{server} failed with status {status} {tries}", got=said)
    return InvalidInput(f"{server} rejects the request ({status})", got=said)


def _message(error: openai.APIStatusError) -> str:
    body: Any = error.body
    inner = body.get("message") if isinstance(body, dict) else None
    return str(inner or error.response.text or error.message)[:_SAID]
