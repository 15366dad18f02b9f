"""A vLLM server for a base model and its adapters: the command line, and its supervision.

    >>> plan = Plan("ibm-granite/granite-3.3-8b-instruct", [read_adapter("answerability=./answerability_lora")])
    >>> print(shell(plan.command()))

vLLM is not a dependency: it is run as a program, from wherever it is installed.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from intrinsics_core.cancelling import LOOK_UP
from intrinsics_core.errors import InvalidInput, RequestTimeout, RuntimeUnavailable
from intrinsics_core.runtimes.local.adapters import RANKS, is_activated, served_rank

_UNKNOWN_RANK = 64  # for adapters that vLLM will download; above the ranks that are published in practice
_CONFIG = "adapter_config.json"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_LARGEST = 2**20  # bytes of a reply that are read while waiting


@dataclass(frozen=True)
class Adapter:
    """A LoRA adapter: the name it is served by, its folder or hub repository, and its rank where that is known."""

    name: str
    path: str
    rank: int | None = None


def read_adapter(spec: str) -> Adapter:
    """An adapter from ``NAME=PATH`` or ``PATH``; without a name, that of the folder or repository.

    Raises:
        InvalidInput: no adapter is there, or it is an Activated LoRA, which vLLM cannot serve.
    """
    name, equals, path = spec.partition("=")
    if not equals:
        name, path = "", spec
    name = name or path.rstrip("/").rpartition("/")[2]
    if not path or not _NAME.fullmatch(name):
        # A name that began with a dash would be an option of vLLM's.
        raise InvalidInput("adapter is not of the form NAME=PATH",
                           expected="a name of letters, digits, dots, dashes and underscores, no dash or dot first",
                           got=repr(spec))  # fmt: skip
    folder = Path(path).expanduser()
    if not folder.is_dir():
        if path.startswith((".", "/", "~")) or path.count("/") != 1:
            raise InvalidInput(f"adapter {name!r}: no such folder", expected="a folder or a hub repository", got=path)
        return Adapter(name, path)
    return Adapter(name, str(folder.resolve()), _rank(name, folder))


def read_adapters(specs: Iterable[str]) -> list[Adapter]:
    """Adapters from specs. A folder that holds adapter folders stands for all of them.

    Raises:
        InvalidInput: see :func:`read_adapter`; or two have the same name.
    """
    adapters = [read_adapter(one) for spec in specs for one in _spread(spec)]
    seen: dict[str, str] = {}
    for adapter in adapters:
        if adapter.name in seen:
            raise InvalidInput(f"two adapters are called {adapter.name!r}", expected="names that differ: NAME=PATH",
                               got=f"{seen[adapter.name]} and {adapter.path}")  # fmt: skip
        seen[adapter.name] = adapter.path
    return adapters


def _spread(spec: str) -> list[str]:
    """A folder of adapter folders as the list of them; anything else as itself."""
    folder = Path(spec).expanduser()
    if "=" in spec or not folder.is_dir() or (folder / _CONFIG).exists():
        return [spec]
    return sorted(str(config.parent) for config in folder.glob(f"*/{_CONFIG}")) or [spec]


def _rank(name: str, folder: Path) -> int:
    try:
        config = json.loads((folder / _CONFIG).read_text(encoding="utf-8"))
        rank = max([config["r"], *(config.get("rank_pattern") or {}).values()])
    except FileNotFoundError:
        raise InvalidInput(f"adapter {name!r}: {folder} holds no {_CONFIG}") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(f"adapter {name!r}: its {_CONFIG} cannot be read", expected="JSON with a rank r",
                           got=f"{type(error).__name__}: {error}") from None  # fmt: skip
    if not any(folder.glob("*.safetensors")) and (pickled := sorted(folder.glob("adapter_model.*"))):
        raise InvalidInput(f"adapter {name!r} has its weights as {pickled[0].name}, which may run code when it is read",
                           expected="adapter_model.safetensors", got=str(folder))  # fmt: skip
    if is_activated(config):
        raise InvalidInput(
            f"adapter {name!r} is an Activated LoRA, which vLLM does not support",
            expected="its LoRA twin (served as plain LoRA it would answer wrongly), or the transformers runtime",
            got=str(folder),
        )
    if not isinstance(rank, int) or not 0 < rank <= RANKS[-1]:
        raise InvalidInput(f"adapter {name!r}: vLLM serves ranks up to {RANKS[-1]}", got=f"r = {rank!r}")
    return rank


@dataclass(frozen=True)
class Plan:
    """What is served, and where. ``options`` are further arguments of ``vllm serve``, as they are."""

    model: str
    adapters: Sequence[Adapter] = ()
    host: str = "127.0.0.1"
    port: int = 8000
    name: str | None = None
    options: Sequence[str] = ()
    executable: str = "vllm"

    @property
    def base_name(self) -> str:
        return self.name or self.model

    @property
    def base_url(self) -> str:
        host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(self.host, self.host)
        return f"http://{host}:{self.port}/v1"

    def command(self) -> list[str]:
        """The arguments of the ``vllm serve`` process."""
        arguments = [self.executable, "serve", self.model, "--host", self.host, "--port", str(self.port)]
        if self.name:
            arguments += ["--served-model-name", self.name]
        arguments += ["--enable-prompt-tokens-details"]  # cached tokens per request
        if self.adapters:
            rank = max(adapter.rank or _UNKNOWN_RANK for adapter in self.adapters)
            # One slot more than adapters: with the last slot in use, vLLM 0.32 gives a base-model request in the same
            # batch that adapter's weights.
            arguments += ["--enable-lora", "--max-loras", str(len(self.adapters) + 1)]
            arguments += ["--max-lora-rank", str(served_rank(rank))]
            arguments += ["--lora-modules", *(f"{adapter.name}={adapter.path}" for adapter in self.adapters)]
        return arguments + list(self.options)


def shell(command: Sequence[str]) -> str:
    """The command as one would type it, an option a line."""
    lines: list[list[str]] = [[]]
    for argument in command:
        if argument.startswith("--"):
            lines.append([])
        lines[-1].append(shlex.quote(argument))
    return " \\\n  ".join(" ".join(line) for line in lines)


@dataclass
class Server:
    """A running server; made by :func:`started`."""

    plan: Plan
    process: subprocess.Popen[bytes]
    grace: float = field(default=20.0)

    def wait_ready(self, timeout: float) -> None:
        """Return when the base model and every adapter have each completed a prompt.

        A green ``/health`` is not enough: a server can be up and die of its first request.

        Raises:
            RuntimeUnavailable: the process ended, or refuses to complete.
            RequestTimeout: it took longer than ``timeout`` seconds.
        """
        deadline = time.monotonic() + timeout
        for name in (self.plan.base_name, *(adapter.name for adapter in self.plan.adapters)):
            while not self._asked(name, deadline - time.monotonic()):
                if (code := self.process.poll()) is not None:
                    raise RuntimeUnavailable(f"vllm ended with exit code {code} before it was ready; see its output")
                if time.monotonic() > deadline:
                    raise RequestTimeout(f"vllm was not ready after {timeout:g} s: {name!r} has not answered")
                time.sleep(0.5)

    def _asked(self, model: str, patience: float) -> bool:
        """Whether it completes a prompt within so many seconds, however slowly it drips."""
        found: list[bool | RuntimeUnavailable] = []

        def ask() -> None:
            try:
                found.append(self._completes(model))
            except RuntimeUnavailable as error:
                found.append(error)

        asking = threading.Thread(target=ask, daemon=True)  # left behind where the server never ends its answer
        asking.start()
        until = time.monotonic() + patience
        while asking.is_alive() and (left := until - time.monotonic()) > 0:
            asking.join(min(left, LOOK_UP))
        if found and isinstance(found[0], RuntimeUnavailable):
            raise found[0]
        return bool(found) and found[0] is True

    def _completes(self, model: str) -> bool:
        body = json.dumps({"model": model, "prompt": "Hello", "max_tokens": 1}).encode()
        url = f"{self.plan.base_url}/completions"
        request = urllib.request.Request(url, body, {"content-type": "application/json"})
        # A proxy in the environment has no say in what is on this machine.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=120) as response:
                return bool(json.loads(response.read(_LARGEST))["choices"])
        except urllib.error.HTTPError as error:
            if error.code == 401:
                return True  # it is up, and keeps its key to itself
            if error.code < 500:
                raise RuntimeUnavailable(f"the server refuses {model!r} ({error.code})",
                                         got=repr(error.read(500).decode("utf-8", "replace"))) from None  # fmt: skip
            return False
        except (OSError, ValueError, KeyError, TypeError, http.client.HTTPException, RecursionError):
            return False

    def wait(self) -> int:
        """The exit code, once it has ended."""
        while True:
            with suppress(subprocess.TimeoutExpired):
                return self.process.wait(LOOK_UP)

    def stop(self) -> None:
        """End the process and all it started: politely, then by force."""
        for number, patience in ((signal.SIGTERM, self.grace), (signal.SIGKILL, 5.0)):
            try:
                os.killpg(self.process.pid, number)
            except ProcessLookupError:
                break
            try:
                self.process.wait(patience)
            except subprocess.TimeoutExpired:
                continue
        self.process.poll()
        for _ in range(20):  # its workers take a moment to be gone
            try:
                os.killpg(self.process.pid, 0)
            except (ProcessLookupError, PermissionError):
                break
            time.sleep(0.05)


@contextmanager
def started(plan: Plan) -> Iterator[Server]:
    """Start the server; it ends with the block.

    Raises:
        RuntimeUnavailable: vLLM is not installed, or the port is taken.
    """
    if shutil.which(plan.executable) is None:
        raise RuntimeUnavailable(
            f"{plan.executable!r} is not installed here",
            expected="vLLM: `pip install vllm` in an environment of its own, then --executable PATH/bin/vllm",
        )
    _check_port(plan)
    # A session of its own: a Ctrl-C in the terminal reaches us alone, and we end it in order, with its workers.
    server = Server(plan, subprocess.Popen(plan.command(), start_new_session=True, preexec_fn=_ending_with_us()))
    try:
        yield server
    finally:
        server.stop()


def _ending_with_us() -> Callable[[], None] | None:
    """What makes a child process end when this one is killed without a word: Linux's parent-death signal."""
    if sys.platform != "linux":
        return None
    import ctypes

    control, parent = ctypes.CDLL(None).prctl, os.getpid()  # loaded before the fork: afterwards little is safe

    def ask() -> None:
        control(1, signal.SIGTERM)  # PR_SET_PDEATHSIG
        if os.getppid() != parent:  # it died in between
            os.kill(os.getpid(), signal.SIGTERM)

    return ask


def _check_port(plan: Plan) -> None:
    with socket.socket() as probe:
        probe.settimeout(1.0)
        host = plan.base_url.split("://")[1].rsplit(":", 1)[0].strip("[]")
        if ":" not in host and probe.connect_ex((host, plan.port)) == 0:
            raise RuntimeUnavailable(f"port {plan.port} is taken", expected="a free one: --port N")


_ENDS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


class Stopped(BaseException):
    """SIGINT, SIGTERM or SIGHUP came; ``signal`` is its number."""

    def __init__(self, number: int) -> None:
        self.signal = number


@contextmanager
def stopping() -> Iterator[None]:
    """Within it, SIGINT, SIGTERM and SIGHUP (the terminal is gone) raise :class:`Stopped`, once; what comes
    after does not disturb the clean-up.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        for other in before:
            signal.signal(other, signal.SIG_IGN)
        raise Stopped(number)

    before = {number: signal.signal(number, stop) for number in _ENDS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
