"""The HTTP client below the `openai` one: what a server may send back, and where requests may go.

- A body is read up to so many decoded bytes, and no further: a small compressed body may stand for gigabytes.
- No cookie is kept: a server could tell by one which requests belong together.
- A refusal of what the request says is not tried again, though its status be that of a fault (llama-cpp-python: 500).
- A redirect is followed on the same origin alone. Elsewhere it would carry the documents to a host nobody named.

What is refused comes back as a response of our own that holds the typed error and asks for no retry: an exception would
be taken for a lost connection, and the same body fetched again.

What went wrong at the server is said in the words of this library. Nothing there raises, and no error keeps the
request: its headers hold the API key.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, Any

from intrinsics_core.protocol.errors import (
    ContextTooLong,
    IntrinsicsError,
    InvalidInput,
    RequestTimeout,
    RuntimeUnavailable,
    UnknownAdapter,
)
from intrinsics_core.runtimes.server.dialect import refuses

if TYPE_CHECKING:
    import openai

UNWELL = (408, 409, 425, 429, *range(502, 600))  # statuses that say nothing about what a server takes
_REDIRECTS = 5  # steps followed on one origin
_REFUSED = "rag_intrinsics_refused"
_NO_RETRY = ("x-should-retry", "false")
# Of the encodings only the one whose decoder never makes more than a thousand bytes of one: a block stays small.
_ENCODINGS = ("", "identity", "gzip")
_ABOUT_THE_BODY = ("content-encoding", "content-length", "transfer-encoding")


def client(max_reply_bytes: int, timeout: float) -> Any:
    """An asynchronous HTTP client with these bounds, for ``AsyncOpenAI(http_client=...)``."""
    import openai

    class Bounded(openai.DefaultAsyncHttpxClient):
        async def send(self, request: Any, *, stream: bool = False, **options: Any) -> Any:
            options["follow_redirects"] = False
            for _ in range(_REDIRECTS + 1):
                response = await super().send(request, stream=True, **options)
                following = response.next_request
                if following is None:
                    return response if stream else await _read(response, max_reply_bytes)
                await response.aclose()
                if _origin(following.url) != _origin(request.url):
                    return _refused(
                        response,
                        RuntimeUnavailable(
                            f"the server redirects ({response.status_code}) to another address, which was not followed",
                            expected="the address in base_url itself",
                            got=f"{following.url.scheme}://{following.url.host}",
                        ),
                    )
                request = following
            return _refused(response, RuntimeUnavailable(f"the server redirects more than {_REDIRECTS} times"))

    nothing_kept = CookieJar(DefaultCookiePolicy(allowed_domains=[]))
    return Bounded(timeout=timeout, cookies=nothing_kept, headers={"Accept-Encoding": "gzip"})


def response_type() -> Any:
    """The class of raw responses, of the HTTP library that this release of `openai` stands on: httpx, or httpx2, with
    which httpx need not be installed.
    """
    import openai

    below = next(each for each in openai.DefaultAsyncHttpxClient.__mro__ if each.__name__ == "AsyncClient")
    return sys.modules[below.__module__.partition(".")[0]].Response


def refused(error: openai.APIStatusError) -> IntrinsicsError | None:
    """The error that a response of our own holds; None for what the server itself said."""
    return error.response.extensions.get(_REFUSED)


def _origin(url: Any) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port or {"http": 80, "https": 443}.get(url.scheme)


async def _read(response: Any, limit: int) -> Any:
    """The same response with its body read, or a refusal."""
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding not in _ENCODINGS:
        await response.aclose()
        return _refused(
            response,
            RuntimeUnavailable(
                "the server's reply is compressed in a way that was not requested",
                expected="gzip or no compression",
                got=encoding[:100],
            ),
        )
    parts, size = [], 0
    try:
        async for part in response.aiter_bytes():
            size += len(part)
            if size > limit:
                return _refused(response, RuntimeUnavailable(
                    f"the server's reply is longer than {limit} bytes, so the rest was not read",
                    expected="a shorter reply, or a larger max_reply_bytes in the runtime's config",
                ))  # fmt: skip
            parts.append(part)
    finally:
        await response.aclose()
    headers = [(k, v) for k, v in response.headers.multi_items() if k.lower() not in _ABOUT_THE_BODY]
    content = b"".join(parts)
    if (status := response.status_code) >= 500 and status not in UNWELL and _is_refusal(response.request, content):
        headers.append(_NO_RETRY)
    return type(response)(
        response.status_code, headers=headers, content=content, request=response.request,
        extensions=response.extensions, history=response.history,
    )  # fmt: skip


def _is_refusal(request: Any, content: bytes) -> bool:
    try:
        body = json.loads(request.content)
    except (ValueError, RecursionError):
        return False
    return isinstance(body, dict) and refuses(content[:_SAID].decode("utf-8", "replace"), body)


def _refused(response: Any, error: IntrinsicsError) -> Any:
    return type(response)(
        502, headers=dict([_NO_RETRY]), json={}, request=response.request, extensions={_REFUSED: error}
    )


# --- what went wrong --------------------------------------------------------------------------------------------------

_SAID = 20_000  # bytes or characters of an error's body that are looked at

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
