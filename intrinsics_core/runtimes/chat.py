"""What a runtime over some framework's chat model is, whatever the framework: bounds, features that a model may refuse,
errors in the core's tree. A subclass converts messages and replies and makes the call.
"""

from __future__ import annotations

import asyncio
import contextvars
import re
import threading
import time
import warnings
from abc import abstractmethod
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from enum import Enum
from typing import Any, ClassVar, Literal

from intrinsics_core._support.cancellation import result_of
from intrinsics_core._support.fork_safety import renew_in_child
from intrinsics_core.profiles import profile as named_profile
from intrinsics_core.protocol.call import settled
from intrinsics_core.protocol.errors import ContextTooLong, IntrinsicsError, RequestTimeout, RuntimeUnavailable
from intrinsics_core.protocol.profile import Profile
from intrinsics_core.protocol.requests import Generate, JsonSchema, Outcome, Request, TokenLogprob
from intrinsics_core.runtimes.base import Runtime, unsupported
from intrinsics_core.runtimes.limiter import Limiter
from intrinsics_core.runtimes.server.dialect import names, refuses

TOP_LOGPROBS = 20  # the most that common servers give; a judge's label competes with few tokens

SCHEMA, LOGPROBS = "JSON schema", "log-probabilities"

DRAWN_BY: tuple[str, ...] = ("temperature", "seed")  # settings of chat models, see `drawing`

_ENDS = ("finish_reason", "stop_reason", "done_reason")  # of most providers, of Anthropic, of Ollama

_QUOTED = 12  # characters beside a word by which a quotation is known

Role = Literal["system", "user", "assistant"]
_ROLES: dict[str, Role] = {"system": "system", "developer": "system", "assistant": "assistant"}

# Over the names of an exception's classes and what it says: providers share words, not classes.
_FAILURES: tuple[tuple[re.Pattern[str], type[IntrinsicsError]], ...] = tuple(
    (re.compile(words, re.I), kind)
    for words, kind in (
        # Some call a limit of the rate "too many tokens".
        (r"throttl|rate.?limit|\b429\b|quota|\bper (?:minute|hour|day)\b", RuntimeUnavailable),
        (
            r"context.{0,10}(length|window|size)|ContextOverflow|maximum context|too many (input )?tokens"
            r"|prompt is too long",
            ContextTooLong,
        ),
        (r"time.?out|timed out|deadline.?exceeded", RequestTimeout),
    )
)


class ChatRuntime(Runtime):
    """Answers :class:`Generate` requests that hold messages, through hooks that one framework's subclass writes.

    Args:
        model: the framework's chat model; only its class is looked at here, for messages.
        features: for :data:`SCHEMA` and :data:`LOGPROBS`, whether the model is asked for them. One that it refuses (an
            error that names it) is not asked for from then on; a warning says so. A temperature
            and a seed are given up so, too.
        profile: the profile its requests are rendered with; ``prompted`` where left out.
        concurrency: model calls under way at once: those of asynchronous callers, over all event loops, and as many of
            synchronous callers, over all threads. The two do not wait for one another: a synchronous call made where
            an event loop runs would stop the very calls that it waits for.

    Attributes:
        called: what errors call the model.
        notice: how the warning about a refused feature ends.
        refusals: by feature, how servers and clients call the thing they refuse.

    Raises:
        InvalidInput: ``concurrency`` is no whole number from 1.
    """

    blocking = False
    threaded = True
    called: ClassVar[str]
    notice: ClassVar[str] = "is asked without from now on"
    refusals: ClassVar[dict[str, re.Pattern[str]]] = {
        LOGPROBS: re.compile(r"log_?probs?", re.I),
        SCHEMA: re.compile(r"response_?format|text\.?format|json_?\s?schema|structured.?output|guided", re.I),
    }

    def __init__(self, model: Any, features: Mapping[str, bool], *, profile: Profile | None, concurrency: int) -> None:
        self.profile = profile or named_profile("prompted")
        self._kind = type(model).__name__
        self._features = {name for name, on in features.items() if on}
        self._draws = True
        self._limiter = Limiter(concurrency)
        self.concurrency = concurrency
        self.renew()
        renew_in_child(self)

    def renew(self) -> None:
        """All places of synchronous callers free: a forked child has none of the threads that held them."""
        self._threads = threading.BoundedSemaphore(self.concurrency)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._kind}, {', '.join(sorted(self._features)) or 'plain text'})"

    def __getstate__(self) -> dict[str, Any]:
        """All but what belongs to this process: a copy has places of its own."""
        return {name: value for name, value in vars(self).items() if name not in ("_limiter", "_threads")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._limiter = Limiter(self.concurrency)
        self.renew()
        renew_in_child(self)

    @abstractmethod
    def ask(self, request: Generate, features: frozenset[str]) -> Any:
        """The framework's reply to a request with messages.

        Args:
            features: what to ask for beside the text, of :data:`SCHEMA` and :data:`LOGPROBS`; the request wants each.

        Raises:
            Exception: whatever the framework raises; it becomes the outcome, or a feature is given up.
        """

    @abstractmethod
    async def aask(self, request: Generate, features: frozenset[str]) -> Any:
        """Like :meth:`ask`, without blocking the event loop."""

    @abstractmethod
    def read(self, reply: Any, seconds: float) -> Outcome:
        """The framework's reply as the core's."""

    def handle(self, requests: Sequence[Request]) -> list[Outcome]:
        if len(requests) < 2:
            return [self._answer(request) for request in requests]
        pool = ThreadPoolExecutor(max_workers=min(len(requests), self.concurrency))
        try:
            # A copy of the context goes with each: callbacks and tracers find the span that they belong to.
            waiting = [pool.submit(contextvars.copy_context().run, self._answer, request) for request in requests]
            return [result_of(future) for future in waiting]
        finally:  # where the wave is given up, what is under way ends unheard, and nothing more begins
            pool.shutdown(wait=False, cancel_futures=True)

    async def ahandle(self, requests: Sequence[Request]) -> list[Outcome]:
        async with asyncio.TaskGroup() as group:  # none goes on where the wave is given up
            tasks = [group.create_task(self._aanswer(request)) for request in requests]
        return [task.result() for task in tasks]

    def _answer(self, request: Request) -> Outcome:
        steps = self._exchange(request)
        with self._threads:
            asked, outcome = settled(steps, None)
            while asked:
                try:
                    got: Any = self.ask(*asked)
                except Exception as error:
                    got = error
                asked, outcome = settled(steps, got)
        return outcome  # type: ignore[no-any-return]

    async def _aanswer(self, request: Request) -> Outcome:
        steps = self._exchange(request)
        async with self._limiter.place():
            asked, outcome = settled(steps, None)
            while asked:
                try:
                    got: Any = await self.aask(*asked)
                except Exception as error:
                    got = error
                asked, outcome = settled(steps, got)
        return outcome  # type: ignore[no-any-return]

    def _exchange(self, request: Request) -> Generator[tuple[Generate, frozenset[str]], Any, Outcome]:
        """One request, sans I/O: yields what to ask for, is sent the framework's reply or exception."""
        if not isinstance(request, Generate) or request.messages is None or request.adapter or request.documents:
            return unsupported(self.called, request)
        if "adapter_name" in request.template:  # of a checkpoint that no chat model hands it on to
            return unsupported(self.called, request)
        wanted = {SCHEMA: isinstance(request.constraint, JsonSchema), LOGPROBS: request.logprobs}
        started = time.perf_counter()
        while True:
            features = frozenset(name for name in self._features.copy() if wanted[name])
            asked = request if self._draws else replace(request, temperature=0.0, seed=None)
            got = yield asked, features
            if not isinstance(got, Exception):
                return self.read(got, time.perf_counter() - started)
            if not self._gives_up(got, features, asked):
                return _failure(self.called, got)

    def _gives_up(self, error: Exception, features: frozenset[str], request: Generate) -> bool:
        """Whether the error was the refusal of a feature that was asked for; from now on it is not."""
        asked = "\n".join(message.content for message in request.messages or ())
        for name, words in self.refusals.items():
            if name in features and _says(words, f"{type(error).__name__} {error}", asked):
                if name in self._features:
                    self._features.discard(name)
                    self._warn(name, error)
                return True
        if request.temperature > 0 and _refuses_drawing(str(error), asked):
            if self._draws:
                self._draws = False
                self._warn("a temperature", error)
            return True
        return False

    def _warn(self, refused: str, error: Exception) -> None:
        warnings.warn(f"{self._kind} refuses {refused} and {self.notice}: {error}", RuntimeWarning, stacklevel=2)


def _refuses_drawing(said: str, asked: str) -> bool:
    """Whether an error says that a setting of :data:`DRAWN_BY` is not taken, in words that a server would use."""
    return any(refuses(said, {name: None}) and _says(names(name), said, asked) for name in DRAWN_BY)


def _says(words: re.Pattern[str], said: str, asked: str) -> bool:
    """Whether an error says one of these words itself, and does not quote them: a filter's error may repeat a document.

    A word counts as quoted if the request has it with the same 12 characters before or behind it.
    """
    for match in words.finditer(said):
        begin, end = max(0, match.start() - _QUOTED), match.end() + _QUOTED
        before, behind = said[begin : match.end()], said[match.start() : end]
        if not (match.start() >= _QUOTED and before in asked) and not (end <= len(said) and behind in asked):
            return True
    return False


def turns(request: Generate) -> list[tuple[Role, str]]:
    """Who says what in a request, for a chat model. What a developer says is the system's.

    A tool's turn without the call that asked for it is refused by most providers: it is the user's.
    """
    return [(_ROLES.get(m.role, "user"), m.content) for m in request.messages or ()]


def drawing(request: Generate, own: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a model that a request changes which is to be drawn: a sample, or a repeat.

    A model that is set to a lower temperature would give the same text each time, and so would one with a seed.

    Args:
        own: what the model is set to, by the names of :data:`DRAWN_BY` and others. Where it states no temperature, its
            provider's counts: providers draw.
    """
    temperature, seed = map(own.get, DRAWN_BY)
    changes: dict[str, Any] = {}
    if isinstance(temperature, int | float) and temperature < request.temperature:
        changes["temperature"] = request.temperature
    if isinstance(seed, int) and request.temperature > 0 and request.seed is not None:
        changes["seed"] = seed + request.seed
    return changes


def ended(*told: Mapping[str, Any]) -> str | None:
    """How a reply ended, from what a provider tells about it, under whichever name; None where it does not say."""
    found = next((about[name] for name in _ENDS for about in told if about.get(name)), None)
    return found.name if isinstance(found, Enum) else found if found is None else str(found)


def token_logprobs(given: Any, text: str) -> tuple[TokenLogprob, ...] | None:
    """Log-probabilities as OpenAI-compatible models report them (a list of tokens, or of parts that are such lists, or
    either as ``content``); None where these are not the tokens of this text.
    """
    rows = given.get("content") if isinstance(given, Mapping) else given
    if not isinstance(rows, list):
        return None
    rows = [row for part in rows for row in (part if isinstance(part, list) else [part])]
    try:
        tokens = tuple(map(TokenLogprob.of, rows))
        return tokens if "".join(token.token for token in tokens) == text else None
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError):
        return None


def _failure(called: str, error: Exception) -> IntrinsicsError:
    """A provider's exception in the core's tree."""
    if isinstance(error, IntrinsicsError):
        return error
    words = f"{' '.join(kind.__name__ for kind in type(error).__mro__)} {error}"
    kind = next((kind for pattern, kind in _FAILURES if pattern.search(words)), RuntimeUnavailable)
    failure = kind(f"the {called} failed: {type(error).__name__}: {error}")
    failure.__cause__ = error
    return failure
