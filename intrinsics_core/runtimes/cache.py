"""A bounded memory of replies, least recently used out first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

from intrinsics_core.forks import Lock

T = TypeVar("T")


class Lru(Generic[T]):
    """At most ``size`` values by key; safe between threads. Size 0 keeps nothing."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._lock = Lock()
        self._values: OrderedDict[Hashable, T] = OrderedDict()

    def get(self, key: Hashable) -> T | None:
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def put(self, key: Hashable, value: T) -> None:
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > self.size:
                self._values.popitem(last=False)
