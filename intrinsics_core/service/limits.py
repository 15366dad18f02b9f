"""How much one request may ask for, and how long it may take. What is too much is refused with a type."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from intrinsics_core import ContextTooLong, InvalidInput, RequestTimeout
from intrinsics_core._support import strict_json
from intrinsics_core.service.problems import TooMuch, of_error

_DRAINED = 16  # bodies of the largest size that are read on after one that is too large
_PERHAPS_NO_NUMBER = re.compile(rb"NaN|Infinity|\d[eE]\+?\d{3}")


@dataclass(frozen=True)
class Limits:
    """The bounds of a service.

    Attributes:
        body: bytes of a request's body.
        documents: documents, pairs or texts of one request.
        tokens: tokens of all texts of one request, as the shipped encoder's tokenizer counts them.
        seconds: how long a request may take, reading its body and waiting in line included.
        waiting: requests that may wait for one runtime; more are asked to come again.
        sessions: audits of answers that are being written, open at once.
        idle: seconds after which a session that hears nothing is forgotten.
    """

    body: int = 8 * 2**20
    documents: int = 1_000
    tokens: int = 200_000
    seconds: float = 60.0
    waiting: int = 256
    sessions: int = 256
    idle: float = 300.0

    async def check(self, texts: Sequence[str], documents: int) -> None:
        """Refuse what is too much.

        Raises:
            TooMuch: too many documents.
            ContextTooLong: too many tokens.
        """
        if documents > self.documents:
            raise TooMuch("too many documents", expected=f"at most {self.documents}", got=str(documents))
        if sum(map(len, texts)) <= self.tokens:  # a token has a character at least: no need to count
            return
        count = await asyncio.to_thread(tokens_of, texts)
        if count > self.tokens:
            raise ContextTooLong("the texts are too long", expected=f"at most {self.tokens} tokens", got=str(count))


def tokens_of(texts: Iterable[str]) -> int:
    """How many tokens some texts have, as the shipped encoder's tokenizer counts them."""
    # Half of a surrogate pair is no text to a tokenizer.
    whole = [text.encode("utf-8", "replace").decode() for text in texts]
    return sum(len(one.ids) for one in _tokenizer().encode_batch_fast(whole, add_special_tokens=False))


@cache
def _tokenizer() -> Any:
    from tokenizers import Tokenizer

    from intrinsics_core.embedded.models.bi_encoder import SHIPPED

    tokenizer = Tokenizer.from_file(str(SHIPPED / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


class Bounded:
    """Middleware: a body of bounded size, a bounded time, and no work for a client that has gone.

    The body is read before the app is called, so that what comes next from the client can only be that it leaves.
    """

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self.app, self.limits = app, limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        until = asyncio.get_running_loop().time() + self.limits.seconds
        try:
            async with asyncio.timeout_at(until):
                body = await self._read(scope, receive, until)
        except TooMuch as error:
            # What was not read is not read as the next request either.
            response = of_error(error)
            response.headers["connection"] = "close"
            await response(scope, receive, send)
            return
        except TimeoutError:
            await self._late(scope, receive, send)
            return
        if body is not None and (wrong := _no_number(body)):
            await of_error(wrong)(scope, receive, send)
        elif body is not None:
            # All is JSON here, and `curl -d` calls it a form. A stranger's page is known by its Origin, not by this.
            others = [header for header in scope["headers"] if header[0] != b"content-type"]
            scope["headers"] = [*others, (b"content-type", b"application/json")]
            await self._answer(body, until, scope, receive, send)

    async def _read(self, scope: Scope, receive: Receive, until: float) -> bytes | None:
        """The body; None where the client left before its end."""
        most = self.limits.body
        length = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        pieces, size, more = [], int(length) if length.isdigit() and int(length) > most else 0, True
        while more and size <= most:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            pieces.append(message.get("body", b""))
            size += len(pieces[-1])
            more = message.get("more_body", False)
        if size > most:
            if more:  # a client that still sends would not see the answer to a connection that closes under it
                await self._drain(receive, until)
            raise TooMuch("the body is too large", expected=f"at most {most} bytes", got=f"{size} or more")
        return b"".join(pieces)

    async def _drain(self, receive: Receive, until: float) -> None:
        """Read on, within a bound, and keep nothing."""
        left = _DRAINED * self.limits.body
        with suppress(TimeoutError):
            async with asyncio.timeout_at(until):
                while left > 0:
                    message = await receive()
                    left -= len(message.get("body", b""))
                    if not message.get("more_body"):
                        return

    async def _answer(self, body: bytes, until: float, scope: Scope, receive: Receive, send: Send) -> None:
        given, gone, begun = False, asyncio.Event(), False

        async def replayed() -> Message:
            nonlocal given
            if not given:
                given = True
                return {"type": "http.request", "body": body, "more_body": False}
            await gone.wait()
            return {"type": "http.disconnect"}

        async def watched(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        answering = asyncio.ensure_future(self.app(scope, replayed, watched))
        leaving = asyncio.ensure_future(_left(receive))
        try:
            left = until - asyncio.get_running_loop().time()
            done, _ = await asyncio.wait({answering, leaving}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            if answering in done:
                answering.result()  # what it raised is for the server to log
                return
            gone.set()
            answering.cancel()
            await asyncio.wait({answering})
            if not done and not begun:
                await self._late(scope, receive, send)
        finally:
            answering.cancel()
            leaving.cancel()

    async def _late(self, scope: Scope, receive: Receive, send: Send) -> None:
        error = RequestTimeout("the request was not answered in time", expected=f"at most {self.limits.seconds:g} s")
        await of_error(error)(scope, receive, send)


def _no_number(body: bytes) -> InvalidInput | None:
    """The error for a body with a number that JSON does not have, which Python's reader lets in.

    What else is wrong with a body is for the routes to tell.
    """
    if _PERHAPS_NO_NUMBER.search(body) is None:
        return None
    try:
        strict_json.loads(body.decode("utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError):
        return None
    except ValueError as error:
        return InvalidInput(f"not JSON: {error}")
    return None


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
