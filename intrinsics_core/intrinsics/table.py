"""One record per intrinsic, and the table of them.

What the command line, `calibrate`, adapters with an ``io.yaml``, the contract suite and the table in the README say of
an intrinsic, they read here. A new one registers itself where its function is written; nothing else repeats it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from intrinsics_core.protocol.call import Call
from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.protocol.names import unknown
from intrinsics_core.protocol.results import Result
from intrinsics_core.protocol.task import Role, Task

F = TypeVar("F", bound=Callable[..., Call[Any]])


@dataclass(frozen=True)
class Record:
    """What is known of an intrinsic besides how it works.

    Attributes:
        name: as the command line, requests and errors spell it: ``"context-relevance"``.
        function: checks the input and returns a call.
        result: the type of what it answers.
        ends_with: roles that the last turn may have.
        needs_documents: whether ``documents`` must be given. An empty list is given: see ``empty``.
        empty: the result where there is nothing to judge (no documents, an empty answer), from the task and the reason;
            None where the intrinsic looks at neither.
        of_each: whether the result says something of each document. Where it does not, documents that have no text at
            all are like none.
        fallbacks: by what ``on_error`` names, the degraded result from the task and the reason.
        score: the number of a result that a label is about, for `calibrate`; None where there is none.
        judges: what one labelled example says yes or no to, in words.
        needs_model: whether only a language model serves it, so that the embedded default does not.
        needs, gives: what goes in and comes out, in words, for tables of documentation.
    """

    name: str
    function: Callable[..., Call[Any]] = field(repr=False)
    result: type[Result]
    ends_with: tuple[Role, ...]
    needs_documents: bool = False
    of_each: bool = False
    empty: Callable[[Task, str], Any] | None = field(default=None, repr=False)
    fallbacks: Mapping[str, Callable[[Task, str], Any]] = field(default_factory=dict, repr=False)
    score: Callable[[Any], float | None] | None = field(default=None, repr=False)
    judges: str = ""
    needs_model: bool = False
    needs: str = ""
    gives: str = ""

    @property
    def judges_answers(self) -> bool:
        """Whether the last turn may be an answer."""
        return "assistant" in self.ends_with

    @property
    def on_error(self) -> tuple[str, ...]:
        """What ``on_error`` may be. An intrinsic without a fallback takes ``"fallback"`` too and then still raises:
        there is nothing honest to put in place of its verdict."""
        return tuple(dict.fromkeys(("raise", "fallback", *self.fallbacks)))

    def chosen(self, on_error: str) -> str:
        """``on_error`` as given: for components, which check it when they are built.

        Raises:
            InvalidInput: it is none of :attr:`on_error`; the message has the nearest one.
        """
        if on_error not in self.on_error:
            raise unknown("on_error is unknown", on_error, self.on_error, intrinsic=self.name)
        return on_error


def telling(field: str, blank: Callable[[Task], Result]) -> Callable[[Task, str], Any]:
    """For ``empty`` and ``fallbacks``: a result without a verdict, which tells why in ``reason`` or in ``degraded``."""
    return lambda task, why: blank(task).model_copy(update={field: why})


def without_verdict(blank: Callable[[Task], Result]) -> dict[str, Any]:
    """The fields ``empty`` and ``fallbacks`` of a record whose result without a verdict is the same in both cases."""
    return {"empty": telling("reason", blank), "fallbacks": {"fallback": telling("degraded", blank)}}


TABLE: dict[str, Record] = {}
INTRINSICS: dict[str, Callable[..., Call[Any]]] = {}  # name -> function


def register(name: str, *, result: type[Result], ends_with: tuple[Role, ...], **known: Any) -> Callable[[F], F]:
    """Put an intrinsic into the table; a decorator of its function.

        @register("haiku", result=Haiku, ends_with=("user",), gives="seventeen syllables")
        def haiku(messages, documents=(), *, on_error="raise", date=None):
            return call("haiku", messages, documents, date=date, on_error=on_error)

    Args:
        name: name of the intrinsic, in the spelling of the command line: ``"context-relevance"``.
        result: type of the result.
        ends_with: roles that the last turn may have.
        known: further fields of :class:`Record`.

    Returns:
        A decorator that registers the function and returns it unchanged.

    Raises:
        InvalidInput: the name is taken.
    """

    def registered(function: F) -> F:
        if name in TABLE:
            raise InvalidInput(f"an intrinsic {name!r} is already registered", expected="another name")
        TABLE[name] = Record(name, function, result, tuple(ends_with), **known)
        INTRINSICS[name] = function
        return function

    return registered
