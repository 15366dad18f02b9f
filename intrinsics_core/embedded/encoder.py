"""The sentence encoder: text to unit vectors, on a CPU, with onnxruntime, tokenizers and numpy alone.

The encoder that ships is all-MiniLM-L6-v2 (Apache-2.0, 22M parameters, 384 dimensions; Reimers & Gurevych 2019,
Wang et al. 2020) with int8 weights; `training/build_encoder.py` makes it. Any local folder in the
sentence-transformers layout works in its place.

What it is not: a cross-encoder. A vector is made without seeing the other text, so a cosine says that two texts are
about the same thing, not that one answers or supports the other. Negation, numbers and roles hardly move it; a
cross-encoder or a language model reads those.
"""

from __future__ import annotations

import hashlib
import json
import os
from array import array
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from intrinsics_core import cancelling
from intrinsics_core.errors import InvalidInput, RuntimeUnavailable
from intrinsics_core.forks import Lock
from intrinsics_core.text.parts import parts

Vectors = NDArray[np.float32]
Kind = Literal["query", "passage", "sentence"]

SHIPPED = Path(__file__).resolve().parent.parent / "data" / "encoder"

_MODELS = ("model.onnx", "model_quantized.onnx", "model_int8.onnx", "model_O3.onnx", "model_O2.onnx")
_WINDOW = 256  # tokens, special ones included: what the shipped encoder was trained on
_BATCH_TOKENS = 1024  # on a CPU the cost per token is flat from here on; more would only pad more
_BLOCK = 200_000  # characters tokenized at a time
_STEP = 32  # batches for each thread between two looks whether anybody still waits
_PROMPT_NAMES = {
    "query": ("query",),
    "passage": ("passage", "document"),
    "sentence": ("sentence", "passage", "document"),
}


_sharing = Lock()
_models: WeakValueDictionary[tuple[object, ...], _Model] = WeakValueDictionary()


class Encoder:
    """Texts to L2-normalised vectors; long texts become several windows, known texts come from a bounded cache.

    Args:
        path: a local folder with `tokenizer.json` and `model.onnx` (or `onnx/model.onnx`), and where it has them
            `1_Pooling/config.json` (mean or cls), `sentence_bert_config.json` (longest input) and
            `config_sentence_transformers.json` (prompts of queries and passages). None: the encoder that ships.
        window: tokens per window, special tokens included; None: 256, or less where the model takes less.
        stride: new tokens per further window; None: three quarters of the window, so neighbours overlap by a quarter.
        threads: windows encoded at the same time, each on one core; None: every core this process may use.
        batch_tokens: most tokens, padding included, in one run of the model; None: the model's own setting.
            The shipped encoder runs one window at a time: its activations are quantised per run, so a vector would
            otherwise depend on its neighbours in the batch, and on a CPU batching gains nothing above 60 tokens.
        cache_size: bytes of vectors kept, least recently used out first; 0 keeps none.

    Raises:
        InvalidInput: the folder or one of its files is missing or unreadable (the message names it), or a number
            is out of range.
        RuntimeUnavailable: onnxruntime or tokenizers is not installed, or the model cannot be loaded (at first use).

    Safe to share between threads; the model is loaded at first use. Vectors are read-only arrays.

    >>> with Encoder() as encoder:  # doctest: +SKIP
    ...     query, passage = encoder.encode(["Who wrote Emma?", "Emma is a novel by Jane Austen."])
    ...     float((query @ passage.T).max())
    """

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        window: int | None = None,
        stride: int | None = None,
        threads: int | None = None,
        batch_tokens: int | None = None,
        cache_size: int = 64 * 2**20,
    ) -> None:
        self.path = SHIPPED if path is None else Path(path)
        self._arguments = {
            "window": window, "stride": stride, "threads": threads,
            "batch_tokens": batch_tokens, "cache_size": cache_size,
        }  # fmt: skip
        for name, least in (("window", 8), ("stride", 1), ("threads", 1), ("batch_tokens", 1), ("cache_size", 0)):
            value = self._arguments[name]
            if value is not None and value < least:
                raise InvalidInput(f"{name} of the encoder", expected=f"a number from {least} up", got=str(value))
        self.folder = _Folder.read(self.path)
        self.window = min(window or _WINDOW, self.folder.max_tokens)
        self.stride = min(stride or self.window * 3 // 4, self.window)
        self.threads = threads or _cores()
        self.batch_tokens = batch_tokens or self.folder.batch_tokens
        self._lock = Lock()
        self._cache = _Cache(cache_size)
        self._model: _Model | None = None
        self._pool: tuple[int, ThreadPoolExecutor] | None = None

    @property
    def name(self) -> str:
        """Name of the model, as its folder gives it."""
        return self.folder.name

    @property
    def dim(self) -> int:
        """Length of a vector. Loads the model."""
        return self._loaded().dim

    def encode(self, texts: Sequence[str], *, kind: Kind = "passage") -> list[Vectors]:
        """One array (windows, dim) per text, float32, rows of length 1, in the order of the texts.

        Args:
            texts: any texts; one without a token (empty, blanks) gets a single row of zeros: cosine 0 to everything.
            kind: which of the model's prompts to put in front. The shipped encoder has none, so all kinds agree.
        """
        return self.read(texts, kind=kind)[0]

    def read(
        self, texts: Sequence[str], *, kind: Kind = "passage", limit: int | None = None
    ) -> tuple[list[Vectors], int]:
        """Like :meth:`encode`, reading ``limit`` tokens of all texts together; also how many more there were.

        The texts are read in order, the one at the limit up to it; those after it get the row of zeros.
        """
        if isinstance(texts, str):
            raise InvalidInput("texts of the encoder", expected="a sequence of strings", got="one string")
        if kind not in _PROMPT_NAMES:
            raise InvalidInput("kind of text", expected=" or ".join(_PROMPT_NAMES), got=repr(kind))
        prompt = next((p for n in _PROMPT_NAMES[kind] if (p := self.folder.prompts.get(n))), "")
        # No tokenizer makes more tokens than twice the characters: most calls need not count.
        if limit is not None and 2 * sum(map(len, texts)) > limit:
            return self._encode(texts, prompt, limit)
        keys = [_key(prompt, text, i) for i, text in enumerate(texts)]
        found = self._cache.get_all(keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        if missing:
            fresh = dict(zip(missing, self._encode(list(missing.values()), prompt)[0], strict=True))
            self._cache.put_all(fresh)
            found |= fresh
        return [found[key] for key in keys], 0

    def close(self) -> None:
        """Free the model, the threads and the cache. Using the encoder again loads them again."""
        with self._lock:
            pool, self._pool, self._model = self._pool, None, None
        self._cache.clear()
        if pool is not None and pool[0] == os.getpid():
            pool[1].shutdown(wait=True)

    def __enter__(self) -> Encoder:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Encoder({self.name!r}, window={self.window}, stride={self.stride}, threads={self.threads})"

    def __reduce__(self) -> tuple[object, ...]:
        # Sent to another process (multiprocessing, Ray) as its arguments: sessions and threads stay home.
        return _rebuild, (self.path, self._arguments)

    def _encode(self, texts: Sequence[str], prompt: str, limit: int | None = None) -> tuple[list[Vectors], int]:
        model = self._loaded()
        room = self.window - model.overhead(prompt)
        if room < 1:
            raise InvalidInput("window of the encoder", expected="room for text after the prompt", got=str(self.window))
        found: list[Vectors] = []
        seen = 0
        for block in _blocks(texts):  # token ids take ten times the room of their text: those of a block at a time
            pieces: list[tuple[int, Sequence[int]]] = []
            alone = len(block) == 1 and len(block[0]) > _BLOCK
            for t, all_ids in enumerate([model.ids(block[0])] if alone else model.tokenize(block)):
                kept = all_ids if limit is None else all_ids[: max(0, limit - seen)]
                seen += len(all_ids)
                pieces += [(t, ids) for ids in windows(kept, room, min(self.stride, room)) if len(ids)]
            rows: list[list[tuple[int, Vectors]]] = [[] for _ in block]
            batches = list(buckets([len(ids) for _, ids in pieces], self.batch_tokens))
            run = partial(_run, model, pieces, prompt)
            for batch, vectors in zip(batches, self._map(run, batches), strict=True):
                for i, vector in zip(batch, vectors, strict=True):
                    rows[pieces[i][0]].append((i, vector))
            found += [_frozen([v for _, v in sorted(row, key=lambda p: p[0])], model.dim) for row in rows]
        return found, 0 if limit is None else max(0, seen - limit)

    def _map(self, function: Any, batches: list[list[int]]) -> Iterator[Vectors]:
        """The function of each batch, some batches at a time: between them the work may be given up."""
        step = _STEP * self.threads
        for begin in range(0, len(batches), step):
            cancelling.check()
            yield from self._map_at_once(function, batches[begin : begin + step])

    def _map_at_once(self, function: Any, batches: list[list[int]]) -> Iterator[Vectors]:
        if self.threads == 1 or len(batches) < 2:
            return map(function, batches)
        with self._lock:
            # After a fork the parent's threads are gone; work given to them would wait for ever.
            if self._pool is None or self._pool[0] != os.getpid():
                self._pool = os.getpid(), ThreadPoolExecutor(self.threads, thread_name_prefix="encoder")
            return self._pool[1].map(function, batches)

    def _loaded(self) -> _Model:
        with self._lock:
            if self._model is None:
                self._model = _shared(self.folder)
            return self._model


def _shared(folder: _Folder) -> _Model:
    """One loaded model for all encoders of a folder: a pipeline's five components hold one, freed with the last."""
    files = [(file.resolve(), file.stat().st_mtime_ns) for file in (folder.model, folder.tokenizer)]
    with _sharing:
        key = (*files, folder.pooling)
        if (model := _models.get(key)) is None:
            model = _models[key] = _Model(folder)
        return model


def _run(model: _Model, pieces: Sequence[tuple[int, Sequence[int]]], prompt: str, batch: Sequence[int]) -> Vectors:
    return model.run([pieces[i][1] for i in batch], prompt)


def _blocks(texts: Sequence[str]) -> Iterator[list[str]]:
    """The texts in order, in groups of some hundred thousand characters; a longer text is a group of its own."""
    block: list[str] = []
    size = 0
    for text in texts:
        if block and size + len(text) > _BLOCK:
            yield block
            block, size = [], 0
        block.append(text)
        size += len(text)
    if block:
        yield block


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


def buckets(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Group indices of texts of like length, longest first, padded size within `budget` tokens (one text at least)."""
    batch: list[int] = []
    for i in sorted(range(len(lengths)), key=lambda i: (-lengths[i], i)):
        if batch and lengths[batch[0]] * (len(batch) + 1) > budget:
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


@dataclass(frozen=True)
class _Folder:
    """What a model folder says about itself."""

    path: Path
    model: Path
    tokenizer: Path
    name: str
    pooling: str = "mean"
    max_tokens: int = 512
    batch_tokens: int = _BATCH_TOKENS
    prompts: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> _Folder:
        if not path.is_dir():
            raise InvalidInput(
                f"no encoder folder at {path}", expected="a local folder with model.onnx and tokenizer.json"
            )
        candidates = [path / folder / name for name in _MODELS for folder in ("", "onnx")]
        model = next((file for file in candidates if file.is_file()), None)
        if model is None:
            raise InvalidInput(
                f"encoder folder {path} has no ONNX model",
                expected="model.onnx or onnx/model.onnx (export one with optimum or sentence-transformers)",
            )
        tokenizer = path / "tokenizer.json"
        if not tokenizer.is_file():
            raise InvalidInput(f"encoder folder {path} has no tokenizer.json", expected="a tokenizers (fast) file")
        own = _json(path / "encoder.json")
        prompts = own.get("prompts") or _json(path / "config_sentence_transformers.json").get("prompts") or {}
        longest = own.get("max_tokens") or _json(path / "sentence_bert_config.json").get("max_seq_length")
        positions = _json(path / "config.json").get("max_position_embeddings")
        return cls(
            path,
            model,
            tokenizer,
            name=str(own.get("name") or path.resolve().name),
            pooling=own.get("pooling") or _pooling(path / "1_Pooling" / "config.json"),
            max_tokens=int(longest or min(512, positions or 512)),
            batch_tokens=int(own.get("batch_tokens") or _BATCH_TOKENS),
            prompts={str(k): str(v) for k, v in prompts.items() if v},
        )


class _Model:
    """A loaded tokenizer and session: token ids in, unit vectors out."""

    def __init__(self, folder: _Folder) -> None:
        try:
            import onnxruntime
            from tokenizers import Tokenizer
        except ImportError as error:
            raise RuntimeUnavailable(f"the embedded encoder needs {error.name}: pip install {error.name}") from error
        options = onnxruntime.SessionOptions()
        # One core a run: many windows run side by side, which scales better than splitting small matrices.
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            self.tokenizer = Tokenizer.from_file(str(folder.tokenizer))
            self.session = onnxruntime.InferenceSession(str(folder.model), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # both libraries raise bare Exception subclasses of their own
            raise RuntimeUnavailable(f"cannot load the encoder in {folder.path}: {error}") from error
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        self.tokenizer.encode_special_tokens = True  # "[SEP]" in somebody's text is text, not a separator
        self.inputs = {i.name: np.int32 if "int32" in i.type else np.int64 for i in self.session.get_inputs()}
        if unknown := set(self.inputs) - {"input_ids", "attention_mask", "token_type_ids"}:
            raise InvalidInput(
                f"{folder.model.name} asks for {sorted(unknown)}",
                expected="inputs input_ids, attention_mask and token_type_ids",
            )
        outputs = self.session.get_outputs()
        pooled = [o for o in outputs if len(o.shape) == 2]
        self.pooled = bool(pooled)
        self.output = (pooled or outputs)[0].name
        self.pooling = folder.pooling
        self.begin, self.end = self._special()
        self.dim = int(self.run([self.tokenize(["a"])[0]], "").shape[1])

    def tokenize(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of each text, no special tokens; lone surrogates become `?`."""
        clean = [text.encode("utf-8", "replace").decode() for text in texts]
        return [e.ids for e in self.tokenizer.encode_batch_fast(clean, add_special_tokens=False)]

    def ids(self, text: str) -> Sequence[int]:
        """Token ids of one long text, no special tokens."""
        found = array("i")  # four bytes a token
        for part in parts(text, _BLOCK):
            cancelling.check()
            found.extend(self.tokenize([part])[0])
        return found

    def overhead(self, prompt: str) -> int:
        """Tokens of a window that are not text."""
        return len(self._prefix(prompt)) + len(self.end)

    def run(self, pieces: Sequence[Sequence[int]], prompt: str) -> Vectors:
        """Unit vectors (pieces, dim) of token ids, special tokens and prompt added here."""
        prefix = self._prefix(prompt)
        rows = [[*prefix, *ids, *self.end] for ids in pieces]
        ids = np.zeros((len(rows), max(map(len, rows))), np.int64)
        mask = np.zeros_like(ids)
        for i, row in enumerate(rows):
            ids[i, : len(row)] = row
            mask[i, : len(row)] = 1
        values = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        feed = {name: values[name].astype(kind, copy=False) for name, kind in self.inputs.items()}
        (out,) = self.session.run([self.output], feed)
        return _unit(np.asarray(out if self.pooled else _POOL[self.pooling](out, mask), np.float32))

    def _prefix(self, prompt: str) -> list[int]:
        return self.begin + (self.tokenize([prompt])[0] if prompt else [])

    def _special(self) -> tuple[list[int], list[int]]:
        # What the tokenizer itself puts around a text, found by asking it: no name of a special token is assumed.
        inner = self.tokenizer.encode("a", add_special_tokens=False).ids
        full = self.tokenizer.encode("a", add_special_tokens=True).ids
        at = next((i for i in range(len(full)) if full[i : i + len(inner)] == inner), 0)
        return full[:at], full[at + len(inner) :]


class _Cache:
    """Least recently used vectors, bounded in bytes; safe between threads."""

    def __init__(self, size: int) -> None:
        self.size, self.used = size, 0
        self._items: OrderedDict[bytes, Vectors] = OrderedDict()
        self._lock = Lock()

    def get_all(self, keys: Sequence[bytes]) -> dict[bytes, Vectors]:
        with self._lock:
            found = {key: self._items[key] for key in keys if key in self._items}
            for key in found:
                self._items.move_to_end(key)
            return found

    def put_all(self, fresh: dict[bytes, Vectors]) -> None:
        with self._lock:
            for key, vectors in fresh.items():
                if key not in self._items and vectors.nbytes <= self.size:
                    self._items[key] = vectors
                    self.used += vectors.nbytes
            while self.used > self.size:
                _, oldest = self._items.popitem(last=False)
                self.used -= oldest.nbytes

    def clear(self) -> None:
        with self._lock:
            self._items.clear()
            self.used = 0

    def __len__(self) -> int:
        return len(self._items)


def _mean(states: NDArray[Any], mask: NDArray[Any]) -> NDArray[Any]:
    weights = mask[..., None].astype(states.dtype)
    return (states * weights).sum(1) / np.maximum(weights.sum(1), 1)  # type: ignore[no-any-return]


def _cls(states: NDArray[Any], mask: NDArray[Any]) -> NDArray[Any]:
    return states[:, 0]


_POOL = {"mean": _mean, "cls": _cls}


def _pooling(file: Path) -> str:
    config = _json(file)
    named = config.get("pooling_mode")  # newer folders name it, older ones have one flag per mode
    flags = [k.removeprefix("pooling_mode_").removesuffix("_tokens").removesuffix("_token")
             for k, v in config.items() if k.startswith("pooling_mode_") and v is True]  # fmt: skip
    modes = [named] if isinstance(named, str) else flags or ["mean"]
    if len(modes) != 1 or modes[0] not in _POOL:
        raise InvalidInput(f"pooling in {file}", expected="mean or cls", got=" and ".join(modes))
    return modes[0]


def _json(file: Path) -> dict[str, Any]:
    if not file.is_file():
        return {}
    try:
        value = json.loads(file.read_text("utf-8"))
    except ValueError as error:
        raise InvalidInput(f"{file} is not JSON: {error}") from error
    return value if isinstance(value, dict) else {}


def _key(prompt: str, text: str, position: int) -> bytes:
    if not isinstance(text, str):
        raise InvalidInput(f"text {position} of the encoder", expected="a string", got=type(text).__name__)
    return hashlib.blake2b(f"{len(prompt)}:{prompt}{text}".encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _unit(vectors: Vectors) -> Vectors:
    norms = np.linalg.norm(vectors, axis=-1, keepdims=True)
    unit: Vectors = (vectors / np.maximum(norms, 1e-12)).astype(np.float32, copy=False)
    return unit


def _frozen(rows: list[Vectors], dim: int) -> Vectors:
    vectors = np.stack(rows) if rows else np.zeros((1, dim), np.float32)
    vectors.setflags(write=False)
    return vectors


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _rebuild(path: Path, arguments: dict[str, Any]) -> Encoder:
    return Encoder(path, **arguments)
