"""A small model on onnxruntime: what the bi-encoder and the cross-encoder have in common. No torch.

A session reads on one core, and a pool of threads reads several windows side by side: that scales better than to split
small matrices. All models of the same files in one process share one loaded session. What was read is remembered, the
least recently used is forgotten first. Work that nobody waits for any more ends between two groups of windows.
"""

from __future__ import annotations

import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from intrinsics_core._support import cancellation, strict_json
from intrinsics_core._support.fork_safety import Lock
from intrinsics_core.protocol.errors import InvalidInput, RuntimeUnavailable
from intrinsics_core.runtimes.cache import Lru

_STEP = 32  # batches for each thread between two looks whether anybody still waits

T = TypeVar("T")
R = TypeVar("R")
Loaded = TypeVar("Loaded", bound="OnnxSession")
Value = TypeVar("Value")

_sharing = Lock()
_sessions: WeakValueDictionary[tuple[object, ...], Any] = WeakValueDictionary()


class OnnxSession:
    """A loaded tokenizer and model: texts to token ids, rows of token ids to what the model says.

    Raises:
        RuntimeUnavailable: onnxruntime or tokenizers is not installed, or the files cannot be loaded.
        InvalidInput: the model takes inputs that such a model has not.
    """

    def __init__(self, kind: str, model: Path, tokenizer: Path) -> None:
        try:
            import onnxruntime
            from tokenizers import Tokenizer
        except ImportError as error:
            raise RuntimeUnavailable(f"the embedded {kind} needs {error.name}: pip install {error.name}") from error
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            self.tokenizer = Tokenizer.from_file(str(tokenizer))
            self.session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # both libraries raise bare Exception subclasses of their own
            raise RuntimeUnavailable(f"cannot load the {kind} in {tokenizer.parent}: {error}") from error
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        self.tokenizer.encode_special_tokens = True  # "[SEP]" in somebody's text is text, not a separator
        self.inputs = {i.name: np.int32 if "int32" in i.type else np.int64 for i in self.session.get_inputs()}
        if unknown := set(self.inputs) - {"input_ids", "attention_mask", "token_type_ids"}:
            raise InvalidInput(
                f"{model.name} needs the inputs {sorted(unknown)}",
                expected="inputs input_ids, attention_mask and token_type_ids",
            )

    def tokenize(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of each text, no special tokens; lone surrogates become `?`."""
        clean = [text.encode("utf-8", "replace").decode() for text in texts]
        return [e.ids for e in self.tokenizer.encode_batch_fast(clean, add_special_tokens=False)]

    def output(self, name: str, rows: Sequence[Sequence[int]], second: int | None = None) -> tuple[Any, NDArray[Any]]:
        """What the model says of the rows, which are padded, and the mask; ``second``: where a second text begins."""
        ids = np.zeros((len(rows), max(map(len, rows))), np.int64)
        mask, types = np.zeros_like(ids), np.zeros_like(ids)
        for i, row in enumerate(rows):
            ids[i, : len(row)] = row
            mask[i, : len(row)] = 1
        if second is not None:
            types[:, second:] = 1
        values = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
        feed = {name: values[name].astype(kind, copy=False) for name, kind in self.inputs.items()}
        (out,) = self.session.run([name], feed)
        return out, mask


class OnnxModel(ABC, Generic[Loaded, Value]):
    """Base of a model that is loaded at first use. Safe to share between threads, forked processes and pickles.

    Args:
        path: the model's folder.
        arguments: the other arguments of the subclass; ``threads`` and ``cache_size`` are among them.

    Attributes:
        kind: how messages call it.
        least: the least value of each argument that is a number.
        size_of: bytes that a remembered value takes.

    Raises:
        InvalidInput: a number is out of range.
    """

    kind: ClassVar[str]
    size_of: Callable[[Value], int]
    least: ClassVar[Mapping[str, int]] = {"threads": 1, "cache_size": 0}

    def __init__(self, path: Path, **arguments: int | None) -> None:
        self.path, self._arguments = path, arguments
        for name, least in self.least.items():
            value = arguments[name]
            if value is not None and value < least:
                raise InvalidInput(f"{self.kind}.{name} must be at least {least}", got=str(value))
        self.threads: int = arguments["threads"] or _cores()
        self._lock = Lock()
        self._cache: Lru[bytes, Value] = Lru(arguments["cache_size"] or 0, self.size_of)
        self._session: Loaded | None = None
        self._pool: tuple[int, ThreadPoolExecutor] | None = None

    @abstractmethod
    def _identity(self) -> tuple[object, ...]:
        """What equal sessions have in common: files, and how they are read."""

    @abstractmethod
    def _load(self) -> Loaded:
        """The session, loaded."""

    def close(self) -> None:
        """Free the session, the threads and what is remembered. Using the model again loads it again."""
        with self._lock:
            pool, self._pool, self._session = self._pool, None, None
        self._cache.clear()
        if pool is not None and pool[0] == os.getpid():
            pool[1].shutdown(wait=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[object, ...]:
        # Sent to another process (multiprocessing, Ray) as its arguments: sessions and threads stay home.
        return partial(type(self), self.path, **self._arguments), ()

    def _loaded(self) -> Loaded:
        """The session, which all models of the same files hold together; it is freed with the last of them."""
        with self._lock:
            if self._session is None:
                with _sharing:
                    parts = self._identity()
                    stamps = tuple(part.stat().st_mtime_ns for part in parts if isinstance(part, Path))
                    key = (type(self), *parts, *stamps)
                    if (session := _sessions.get(key)) is None:
                        session = _sessions[key] = self._load()
                    self._session = session
            return self._session

    def _remembered(
        self, items: Sequence[tuple[str, ...]], read: Callable[[list[tuple[str, ...]]], Sequence[Value]]
    ) -> list[Value]:
        """What ``read`` makes of each item. Known ones are not read again, and equal ones once."""
        # Lone surrogates are escaped in what is hashed.
        keys = [hashlib.blake2b(repr(item).encode(), digest_size=16).digest() for item in items]
        found = self._cache.get_all(keys)
        if missing := {key: item for key, item in zip(keys, items, strict=True) if key not in found}:
            fresh = dict(zip(missing, read(list(missing.values())), strict=True))
            self._cache.put_all(fresh)
            found |= fresh
        return [found[key] for key in keys]

    def _map(self, function: Callable[[T], R], batches: Sequence[T]) -> Iterator[R]:
        """The function of each batch, some batches at a time: between them the work may be given up."""
        step = _STEP * self.threads
        for begin in range(0, len(batches), step):
            cancellation.check()
            yield from self._map_at_once(function, batches[begin : begin + step])

    def _map_at_once(self, function: Callable[[T], R], batches: Sequence[T]) -> Iterator[R]:
        if self.threads == 1 or len(batches) < 2:
            return map(function, batches)
        with self._lock:
            # After a fork the parent's threads are gone; work given to them would wait for ever.
            if self._pool is None or self._pool[0] != os.getpid():
                self._pool = os.getpid(), ThreadPoolExecutor(self.threads, thread_name_prefix=self.kind)
            return self._pool[1].map(function, batches)


def windows(ids: Sequence[int], size: int, stride: int) -> list[Sequence[int]]:
    """Cut token ids into overlapping windows of at most `size`, as even as can be.

    The number of windows is what steps of `stride` need; even lengths keep the last window from being a scrap whose
    vector would stand for a handful of words.
    """
    if len(ids) <= size:
        return [ids]
    count = 1 + -(-(len(ids) - size) // stride)
    overlap = size - stride
    length = min(size, -(-(len(ids) + overlap * (count - 1)) // count))
    last = len(ids) - length
    return [ids[(start := round(last * k / (count - 1))) : start + length] for k in range(count)]


def json_object(file: Path) -> dict[str, Any]:
    """The object in a file of JSON; empty where there is no file, or something else in it.

    Raises:
        InvalidInput: it is no file (a pipe would be waited for), not JSON, or holds a number that JSON does not have.
    """
    if not file.exists():
        return {}
    if not file.is_file():
        raise InvalidInput(f"{file} is not a file", expected="a JSON file")
    try:
        value = strict_json.loads(file.read_text("utf-8"))
    except RecursionError:
        raise InvalidInput(f"{file} is nested too deeply", expected="a JSON object") from None
    except ValueError as error:
        raise InvalidInput(f"{file} is not JSON: {error}") from error
    return value if isinstance(value, dict) else {}


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
