"""Answerability gate."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Annotated, Any, ClassVar

from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from pydantic import BeforeValidator

from intrinsics_core.chains.notes import KEY, with_verdicts
from intrinsics_core.protocol.results import Answerability
from langchain_rag_intrinsics._intrinsic import Intrinsic
from langchain_rag_intrinsics._messages import ANSWER, ChainInput, canned, kept
from langchain_rag_intrinsics._wrapped import as_runnable


def _route(value: Any) -> Any:
    return value if value is None or isinstance(value, str) else as_runnable(value)


Route = Annotated[Any, BeforeValidator(_route)]


class AnswerabilityGate(Intrinsic):
    """Judges whether the documents answer the question, and calls the route for the verdict.

    Takes ``{"question" | "messages", "documents"}``. Returns the input with the verdict under ``"answerability"``
    (``{"label", "probability"}``), or what the route returns that the verdict chooses. A route may be left out, and the
    input then passes through. A text returns the input with the verdict and ``"answer"``, an AIMessage of that text,
    which components that judge answers pass on unjudged. A Runnable or function gets the input with the verdict;
    messages that come out of it carry the verdict in ``response_metadata["rag_intrinsics"]``, and one that streams
    streams on. No documents are unanswerable. With ``return_result=True`` it returns the core's Answerability and
    routes nothing.

    For two exits of one type let ``answerable`` be ``RunnablePassthrough.assign(answer=...)``.

    Args:
        answerable: where an answerable question goes.
        otherwise: where the others go. A function may also return a text, for a refusal that depends on the input.
        block_unsure: what is done with a question that is *unanswerable* where the judge is ``unsure`` of that, its
            probability being close to the threshold. True sends it to ``otherwise``; False lets it pass, to
            ``answerable``. The label in the verdict stays.
        on_error: ``"raise"``, or ``"open"`` or ``"closed"``: let the question pass, or stop it, where the judgement
            failed; the verdict then says that it is degraded.

    Example:
        >>> from langchain_rag_intrinsics import AnswerabilityGate
        >>> gate = AnswerabilityGate(otherwise="The documents do not say.")
        >>> passed = gate.invoke({"question": "Who built the tide mill?",
        ...                       "documents": ["Ada Brink built the tide mill in 1911."]})
        >>> passed["answerability"]["label"]
        'answerable'
        >>> gate.invoke({"question": "Who built the tide mill?", "documents": []})["answer"].text
        'The documents do not say.'
    """

    intrinsic: ClassVar[str] = "answerability"

    answerable: Route = None
    otherwise: Route = None
    block_unsure: bool = True

    def _chosen(self, result: Answerability) -> Any:
        return self.answerable if self._passes(result) else self.otherwise

    def _passes(self, result: Answerability) -> bool:
        return result.passes(block_unsure=self.block_unsure)

    def _run(self, value: Any) -> Any:
        value = kept(value)
        given = self._read(value)
        result = self._result(given)
        route = self._chosen(result)
        if isinstance(route, Runnable) and not self.return_result:
            return self._returned(value, route, route.invoke(self._passed(value, result)), result)
        return self._output(value, given, result)

    async def _arun(self, value: Any) -> Any:
        value = kept(value)
        given = self._read(value)
        result = await self._aresult(given)
        route = self._chosen(result)
        if isinstance(route, Runnable) and not self.return_result:
            return self._returned(value, route, await route.ainvoke(self._passed(value, result)), result)
        return self._output(value, given, result)

    def _tell(self, value: Any, given: ChainInput, result: Answerability) -> Any:
        route = self._chosen(result)
        return self._answered(value, route, result) if isinstance(route, str) else self._passed(value, result)

    def _passed(self, value: Any, result: Answerability) -> dict[str, Any]:
        """The input with the verdict."""
        return {**value, self.intrinsic: result.model_dump(mode="json")}

    def _answered(self, value: Any, text: str, result: Answerability) -> dict[str, Any]:
        """The input with the verdict and a canned answer."""
        passed = self._passed(value, result)
        return {**passed, ANSWER[0]: canned(text, {self.intrinsic: passed[self.intrinsic]})}

    def _returned(self, value: Any, route: Any, output: Any, result: Answerability) -> Any:
        """What a route returned: a message signed, the text of a function for no answer made one."""
        if self._says(route, output, result):
            return self._answered(value, output, result)
        if not isinstance(output, AIMessage):
            return output
        metadata = with_verdicts(output.response_metadata, {self.intrinsic: result.model_dump(mode="json")})
        return output.model_copy(update={"response_metadata": metadata})

    def stream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Any]:
        yield from self._transform_stream_with_config(iter([input]), self._stream, config, **kwargs)

    async def astream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> AsyncIterator[Any]:
        async def single() -> AsyncIterator[Any]:
            yield input

        async for chunk in self._atransform_stream_with_config(single(), self._astream, config, **kwargs):
            yield chunk

    def _stream(self, values: Iterator[Any]) -> Iterator[Any]:
        for value in map(kept, values):
            given = self._read(value)
            result = self._result(given)
            route = self._chosen(result)
            if not isinstance(route, Runnable) or self.return_result:
                yield self._output(value, given, result)
                return
            chunk, text = None, []
            for chunk in route.stream(self._passed(value, result)):
                if self._says(route, chunk, result):
                    text.append(chunk)
                else:
                    yield _open_ended(chunk)
            if text:
                yield self._answered(value, "".join(text), result)
            yield from self._signature(chunk, result)

    async def _astream(self, values: AsyncIterator[Any]) -> AsyncIterator[Any]:
        async for value in values:
            value = kept(value)
            given = self._read(value)
            result = await self._aresult(given)
            route = self._chosen(result)
            if not isinstance(route, Runnable) or self.return_result:
                yield self._output(value, given, result)
                return
            chunk, text = None, []
            async for chunk in route.astream(self._passed(value, result)):
                if self._says(route, chunk, result):
                    text.append(chunk)
                else:
                    yield _open_ended(chunk)
            if text:
                yield self._answered(value, "".join(text), result)
            for last in self._signature(chunk, result):
                yield last

    def _says(self, route: Any, output: Any, result: Answerability) -> bool:
        """Whether this is a text that a function gave for a canned answer."""
        return isinstance(route, RunnableLambda) and isinstance(output, str) and not self._passes(result)

    def _signature(self, chunk: Any, result: Answerability) -> Iterator[AIMessageChunk]:
        if isinstance(chunk, AIMessageChunk):
            signed = {KEY: {self.intrinsic: result.model_dump(mode="json")}}
            yield AIMessageChunk(content="", response_metadata=signed, id=chunk.id, chunk_position="last")


def _open_ended(chunk: Any) -> Any:
    """A chunk that is not the last: the verdict follows."""
    if isinstance(chunk, AIMessageChunk) and chunk.chunk_position is not None:
        return chunk.model_copy(update={"chunk_position": None})
    return chunk
