"""``encoders``: cross-encoders, models of inference and token classifiers that the user names, in this process."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from intrinsics_core.encoders.over_base import OverBaseRuntime
from intrinsics_core.protocol.requests import Outcome, Request, Score, Tag
from intrinsics_core.runtimes.base import BlockingRuntime, answers, broken

if TYPE_CHECKING:
    from intrinsics_core.encoders.models import EncoderModel


class EncodersRuntime(OverBaseRuntime, BlockingRuntime):
    """Models of the user's choice in this process; :class:`EncodersConfig` says what it is told.

    Models are folders or repositories on the hub, with weights in safetensors or ONNX; none of their code is run. Each
    is loaded at its first request. Sources of any length are read in overlapping windows; a claim, a question or an
    answer is never cut: one that is too long is a :class:`ContextTooLong`. ``read`` of a result is the share of the
    sources that was read. Safe to share between threads: they take turns.

    Example:
        >>> runtime = EncodersRuntime(relevance="mixedbread-ai/mxbai-rerank-base-v1",
        ...     entailment="lytang/MiniCheck-Flan-T5-Large")  # doctest: +SKIP
        >>> run(fact_check(messages, documents), runtime).claims  # doctest: +SKIP
    """

    def prepare(self) -> None:
        super().prepare()
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
            found = answers(self.base, wave) if role is None else self._answered(role, wave)
            outcomes |= zip(members, found, strict=True)
        return [outcomes[i] for i in range(len(requests))]

    def _role(self, request: Request) -> str | None:
        """The model that a request is for; None: the base's, whose heads were fitted on its own reader's logits."""
        if isinstance(request, Tag):
            return "tokens"
        return request.task if isinstance(request, Score) and not request.own and request.task in self.places else None

    def _answered(self, role: str, wave: Sequence[Any]) -> list[Outcome]:
        if role not in self.places:
            return [self.refused(role, request) for request in wave]
        try:
            with self._lock:
                return self._model(role).answer(wave)
        except Exception as error:  # what breaks one model costs the others nothing
            return broken(error, wave)

    def _model(self, role: str) -> EncoderModel:
        from intrinsics_core.encoders.models import EncoderModel  # numpy and a model: only when needed

        if role not in self._models:
            self._models[role] = EncoderModel(role, self.places[role], self.config)
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
        super().warm_up()

    def close(self) -> None:
        with self._lock:
            self._models.clear()
        self.base.close()
