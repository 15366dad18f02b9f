"""What a server lists at ``/v1/models``, and which entry should answer a request."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from intrinsics_core.protocol.requests import Generate
from intrinsics_core.runtimes.adapters import is_activated

_SHOWN = 40  # names in a message; a public endpoint may list hundreds

# Models that make vectors or relevance scores, by the names that they are published under (Ollama's library, the hub's
# leaderboard of embedding models): servers list them among the others and say of none what it is for.
_NO_CHAT = re.compile(
    r"embed|rerank|minilm|colbert|splade|\bparaphrase-|(?:^|[^a-z0-9])(?:bge|gte|e5|sfr|uae|jina-clip)(?:[^a-z0-9]|$)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One model. ``parent`` is the base model of an adapter, ``root`` where its weights come from, ``owner`` whose it
    is said to be: for most servers their own name.
    """

    name: str
    parent: str | None = None
    root: str | None = None
    owner: str | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """All models of a server, in its order; ``when`` it was asked (monotonic seconds).

    ``parents`` is whether the server says of its models which are adapters.
    """

    entries: tuple[Entry, ...]
    parents: bool = True
    when: float = field(default_factory=time.monotonic, compare=False)

    @classmethod
    def parse(cls, content: bytes) -> Listing:
        """From the body of ``GET /v1/models``.

        Raises:
            ValueError: it is no such list.
        """
        try:
            rows = json.loads(content)["data"]
            entries = tuple(
                Entry(str(row["id"]), row.get("parent"), row.get("root"), row.get("owned_by")) for row in rows
            )
            return cls(entries, parents=any("parent" in row for row in rows))
        except (KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(f"{type(error).__name__}: {error}") from None

    @property
    def owners(self) -> tuple[str, ...]:
        """Who is said to own the models, each once. ``("vllm",)`` is vLLM."""
        return tuple(dict.fromkeys(entry.owner for entry in self.entries if isinstance(entry.owner, str)))

    def find(self, name: str, *, adapter: bool) -> list[Entry]:
        """The entry of that name, else adapters or base models of that name within some owner's or folder's
        (``ibm-granite/…``). Where the server does not say which is which, the whole name alone counts.
        """
        if exact := [entry for entry in self.entries if entry.name == name]:
            return exact[:1]
        kind = [e for e in self.entries if bool(e.parent) == adapter] if self.parents else []
        return [e for e in kind if _last(e.name) == _last(name)]

    def bases(self) -> list[str]:
        """Names of the models that are no adapters; of several names for the same weights, the first. Those that by
        their names make vectors are left out, unless there is no other.
        """
        by_weights = {entry.root or entry.name: entry.name for entry in reversed(self.entries) if not entry.parent}
        names = list(reversed(by_weights.values()))
        return [name for name in names if not makes_vectors(name)] or names

    def __str__(self) -> str:
        names = [f"{e.name} (adapter of {e.parent})" if e.parent else e.name for e in self.entries]
        return some(names, _SHOWN) or "no models"


def some(names: Sequence[str], most: int = 8) -> str:
    """The first names, and how many there are beside them."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


@dataclass(frozen=True, slots=True)
class Unmatched:
    """Nobody on the list should answer: why, and what would be right."""

    why: str
    expected: str


def makes_vectors(name: str) -> bool:
    """Whether a model is by its name for vectors or scores, not for chat."""
    return bool(_NO_CHAT.search(_last(name)))


def _last(name: str) -> str:
    return name.rstrip("/").rpartition("/")[2]


def choose(listing: Listing, request: Generate, base: str | None = None) -> Entry | Unmatched:
    """The model that should answer.

    Args:
        base: the base model's name, for a server that has adapters of one name for several.
    """
    names = request.models
    if request.adapter:
        names += (request.adapter, request.adapter.replace("-", "_"))
    for name in names:
        found = listing.find(name, adapter=request.adapter is not None)
        if len(found) > 1 and request.adapter and len({entry.parent for entry in found}) > 1:
            found = [entry for entry in found if base and _last(entry.parent or "") == _last(base)]
            if len(found) != 1:
                return Unmatched(
                    f"the server has adapters called {_last(name)!r} for several base models",
                    f"model=... in the runtime's config, or adapters={{{request.adapter!r}: ...}}",
                )
        if found:
            return found[0]
    if request.adapter:
        return Unmatched(
            f"the server has no adapter for {request.adapter!r}",
            f"one of {', '.join(names)}, or its name in the runtime's config: adapters={{{request.adapter!r}: ...}}",
        )
    bases = listing.bases()
    if len(bases) == 1:
        return next(entry for entry in listing.entries if entry.name == bases[0])
    return Unmatched(
        "which of the server's models is the base model is not clear" if bases else "the server lists no base model",
        "its name in the runtime's config: model=...",
    )


# --- activated adapters -----------------------------------------------------------------------------------------------


_CONFIG = "adapter_config.json"
_LARGEST = 1 << 20  # bytes


def activated(entry: Entry) -> bool | None:
    """Whether a listed adapter is an Activated LoRA; None where its name alone says so, and nothing can be seen.

    The server lists the folder of its weights; it can be looked into where the server runs on this machine.
    """
    path = Path(entry.root or "") / _CONFIG
    try:
        if entry.root and path.is_absolute() and path.is_file() and path.stat().st_size <= _LARGEST:
            config = json.loads(path.read_text(encoding="utf-8"))
            return isinstance(config, dict) and is_activated(config)
    except (OSError, ValueError, RecursionError):
        pass
    return None if "alora" in f"{entry.name} {entry.root or ''}".lower() else False
