"""The sentence encoder: text to unit vectors, on a CPU, with onnxruntime, tokenizers and numpy alone.

The encoder that ships is all-MiniLM-L6-v2 (Apache-2.0, 22M parameters, 384 dimensions; Reimers & Gurevych 2019,
Wang et al. 2020) with int8 weights; `training/build_encoder.py` makes it. Any local folder in the
sentence-transformers layout works in its place.

What it is not: a cross-encoder. A vector is made without seeing the other text, so a cosine says that two texts are
about the same thing, not that one answers or supports the other. Negation, numbers and roles hardly move it; a
cross-encoder or a language model reads those.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from intrinsics_core._support import cancellation
from intrinsics_core.embedded.models.onnx_model import OnnxModel, OnnxSession, json_object, windows
from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.text.memory import parts

Vectors = NDArray[np.float32]
Kind = Literal["query", "passage", "sentence"]

SHIPPED = Path(__file__).resolve().parents[2] / "data" / "encoder"

_MODELS = ("model.onnx", "model_quantized.onnx", "model_int8.onnx", "model_O3.onnx", "model_O2.onnx")
_WINDOW = 256  # tokens, special ones included: what the shipped encoder was trained on
_BATCH_TOKENS = 1024  # on a CPU the cost per token is flat from here on; more would only pad more
_BLOCK = 200_000  # characters tokenized at a time
_PROMPT_NAMES = {
    "query": ("query",),
    "passage": ("passage", "document"),
    "sentence": ("sentence", "passage", "document"),
}


class BiEncoder(OnnxModel["VectorSession", Vectors]):
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

    >>> with BiEncoder() as encoder:  # doctest: +SKIP
    ...     query, passage = encoder.encode(["Who wrote Emma?", "Emma is a novel by Jane Austen."])
    ...     float((query @ passage.T).max())
    """

    kind = "encoder"
    size_of = attrgetter("nbytes")
    least: ClassVar[Mapping[str, int]] = {**OnnxModel.least, "window": 8, "stride": 1, "batch_tokens": 1}

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
        super().__init__(SHIPPED if path is None else Path(path), window=window, stride=stride, threads=threads,
                         batch_tokens=batch_tokens, cache_size=cache_size)  # fmt: skip
        self.folder = _Folder.read(self.path)
        self.window = min(window or _WINDOW, self.folder.max_tokens)
        self.stride = min(stride or self.window * 3 // 4, self.window)
        self.batch_tokens = batch_tokens or self.folder.batch_tokens

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
            raise InvalidInput("the texts must be a sequence of strings", got="one string")
        if kind not in _PROMPT_NAMES:
            raise InvalidInput("the kind of text is unknown", expected=" or ".join(_PROMPT_NAMES), got=repr(kind))
        prompt = next((p for n in _PROMPT_NAMES[kind] if (p := self.folder.prompts.get(n))), "")
        # No tokenizer makes more tokens than twice the characters: most calls need not count.
        if limit is not None and 2 * sum(map(len, texts)) > limit:
            return self._encode(texts, prompt, limit)
        for i, text in enumerate(texts):
            if not isinstance(text, str):
                raise InvalidInput(f"text {i} is not a string", expected="a string", got=type(text).__name__)
        items = [(prompt, text) for text in texts]
        return self._remembered(items, lambda new: self._encode([text for _, text in new], prompt)[0]), 0

    def __repr__(self) -> str:
        return f"BiEncoder({self.name!r}, window={self.window}, stride={self.stride}, threads={self.threads})"

    def _identity(self) -> tuple[object, ...]:
        return self.folder.model.resolve(), self.folder.tokenizer.resolve(), self.folder.pooling

    def _load(self) -> VectorSession:
        return VectorSession(self.folder)

    def _encode(self, texts: Sequence[str], prompt: str, limit: int | None = None) -> tuple[list[Vectors], int]:
        model = self._loaded()
        before = model.before(prompt)
        room = self.window - len(before) - len(model.end)
        if room < 1:
            raise InvalidInput(
                "the encoder's window is too small", expected="room for text after the prompt", got=str(self.window)
            )
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
            given = [[pieces[i][1] for i in batch] for batch in batches]
            for batch, vectors in zip(batches, self._map(partial(model.run, before), given), strict=True):
                for i, vector in zip(batch, vectors, strict=True):
                    rows[pieces[i][0]].append((i, vector))
            found += [_frozen([v for _, v in sorted(row, key=lambda p: p[0])], model.dim) for row in rows]
        return found, 0 if limit is None else max(0, seen - limit)


def averaged(vectors: Sequence[Vectors]) -> list[list[float]]:
    """One vector of length 1 for each text: the mean of its windows.

    A text without a token has the vector whose parts are all alike, which is far from the vector of any text: vector
    stores refuse one of zeros.
    """
    means = [windows.mean(0) if windows.any() else np.ones(windows.shape[1]) for windows in vectors]
    return [(mean / float(np.linalg.norm(mean))).tolist() for mean in means]


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

    model: Path
    tokenizer: Path
    name: str
    pooling: str
    max_tokens: int
    batch_tokens: int
    prompts: Mapping[str, str]

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
        own = json_object(path / "encoder.json")
        prompts = own.get("prompts") or json_object(path / "config_sentence_transformers.json").get("prompts") or {}
        longest = own.get("max_tokens") or json_object(path / "sentence_bert_config.json").get("max_seq_length")
        positions = json_object(path / "config.json").get("max_position_embeddings")
        return cls(
            model,
            tokenizer,
            name=str(own.get("name") or path.resolve().name),
            pooling=own.get("pooling") or _pooling(path / "1_Pooling" / "config.json"),
            max_tokens=_count(path, "max_tokens", longest or min(512, _count(path, "positions", positions or 512))),
            batch_tokens=_count(path, "batch_tokens", own.get("batch_tokens") or _BATCH_TOKENS),
            prompts={str(k): str(v) for k, v in prompts.items() if v} if isinstance(prompts, dict) else {},
        )


def _count(path: Path, name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 1 <= value < 2**31:
        raise InvalidInput(f"encoder folder {path}: {name} is not a count", expected="a whole number of at least 1",
                           got=repr(value)[:80])  # fmt: skip
    return int(value)


class VectorSession(OnnxSession):
    """Token ids in, unit vectors out."""

    def __init__(self, folder: _Folder) -> None:
        super().__init__("encoder", folder.model, folder.tokenizer)
        outputs = self.session.get_outputs()
        pooled = [o for o in outputs if len(o.shape) == 2]
        self.pooled = bool(pooled)
        self.name = (pooled or outputs)[0].name
        self.pooling = folder.pooling
        # What the tokenizer itself puts around a text, found by asking it: no name of a special token is assumed.
        inner, full = (self.tokenizer.encode("a", add_special_tokens=added).ids for added in (False, True))
        at = next((i for i in range(len(full)) if full[i : i + len(inner)] == inner), 0)
        self.begin, self.end = full[:at], full[at + len(inner) :]
        self.dim = int(self.run(self.begin, self.tokenize(["a"])).shape[1])

    def ids(self, text: str) -> Sequence[int]:
        """Token ids of one long text, no special tokens."""
        found = array("i")  # four bytes a token
        for part in parts(text, _BLOCK):
            cancellation.check()
            found.extend(self.tokenize([part])[0])
        return found

    def before(self, prompt: str) -> list[int]:
        """What stands before a text in its window: the special token and the prompt."""
        return self.begin + (self.tokenize([prompt])[0] if prompt else [])

    def run(self, before: Sequence[int], pieces: Sequence[Sequence[int]]) -> Vectors:
        """Unit vectors (pieces, dim) of token ids that stand behind these."""
        out, mask = self.output(self.name, [[*before, *ids, *self.end] for ids in pieces])
        vectors = np.asarray(out if self.pooled else _POOL[self.pooling](out, mask), np.float32)
        norms = np.linalg.norm(vectors, axis=-1, keepdims=True)
        unit: Vectors = (vectors / np.maximum(norms, 1e-12)).astype(np.float32, copy=False)
        return unit


def _mean(states: NDArray[Any], mask: NDArray[Any]) -> NDArray[Any]:
    weights = mask[..., None].astype(states.dtype)
    return (states * weights).sum(1) / np.maximum(weights.sum(1), 1)  # type: ignore[no-any-return]


def _cls(states: NDArray[Any], mask: NDArray[Any]) -> NDArray[Any]:
    return states[:, 0]


_POOL = {"mean": _mean, "cls": _cls}


def _pooling(file: Path) -> str:
    config = json_object(file)
    named = config.get("pooling_mode")  # newer folders name it, older ones have one flag per mode
    flags = [k.removeprefix("pooling_mode_").removesuffix("_tokens").removesuffix("_token")
             for k, v in config.items() if k.startswith("pooling_mode_") and v is True]  # fmt: skip
    modes = [named] if isinstance(named, str) else flags or ["mean"]
    if len(modes) != 1 or modes[0] not in _POOL:
        raise InvalidInput(f"the pooling in {file} is unknown", expected="mean or cls", got=" and ".join(modes))
    return modes[0]


def _frozen(rows: list[Vectors], dim: int) -> Vectors:
    vectors = np.stack(rows) if rows else np.zeros((1, dim), np.float32)
    vectors.setflags(write=False)
    return vectors
