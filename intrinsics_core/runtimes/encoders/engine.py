"""``encoders``: cross-encoders, models of inference and token classifiers that the user names, in this process."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from intrinsics_core.errors import IntrinsicsError, InvalidInput, UnsupportedIntrinsic
from intrinsics_core.profiles.base import Profile
from intrinsics_core.profiles.encoders import ROLES, encoders_profile
from intrinsics_core.requests import Outcome, Request, Score, Tag
from intrinsics_core.runtimes.base import BlockingRuntime, Runtime, broken
from intrinsics_core.runtimes.configs import EncodersConfig, checked
from intrinsics_core.runtimes.embedded import EmbeddedRuntime

if TYPE_CHECKING:
    from intrinsics_core.runtimes.encoders.models import EncoderModel


class EncodersRuntime(BlockingRuntime):
    """Serves the ``encoders`` profile with models of the user's choice; at least one of the three is named.

    Args:
        relevance: a cross-encoder with one label, or mxbai-rerank v2 or Qwen3-Reranker: reranking, context relevance,
            answerability, and which sources a fact check reads.
        entailment: a model of inference or a checker (cross-encoder/nli-*, MiniCheck, HHEM-2.1-open): hallucination
            detection per sentence, citations, and the fact check itself.
        tokens: a token classifier (LettuceDetect): hallucination detection with the spans within sentences.
        backend: ``"torch"``; or, without torch, a file of the model's folder: ``"onnx"`` by onnxruntime, ``"openvino"``
            by OpenVINO, in its own format or in ONNX.
        revision: commit, tag or branch of the models on the hub that name none themselves (``owner/name@revision``).
        file_name: that file, e.g. ``"onnx/model_qint8_avx512.onnx"``; None: ``onnx/model.onnx`` or ``model.onnx``; for
            OpenVINO ``openvino/openvino_model.xml`` or ``openvino_model.xml`` before these.
        device: ``"cpu"``, ``"cuda"``, ``"mps"``, for OpenVINO one of its own; None: a GPU where torch sees one.
        batch_tokens: bound on rows times the longest input of a batch.
        max_document_tokens: most tokens of one request's sources that are read, by the model's own tokenizer; the
            result's ``unread`` says how many more there were.
        base: the runtime that serves everything else; None: the embedded one, with the same bound.

    Raises:
        InvalidInput: no model is named, or an option makes no sense.

    Models are folders or repositories on the hub, with weights in safetensors or ONNX; none of their code is run. Each
    is loaded at its first request. Sources of any length are read in overlapping windows; a claim, a question or an
    answer is never cut: one that is too long is a :class:`ContextTooLong`. ``read`` of a result is the share of the
    sources that was read. Safe to share between threads: they take turns.

    Example:
        >>> runtime = EncodersRuntime(relevance="mixedbread-ai/mxbai-rerank-base-v1",
        ...     entailment="lytang/MiniCheck-Flan-T5-Large")  # doctest: +SKIP
        >>> run(fact_check(messages, documents), runtime).claims  # doctest: +SKIP
    """

    def __init__(
        self,
        relevance: str | Path | None = None,
        entailment: str | Path | None = None,
        tokens: str | Path | None = None,
        *,
        backend: str = "torch",
        revision: str | None = None,
        file_name: str | None = None,
        device: str | None = None,
        batch_tokens: int = 4096,
        max_document_tokens: int = 10_000_000,
        base: Runtime | None = None,
    ) -> None:
        given = checked(EncodersConfig, relevance=relevance, entailment=entailment, tokens=tokens, backend=backend,
                        revision=revision, file_name=file_name, device=device, batch_tokens=batch_tokens,
                        max_document_tokens=max_document_tokens)  # fmt: skip
        self.places: dict[str, str] = {role: place for role in ROLES if (place := getattr(given, role)) is not None}
        if not self.places:
            raise InvalidInput("runtime config of kind 'encoders' names no model",
                               expected=f"at least one of {', '.join(ROLES)}")  # fmt: skip
        self._options: dict[str, Any] = {
            name: getattr(given, name)
            for name in ("backend", "revision", "file_name", "device", "batch_tokens", "max_document_tokens")
        }
        self.base = base or EmbeddedRuntime(max_document_tokens=given.max_document_tokens)
        self.profile: Profile = encoders_profile(self.places, self.base.profile)
        self.concurrency = self.base.concurrency
        self._models: dict[str, EncoderModel] = {}
        self._lock = threading.Lock()

    def handle(self, requests: Sequence[Request]) -> list[Outcome]:
        outcomes: dict[int, Outcome] = {}
        groups: dict[str | None, list[int]] = {}
        for i, request in enumerate(requests):
            groups.setdefault(self._role(request), []).append(i)
        for role, members in groups.items():
            wave = [requests[i] for i in members]
            try:
                answers = self.base.handle(wave) if role is None else self._answered(role, wave)
            except Exception as error:  # what breaks one model costs the others nothing
                answers = list(broken(error, wave))
            outcomes |= zip(members, answers, strict=True)
        return [outcomes[i] for i in range(len(requests))]

    def _role(self, request: Request) -> str | None:
        """The model that a request is for; None: the base's, whose heads were fitted on its own reader's logits."""
        if isinstance(request, Tag):
            return "tokens"
        return request.task if isinstance(request, Score) and not request.own and request.task in self.places else None

    def _answered(self, role: str, wave: Sequence[Any]) -> list[Outcome]:
        if role not in self.places:
            return [_refused(role, request, list(self.places)) for request in wave]
        with self._lock:
            return self._model(role).answer(wave)

    def _model(self, role: str) -> EncoderModel:
        from intrinsics_core.runtimes.encoders.models import EncoderModel  # numpy and a model: only when needed

        if role not in self._models:
            self._models[role] = EncoderModel(role, self.places[role], **self._options)
        return self._models[role]

    def warm_up(self) -> None:
        """Load the models, and what the base loads.

        Raises:
            InvalidInput: a model is of no kind that serves what it was named for; the message says what was read.
            RuntimeUnavailable: a model cannot be had or loaded.
        """
        with self._lock:
            for role in self.places:
                self._model(role)
        self.base.warm_up()

    def close(self) -> None:
        with self._lock:
            self._models.clear()
        self.base.close()

    def __repr__(self) -> str:
        return f"EncodersRuntime({', '.join(f'{role}={place!r}' for role, place in self.places.items())})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self.places | self._options | {"base": self.base},)


def _rebuild(arguments: dict[str, Any]) -> EncodersRuntime:
    return EncodersRuntime(**arguments)


def _refused(role: str, request: Request, named: Sequence[str]) -> IntrinsicsError:
    return UnsupportedIntrinsic(f"the encoders runtime has no model for {role!r}", intrinsic=request.intrinsic,
                                expected=f"one of {', '.join(ROLES)} in its config", got=", ".join(named))  # fmt: skip
