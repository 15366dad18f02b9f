"""The reader: a small cross-encoder that sees two texts at once, with onnxruntime, tokenizers and numpy alone.

Where the encoder says that two texts are about the same thing, the reader says whether the one holds what the other
claims or asks. It is trained by `training/reader`; a reader folder holds `model.onnx`, `tokenizer.json` and
`reader.json`, which names its tasks, its longest input, the data it was trained on and what it scored.

One window is read a run: activations are quantised per run, so a logit never depends on what else is in the call.

What it is not: a language model. It reads a few sentences, not a document, knows no facts and does no arithmetic.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from intrinsics_core.embedded.encoder import windows
from intrinsics_core.errors import InvalidInput, RuntimeUnavailable, UnsupportedIntrinsic
from intrinsics_core.forks import Lock
from intrinsics_core.requests import Score, Scored, ScoreTask

Ids = NDArray[np.int64]

_LEAST_TOKENS = 16
_TEXT_FIRST: dict[ScoreTask, bool] = {"entailment": True, "answers": False, "meant": True}
"""Whether what is read comes first in a pair: (source, claim), (question, passage), (turns, question)."""


class Reader:
    """Pairs of texts to logits, one head a task.

    Args:
        path: a reader folder.
        threads: windows read at the same time, each on one core; None: every core this process may use.
        kept: logits that are remembered, of the pairs read last: documents share a question, an answer is judged twice.

    Raises:
        InvalidInput: the folder or one of its files is missing or not a reader's (the message names it), or
            ``threads`` is below 1, or ``kept`` below 0.
        RuntimeUnavailable: onnxruntime or tokenizers is not installed, or the model cannot be loaded (at first use).

    Safe to share between threads; the model is loaded at first use.
    """

    def __init__(self, path: str | Path, *, threads: int | None = None, kept: int = 4096) -> None:
        self.path = Path(path)
        if threads is not None and threads < 1:
            raise InvalidInput("threads of the reader", expected="a number from 1 up", got=str(threads))
        if kept < 0:
            raise InvalidInput("kept logits of the reader", expected="a number from 0 up", got=str(kept))
        if not self.path.is_dir():
            raise InvalidInput(
                f"no reader folder at {self.path}", expected="a folder with model.onnx, tokenizer.json and reader.json"
            )
        for name in ("model.onnx", "tokenizer.json", "reader.json"):
            if not (self.path / name).is_file():
                raise InvalidInput(f"reader folder {self.path} has no {name}", expected="a folder that training wrote")
        self.about = _about(self.path / "reader.json")
        self.heads: dict[str, int] = self.about["tasks"]
        self.max_tokens: int = self.about["max_tokens"]
        self.max_query: int = self.about["max_query"]
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        self.threads = threads or cores
        self._lock = Lock()
        self._loaded: tuple[Any, Any, int, int] | None = None
        self._pool: tuple[int, ThreadPoolExecutor] | None = None
        self.kept = kept
        self._kept: dict[bytes, float] = {}

    @property
    def name(self) -> str:
        """Name of the model, as its folder gives it."""
        return str(self.about.get("name") or self.path.resolve().name)

    @property
    def tasks(self) -> tuple[ScoreTask, ...]:
        """The tasks of `requests.Score` that it has a head for."""
        return tuple(self.heads)  # type: ignore[arg-type]  # checked when it was read

    def score(self, request: Score) -> Scored:
        """One logit a pair, that of *yes*: supported, answers, meant.

        Raises:
            UnsupportedIntrinsic: the model has no head for ``request.task``.
            InvalidInput: a pair is not two strings.
        """
        found = self.logits(request.task, request.pairs)
        return Scored(tuple((value,) for value in found), ("yes",))

    def logits(self, task: ScoreTask, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """The logits of pairs in the order of `requests.Score`'s task: (source, claim), (question, passage), ...

        A text longer than the window is read in several, and its best one counts; of turns the last are read.
        """
        if task not in self.heads:
            raise UnsupportedIntrinsic(
                f"the reader {self.name} does not know the task {task!r}", expected=" or ".join(self.heads), got=task
            )
        for i, pair in enumerate(pairs):
            if len(pair) != 2 or not all(isinstance(text, str) for text in pair):
                raise InvalidInput(f"pair {i} of the reader", expected="two strings", got=repr(pair)[:80])
        keys = [_key(task, pair) for pair in pairs]
        with self._lock:
            known = {key: self._kept.pop(key) for key in dict.fromkeys(keys) if key in self._kept}
            self._kept.update(known)  # used last, forgotten last
        fresh = {key: pair for key, pair in zip(keys, pairs, strict=True) if key not in known}
        known.update(zip(fresh, self._read(task, list(fresh.values())), strict=True))
        with self._lock:
            for key in fresh:
                self._kept[key] = known[key]
            while len(self._kept) > self.kept:
                self._kept.pop(next(iter(self._kept)))
        return [known[key] for key in keys]

    def _read(self, task: ScoreTask, pairs: Sequence[tuple[str, str]]) -> list[float]:
        if not pairs:
            return []
        tokenizer, session, cls, sep = self._model()
        at = 0 if _TEXT_FIRST[task] else 1
        texts = _ids(tokenizer, [pair[at] for pair in pairs])
        queries = _ids(tokenizer, [pair[1 - at] for pair in pairs])
        runs: list[tuple[int, list[int], int]] = []
        for i, (text, query) in enumerate(zip(texts, queries, strict=True)):
            query = query[: self.max_query]
            room = self.max_tokens - 3 - len(query)
            parts = [text[-room:]] if task == "meant" else windows(text, room, max(1, room * 3 // 4))
            runs.extend((i, [cls, *part, sep, *query, sep], len(part) + 2) for part in parts)
        head = self.heads[task]

        def read(run: tuple[int, list[int], int]) -> float:
            _, row, begin = run
            ids: Ids = np.array([row], np.int64)
            types: Ids = np.zeros_like(ids)
            types[:, begin:] = 1
            (out,) = session.run(["logits"], {"input_ids": ids, "token_type_ids": types})
            return float(out[0, head])

        best = [-np.inf] * len(pairs)
        for (i, _, _), value in zip(runs, self._map(read, runs), strict=True):
            best[i] = max(best[i], value)
        return [float(value) for value in best]

    def warm_up(self) -> None:
        """Load the model, which the first call would wait for."""
        self._model()

    def close(self) -> None:
        """Free the model and the threads. Using the reader again loads them again."""
        with self._lock:
            pool, self._pool, self._loaded = self._pool, None, None
            self._kept.clear()
        if pool is not None and pool[0] == os.getpid():
            pool[1].shutdown(wait=True)

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Reader({self.name!r}, tasks={list(self.heads)}, threads={self.threads})"

    def __reduce__(self) -> tuple[object, ...]:
        # Sent to another process as its arguments: sessions and threads stay home.
        return _rebuild, (self.path, self.threads, self.kept)

    def _map(self, function: Any, runs: list[Any]) -> Any:
        if self.threads == 1 or len(runs) < 2:
            return map(function, runs)
        with self._lock:
            # After a fork the parent's threads are gone; work given to them would wait for ever.
            if self._pool is None or self._pool[0] != os.getpid():
                self._pool = os.getpid(), ThreadPoolExecutor(self.threads, thread_name_prefix="reader")
            return self._pool[1].map(function, runs)

    def _model(self) -> tuple[Any, Any, int, int]:
        with self._lock:
            if self._loaded is None:
                self._loaded = _load(self.path)
            return self._loaded


def _load(path: Path) -> tuple[Any, Any, int, int]:
    try:
        import onnxruntime
        from tokenizers import Tokenizer
    except ImportError as error:
        raise RuntimeUnavailable(f"the embedded reader needs {error.name}: pip install {error.name}") from error
    options = onnxruntime.SessionOptions()
    # One core a run: many windows run side by side, which scales better than splitting small matrices.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        tokenizer = Tokenizer.from_file(str(path / "tokenizer.json"))
        session = onnxruntime.InferenceSession(str(path / "model.onnx"), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # both libraries raise bare Exception subclasses of their own
        raise RuntimeUnavailable(f"cannot load the reader in {path}: {error}") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True  # "[SEP]" in somebody's text is text, not a separator
    cls, sep = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
    if cls is None or sep is None:
        raise InvalidInput(f"{path / 'tokenizer.json'} lacks [CLS] or [SEP]", expected="a BERT tokenizer")
    return tokenizer, session, cls, sep


def _key(task: ScoreTask, pair: tuple[str, str]) -> bytes:
    first, second = (text.encode("utf-8", "surrogatepass") for text in pair)
    head = f"{task} {len(first)} ".encode()
    return hashlib.blake2b(head + first + second, digest_size=16).digest()


def _ids(tokenizer: Any, texts: Sequence[str]) -> list[list[int]]:
    """Token ids of each text, no special tokens; lone surrogates become `?`."""
    clean = [text.encode("utf-8", "replace").decode() for text in texts]
    return [e.ids for e in tokenizer.encode_batch_fast(clean, add_special_tokens=False)]


def _about(file: Path) -> dict[str, Any]:
    """What `reader.json` says. Raises InvalidInput where it is not a reader's."""
    try:
        about = json.loads(file.read_text("utf-8"))
    except ValueError as error:
        raise InvalidInput(f"{file} is not JSON: {error}") from error
    tasks = about.get("tasks") if isinstance(about, dict) else None
    if not isinstance(tasks, dict) or not tasks or not all(isinstance(i, int) and i >= 0 for i in tasks.values()):
        raise InvalidInput(f"tasks in {file}", expected="names of tasks, each with the place of its logit")
    if unknown := sorted(set(tasks) - set(_TEXT_FIRST)):
        raise InvalidInput(f"tasks in {file}", expected=" or ".join(_TEXT_FIRST), got=", ".join(unknown))
    for name in ("max_tokens", "max_query"):
        if not isinstance(about.get(name), int) or about[name] < 1:
            raise InvalidInput(f"{name} in {file}", expected="a number of tokens", got=repr(about.get(name)))
    if about["max_tokens"] < about["max_query"] + _LEAST_TOKENS:
        raise InvalidInput(
            f"max_tokens in {file}",
            expected=f"at least {_LEAST_TOKENS} more than max_query",
            got=str(about["max_tokens"]),
        )
    return dict(about)


def _rebuild(path: Path, threads: int, kept: int) -> Reader:
    return Reader(path, threads=threads, kept=kept)
