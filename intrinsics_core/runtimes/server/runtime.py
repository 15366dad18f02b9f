"""``server``: any OpenAI-compatible endpoint, vLLM first.

An adapter is a model name. Raw prompts go to ``/v1/completions``, messages to ``/v1/chat/completions``. The `openai`
client brings connections, timeouts and retries with backoff; this module decides what is sent, in which order and how
much at once, and turns whatever comes back into a reply or an error of this library.
"""

from __future__ import annotations

import asyncio
import copy
import json
import logging
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from intrinsics_core.protocol.errors import (
    ContextTooLong,
    IntrinsicsError,
    InvalidInput,
    RequestTimeout,
    RuntimeUnavailable,
    UnknownAdapter,
    raised,
)
from intrinsics_core.protocol.requests import Generate, Generated, Outcome, Request, Usage
from intrinsics_core.runtimes import configs
from intrinsics_core.runtimes.adapters import key_of
from intrinsics_core.runtimes.base import unsupported
from intrinsics_core.runtimes.cache import Lru
from intrinsics_core.runtimes.configs import ServerConfig
from intrinsics_core.runtimes.server.completions import Unreadable, read
from intrinsics_core.runtimes.server.connected import ConnectedRuntime
from intrinsics_core.runtimes.server.dialect import Lesson, body, identity
from intrinsics_core.runtimes.server.known import counting, probe, tokenize_address
from intrinsics_core.runtimes.server.listing import Listing, Unmatched, choose
from intrinsics_core.runtimes.server.server_state import Capabilities, ServerState
from intrinsics_core.runtimes.server.sessions import Session
from intrinsics_core.runtimes.server.transport import UNWELL, complaint, response_type

if TYPE_CHECKING:
    import openai

log = logging.getLogger(__name__)

_LISTING_AGE = 10.0  # seconds after which a name that is missing is worth another look at the server's list
_TRIES = 3  # calls that ask whether the template shows documents, while the server is not well
_REJECTIONS = (InvalidInput, RuntimeUnavailable)  # what the refusal of a key is, by its status


class ServerRuntime(ConnectedRuntime):
    """Requests answered by an OpenAI-compatible server; :class:`ServerConfig` says what it is told of it.

    >>> runtime = ServerRuntime("http://localhost:8000/v1", adapters={"answerability": "answerability_lora"})
    """

    takes = ServerConfig
    config: ServerConfig

    def prepare(self) -> None:
        super().prepare()
        self._cache: Lru[str, Generated] = Lru(self.config.cache)
        self._server = ServerState.begin(self.config)
        self._listing: Listing | None = None
        self._looked = False  # at the list, for who the server is
        self._tries = 0

    @property
    def model(self) -> str | None:
        return self.config.model

    @property
    def adapters(self) -> Mapping[str, str]:
        return self.config.adapters or {}

    def __repr__(self) -> str:
        return f"ServerRuntime({configs.shown(self.base_url)!r}, model={self.model!r}, adapters={self.adapters!r})"

    def __copy__(self) -> ServerRuntime:
        return self  # connections and bound are shared by intent

    def __deepcopy__(self, memo: dict[int, Any]) -> ServerRuntime:
        return self

    # --- requests -----------------------------------------------------------------------------------------------------

    async def ahandle(self, requests: Sequence[Request]) -> list[Outcome]:
        if len(requests) == 1:
            return [await self._outcome(requests[0])]
        # Places are given in the order the tasks start, so neighbours are sent one after another.
        order = sorted(range(len(requests)), key=lambda i: _neighbourhood(requests[i]))
        async with asyncio.TaskGroup() as group:
            tasks = {i: group.create_task(self._outcome(requests[i])) for i in order}
        return [tasks[i].result() for i in range(len(requests))]

    async def _outcome(self, request: Request) -> Outcome:
        """The reply, or the request's own copy of the error it ended in."""
        if not isinstance(request, Generate):
            return unsupported("server", request)
        outcome: Generated | IntrinsicsError
        try:
            session = self._sessions.here()
            model = await self._model(session, request)
            if not isinstance(model, IntrinsicsError):
                model = await self._find_out(session, request, model) or model
            outcome = model if isinstance(model, IntrinsicsError) else await self._shared(session, request, model)
        except Exception as error:  # one request's own trouble, never the batch's
            outcome = _unplanned(error)
        return copy.copy(outcome).named(request.intrinsic) if isinstance(outcome, IntrinsicsError) else outcome

    async def _shared(self, session: Session, request: Generate, model: str) -> Generated | IntrinsicsError:
        """Identical requests share one reply, unless they are samples that are meant to differ."""
        if request.temperature > 0 and request.seed is None:
            return await self._ask(session, request, model)
        key = identity(request, body(request, model, self._server.dialect_of(model)))
        if kept := self._cache.get(key):
            return replace(kept, usage=Usage())
        reply, first = await session.flights.join(key, lambda: self._ask(session, request, model))
        if not isinstance(reply, Generated):
            return reply  # type: ignore[no-any-return]
        if first:
            self._cache.put(key, reply)
        return reply if first else replace(reply, usage=Usage())  # what was asked once is counted once

    async def _ask(self, session: Session, request: Generate, model: str) -> Generated | IntrinsicsError:
        """Ask the server; where it rejects a key of ours, or answers as if it were not there, in the next dialect."""
        try:
            async with self._limiter.place(), asyncio.timeout(self.config.deadline):
                dialect = lasting = before = self._server.dialect_of(model)
                cramped = False  # there is no room to reason in beside this prompt
                while True:
                    said = body(request, model, dialect)
                    outcome = await self._post(session, said)
                    if isinstance(outcome, ContextTooLong) and dialect.reasoning and not cramped:
                        dialect, cramped = replace(dialect, reasoning=0), True
                        continue
                    if isinstance(outcome, _Rejected):
                        lesson = dialect.after(outcome.complaint, said, invalid=isinstance(outcome.error, InvalidInput))
                        if lesson is None:
                            return outcome.error
                    elif isinstance(outcome, Generated):
                        learnt = self._server.learn_from_reply(request, dialect, said, outcome, cramped=cramped)
                        if not isinstance(learnt, Lesson):
                            outcome = learnt or outcome
                            break
                        lesson = learnt
                    else:
                        break
                    dialect = lesson.change(dialect)
                    lasting = lesson.change(lasting) if lesson.lasting else lasting
        except TimeoutError:
            return RequestTimeout(f"the request was not answered before its deadline of {self.config.deadline:g} s")
        if isinstance(outcome, Generated):
            self._server.learn(request, model, before, lasting, outcome)
        elif isinstance(outcome, UnknownAdapter):
            return await self._listed(session, outcome)
        return outcome

    async def _post(self, session: Session, said: dict[str, Any]) -> Generated | IntrinsicsError | _Rejected:
        """One request within its budget of tries."""
        import openai

        client = await session.client()
        begun, left = time.perf_counter(), self.config.max_retries
        try:
            async with asyncio.timeout(self.config.patience):
                while True:
                    # The client does not retry a 200 that cannot be read: we do, with what is left of the budget.
                    able = client if left == self.config.max_retries else client.with_options(max_retries=left)
                    raw = await _create(able, said)
                    try:
                        reply = read(raw.content, time.perf_counter() - begun)
                        self._server.answered(raw.headers.get("server"))
                        return self._without_keys(reply)
                    except Unreadable as error:
                        left -= raw.retries_taken + 1
                        if left < 0:
                            return RuntimeUnavailable(
                                f"the server's reply cannot be read: {self._clean(error.why)}",
                                expected="a completion", got=repr(self._clean(error.text)), raw=self._clean(error.text)
                            )  # fmt: skip
                    await asyncio.sleep(_pause(self.config.max_retries - left))
        except openai.APIError as error:
            failure = self._translated(error, said["model"], tried=self.config.max_retries - left)
            if isinstance(error, openai.APIStatusError) and type(failure) in _REJECTIONS:
                return failure if error.status_code in (401, *UNWELL) else _Rejected(failure, complaint(error))
            return failure
        except TimeoutError:
            return RequestTimeout(f"the server did not finish its answer within {self.config.patience:g} s")

    def _without_keys(self, reply: Generated) -> Generated:
        """A model may say the key again that a server put before it, in what it reasons too. Tokens no longer spell a
        text that was changed: their log-probabilities go.
        """
        text, reasoning = self._clean_reply(reply.text), reply.reasoning and self._clean_reply(reply.reasoning)
        if text == reply.text and reasoning == reply.reasoning:
            return reply
        return replace(reply, text=text, reasoning=reasoning, logprobs=reply.logprobs if text == reply.text else None)

    # --- the server ---------------------------------------------------------------------------------------------------

    def capabilities(self) -> Capabilities:
        """What is known of the server so far: nothing is asked for it. ``intrinsics check`` asks."""
        return self._server.capabilities()

    async def _find_out(self, session: Session, request: Generate, model: str) -> IntrinsicsError | None:
        """Find out what a request depends on and cannot show by failing: asked once per server."""
        if self._server.documents_undecided(request):
            await session.flights.join("documents", lambda: self._try_documents(session, model))
        name = request.template.get("adapter_name")
        wants_known = name is not None or (request.documents and self.config.documents == "template")
        if wants_known and self._server.known is None and not self._looked:
            await self._list(session, fresh=False)
            self._looked = True
        if error := self._server.drops_documents(request):
            return error
        return None if name is None else await self._switched(session, model, str(name))

    async def _try_documents(self, session: Session, model: str) -> None:
        """Ask whether the chat template shows documents, of whom it may show any."""
        answer = None
        if self._server.may_count:
            answer = await self._counted(session, probe(model))
            self._tries += 1
            if answer is None and self._tries < _TRIES:
                return  # it is not well: until it is, the messages hold the documents
        self._server.decide_documents("" if answer is None else answer)

    async def _switched(self, session: Session, model: str, name: str) -> IntrinsicsError | None:
        """The error where the chat template does not know an adapter inside the checkpoint (Granite Switch)."""
        if self._server.has_switch_adapter(name) is None:
            answers = [await self._counted(session, asked) for asked in
                       (counting(model), counting(model, adapter_name=name))]  # fmt: skip
            if None in answers:
                return RuntimeUnavailable(f"the server did not say whether it has the adapter {name!r}")
            self._server.note_switch_adapter(name, *answers)
        return None if self._server.has_switch_adapter(name) else self._server.lacks_switch_adapter(name)

    async def _counted(self, session: Session, asked: Mapping[str, Any]) -> Any | None:
        """What the tokenizer answers, be it a refusal's text; None where it cannot be asked now."""
        import openai

        client = await session.client()
        try:
            async with self._limiter.place():
                raw = await client.post(tokenize_address(self.base_url), cast_to=response_type(), body=dict(asked))
            return _json(raw.content) or ""
        except openai.APIStatusError as error:
            return None if error.status_code in UNWELL or error.status_code >= 500 else complaint(error)
        except openai.APIError:
            return None

    # --- models -------------------------------------------------------------------------------------------------------

    async def _model(self, session: Session, request: Generate) -> str | IntrinsicsError:
        """The name on the server of whoever should answer."""
        if request.adapter is None and self.model:
            return self.model
        if request.adapter and (key := key_of(self.adapters, request)):
            return self.adapters[key]
        for fresh in (False, True):  # an adapter may have been loaded since
            listing = await self._list(session, fresh=fresh)
            if isinstance(listing, IntrinsicsError):
                return listing
            found = choose(listing, request, self.model)
            if not isinstance(found, Unmatched):
                return self._server.refusal(found) or found.name
        assert isinstance(found, Unmatched)
        return UnknownAdapter(found.why, expected=found.expected, got=f"a server that has {listing}")

    def listing(self) -> Listing:
        """What the server lists now.

        Raises:
            RuntimeUnavailable: it cannot be reached, or lists nothing that can be read.
        """

        async def ask() -> Listing | IntrinsicsError:
            return await self._list(self._sessions.here(), fresh=True)

        return raised(self.portal(ask()))

    async def _list(self, session: Session, *, fresh: bool) -> Listing | IntrinsicsError:
        """What ``/v1/models`` lists: asked once, and again where a name is missing and the list is not new."""
        known = self._listing
        if known and (not fresh or time.monotonic() - known.when < _LISTING_AGE):
            return known
        listing, _first = await session.flights.join("models", lambda: self._fetch(session))
        if isinstance(listing, Listing):
            self._listing = listing
            self._server.listed(listing)
        return listing  # type: ignore[no-any-return]

    async def _fetch(self, session: Session) -> Listing | IntrinsicsError:
        import openai

        client = await session.client()
        try:
            async with (
                self._limiter.place(),
                asyncio.timeout(min(self.config.patience, self.config.deadline or self.config.patience)),
            ):
                raw = await client.models.with_raw_response.list()
            return Listing.parse(raw.content)
        except TimeoutError:
            return RequestTimeout("the server did not finish its list of models in time")
        except openai.APIError as error:
            return self._translated(error, model="")
        except ValueError as error:
            return RuntimeUnavailable(
                f"the server's list of models cannot be read ({self._clean(str(error))})",
                expected="a list at /v1/models, or model and adapters in the runtime's config",
            )

    async def _listed(self, session: Session, error: UnknownAdapter) -> UnknownAdapter:
        """The error, with what the server has."""
        listing = await self._list(session, fresh=True)
        if isinstance(listing, IntrinsicsError):
            return error
        return UnknownAdapter(
            error.message, expected="a name that the server lists", got=f"a server that has {listing}"
        )


@dataclass(frozen=True, slots=True)
class _Rejected:
    """The server refuses the request: the error that is, unless another dialect mends it."""

    error: IntrinsicsError
    complaint: str


async def _create(client: openai.AsyncOpenAI, said: dict[str, Any]) -> Any:
    """The raw response to a completion (a prompt) or a chat completion (messages)."""
    # All of the body goes as extra_body, which overrides: what the client is given by name it would walk through and
    # rebuild, at a tenth of a request's cost.
    if "prompt" in said:
        return await client.completions.with_raw_response.create(model=said["model"], prompt="", extra_body=said)
    return await client.chat.completions.with_raw_response.create(model=said["model"], messages=[], extra_body=said)


def _json(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return ""


def _neighbourhood(request: Request) -> tuple[str, str]:
    """Sorted by this, requests that begin alike for the same model come one after another: what the server's prefix
    cache holds of the first is still there for the next.
    """
    if not isinstance(request, Generate):
        return "", ""
    chat = [d.text for d in request.documents] + [f"{m.role}:{m.content}" for m in request.messages or ()]
    return request.adapter or "", request.prompt if request.prompt is not None else "\n".join(chat)


def _pause(tries: int) -> float:
    """Seconds before the next try, doubling, with jitter: the measure of the client's own."""
    return float(min(8.0, 0.5 * 2 ** (tries - 1)) * (1 - 0.25 * random.random()))


def _unplanned(error: Exception) -> IntrinsicsError:
    if isinstance(error, UnicodeError):
        return InvalidInput("a text cannot be sent, because it contains half a character (a lone surrogate)",
                            expected="text that UTF-8 can encode")  # fmt: skip
    log.debug("unexpected %s", type(error).__name__)  # its text may hold anything, the key too
    return RuntimeUnavailable(f"the request could not be made ({type(error).__name__})")
