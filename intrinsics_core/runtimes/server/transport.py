"""The HTTP client below the `openai` one: what a server may send back, and where requests may go.

- A body is read up to so many decoded bytes, and no further: a small compressed body may stand for gigabytes.
- No cookie is kept: a server could tell by one which requests belong together.
- A refusal of what the request says is not tried again, though its status be that of a fault (llama-cpp-python: 500).
- A redirect is followed on the same origin alone. Elsewhere it would carry the documents to a host nobody named.

What is refused comes back as a response of our own that holds the typed error and asks for no retry: an exception would
be taken for a lost connection, and the same body fetched again.
"""

from __future__ import annotations

import json
import sys
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, Any

from intrinsics_core.protocol.errors import IntrinsicsError, RuntimeUnavailable
from intrinsics_core.runtimes.server.dialect import refuses

if TYPE_CHECKING:
    import openai

_REDIRECTS = 5  # steps followed on one origin
_REFUSED = "rag_intrinsics_refused"
_NO_RETRY = ("x-should-retry", "false")
_SAID = 20_000  # bytes of a refusal that are looked at
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
    if response.status_code >= 500 and _is_refusal(response.request, content):
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
