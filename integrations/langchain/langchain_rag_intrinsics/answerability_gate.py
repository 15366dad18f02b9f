"""Answerability gate."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Annotated, Any, ClassVar

from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.base import coerce_to_runnable
from pydantic import BeforeValidator

from intrinsics_core import Call, answerability
from intrinsics_core.results import Answerability
from langchain_rag_intrinsics._answering import verdict, with_verdict
from langchain_rag_intrinsics._inputs import Given
from langchain_rag_intrinsics._intrinsic import Intrinsic


def _route(value: Any) -> Any:
    return value if value is None or isinstance(value, str) else coerce_to_runnable(value)


Route = Annotated[Any, BeforeValidator(_route)]


class AnswerabilityGate(Intrinsic):
    """Says whether the documents answer the question, and sends the input on its way.

    Takes ``{"question" | "messages", "documents"}``. Returns the input with the verdict under ``"answerability"``
    (``{"label", "probability"}``), or what the route returns that the verdict chooses. A route is a Runnable, which
    gets the input with the verdict, or a text, which becomes the answer; routes may be left out, and the input then
    passes through. Messages that come out carry the verdict in ``response_metadata["rag_intrinsics"]``; a route that
    streams streams on. With ``return_result=True`` it returns the core's Answerability and routes nothing.

    Args:
        answerable: where an answerable question goes.
        otherwise: where the others go.
        on_error: ``"raise"``, or ``"open"`` or ``"closed"``: let the question pass, or stop it, where the judgement
            failed; the verdict then says that it is degraded.

    Example:
        >>> from langchain_rag_intrinsics import AnswerabilityGate
        >>> gate = AnswerabilityGate(otherwise="The documents do not say.")
        >>> passed = gate.invoke({"question": "Who built the tide mill?",
        ...                       "documents": ["Ada Brink built the tide mill in 1911."]})
        >>> passed["answerability"]["label"]
        'answerable'
    """

    intrinsic: ClassVar[str] = "answerability"

    answerable: Route = None
    otherwise: Route = None

    def _ask(self, given: Given) -> Call[Answerability]:
        return answerability(given.messages, given.passages, **self._settings())

    def _chosen(self, result: Answerability) -> Any:
        return self.answerable if result.answerable else self.otherwise

    def _run(self, value: Any) -> Any:
        given = self._read(value)
        result = self._result(given)
        route = self._chosen(result)
        if isinstance(route, Runnable) and not self.return_result:
            return self._signed(route.invoke(self._tell(value, given, result)), result)
        return self._told(value, given, result)

    async def _arun(self, value: Any) -> Any:
        given = self._read(value)
        result = await self._aresult(given)
        route = self._chosen(result)
        if isinstance(route, Runnable) and not self.return_result:
            return self._signed(await route.ainvoke(self._tell(value, given, result)), result)
        return self._told(value, given, result)

    def _tell(self, value: Any, given: Given, result: Answerability) -> Any:
        route = self._chosen(result)
        if isinstance(route, str):
            return AIMessage(route, response_metadata=verdict(self.intrinsic, result))
        return {**value, self.intrinsic: result.model_dump(mode="json")}

    def _signed(self, output: Any, result: Answerability) -> Any:
        if not isinstance(output, AIMessage):
            return output
        metadata = with_verdict(output.response_metadata, verdict(self.intrinsic, result))
        return output.model_copy(update={"response_metadata": metadata})

    def stream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Any]:
        yield from self._transform_stream_with_config(iter([input]), self._stream, config, **kwargs)

    async def astream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> AsyncIterator[Any]:
        async def single() -> AsyncIterator[Any]:
            yield input

        async for chunk in self._atransform_stream_with_config(single(), self._astream, config, **kwargs):
            yield chunk

    def _stream(self, values: Iterator[Any]) -> Iterator[Any]:
        for value in values:
            given = self._read(value)
            result = self._result(given)
            route = self._chosen(result)
            if not isinstance(route, Runnable) or self.return_result:
                yield self._told(value, given, result)
                return
            chunk = None
            for chunk in route.stream(self._tell(value, given, result)):
                yield _open_ended(chunk)
            yield from self._signature(chunk, result)

    async def _astream(self, values: AsyncIterator[Any]) -> AsyncIterator[Any]:
        async for value in values:
            given = self._read(value)
            result = await self._aresult(given)
            route = self._chosen(result)
            if not isinstance(route, Runnable) or self.return_result:
                yield self._told(value, given, result)
                return
            chunk = None
            async for chunk in route.astream(self._tell(value, given, result)):
                yield _open_ended(chunk)
            for last in self._signature(chunk, result):
                yield last

    def _signature(self, chunk: Any, result: Answerability) -> Iterator[AIMessageChunk]:
        if isinstance(chunk, AIMessageChunk):
            signed = verdict(self.intrinsic, result)
            yield AIMessageChunk(content="", response_metadata=signed, id=chunk.id, chunk_position="last")


def _open_ended(chunk: Any) -> Any:
    """A chunk that is not the last: the verdict follows."""
    if isinstance(chunk, AIMessageChunk) and chunk.chunk_position is not None:
        return chunk.model_copy(update={"chunk_position": None})
    return chunk
