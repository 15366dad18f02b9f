"""Who may ask: the host that a request names, the page that it comes from, and the token that it brings."""

from __future__ import annotations

import hmac
from collections.abc import Collection
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from intrinsics_core import InvalidInput
from intrinsics_core.service.problems import problem

_SHORTEST = 16  # characters of a token
_OPEN = frozenset({"/", "/health", "/ready", "/docs", "/docs.css", "/openapi.json"})  # what a browser or probe loads
_PAGE = "/page/"


def read_token(file: Path) -> str:
    """The token in a file, without the white space around it.

    Raises:
        InvalidInput: it cannot be read, or is too short to keep anybody out. What it holds is not repeated.
    """
    try:
        token = file.read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        raise InvalidInput(f"--token-file cannot be read ({type(error).__name__})") from None
    if len(token) < _SHORTEST or not token.isascii() or not token.isprintable() or " " in token:
        raise InvalidInput("the token cannot be used", expected=f"at least {_SHORTEST} ASCII characters in one word")
    return token


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches what listens there."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


class Guard:
    """Middleware: turns away what should not be asked here.

    The ``Host`` of a request is an address, ``localhost`` or a name of ``hosts``: a page of a stranger whose name was
    made to lead here has another. An ``Origin`` is the same host's, or one of ``origins``. A token is compared in
    constant time.
    """

    def __init__(
        self, app: ASGIApp, *, token: str | None, hosts: Collection[str] = (), origins: Collection[str] = ()
    ) -> None:
        self.app = app
        self._token = token.encode() if token else None
        self._hosts = {host.lower() for host in hosts}
        self._origins = set(origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # there are no web sockets here
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = scope["headers"]
        hosts = [value.decode("latin-1").lower() for name, value in headers if name == b"host"]
        origins = [value.decode("latin-1") for name, value in headers if name == b"origin"]
        if len(hosts) != 1 or not self._known(hosts[0]):
            refused = problem(421, "Misdirected", "the Host header names another host",
                              expected="an address, localhost, or a name that the service was started with: "
                              "--allow-host NAME")  # fmt: skip
        elif not all(origin in self._origins or _host(origin) == hosts[0] for origin in origins):
            refused = problem(403, "Forbidden", "the Origin is not allowed",
                              expected="the service's own page, or a name given by --allow-origin")  # fmt: skip
        elif not self._may(scope):
            refused = problem(401, "Unauthorized", "no token, or a wrong one", expected="Authorization: Bearer TOKEN",
                              headers={"www-authenticate": "Bearer"})  # fmt: skip
        else:
            await self.app(scope, receive, send)
            return
        refused.headers["connection"] = "close"  # its body is not read
        await refused(scope, receive, send)

    def _known(self, host: str) -> bool:
        if "*" in self._hosts:
            return True
        if set(host) & set("/@?#\\ "):  # more than a name and a port
            return False
        try:
            name = urlsplit(f"//{host}").hostname or ""
            return name == "localhost" or name in self._hosts or bool(ip_address(name))
        except ValueError:
            return False

    def _may(self, scope: Scope) -> bool:
        if self._token is None:
            return True
        path, method = scope["path"], scope["method"]
        if method in ("GET", "HEAD") and (path in _OPEN or path.startswith(_PAGE)):
            return True
        if method == "OPTIONS":  # a browser's question, which brings no token; it is answered for named origins alone
            return True
        brought = [value for name, value in scope["headers"] if name == b"authorization"]
        scheme, _, token = (brought[0] if len(brought) == 1 else b"").partition(b" ")
        return scheme.lower() == b"bearer" and hmac.compare_digest(token.strip(), self._token)


def _host(origin: str) -> str:
    scheme, _, host = origin.partition("://")
    return host.lower() if scheme in ("http", "https") else ""
