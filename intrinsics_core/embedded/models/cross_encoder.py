"""The reader: a small cross-encoder that sees two texts at once, with onnxruntime, tokenizers and numpy alone.

Where the encoder says that two texts are about the same thing, the reader says whether the one holds what the other
claims or asks. It is trained by `training/reader`; a reader folder holds `model.onnx`, `tokenizer.json` and
`reader.json`, which names its tasks, its windows, the data it was trained on and what it scored.

One window is read a run: activations are quantised per run, so a logit never depends on what else is in the call.

What it is not: a language model. It reads a few sentences, not a document, knows no facts and does no arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from intrinsics_core.embedded.models.onnx_model import OnnxModel, OnnxSession, json_object, windows
from intrinsics_core.protocol.errors import InvalidInput, UnsupportedIntrinsic
from intrinsics_core.protocol.requests import Score, Scored, ScoreTask

_FILES = ("model.onnx", "tokenizer.json", "reader.json")
_LOGIT = 256  # bytes of a remembered logit, with its key and its place
_LEAST_TOKENS = 16
_TEXT_FIRST: dict[ScoreTask, bool] = {"entailment": True, "answers": False, "meant": True}
"""Whether what is read comes first in a pair: (source, claim), (question, passage), (turns, question)."""


class CrossEncoder(OnnxModel["LogitSession", float]):
    """Pairs of texts to logits, one head a task.

    Args:
        path: a reader folder.
        threads: windows read at the same time, each on one core; None: every core this process may use.
        cache_size: bytes of logits that are remembered, least recently used out first: documents share a question, an
            answer is judged twice.

    Raises:
        InvalidInput: the folder or one of its files is missing or not a reader's (the message names it), or
            a number is out of range.
        RuntimeUnavailable: onnxruntime or tokenizers is not installed, or the model cannot be loaded (at first use).

    Safe to share between threads; the model is loaded at first use.
    """

    kind = "reader"
    size_of = staticmethod(lambda _: _LOGIT)

    def __init__(self, path: str | Path, *, threads: int | None = None, cache_size: int = 2**20) -> None:
        super().__init__(Path(path), threads=threads, cache_size=cache_size)
        if not self.path.is_dir():
            raise InvalidInput(f"no reader folder at {self.path}", expected=f"a folder with {', '.join(_FILES)}")
        for name in _FILES:
            if not (self.path / name).is_file():
                raise InvalidInput(f"reader folder {self.path} has no {name}", expected="a folder that training wrote")
        self.about = _about(self.path / "reader.json")
        self.heads: dict[str, int] = self.about["tasks"]
        self.max_tokens: int = self.about["max_tokens"]
        self.max_query: int = self.about["max_query"]
        self.windows: dict[str, int] = self.about.get("windows", {})

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
                raise InvalidInput(f"pair {i} is not a pair of strings", expected="two strings", got=repr(pair)[:80])
        items = [(task, *pair) for pair in pairs]
        return self._remembered(items, lambda new: self._read(task, [(first, second) for _, first, second in new]))

    def _read(self, task: ScoreTask, pairs: Sequence[tuple[str, str]]) -> list[float]:
        session, head = self._loaded(), self.heads[task]
        at = 0 if _TEXT_FIRST[task] else 1
        texts = session.tokenize([pair[at] for pair in pairs])
        queries = session.tokenize([pair[1 - at] for pair in pairs])
        runs: list[tuple[int, Sequence[int], Sequence[int]]] = []
        for i, (text, query) in enumerate(zip(texts, queries, strict=True)):
            query = query[: self.max_query]
            room = self.windows.get(task, self.max_tokens) - 3 - len(query)
            parts = [text[-room:]] if task == "meant" else windows(text, room, max(1, room * 3 // 4))
            runs.extend((i, part, query) for part in parts)
        best = [-np.inf] * len(pairs)
        for (i, _, _), value in zip(runs, self._map(lambda run: session.logit(head, *run[1:]), runs), strict=True):
            best[i] = max(best[i], value)
        return best

    def warm_up(self) -> None:
        """Load the model, which the first call would wait for."""
        self._loaded()

    def __repr__(self) -> str:
        return f"CrossEncoder({self.name!r}, tasks={list(self.heads)}, threads={self.threads})"

    def _identity(self) -> tuple[object, ...]:
        return tuple((self.path / name).resolve() for name in ("model.onnx", "tokenizer.json"))

    def _load(self) -> LogitSession:
        return LogitSession(self.path)


class LogitSession(OnnxSession):
    """Token ids of two texts in, a logit out."""

    def __init__(self, path: Path) -> None:
        super().__init__("reader", path / "model.onnx", path / "tokenizer.json")
        begin, end = (self.tokenizer.token_to_id(token) for token in ("[CLS]", "[SEP]"))
        if begin is None or end is None:
            raise InvalidInput(f"{path / 'tokenizer.json'} lacks [CLS] or [SEP]", expected="a BERT tokenizer")
        self.begin, self.end = begin, end

    def logit(self, head: int, text: Sequence[int], query: Sequence[int]) -> float:
        """One window of a text beside what is asked of it."""
        row = [self.begin, *text, self.end, *query, self.end]
        out, _ = self.output("logits", [row], second=len(text) + 2)
        return float(out[0, head])


def _about(file: Path) -> dict[str, Any]:
    """What `reader.json` says. Raises InvalidInput where it is not a reader's."""
    about = json_object(file)
    tasks = about.get("tasks")
    if not isinstance(tasks, dict) or not tasks or not all(isinstance(i, int) and i >= 0 for i in tasks.values()):
        raise InvalidInput(
            f"tasks in {file} cannot be read", expected="names of tasks, each with the index of its logit"
        )
    if unknown := sorted(set(tasks) - set(_TEXT_FIRST)):
        raise InvalidInput(
            f"tasks in {file} has unknown names", expected=" or ".join(_TEXT_FIRST), got=", ".join(unknown)
        )
    for name in ("max_tokens", "max_query"):
        if not isinstance(about.get(name), int) or about[name] < 1:
            raise InvalidInput(
                f"{name} in {file} is not a number of tokens", expected="a number of tokens", got=repr(about.get(name))
            )
    least = about["max_query"] + _LEAST_TOKENS
    if about["max_tokens"] < least:
        raise InvalidInput(
            f"max_tokens in {file} is too small",
            expected=f"at least {_LEAST_TOKENS} more than max_query",
            got=str(about["max_tokens"]),
        )
    windows_of = about.get("windows", {})
    able = range(least, about["max_tokens"] + 1)
    if (
        not isinstance(windows_of, dict)
        or any(each not in tasks for each in windows_of)
        or any(not isinstance(size, int) or size not in able for size in windows_of.values())
    ):
        raise InvalidInput(
            f"windows in {file} cannot be read",
            expected=f"names of tasks, each with {able.start} to {able.stop - 1} tokens",
            got=repr(windows_of)[:80],
        )
    return about
