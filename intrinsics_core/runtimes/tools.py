"""A runtime with the caller's own retriever and generator beside it: what flows run on."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import Any

from intrinsics_core.protocol.errors import InvalidInput, as_intrinsics_error
from intrinsics_core.protocol.requests import Answer, Generated, Outcome, Request, Retrieve, Retrieved
from intrinsics_core.protocol.task import Document, DocumentLike, Message, documents_of
from intrinsics_core.runtimes import as_runtime
from intrinsics_core.runtimes.base import AsyncRuntime, Runtime, unsupported
from intrinsics_core.runtimes.mixed import Mixed

Retriever = Callable[[str], Iterable[DocumentLike] | Awaitable[Iterable[DocumentLike]]]
Generator = Callable[[Sequence[Message], Sequence[Document]], str | Awaitable[str]]


class Tools(Mixed):
    """``runtime`` for the intrinsics, ``retrieve`` and ``generate`` for what a flow asks of a RAG chain.

    Args:
        runtime: answers the intrinsics' requests, and its profile is used: a runtime, a config, a chat model, or None
            for the embedded one, as :func:`~intrinsics_core.as_runtime` takes them.
        retrieve: query -> documents, best first; a function or a coroutine function.
        generate: (messages, documents) -> answer; a function or a coroutine function. Told of a sample's number where
            it has a parameter ``seed``. Left out: the runtime's own model answers (profiles with an ``answer`` format).

    Functions run in threads, side by side with what else the flow asks for at the time.
    """

    def __init__(self, runtime: object, *, retrieve: Retriever, generate: Generator | None = None) -> None:
        engine = as_runtime(runtime)
        functions = _Functions(engine, retrieve, generate)
        super().__init__({"*": engine}, kinds={Retrieve: functions, Answer: functions})


class _Functions(AsyncRuntime):
    """The caller's retriever and generator, as a runtime for what they answer."""

    def __init__(self, runtime: Runtime, retrieve: Retriever, generate: Generator | None) -> None:
        self.profile = runtime.profile
        self._retrieve, self._generate = retrieve, generate
        self._takes_seed = generate is not None and "seed" in inspect.signature(generate).parameters

    async def ahandle(self, requests: Sequence[Request]) -> list[Outcome]:
        return list(await asyncio.gather(*map(self._outcome, requests)))

    async def _outcome(self, request: Request) -> Outcome:
        try:
            if isinstance(request, Retrieve):
                found = await _called(self._retrieve, request.query)
                return Retrieved(documents_of(request.intrinsic, found, content_ids=True))
            if isinstance(request, Answer):
                return Generated(await self._answer(request))
            return unsupported("functions", request)
        except Exception as error:
            return as_intrinsics_error(error).named(request.intrinsic)

    async def _answer(self, request: Answer) -> str:
        if self._generate is None:
            raise InvalidInput("the flow needs a generator", expected="Tools(..., generate=...)")
        seed = {"seed": request.seed} if self._takes_seed else {}
        text = await _called(partial(self._generate, **seed), request.messages, request.documents)
        if not isinstance(text, str):
            raise InvalidInput("the generator did not return text", expected="a string", got=type(text).__name__)
        return text


async def _called(function: Callable[..., Any], *arguments: Any) -> Any:
    if inspect.iscoroutinefunction(function):  # looks through partial
        return await function(*arguments)
    value = await asyncio.to_thread(function, *arguments)
    return await value if inspect.isawaitable(value) else value
