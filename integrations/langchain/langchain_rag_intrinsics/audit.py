"""Everything about an answer at once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from langchain_core.messages import AIMessage
from langchain_core.runnables.utils import AddableDict

from intrinsics_core import InvalidInput, StreamChecker
from intrinsics_core.protocol import results as core
from langchain_rag_intrinsics._answering import AnswerStream
from langchain_rag_intrinsics._inputs import ANSWER, ChainInput, is_structured, kept
from langchain_rag_intrinsics._verdicts import is_canned
from langchain_rag_intrinsics.citation_generator import CitationGenerator

Piece = AddableDict


class Audit(CitationGenerator):
    """All verdicts on an answer: is the question answerable, is each sentence supported and by what, how certain is the
    answer, does it address the question, and which of these do not go together. A language model is asked once.

    Takes ``{"question" | "messages", "documents", "answer"}``; returns the input with ``"audit"``, as the command line
    writes it, and ``"answer"`` with LangChain's own citations (see :class:`CitationGenerator`) and the audit in
    ``response_metadata["rag_intrinsics"]["audit"]``. In a chain: ``chain | Audit()``. With ``return_result=True`` it
    returns the core's Audit.

    A streaming chain streams on: the answer's chunks pass as they come, and the last pieces bring the citations and the
    audit.

    Args:
        live: judge each sentence of a streaming answer as it closes: the stream then has pieces ``{"sentences":
            [verdict]}`` between the answer's chunks, so that what is made up can be marked while the model writes. A
            language model is asked once more for each of these.
        hold: with ``live``, keep each sentence back until it is judged: its verdict comes before its text, so that a
            reader that stops at an unfaithful sentence has not shown it. A sentence is then seen when it has closed and
            was judged, not while it is written.

    Raises:
        InvalidInput: ``hold`` without ``live``.

    Example:
        >>> from langchain_rag_intrinsics import Audit
        >>> found = Audit().invoke({
        ...     "question": "Who built the tide mill?",
        ...     "documents": ["Ada Brink built the tide mill in 1911."],
        ...     "answer": "Ada Brink built the tide mill in 1911. She painted it gold for forty sailors.",
        ... })
        >>> [sentence["label"] for sentence in found["audit"]["sentences"]]
        ['faithful', 'unfaithful']
        >>> [citation["cited_text"] for citation in found["answer"].content_blocks[0]["annotations"]]
        ['Ada Brink built the tide mill in 1911.']
    """

    intrinsic: ClassVar[str] = "audit"

    live: bool = False
    hold: bool = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.hold and not self.live:
            raise InvalidInput("hold=True requires live=True", intrinsic=self.intrinsic)

    def _mended(self, given: ChainInput, result: Any) -> Any:
        return result

    def _found(self, result: core.Audit) -> core.Citations:
        wrong = [s for s in result.sentences if s.label == "unfaithful"]
        kept = [c for c in result.citations.citations if not any(c.response_begin < s.end and s.begin < c.response_end
                                                                 for s in wrong)]  # fmt: skip
        return core.Citations(citations=tuple(kept))

    def _without_asking(self, given: ChainInput) -> Any:
        return None  # of a canned answer too there is an audit, which says that there is nothing to judge

    def _tell(self, value: Any, given: ChainInput, result: core.Result) -> dict[str, Any]:
        answer = given.answer if is_canned(given.answer) else super()._tell(value, given, result)
        before = value if isinstance(value, Mapping) else {}
        output = {**before, self.intrinsic: result.model_dump(mode="json")}
        # A structured answer stays what it was, for whoever reads its fields; marks go into text alone.
        return {**output, ANSWER[0]: answer} if isinstance(answer, AIMessage) and not _is_structured(before) else output

    def _pass(self, pieces: Iterator[Any]) -> Iterator[Any]:
        sentences = _Sentences(self)
        for piece in map(kept, pieces):
            yield from _rest(piece, self.return_result)
            yield from sentences.passed(piece)
            if (checker := sentences.checker()) is not None:
                yield from sentences.closed(checker.feed(sentences.unheard()))
        given = self._read(sentences.stream.value)
        yield from self._last(sentences, given, self._result(given))

    async def _apass(self, pieces: AsyncIterator[Any]) -> AsyncIterator[Any]:
        sentences = _Sentences(self)
        async for piece in pieces:
            piece = kept(piece)
            for shown in (*_rest(piece, self.return_result), *sentences.passed(piece)):
                yield shown
            if (checker := sentences.checker()) is not None:
                for shown in sentences.closed(await checker.afeed(sentences.unheard())):
                    yield shown
        given = self._read(sentences.stream.value)
        for last in self._last(sentences, given, await self._aresult(given)):
            yield last

    def _last(self, sentences: _Sentences, given: ChainInput, result: core.Audit) -> Iterator[Any]:
        if self.return_result:
            yield result
            return
        yield from sentences.left(result)
        for chunk in sentences.stream.close(given, None if is_canned(given.answer) else result):
            yield Piece({ANSWER[0]: chunk})
        yield Piece({self.intrinsic: result.model_dump(mode="json")})

    def _checker(self, stream: AnswerStream) -> StreamChecker | None:
        """What judges sentences as they close; None where that is not wanted, or what is asked is not known yet."""
        if not self.live or is_canned(stream.passed):
            return None
        try:
            given = self._read({**stream.value, ANSWER[0]: AIMessage("")})
        except InvalidInput:
            return None
        return StreamChecker(given.messages[:-1], given.passages, runtime=self.engine, profile=self.profile,
                             **self._settings(given))  # fmt: skip


class _Sentences:
    """The sentences of a streaming answer: what of it was judged, and what goes out. No I/O."""

    def __init__(self, judge: Audit) -> None:
        self.stream = AnswerStream(judge, judge.hold)
        self._judge = judge
        self._checker: StreamChecker | None = None
        self._heard = self._released = 0  # characters of the answer

    def passed(self, piece: Any) -> Iterator[Piece]:
        """What of a piece goes out at once."""
        for chunk in self.stream.take(piece):
            yield Piece({ANSWER[0]: chunk})

    def checker(self) -> StreamChecker | None:
        """What is to hear the text that is `unheard`; None where there is nothing to judge yet."""
        if self._heard == len(self.stream.text):
            return None
        self._checker = self._checker or self._judge._checker(self.stream)
        return self._checker

    def unheard(self) -> str:
        begin, self._heard = self._heard, len(self.stream.text)
        return self.stream.text[begin:]

    def closed(self, judged: Sequence[core.AuditedSentence]) -> Iterator[Piece]:
        """The verdicts of sentences that closed, and their text where it was held back."""
        if judged:
            yield Piece({"sentences": [sentence.model_dump(mode="json") for sentence in judged]})
            if self._checker and self._judge.hold:
                yield from self._out(self._checker.release())

    def left(self, whole: core.Audit) -> Iterator[Piece]:
        """The sentences that closed with the end alone, and their text where it was held back."""
        # Without a checker nothing was judged yet: a structured answer comes with the end.
        left = self._checker.left(whole) if self._checker else whole.sentences if self._judge.live else ()
        if left:
            yield Piece({"sentences": [sentence.model_dump(mode="json") for sentence in left]})
        if self._judge.hold:
            yield from self._out(self.stream.text[self._released :])

    def _out(self, text: str) -> Iterator[Piece]:
        self._released += len(text)
        for chunk in self.stream.release(text):
            yield Piece({ANSWER[0]: chunk})


def _is_structured(value: Mapping[str, Any]) -> bool:
    """Whether the answer of an input is neither text nor a message."""
    return is_structured(next((value[name] for name in ANSWER if value.get(name) is not None), None))


def _rest(piece: Any, whole: bool) -> Iterator[Any]:
    """What a piece of the input holds beside the answer."""
    if isinstance(piece, Mapping) and not whole and (rest := {k: v for k, v in piece.items() if k not in ANSWER}):
        yield Piece(rest)
