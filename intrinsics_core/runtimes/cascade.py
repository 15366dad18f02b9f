"""``cascade``: a judge that is cheap, and another for what the first is unsure of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from intrinsics_core.profiles.cascaded import cascaded, place_of
from intrinsics_core.protocol.errors import IntrinsicsError
from intrinsics_core.protocol.requests import Request
from intrinsics_core.runtimes.base import Runtime
from intrinsics_core.runtimes.mixed import Several, made_of


class Cascade(Several):
    """``then`` judges where ``first`` is unsure, fails or falls back; each result says in ``by`` who decided.

    >>> from intrinsics_core import answerability, as_runtime, run
    >>> from intrinsics_core.runtimes.scripted import Scripted
    >>> runtime = Cascade(as_runtime({"kind": "embedded"}), Scripted([]))
    >>> run(answerability([{"role": "user", "content": "Who built it?"}], ["Ada Brink built it."]), runtime).by
    'first'

    The gate, relevance, hallucination detection and the fact check are judged so, and with them the parts of an audit
    and of a flow. Everything else is asked of ``first``, or of ``then`` where ``first`` does not serve it. Where
    ``then`` fails, the verdict of ``first`` stands, and ``degraded`` says why.

    A calibration of ``first`` says what is unsure (its ``band``). Without one it is what the result calls so, a
    document that is *partially relevant*, and a fact check from .25 to .75.

    Args:
        first: judges all.
        then: judges what the first is unsure of.
    """

    def __init__(self, first: Runtime, then: Runtime) -> None:
        self.first, self.then = first, then
        self.profile = cascaded(first.profile, then.profile)
        self.concurrency = max(first.concurrency, then.concurrency)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.first!r}, {self.then!r})"

    def _for(self, request: Request) -> tuple[Runtime | IntrinsicsError, Request]:
        place, taken = place_of(request)
        return getattr(self, place), taken

    @property
    def _all(self) -> Sequence[Runtime]:
        return (self.first, self.then)


def cascade(first: Any, then: Any) -> Cascade:
    """The runtime of a config of kind ``cascade``. Raises InvalidInput where one is no runtime and no config."""
    return Cascade(**made_of("runtime", {"first": first, "then": then}))
