"""The default runtime: a small sentence encoder on the CPU. Offline, no server, no language model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from intrinsics_core.forks import Lock
from intrinsics_core.profiles.base import Profile
from intrinsics_core.profiles.embedded import embedded_profile
from intrinsics_core.requests import Embed, Embedded, Outcome, Request
from intrinsics_core.runtimes.base import BlockingRuntime, unsupported
from intrinsics_core.runtimes.configs import EmbeddedConfig, checked

if TYPE_CHECKING:
    from intrinsics_core.embedded.encoder import Encoder


class EmbeddedRuntime(BlockingRuntime):
    """Serves the ``embedded`` profile with the encoder that ships, or any better one.

    Args:
        path: a local folder in the sentence-transformers layout with an ONNX model; None: the encoder that ships.
        calibrations: by intrinsic, what :func:`intrinsics_core.calibrate` fitted on your own data: a
            `Calibration`, its JSON object, or the path of its file.
        thresholds: by intrinsic and name, e.g. ``{"answerability": {"answerable": 0.6}}``; the names are in
            `intrinsics_core.profiles.embedded.THRESHOLDS`.
        threads: windows encoded at the same time; None: every core this process may use.
        cache_size: bytes of vectors kept, least recently used out first.
        max_document_tokens: most tokens of one request's documents that are read; the result's ``unread`` says how
            many more there were.

    Raises:
        InvalidInput: the folder, a calibration or a threshold cannot be used; the message names it.

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
    ) -> None:
        given = checked(EmbeddedConfig, path=path, calibrations=calibrations, thresholds=thresholds, threads=threads,
                        cache_size=cache_size, max_document_tokens=max_document_tokens)  # fmt: skip
        self.max_document_tokens = given.max_document_tokens
        self._arguments: dict[str, Any] = {
            "path": given.path, "threads": given.threads, "cache_size": given.cache_size,
        }  # fmt: skip
        self.calibrations, self.thresholds = dict(given.calibrations or {}), dict(given.thresholds or {})
        self.profile: Profile = embedded_profile(self.calibrations, self.thresholds)
        self._lock = Lock()
        self._encoder: Encoder | None = None
        if path is not None:
            self.encoder.close()  # a wrong folder is told at once, not at the first request

    @property
    def encoder(self) -> Encoder:
        from intrinsics_core.embedded.encoder import Encoder  # onnxruntime and numpy: only when needed

        with self._lock:  # two first callers must not hold a model each
            if self._encoder is None:
                self._encoder = Encoder(**self._arguments)
            return self._encoder

    def handle(self, requests: Sequence[Request]) -> list[Outcome]:
        # One call per kind of text for the whole wave: the encoder buckets by length and encodes each text once.
        outcomes: dict[int, Outcome] = {}
        kinds: dict[str, list[int]] = {}
        for i, request in enumerate(requests):
            if isinstance(request, Embed):
                kinds.setdefault(request.kind, []).append(i)
            else:
                outcomes[i] = unsupported("embedded", request)
        for members in kinds.values():
            wave = [(i, request) for i in members if isinstance(request := requests[i], Embed)]
            # Those that may be too long go alone: what is cut of one must not depend on another.
            long = [(i, r) for i, r in wave if 2 * sum(map(len, r.texts)) > self.max_document_tokens]
            for i, request in long:
                read, unread = self.encoder.read(request.texts, kind=request.kind, limit=self.max_document_tokens)
                outcomes[i] = Embedded(tuple(read), unread)
            wave = [(i, request) for i, request in wave if i not in outcomes]
            texts = [text for _, request in wave for text in request.texts]
            vectors = iter(self.encoder.encode(texts, kind=wave[0][1].kind) if wave else ())
            for i, request in wave:
                outcomes[i] = Embedded(tuple(next(vectors) for _ in request.texts))
        return [outcomes[i] for i in range(len(requests))]

    def warm_up(self) -> None:
        """Load what first calls would wait for: model, table of rarities, heads."""
        from intrinsics_core.embedded import answering, head, lexical, support

        self.encoder.dim  # noqa: B018  (asking for it loads the model)
        lexical.idf(lexical.stem("warm"))
        answering.shipped_head()
        support.load_head()
        for name in ("rewrite", "rewrite_terms", "rewrite_dependence"):
            head.load_head(name)

    def close(self) -> None:
        if self._encoder is not None:
            self._encoder.close()

    def __repr__(self) -> str:
        return f"EmbeddedRuntime(path={self._arguments['path']!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        own = {
            "calibrations": self.calibrations,
            "thresholds": self.thresholds,
            "max_document_tokens": self.max_document_tokens,
        }
        return _rebuild, (self._arguments | own,)


def _rebuild(arguments: dict[str, Any]) -> EmbeddedRuntime:
    return EmbeddedRuntime(**arguments)
