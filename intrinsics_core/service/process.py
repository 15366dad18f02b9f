"""The service as a process, or as several: from settings that are plain JSON to a server that drains when it ends."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI

from intrinsics_core import InvalidInput, RuntimeUnavailable
from intrinsics_core.service.app import create_app
from intrinsics_core.service.limits import Limits
from intrinsics_core.service.security import is_loopback, read_token

VARIABLE = "RAG_INTRINSICS_SERVICE"
"""Where a worker finds its settings."""

_KEPT_ALIVE = 65  # seconds that a connection is kept for a client's next request


@dataclass(frozen=True)
class Settings:
    """What a service is started with.

    Attributes:
        runtimes: configs by name, None for the embedded default.
        host, port: where it listens; 0 is a port that is free.
        token_file: the file that holds the token.
        hosts, origins: see :func:`create_app`.
        limits: fields of :class:`Limits`.
        workers: how many processes.
        access_log: whether each request is written to standard output.
    """

    runtimes: dict[str, Any]
    host: str = "127.0.0.1"
    port: int = 8010
    token_file: str | None = None
    hosts: list[str] = field(default_factory=list)
    origins: list[str] = field(default_factory=list)
    limits: dict[str, Any] = field(default_factory=dict)
    workers: int = 1
    access_log: bool = False

    def app(self) -> FastAPI:
        """The app of these settings.

        Raises:
            InvalidInput: a setting cannot be used, or others would reach the service without a token.
        """
        if self.token_file is None and not is_loopback(self.host):
            raise InvalidInput(
                f"other machines can reach {self.host}, so a token is required", expected="--token-file FILE"
            )
        token = read_token(Path(self.token_file)) if self.token_file else None
        return create_app(self.runtimes, token=token, hosts={self.host, *self.hosts} - {"0.0.0.0", "::"},
                          origins=self.origins, limits=Limits(**self.limits))  # fmt: skip


def from_environment() -> FastAPI:
    """The app of the settings in the environment, for a server that starts workers: ``uvicorn --factory``."""
    return Settings(**json.loads(os.environ.get(VARIABLE, '{"runtimes": {"default": null}}'))).app()


def run(settings: Settings, ready: Callable[[str], None]) -> None:
    """Serve until a signal comes; then answer what was asked, and end.

    Args:
        ready: told the address once it is listened on.

    Raises:
        InvalidInput: a setting cannot be used.
        RuntimeUnavailable: the address cannot be listened on.
    """
    app = settings.app()
    known: dict[str, Any] = {
        "log_level": "info" if settings.access_log else "warning", "access_log": settings.access_log,
        "server_header": False, "timeout_keep_alive": _KEPT_ALIVE,
        "timeout_graceful_shutdown": int(settings.limits.get("seconds", Limits.seconds)) + 1,
    }  # fmt: skip
    if settings.workers > 1:
        # Each worker makes its own app, and finds the settings where no list of processes shows them.
        os.environ[VARIABLE] = json.dumps(asdict(settings))
        factory = f"{from_environment.__module__}:{from_environment.__name__}"
        ready(_url(settings.host, settings.port))
        uvicorn.run(factory, factory=True, host=settings.host, port=settings.port, workers=settings.workers, **known)
        return
    with _listening(settings.host, settings.port) as bound:
        ready(_url(*bound.getsockname()[:2]))
        uvicorn.Server(uvicorn.Config(app, **known)).run(sockets=[bound])


def _url(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def _listening(host: str, port: int) -> socket.socket:
    try:
        # With its protocol: only on a socket that says it is TCP's asyncio sends at once, and no answer waits 40 ms.
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(family, kind, protocol)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
    except OSError as error:
        why = error.strerror or str(error)
        raise RuntimeUnavailable(f"{host}:{port} cannot be opened for listening: {why}", expected="--port N") from None
    bound.listen(2048)
    return bound
