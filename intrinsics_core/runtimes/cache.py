"""A bounded memory of replies, least recently used out first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Generic, TypeVar

from intrinsics_core._support.fork_safety import Lock

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class Lru(Generic[K, T]):
    """Values by key, of ``size`` together at most; safe between threads. Size 0 keeps nothing.

    ``weigh`` says how much of the size a value takes, in bytes for instance. Without it each takes 1.
    """

    def __init__(self, size: int, weigh: Callable[[T], int] = lambda value: 1) -> None:
        self.size, self.used = size, 0
        self._weigh = weigh
        self._lock = Lock()
        self._values: OrderedDict[K, T] = OrderedDict()

    def get(self, key: K) -> T | None:
        return self.get_all((key,)).get(key)

    def get_all(self, keys: Iterable[K]) -> dict[K, T]:
        """Those that are kept."""
        with self._lock:
            found = {key: self._values[key] for key in keys if key in self._values}
            for key in found:
                self._values.move_to_end(key)
            return found

    def put(self, key: K, value: T) -> None:
        self.put_all({key: value})

    def put_all(self, values: Mapping[K, T]) -> None:
        """Keep these, but for one that is larger than all that may be kept."""
        with self._lock:
            for key, value in values.items():
                if (weight := self._weigh(value)) > self.size:
                    continue
                if key in self._values:
                    self.used -= self._weigh(self._values.pop(key))
                self._values[key] = value
                self.used += weight
            while self.used > self.size:
                _, oldest = self._values.popitem(last=False)
                self.used -= self._weigh(oldest)

    def clear(self) -> None:
        with self._lock:
            self._values.clear()
            self.used = 0

    def __len__(self) -> int:
        return len(self._values)
