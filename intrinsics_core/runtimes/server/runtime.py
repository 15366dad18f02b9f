"""``server``: any OpenAI-compatible endpoint, vLLM first.

An adapter is a model name. Raw prompts go to ``/v1/completions``, messages to ``/v1/chat/completions``. The `openai`
client brings connections, timeouts and retries with backoff; this module decides what is sent, in which order and how
much at once, and turns whatever comes back into a reply or an error of this library.
"""

from __future__ import annotations

import asyncio
import base64
import copy
import json
import logging
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from intrinsics_core.errors import (
    ContextTooLong,
    IntrinsicsError,
    InvalidInput,
    RequestTimeout,
    RuntimeUnavailable,
    UnknownAdapter,
)
from intrinsics_core.requests import Generate, Generated, Outcome, Request, Usage
from intrinsics_core.runtimes import configs
from intrinsics_core.runtimes.base import AsyncRuntime, unsupported
from intrinsics_core.runtimes.cache import Lru
from intrinsics_core.runtimes.configs import Constraints, Documents, ServerConfig
from intrinsics_core.runtimes.limiter import Limiter
from intrinsics_core.runtimes.server.acquaintance import Acquaintance
from intrinsics_core.runtimes.server.capabilities import Capabilities
from intrinsics_core.runtimes.server.completions import Unreadable, read
from intrinsics_core.runtimes.server.dialect import Lesson, body, identity
from intrinsics_core.runtimes.server.documents import counting, probe, tokenize_address
from intrinsics_core.runtimes.server.failures import complaint, translate
from intrinsics_core.runtimes.server.listing import Listing, Unmatched, choose
from intrinsics_core.runtimes.server.sessions import Session, Sessions
from intrinsics_core.runtimes.server.transport import client as http_client
from intrinsics_core.runtimes.server.transport import response_type

if TYPE_CHECKING:
    import openai

log = logging.getLogger(__name__)

_SHORTEST_KEY = 8  # characters; of shorter ones base64 is too little to know it by
_NO_KEY = "none"  # the client insists on a key; servers at home want none
_LISTING_AGE = 10.0  # seconds after which a name that is missing is worth another look at the server's list
_TRIES = 3  # calls that ask whether the template shows documents, while the server is not well
_UNWELL = (408, 409, 425, 429)  # refusals that say nothing about what a server takes
_LONGEST_PAUSE = 60.0  # seconds that a server may ask us to wait before a retry (the client honours Retry-After)


class ServerRuntime(AsyncRuntime):
    """Requests answered by an OpenAI-compatible server.

    >>> runtime = ServerRuntime("http://localhost:8000/v1", adapters={"answerability": "answerability_lora"})

    Args:
        base_url: the address, e.g. ``http://localhost:8000/v1``; ``/v1`` is added where it has no path.
        api_key: text, or an object that keeps a secret (pydantic's ``SecretStr``, Haystack's ``Secret``). Left out:
            the environment's ``OPENAI_API_KEY``, else none. It is never shown, logged or pickled.
        model: the base model's name on the server. Left out: what the profile names, if the server lists it, else the
            only model there that is no adapter.
        adapters: name on the server by intrinsic, e.g. ``{"answerability": "my-adapter"}``. Left out: the names the
            adapter was published under, whichever the server lists.
        constraints: the key by which replies are constrained: ``"structured_outputs"`` (vLLM), ``"response_format"``
            (JSON schemas only) or ``"none"``; ``"auto"`` begins with the first unless the server is known to be another
            than vLLM. A server that does not know the key, or that replies as if it did not, is asked the next way from
            then on; one that finds fault with what the key says is an :class:`InvalidInput` of that request.
        documents: how documents reach the model where they are not part of the prompt: ``"template"`` (the request's
            ``documents``, for the chat template: vLLM alone), ``"messages"`` (in the system turn), or ``"auto"``: the
            template where the server shows that it has a place for them, asked once, else the messages.
        reasoning_tokens: tokens that a reply may have beyond what its verdict needs, for a model that reasons first.
            Left at 0, the first reply that ends inside its reasoning has them counted from then on.
        timeout: seconds of silence that end a single try: before the first byte, or between two. A reply that keeps
            dripping is ended with all tries of its request, after ``(timeout + 60) * (max_retries + 1)`` seconds.
        deadline: seconds after which a request is given up, all its tries and pauses counted from when it has a place
            among those under way; None: the bound that follows from ``timeout``.
        max_reply_bytes: longest body that is read, decoded; a longer one is an error.
        max_retries: further tries after a timeout, a lost connection, a 408, 409, 429, 5xx or an unreadable reply.
        concurrency: requests under way at once, retries included, over all event loops.
        cache: replies kept and reused for identical requests (never for samples, which are meant to differ).

    Raises:
        InvalidInput: an argument is wrong; the message names it.
    """

    def __init__(
        self,
        base_url: str,
        *,
        api_key: Any = None,
        model: str | None = None,
        adapters: Mapping[str, str] | None = None,
        constraints: Constraints | Literal["auto"] = "auto",
        documents: Documents = "auto",
        reasoning_tokens: int = 0,
        timeout: float = 120.0,
        max_retries: int = 3,
        concurrency: int = 32,
        cache: int = 0,
        deadline: float | None = None,
        max_reply_bytes: int = 32 * 2**20,
    ) -> None:
        from intrinsics_core.profiles.prompted import PROFILE

        self.profile = PROFILE
        given = configs.checked(
            ServerConfig, base_url=base_url, api_key=api_key, model=model, adapters=adapters, constraints=constraints,
            documents=documents, reasoning_tokens=reasoning_tokens, timeout=timeout, max_retries=max_retries,
            deadline=deadline, max_reply_bytes=max_reply_bytes, concurrency=concurrency, cache=cache,
        )  # fmt: skip
        self.base_url, self.model, self.adapters = given.base_url, given.model, dict(given.adapters or {})
        self.constraints, self.documents = given.constraints, given.documents
        self.reasoning_tokens = given.reasoning_tokens
        self.timeout, self.max_retries = given.timeout, given.max_retries
        self.deadline, self.max_reply_bytes = given.deadline, given.max_reply_bytes
        self._limiter = Limiter(given.concurrency)
        self._cache: Lru[Generated] = Lru(given.cache)
        self._key = given.api_key or configs.environment_key()
        self._server = Acquaintance.begin(
            self.base_url,
            constraints=None if self.constraints == "auto" else self.constraints,
            documents=self.documents,
            reasoning=self.reasoning_tokens,
        )
        self._listing: Listing | None = None
        self._looked = False  # at the list, for who the server is
        self._tries = 0
        self._sessions = Sessions(self._connect)

    @property
    def concurrency(self) -> int:
        """Requests under way at once; may be changed at any time."""
        return self._limiter.limit

    @concurrency.setter
    def concurrency(self, value: int) -> None:
        self._limiter.limit = value

    def __repr__(self) -> str:
        return f"ServerRuntime({configs.shown(self.base_url)!r}, model={self.model!r}, adapters={self.adapters!r})"

    def __copy__(self) -> ServerRuntime:
        return self  # connections and bound are shared by intent

    def __deepcopy__(self, memo: dict[int, Any]) -> ServerRuntime:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # For workers in other processes. The key stays behind: they find theirs in the environment.
        names = ("model", "adapters", "constraints", "documents", "reasoning_tokens", "timeout", "max_retries",
                 "deadline", "max_reply_bytes")  # fmt: skip
        given = {name: getattr(self, name) for name in names}
        return _revive, (self.base_url, given | {"concurrency": self.concurrency, "cache": self._cache.size})

    def close(self) -> None:
        """Close all connections. Called on an event loop it cannot wait for that loop's own: prefer ``aclose``."""
        self._sessions.close()

    # --- requests -----------------------------------------------------------------------------------------------------

    async def ahandle(self, requests: Sequence[Request]) -> list[Outcome]:
        if len(requests) == 1:
            return [await self._outcome(requests[0])]
        outcomes: dict[int, Outcome] = {}

        async def one(index: int) -> None:
            outcomes[index] = await self._outcome(requests[index])

        async with asyncio.TaskGroup() as group:
            # Places are given in the order the tasks start, so neighbours are sent one after another.
            for index in sorted(range(len(requests)), key=lambda i: _neighbourhood(requests[i])):
                group.create_task(one(index))
        return [outcomes[index] for index in range(len(requests))]

    async def _outcome(self, request: Request) -> Outcome:
        """The reply, or the request's own copy of the error it ended in."""
        if not isinstance(request, Generate):
            return unsupported("server", request)
        outcome: Generated | IntrinsicsError
        try:
            session = self._sessions.here()
            model = await self._model(session, request)
            if not isinstance(model, IntrinsicsError):
                model = await self._acquaint(session, request, model) or model
            outcome = model if isinstance(model, IntrinsicsError) else await self._shared(session, request, model)
        except Exception as error:  # one request's own trouble, never the batch's
            outcome = _unplanned(error)
        return copy.copy(outcome).named(request.intrinsic) if isinstance(outcome, IntrinsicsError) else outcome

    async def _shared(self, session: Session, request: Generate, model: str) -> Generated | IntrinsicsError:
        """Identical requests share one reply, unless they are samples that are meant to differ."""
        if request.temperature > 0 and request.seed is None:
            return await self._ask(session, request, model)
        key = identity(request, body(request, model, self._server.dialect))
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
            async with self._limiter.place(), asyncio.timeout(self.deadline):
                dialect = lasting = before = self._server.dialect
                cramped = False  # there is no room to reason in beside this prompt
                while True:
                    said = body(request, model, dialect)
                    outcome = await self._post(session, said)
                    if isinstance(outcome, ContextTooLong) and dialect.reasoning and not cramped:
                        dialect, cramped = replace(dialect, reasoning=0), True
                        continue
                    if isinstance(outcome, _Rejected):
                        lesson = dialect.after(outcome.complaint, said)
                        if lesson is None:
                            return outcome.error
                    elif isinstance(outcome, Generated):
                        heard = self._server.hear(request, dialect, said, outcome, cramped=cramped)
                        if not isinstance(heard, Lesson):
                            outcome = heard or outcome
                            break
                        lesson = heard
                    else:
                        break
                    dialect = lesson.change(dialect)
                    lasting = lesson.change(lasting) if lesson.lasting else lasting
        except TimeoutError:
            return RequestTimeout(f"the request was not answered before its deadline of {self.deadline:g} s")
        if isinstance(outcome, Generated):
            self._server.learn(request, before, lasting, outcome)
        elif isinstance(outcome, UnknownAdapter):
            return await self._listed(session, outcome)
        return outcome

    async def _post(self, session: Session, said: dict[str, Any]) -> Generated | IntrinsicsError | _Rejected:
        """One request within its budget of tries."""
        import openai

        client = await session.client()
        begun, left = time.perf_counter(), self.max_retries
        try:
            async with asyncio.timeout(self._limit):
                while True:
                    # The client does not retry a 200 that cannot be read: we do, with what is left of the budget.
                    able = client if left == self.max_retries else client.with_options(max_retries=left)
                    raw = await _create(able, said)
                    try:
                        reply = read(raw.content, time.perf_counter() - begun)
                        # A model may say the key again that a server put before it: results go into files.
                        return replace(reply, text=self._clean(reply.text))
                    except Unreadable as error:
                        left -= raw.retries_taken + 1
                        if left < 0:
                            return RuntimeUnavailable(
                                f"the server's reply cannot be read: {self._clean(error.why)}",
                                expected="a completion", got=repr(self._clean(error.text)), raw=self._clean(error.text)
                            )  # fmt: skip
                    await asyncio.sleep(_pause(self.max_retries - left))
        except openai.APIError as error:
            told = translate(error, model=said["model"], timeout=self.timeout, clean=self._clean)
            if isinstance(error, openai.APIStatusError) and isinstance(told, InvalidInput):
                return _Rejected(told, complaint(error))
            return told
        except TimeoutError:
            return RequestTimeout(f"the server did not finish its answer within {self._limit:g} s")

    # --- the server ---------------------------------------------------------------------------------------------------

    def capabilities(self) -> Capabilities:
        """What is known of the server so far: nothing is asked for it. ``intrinsics check`` asks."""
        return self._server.capabilities()

    async def _acquaint(self, session: Session, request: Generate, model: str) -> IntrinsicsError | None:
        """Find out what a request depends on and cannot show by failing: asked once per server."""
        if self._server.undecided(request):
            await session.flights.join("documents", lambda: self._try_documents(session, model))
        name = request.template.get("adapter_name")
        wants_known = name is not None or (request.documents and self.documents == "template")
        if wants_known and self._server.known is None and not self._looked:
            await self._list(session, fresh=False)
            self._looked = True
        if error := self._server.loses(request):
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
        self._server.decide("" if answer is None else answer)

    async def _switched(self, session: Session, model: str, name: str) -> IntrinsicsError | None:
        """The error where the chat template does not know an adapter inside the checkpoint (Granite Switch)."""
        if self._server.heeds(name) is None:
            answers = [await self._counted(session, asked) for asked in
                       (counting(model), counting(model, adapter_name=name))]  # fmt: skip
            if None in answers:
                return RuntimeUnavailable(f"the server cannot be asked now whether it has the adapter {name!r}")
            self._server.compare(name, *answers)
        return None if self._server.heeds(name) else self._server.unheeded(name)

    async def _counted(self, session: Session, asked: Mapping[str, Any]) -> Any | None:
        """What the tokenizer answers, be it a refusal's text; None where it cannot be asked now."""
        import openai

        client = await session.client()
        try:
            async with self._limiter.place():
                raw = await client.post(tokenize_address(self.base_url), cast_to=response_type(), body=dict(asked))
            return _json(raw.content) or ""
        except openai.APIStatusError as error:
            return None if error.status_code in _UNWELL or error.status_code >= 500 else complaint(error)
        except openai.APIError:
            return None

    # --- models -------------------------------------------------------------------------------------------------------

    async def _model(self, session: Session, request: Generate) -> str | IntrinsicsError:
        """The name on the server of whoever should answer."""
        fixed = self.adapters.get(request.adapter) if request.adapter else self.model
        if fixed:
            return fixed
        for fresh in (False, True):  # an adapter may have been loaded since
            listing = await self._list(session, fresh=fresh)
            if isinstance(listing, IntrinsicsError):
                return listing
            found = choose(listing, request, self.model)
            if not isinstance(found, Unmatched):
                return self._server.refuses(found) or found.name
        assert isinstance(found, Unmatched)
        return UnknownAdapter(found.why, expected=found.expected, got=f"a server that has {listing}")

    def listing(self) -> Listing:
        """What the server lists now.

        Raises:
            RuntimeUnavailable: it cannot be reached, or lists nothing that can be read.
        """

        async def ask() -> Listing | IntrinsicsError:
            return await self._list(self._sessions.here(), fresh=True)

        found = self.portal(ask())
        if isinstance(found, IntrinsicsError):
            raise found
        return found

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
            async with self._limiter.place(), asyncio.timeout(min(self._limit, self.deadline or self._limit)):
                raw = await client.models.with_raw_response.list()
            return Listing.parse(raw.content)
        except TimeoutError:
            return RequestTimeout("the server did not finish its list of models in time")
        except openai.APIError as error:
            return translate(error, model="", timeout=self.timeout, clean=self._clean)
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

    @property
    def _limit(self) -> float:
        """Seconds for all tries of a request: the client's timeout ends a silence, this what drips for ever."""
        return (self.timeout + _LONGEST_PAUSE) * (self.max_retries + 1)

    # --- the key ------------------------------------------------------------------------------------------------------

    def _connect(self) -> openai.AsyncOpenAI:
        import openai

        key = self._key.get_secret_value() if self._key else _NO_KEY
        return openai.AsyncOpenAI(
            base_url=self.base_url, api_key=key, timeout=self.timeout, max_retries=self.max_retries,
            http_client=http_client(self.max_reply_bytes, self.timeout),
        )  # fmt: skip

    def _clean(self, text: str) -> str:
        """Servers quote what they were sent: no key in a message."""
        key = self._key.get_secret_value() if self._key else ""
        for form in _forms(key) if len(key) >= _SHORTEST_KEY else (key,) if key else ():
            text = text.replace(form, "***")
        return text


@lru_cache(maxsize=8)
def _forms(key: str) -> tuple[str, ...]:
    """A key as itself and in base64, wherever in a longer text it stood: what is the same in all three alignments."""
    found = [key]
    for before in range(3):
        encoded = base64.b64encode(b"\0" * before + key.encode())
        # The first characters hold bits of what stood before, the last ones of what came after.
        begin, end = (0, 2, 3)[before], len(encoded) - (0, 3, 2)[(before + len(key)) % 3]
        plain = encoded[begin:end].decode()
        found += [plain, plain.replace("+", "-").replace("/", "_")]
    return tuple(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class _Rejected:
    """The server finds the request invalid: the error that is, unless another dialect mends it."""

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
        return InvalidInput("a text cannot be sent: it holds half a character (a lone surrogate)",
                            expected="text that UTF-8 can encode")  # fmt: skip
    log.debug("unexpected %s", type(error).__name__)  # its text may hold anything, the key too
    return RuntimeUnavailable(f"the request could not be made ({type(error).__name__})")


def _revive(base_url: str, given: Mapping[str, Any]) -> ServerRuntime:
    return ServerRuntime(base_url, **given)
