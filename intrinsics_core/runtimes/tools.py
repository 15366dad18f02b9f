"""A runtime with the caller's own retriever and generator beside it: what flows run on."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import Any

from intrinsics_core.conversation import Document, DocumentLike, Message, documents_of
from intrinsics_core.errors import IntrinsicsError, InvalidInput, as_intrinsics_error
from intrinsics_core.requests import Answer, Generated, Outcome, Request, Retrieve, Retrieved
from intrinsics_core.runtimes.base import AsyncRuntime, Runtime

Retriever = Callable[[str], Iterable[DocumentLike] | Awaitable[Iterable[DocumentLike]]]
Generator = Callable[[Sequence[Message], Sequence[Document]], str | Awaitable[str]]


class Tools(AsyncRuntime):
    """``runtime`` for the intrinsics, ``retrieve`` and ``generate`` for what a flow asks of a RAG chain.

    Args:
        runtime: answers the intrinsics' requests; its profile is used.
        retrieve: query -> documents, best first; a function or a coroutine function.
        generate: (messages, documents) -> answer; a function or a coroutine function. Told of a sample's number where
            it has a parameter ``seed``. Left out: the runtime's own model answers (profiles with an ``answer`` format).

    Functions run in threads, side by side with what else the flow asks for at the time.
    """

    def __init__(self, runtime: Runtime, *, retrieve: Retriever, generate: Generator | None = None) -> None:
        self.runtime, self.retrieve, self.generate = runtime, retrieve, generate
        self.profile, self.concurrency = runtime.profile, runtime.concurrency
        self._takes_seed = generate is not None and "seed" in inspect.signature(generate).parameters

    async def ahandle(self, requests: Sequence[Request]) -> list[Outcome]:
        own = [i for i, r in enumerate(requests) if isinstance(r, Retrieve | Answer)]
        others = [i for i in range(len(requests)) if i not in own]
        answered, tools = await asyncio.gather(
            self._model([requests[i] for i in others]), asyncio.gather(*(self._tool(requests[i]) for i in own))
        )
        outcomes = dict(zip(others, answered, strict=True)) | dict(zip(own, tools, strict=True))
        return [outcomes[i] for i in range(len(requests))]

    async def _model(self, requests: Sequence[Request]) -> list[Outcome]:
        return await self.runtime.ahandle(requests) if requests else []

    async def _tool(self, request: Request) -> Outcome:
        try:
            if isinstance(request, Retrieve):
                found = await _called(self.retrieve, request.query)
                return Retrieved(documents_of(request.intrinsic, found, content_ids=True))
            assert isinstance(request, Answer)
            if self.generate is None:
                raise InvalidInput("there is no generator", expected="Tools(..., generate=...)")
            seed = {"seed": request.seed} if self._takes_seed else {}
            text = await _called(partial(self.generate, **seed), request.messages, request.documents)
            if not isinstance(text, str):
                raise InvalidInput("the generator gave no text", expected="a string", got=type(text).__name__)
            return Generated(text)
        except IntrinsicsError as error:
            return error.named(request.intrinsic)
        except Exception as error:
            return as_intrinsics_error(error).named(request.intrinsic)

    async def aclose(self) -> None:
        await self.runtime.aclose()

    def close(self) -> None:
        self.runtime.close()


async def _called(function: Callable[..., Any], *arguments: Any) -> Any:
    if inspect.iscoroutinefunction(function):  # looks through partial
        return await function(*arguments)
    value = await asyncio.to_thread(function, *arguments)
    return await value if inspect.isawaitable(value) else value
