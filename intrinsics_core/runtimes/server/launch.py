"""The command line of a vLLM server for a base model and its adapters.

    >>> plan = Plan("ibm-granite/granite-3.3-8b-instruct", [read_adapter("answerability=./answerability_lora")])
    >>> print(shell(plan.command()))

vLLM is not a dependency: it is a program, wherever it is installed. Who starts programs here supervises it, too.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.runtimes.adapters import RANKS, is_activated, served_rank

_UNKNOWN_RANK = 64  # for adapters that vLLM will download; above the ranks that are published in practice
_CONFIG = "adapter_config.json"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


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
            raise InvalidInput(
                f"adapter {name!r}: there is no folder {path}", expected="a folder or a hub repository", got=path
            )
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
            raise InvalidInput(
                f"two adapters have the name {adapter.name!r}",
                expected="a different name for each: NAME=PATH",
                got=f"{seen[adapter.name]} and {adapter.path}",
            )
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
        raise InvalidInput(f"adapter {name!r}: {folder} contains no {_CONFIG}") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(f"adapter {name!r}: its {_CONFIG} cannot be read", expected="JSON with a rank r",
                           got=f"{type(error).__name__}: {error}") from None  # fmt: skip
    if not any(folder.glob("*.safetensors")) and (pickled := sorted(folder.glob("adapter_model.*"))):
        raise InvalidInput(
            f"adapter {name!r} stores its weights as {pickled[0].name}, which can run code when it is loaded",
            expected="adapter_model.safetensors",
            got=str(folder),
        )
    if is_activated(config):
        raise InvalidInput(
            f"adapter {name!r} is an Activated LoRA, which vLLM does not support",
            expected="the LoRA version of it (served as plain LoRA, an aLoRA answers wrongly), or the "
            "transformers runtime",
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
