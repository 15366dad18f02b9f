"""Answerability gate."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.runnables.utils import AddableDict
from pydantic import BeforeValidator

from intrinsics_core.chains.notes import KEY, with_verdicts
from intrinsics_core.protocol.results import Answerability
from intrinsics_core.running.steps import ENDED, OUT, PIECE, Steps
from langchain_rag_intrinsics._intrinsic import StreamingIntrinsic, as_open
from langchain_rag_intrinsics._messages import ANSWER, ChainInput, canned, kept
from langchain_rag_intrinsics._wrapped import as_runnable

Route = Annotated[Any, BeforeValidator(lambda v: v if v is None or isinstance(v, str) else as_runnable(v))]


class AnswerabilityGate(StreamingIntrinsic):
    """Judges whether the documents answer the question, and calls the route for the verdict.

    Takes ``{"question" | "messages", "documents"}``. A route may be left out: it returns the input with the verdict
    under ``"answerability"``. A text returns that with ``"answer"``, an AIMessage of the text, which later judges pass
    on. A Runnable or function gets the input with the verdict; messages that come out of it carry the verdict, and one
    that streams streams on. With ``return_result=True`` it returns the core's Answerability and routes nothing.

    Args:
        answerable: where an answerable question goes: ``RunnablePassthrough.assign(answer=...)``.
        otherwise: where the others go. A function may also return a text, for a refusal that depends on the input.
        block_unsure: whether a verdict *unanswerable* that is ``unsure`` goes to ``otherwise``; False lets it pass.
        on_error: ``"raise"``, or ``"open"`` or ``"closed"``: let the question pass, or stop it.

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
        return self.answerable if result.passes(block_unsure=self.block_unsure) else self.otherwise

    def _steps(self, value: Any) -> Steps[Any]:
        given = self._read(value)
        result: Answerability = yield "judge", given
        route = self._chosen(result)
        if not isinstance(route, Runnable) or self.return_result:
            return self._output(value, given, result)
        output = yield "call", (route, self._passed(value, result))
        if self._says(route, output):
            return self._answered(value, output, result)
        if not isinstance(output, AIMessage):
            return output
        metadata = with_verdicts(output.response_metadata, {self.intrinsic: result.model_dump(mode="json")})
        return output.model_copy(update={"response_metadata": metadata})

    def _streamed(self) -> Steps[None]:
        value: Any = None
        while (piece := (yield PIECE, None)) is not ENDED:
            value = piece if value is None or not isinstance(piece, AddableDict) else value + piece
        value = kept(value)
        given = self._read(value)
        result: Answerability = yield "judge", given
        route = self._chosen(result)
        if not isinstance(route, Runnable) or self.return_result:
            yield OUT, self._output(value, given, result)
            return
        passed, last, text = self._passed(value, result), None, []
        chunks = (route.stream(passed), route.astream(passed))  # one of them is read
        while (chunk := (yield "route", chunks)) is not ENDED:
            last = chunk
            if self._says(route, chunk):
                text.append(chunk)
            else:
                yield OUT, as_open(chunk) if isinstance(chunk, AIMessageChunk) else chunk
        if text:
            yield OUT, self._answered(value, "".join(text), result)
        if isinstance(last, AIMessageChunk):
            signed = {KEY: {self.intrinsic: result.model_dump(mode="json")}}
            yield OUT, AIMessageChunk(content="", response_metadata=signed, id=last.id, chunk_position="last")

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

    def _says(self, route: Any, output: Any) -> bool:
        """Whether this is a text that a function gave for a canned answer."""
        return route is self.otherwise and isinstance(route, RunnableLambda) and isinstance(output, str)
