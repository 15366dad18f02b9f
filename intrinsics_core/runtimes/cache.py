"""A bounded memory of replies, least recently used out first."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from contextlib import suppress
from typing import Generic, TypeVar

from cachetools import LRUCache

from intrinsics_core._support.fork_safety import Lock

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class Lru(Generic[K, T]):
    """Values by key, of ``size`` together at most; safe between threads. Size 0 keeps nothing.

    ``weigh`` says how much of the size a value takes, in bytes for instance. Without it each takes 1.
    """

    def __init__(self, size: int, weigh: Callable[[T], int] | None = None) -> None:
        self._lock = Lock()
        self._values: LRUCache[K, T] = LRUCache(size, weigh)

    @property
    def used(self) -> int:
        """How much of the size is taken."""
        return int(self._values.currsize)

    def get(self, key: K) -> T | None:
        return self.get_all((key,)).get(key)

    def get_all(self, keys: Iterable[K]) -> dict[K, T]:
        """Those that are kept."""
        with self._lock:
            return {key: self._values[key] for key in keys if key in self._values}

    def put(self, key: K, value: T) -> None:
        self.put_all({key: value})

    def put_all(self, values: Mapping[K, T]) -> None:
        """Keep these, but for one that is larger than all that may be kept."""
        with self._lock:
            for key, value in values.items():
                with suppress(ValueError):  # too large
                    self._values[key] = value

    def clear(self) -> None:
        with self._lock:
            self._values.clear()

    def __len__(self) -> int:
        return len(self._values)
