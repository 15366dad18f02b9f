"""What an integration tells the contract about itself: how its components are built, called and read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from intrinsics_core.chains.transcript import MadeCall

Plain = Mapping[str, Any]


class Adapter(Protocol):
    """One framework, in plain values. ``intrinsic`` is the core's name: ``"query-rewrite"``, ``"reranking"``, …"""

    intrinsics: Sequence[str]
    """The intrinsics that the integration has a component for."""

    def build(self, intrinsic: str, *, runtime: Any = None, on_error: str = "raise") -> Any:
        """The component. ``runtime`` is a core runtime, a config, or None. With another ``on_error`` than ``"raise"``
        it must be built so that a degraded result can be told from its output.
        """

    def inputs(self, intrinsic: str, messages: Sequence[Plain], documents: Sequence[Plain]) -> Any:
        """Native input from a conversation and ``{"id", "text", "metadata"}`` documents.

        ``id`` may be missing; a title is in the metadata.
        """

    def snapshot(self, inputs: Any) -> Any:
        """All that is in the input, as plain values that a later change of the input cannot reach."""

    def call(self, component: Any, inputs: Any) -> Any:
        """Run it."""

    async def acall(self, component: Any, inputs: Any) -> Any:
        """Run it on the running event loop, in the framework's asynchronous way."""

    def result(self, intrinsic: str, inputs: Any, output: Any) -> dict[str, Any]:
        """The output as :func:`tests.contract.suite.shown` shows the core's result, with ``"degraded"`` where it is."""

    def documents(self, output: Any) -> list[dict[str, Any]]:
        """Documents in an output, as ``{"id", "text", "metadata"}``."""

    def dump(self, component: Any) -> Any:
        """The component as JSON values, by the framework's own serialisation."""

    def load(self, dumped: Any) -> Any:
        """The component from what :meth:`dump` gave."""

    def check(self, **settings: Any) -> Any:
        """The component that judges an answer, with ``checks``, ``mode``, ``text`` and ``runtime``, without marks in
        the answer's text."""

    def answered(self, output: Any) -> tuple[str, Plain]:
        """Of its output: the answer's text, and the verdicts by name."""

    def cited(self, inputs: Any) -> str:
        """The answer's text with its citations written into it, inline and as text."""

    def again(self, inputs: Any, output: Any) -> Any:
        """Native input with what came out in the place of what went in: a ranking's documents, a checked answer."""

    def guarded(self, question: str, calls: Sequence[MadeCall], answer: str, **settings: Any) -> tuple[str, Plain]:
        """What the guard of an agent makes of its answer: text, and the verdicts by name.

        ``settings`` are ``mode``, ``tools`` and ``unretrieved``; the canned text is `decisions.BLOCKED`.
        """

    # Where an agent of the framework can be asked again, the adapter has, too:
    # def retried(self, answers: Sequence[str], *, asynchronous: bool, mode: str) -> tuple[Sequence[str], Plain, str]:
    #     """A real agent that searches, finds `decisions.MILL`, and gives these answers one after the other: the texts
    #     of the messages after its run, the verdicts on the last one, and what the model was told when asked again."""

    def renderings(self, component: Any) -> Iterable[str]:
        """All texts in which the framework shows a component: repr, dumps, traces."""
