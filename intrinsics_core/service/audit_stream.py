"""``POST /v1/audit/stream``: an answer judged while it is written, over plain requests.

A session is opened with the conversation and the documents; pieces of the answer are sent to it, and each is answered
with a line of JSON for every sentence that closed with it. The last one is answered with a line for each sentence that
is left, and one for the audit of the whole answer. Sessions live in the memory of one process: several workers
need a balancer that keeps a client at its own.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from secrets import token_urlsafe
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field, model_validator
from starlette.responses import Response

from intrinsics_core import IntrinsicsError, InvalidInput, RuntimeUnavailable, StreamChecker
from intrinsics_core.protocol.results import Audit
from intrinsics_core.protocol.task import Message, check
from intrinsics_core.running.rows import written
from intrinsics_core.service.answers import json_answer
from intrinsics_core.service.intrinsics import has_only
from intrinsics_core.service.problems import NotHere, name_of
from intrinsics_core.service.serving import Served, Service

LINES = "application/x-ndjson"
_SHOWN = 60  # characters of a piece, in an error
_PATH = "/v1/audit/stream"
_EXAMPLE: dict[str, Any] = {
    "messages": [{"role": "user", "content": "Who built the tide mill?"}],
    "documents": [{"id": "mill", "text": "The tide mill was built in 1911 by the engineer Ada Brink."}],
}


class _Fields(BaseModel):
    """A body whose unknown fields are refused with the nearest name."""

    @model_validator(mode="before")
    @classmethod
    def _known(cls, row: Any) -> Any:
        if isinstance(row, Mapping):
            has_only(row, list(cls.model_fields))
        return row


class Opening(_Fields):
    """What is answered, and what the answer rests on: as in a row of the command line."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    messages: list[Any]
    documents: list[Any]
    on_error: str = "raise"
    runtime: str | None = None


class AnswerPiece(_Fields):
    """What was written next; ``last`` closes the answer.

    ``at`` is where the piece begins in the answer, in characters. With it a piece that is sent again counts once and is
    answered as before, also where the first one was taken and its answer got lost, and also the last piece.
    """

    model_config = ConfigDict(json_schema_extra={"examples": [{"text": "Ada Brink built it. "}, {"last": True}]})

    text: str = ""
    last: bool = False
    at: int | None = Field(None, ge=0)


@dataclass(frozen=True)
class _LastAnswer:
    """A piece that had a place, and what was said to it: the answer may get lost, and its client asks again."""

    piece: AnswerPiece
    said: bytes
    heard: float

    def to(self, piece: AnswerPiece) -> bytes | None:
        """What was said, if this is the same piece."""
        return self.said if piece == self.piece else None


@dataclass
class _OpenAudit:
    checker: StreamChecker
    served: Served
    given: list[str]  # the texts that it was opened with, for the limit
    documents: int
    heard: float
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)  # pieces are judged in the order that they came
    untold: list[bytes] = field(default_factory=list)  # lines that no answer held yet
    answered: _LastAnswer | None = None  # to the last piece with a place
    ending: bool = False  # whether the last piece is in the answer

    def new_in(self, piece: AnswerPiece) -> str:
        """What of a piece is not in the answer yet.

        Raises:
            InvalidInput: the piece begins behind the answer, or says something else than what stands there.
        """
        if piece.at is None:
            again = self.ending and self.checker.text.endswith(piece.text)
            return "" if again else piece.text
        said = self.checker.text[piece.at :]
        if piece.at > len(self.checker.text):
            raise InvalidInput("at is larger than the answer is long", intrinsic="audit",
                               expected=f"at most {len(self.checker.text)}", got=str(piece.at))  # fmt: skip
        if not (piece.text.startswith(said) or said.startswith(piece.text)):
            raise InvalidInput("text differs from what was sent at this place before", intrinsic="audit",
                               expected="the same text again, or that text and what follows it",
                               got=f"{piece.text[:_SHOWN]!r} at {piece.at}")  # fmt: skip
        return piece.text[len(said) :]

    async def hear(self, text: str, last: bool) -> Audit | None:
        """Judge what is new, and keep the lines to tell; the audit where the answer was closed."""
        self.ending = self.ending or last
        if text or not last:
            self.untold += [_line(sentence=s) for s in await self.checker.afeed(text)]
        if not last:
            return None
        audit = await self.checker.aclose()
        self.untold += [*(_line(sentence=s) for s in self.checker.left(audit)), _line(audit=audit)]
        return audit

    def told(self) -> list[bytes]:
        """The lines that were kept, once."""
        lines, self.untold = self.untold, []
        return lines


class OpenAudits:
    """Those that are open: a bounded number, forgotten when nothing is heard of them."""

    def __init__(self, serving: Service) -> None:
        self._serving, self._open = serving, dict[str, _OpenAudit]()
        self._closed = dict[str, _LastAnswer]()  # what the last of them were told at the end

    def __len__(self) -> int:
        return len(self._open)

    async def open(self, asked: Opening) -> str:
        """Open a session; its name, which cannot be guessed.

        Raises:
            RuntimeUnavailable: too many are open.
            InvalidInput: what it is opened with cannot be judged.
        """
        limits, served = self._serving.limits, self._serving.pick(asked.runtime)
        self._forget()
        if len(self._open) >= limits.sessions:
            raise RuntimeUnavailable("too many audits are open", expected=f"at most {limits.sessions}; try again later")
        turns = [*asked.messages, Message("assistant", "")]
        given = check("audit", turns, asked.documents, ends_with=["assistant"], blank_answer=True).texts
        await limits.check(given, len(asked.documents))
        on_error: Any = asked.on_error
        checker = StreamChecker(asked.messages, asked.documents, runtime=served.runtime, profile=served.profile,
                                on_error=on_error)  # fmt: skip
        name = token_urlsafe(24)
        self._open[name] = _OpenAudit(checker, served, given, len(asked.documents), time.monotonic())
        return name

    def find(self, name: str) -> _OpenAudit:
        """The session of that name.

        Raises:
            NotHere: none is open.
        """
        self._forget()
        if (found := self._open.get(name)) is None:
            raise NotHere("no audit of this name is open", intrinsic="audit", expected=f"one that POST {_PATH} opened")
        found.heard = time.monotonic()
        return found

    def told_before(self, name: str, piece: AnswerPiece) -> bytes | None:
        """What was said to the same piece before, also where it closed the session a short while ago."""
        self._forget()
        answered = self.find(name).answered if name in self._open else self._closed.get(name)
        return answered.to(piece) if answered else None

    def drop(self, name: str) -> None:
        """Forget a session, but for what it was told at last."""
        if (found := self._open.pop(name, None)) and found.answered and found.answered.piece.last:
            self._closed[name] = found.answered
            while len(self._closed) > self._serving.limits.sessions:
                del self._closed[next(iter(self._closed))]

    def _forget(self) -> None:
        before = time.monotonic() - self._serving.limits.idle
        for name in [name for name, one in self._open.items() if one.heard < before and not one.turn.locked()]:
            del self._open[name]
        for name in [name for name, one in self._closed.items() if one.heard < before]:
            del self._closed[name]


def routes(serving: Service) -> APIRouter:
    """The routes of answers that are being written."""
    router = APIRouter(tags=["audit while it is written"])
    sessions = OpenAudits(serving)

    @router.post(_PATH, summary="Open an audit of an answer that is being written", status_code=201)
    async def opened(asked: Opening) -> Response:
        name = await sessions.open(asked)
        answer = json_answer({"session": name, "feed": f"{_PATH}/{name}"}, status=201)
        answer.headers["location"] = f"{_PATH}/{name}"
        return answer

    @router.post(f"{_PATH}/{{session}}", summary="The next piece of the answer; a line for each sentence that closed")
    async def fed(session: str, piece: AnswerPiece) -> Response:
        if (said := sessions.told_before(session, piece)) is not None:
            return Response(said, media_type=LINES)
        found = sessions.find(session)
        async with found.turn:
            if (said := sessions.told_before(session, piece)) is not None:  # it was sent twice at a time
                return Response(said, media_type=LINES)
            sessions.find(session)  # it may have been closed meanwhile
            text = found.new_in(piece)
            await serving.limits.check([*found.given, found.checker.text + text], found.documents)
            audit, problem = None, list[bytes]()
            try:
                async with found.served.batcher.place():
                    audit = await found.hear(text, piece.last)
            except IntrinsicsError as error:
                if not found.untold:
                    raise
                problem = [_line_of(error, serving)]
            said = b"".join([*found.told(), *problem])
            if piece.at is not None and not problem:
                found.answered = _LastAnswer(piece, said, time.monotonic())
            if audit is not None:
                serving.metrics.judged("audit", audit)
                sessions.drop(session)
        return Response(said, media_type=LINES)

    @router.delete(f"{_PATH}/{{session}}", summary="Give an audit up", status_code=204)
    async def dropped(session: str) -> Response:
        sessions.find(session)
        sessions.drop(session)
        return Response(status_code=204)

    return router


def _line_of(error: IntrinsicsError, serving: Service) -> bytes:
    return written({"error": {"type": name_of(error), "message": serving.hide(str(error))}})


def _line(**event: Any) -> bytes:
    return written({kind: value.model_dump(mode="json") for kind, value in event.items()})
