"""The default runtime: a small sentence encoder and a reader on the CPU. Offline, no server, no language model."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from intrinsics_core._support.fork_safety import Lock
from intrinsics_core.embedded.profile import embedded_profile
from intrinsics_core.protocol.errors import IntrinsicsError, UnsupportedIntrinsic
from intrinsics_core.protocol.profile import Profile
from intrinsics_core.protocol.requests import Embed, Embedded, Outcome, Request, Score, ScoreTask
from intrinsics_core.protocol.results import build_all
from intrinsics_core.runtimes.base import BlockingRuntime, unsupported
from intrinsics_core.runtimes.configs import EmbeddedConfig, checked
from intrinsics_core.text.cleaning import without_runs

if TYPE_CHECKING:
    from intrinsics_core.embedded.models.bi_encoder import BiEncoder, Kind
    from intrinsics_core.embedded.models.cross_encoder import CrossEncoder

SHIPPED_READER = Path(__file__).resolve().parent.parent / "data" / "reader"
"""Where the reader that ships lies; a newer export takes its place, and `training.support` is run again."""


class EmbeddedRuntime(BlockingRuntime):
    """Serves the ``embedded`` profile with the encoder that ships, or any better one.

    Args:
        path: a local folder in the sentence-transformers layout with an ONNX model; None: the encoder that ships.
        calibrations: by intrinsic, what :func:`intrinsics_core.calibrate` fitted on your own data: a `Calibration`, its
            JSON object, or the path of its file.
        thresholds: by intrinsic and name, e.g. ``{"answerability": {"answerable": 0.6}}``: ``answerable``
            (answerability), ``relevant`` and ``partial`` (context relevance), ``faithful`` and ``unfaithful``
            (hallucination detection).
        threads: windows encoded at the same time; None: every core this process may use.
        cache_size: bytes of vectors kept, least recently used out first.
        reader: a reader's folder; None: the reader that ships, if one does; False: none, for speed alone.
        max_document_tokens: most tokens of one request's documents that are read; ``unread`` counts the others.

    Raises:
        InvalidInput: a folder, a calibration or a threshold cannot be used; the message names it.

    The model is loaded at the first request. Safe to share between threads.
    """

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        calibrations: Mapping[str, Any] | None = None,
        thresholds: Mapping[str, Mapping[str, float]] | None = None,
        threads: int | None = None,
        cache_size: int = 64 * 2**20,
        max_document_tokens: int = 10_000_000,
        reader: str | Path | Literal[False] | None = None,
    ) -> None:
        given = checked(EmbeddedConfig, path=path, calibrations=calibrations, thresholds=thresholds, threads=threads,
                        cache_size=cache_size, max_document_tokens=max_document_tokens, reader=reader)  # fmt: skip
        self.max_document_tokens, self.path, self.threads = given.max_document_tokens, given.path, given.threads
        self.cache_size, self._reads = given.cache_size, given.reader
        self.calibrations, self.thresholds = dict(given.calibrations or {}), dict(given.thresholds or {})
        shipped = SHIPPED_READER if given.reader is None and SHIPPED_READER.is_dir() else None
        self._folder = shipped or given.reader or None
        self._lock = Lock()
        self._encoder: BiEncoder | None = None
        self._reader: CrossEncoder | None = None
        if given.path is not None:
            self.encoder.close()  # a wrong folder is told at once, not at the first request
        self._tasks: tuple[ScoreTask, ...] = ()
        if given.reader:
            self._tasks = self.reader.tasks
        elif shipped:  # its file says enough: to make one here would load numpy, maybe on an event loop
            self._tasks = tuple(json.loads((shipped / "reader.json").read_text("utf-8"))["tasks"])
        self.profile: Profile = self._profile()

    def _profile(self) -> Profile:
        return embedded_profile(self.calibrations, self.thresholds, self._tasks, self.path is not None)

    def calibrate_by(self, calibrations: Mapping[str, Any]) -> Self:
        # The profile knows what was calibrated: text that nothing else was fitted on has a probability then.
        super().calibrate_by(calibrations)
        self.profile = self._profile()
        return self

    @property
    def encoder(self) -> BiEncoder:
        from intrinsics_core.embedded.models.bi_encoder import BiEncoder  # onnxruntime and numpy: only when needed

        with self._lock:  # two first callers must not hold a model each
            if self._encoder is None:
                self._encoder = BiEncoder(path=self.path, threads=self.threads, cache_size=self.cache_size)
            return self._encoder

    @property
    def has_reader(self) -> bool:
        """Whether claims and questions are read, not only looked up."""
        return self._folder is not None

    @property
    def reader(self) -> CrossEncoder:
        """The reader. Raises UnsupportedIntrinsic where there is none."""
        from intrinsics_core.embedded.models.cross_encoder import CrossEncoder

        with self._lock:
            if self._folder is None:
                raise UnsupportedIntrinsic("this runtime has no reader", expected="a folder as reader=")
            if self._reader is None:
                self._reader = CrossEncoder(self._folder, threads=self.threads)
            return self._reader

    def handle(self, requests: Sequence[Request]) -> list[Outcome]:
        # One call per kind of text for the whole wave: the encoder buckets by length and encodes each text once.
        outcomes: dict[int, Outcome] = {}
        kinds: dict[str, list[tuple[int, Embed]]] = {}
        for i, request in enumerate(map(_readable, requests)):
            if isinstance(request, Embed):
                kinds.setdefault(request.kind, []).append((i, request))
            elif isinstance(request, Score) and self.has_reader:
                outcomes[i] = self._scored(request)
            else:
                outcomes[i] = unsupported("embedded", request)
        for asked in kinds.values():
            wave = list[tuple[int, Embed]]()
            for i, request in asked:
                # Those that may be too long go alone: what is cut of one must not depend on another.
                if 2 * sum(map(len, request.texts)) > self.max_document_tokens:
                    outcomes[i] = self._read(request)
                else:
                    wave.append((i, request))
            texts = [text for _, request in wave for text in request.texts]
            vectors = iter(self.encoder.encode(texts, kind=wave[0][1].kind) if wave else ())
            for i, request in wave:
                outcomes[i] = Embedded(tuple(next(vectors) for _ in request.texts))
        return [outcomes[i] for i in range(len(requests))]

    def _read(self, request: Embed) -> Embedded:
        """As much of the texts as is read of one request, of each text where they stand apart."""
        limit = self.max_document_tokens
        if not request.apart:
            vectors, unread = self.encoder.read(request.texts, kind=request.kind, limit=limit)
            return Embedded(tuple(vectors), unread)
        each = {t: self.encoder.read((t,), kind=request.kind, limit=limit) for t in dict.fromkeys(request.texts)}
        return Embedded(tuple(each[text][0][0] for text in request.texts), sum(unread for _, unread in each.values()))

    def _scored(self, request: Score) -> Outcome:
        # Of use to a question is what answers it: the reader was taught the one, and knows the other by that.
        asked = replace(request, task="answers") if request.task == "relevance" else request
        try:
            return self.reader.score(asked)
        except IntrinsicsError as error:
            return error.named(request.intrinsic)

    def embed(self, texts: Sequence[str], *, kind: Kind = "passage") -> list[list[float]]:
        """One vector per text, for a vector store: the windows of a long text averaged, length 1. A text without a
        token gets a vector that is far from all others. Models that were trained with prompts tell the kinds apart.
        """
        from intrinsics_core.embedded.models.bi_encoder import averaged

        return averaged(self.encoder.encode([without_runs(text) for text in texts], kind=kind))

    def warm_up(self) -> None:
        """Load what first calls would wait for: models, table of rarities, heads, results."""
        from intrinsics_core.embedded import clauses, heads, relevance, support, words  # noqa: F401  (a call imports it)
        from intrinsics_core.embedded.rewrite import standing_alone

        self.encoder.dim  # noqa: B018  (asking for it loads the model)
        words.idf(words.stem("warm"))
        for of in ("relevance", "answerability"):
            relevance.shipped_head(of, reads=self.has_reader)
        for reads in {False, self.has_reader}:  # a citation is chosen without the reader
            support.load_head(reads=reads)
        if self.has_reader:
            self.reader.warm_up()
        for name in ("rewrite", "rewrite_terms", "rewrite_dependence"):
            heads.load_head(name)
        heads.load_head("readings", standing_alone.OPTIONS)
        for name in ("claims", "turn", "calls"):
            heads.load_text_head(name)
        heads.load_text_head("claims", vector=True)
        heads.load_text_head("answer_relevance", vector=self.has_reader)
        build_all()

    def close(self) -> None:
        if self._encoder is not None:
            self._encoder.close()
        if self._reader is not None:
            self._reader.close()

    def __repr__(self) -> str:
        return f"EmbeddedRuntime(path={self.path!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        own = ("calibrations", "thresholds", "threads", "cache_size", "max_document_tokens")
        given = {"path": self.path, "reader": self._reads} | {name: getattr(self, name) for name in own}
        return partial(EmbeddedRuntime, **given), ()


def _readable(request: Request) -> Request:
    """The request without what costs time and says nothing, such as a picture in base64."""
    if isinstance(request, Embed):
        return replace(request, texts=tuple(map(without_runs, request.texts)))
    if isinstance(request, Score):
        return replace(request, pairs=tuple((without_runs(a), without_runs(b)) for a, b in request.pairs))
    return request
