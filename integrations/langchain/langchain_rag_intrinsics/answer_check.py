"""Checks of an answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Annotated, Any, ClassVar

from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.runnables.utils import AddableDict
from pydantic import Field, SkipValidation

from intrinsics_core import InvalidInput, StreamChecker, arun_many, run_many
from intrinsics_core.chains import policy
from intrinsics_core.chains.checks import AnswerChecks, CheckedAnswer
from intrinsics_core.chains.notes import CANNED, KEY, RETRY, signed, underscored
from intrinsics_core.intrinsics import TABLE
from intrinsics_core.protocol.results import Audit, Evaluation
from intrinsics_core.render.citations import Mode, Style
from intrinsics_core.running.flows import BLOCKED
from intrinsics_core.running.steps import ENDED, OUT, PIECE, Steps, arun_steps, run_steps
from langchain_rag_intrinsics._citations import Content, added_annotations, annotated, with_text, written
from langchain_rag_intrinsics._intrinsic import Names, StreamingIntrinsic, as_open
from langchain_rag_intrinsics._messages import ANSWER, ChainInput, as_answer, is_canned, is_structured, kept, read


class AnswerCheck(StreamingIntrinsic):
    """Judges an answer in any of the core's ways, all at once, and annotates it or puts a text in its place.

    Takes ``{"question" | "messages", "documents", "answer"}`` (or ``messages`` that end with the answer); returns a
    copy of the answer whose ``response_metadata["rag_intrinsics"]`` holds each verdict under its name. In a chain:
    ``chain.assign(answer=AnswerCheck())``. A gate's canned answer passes as it is. With ``return_result=True`` it
    returns the core's results by name.

    Citations (of ``"citations"`` or ``"audit"``) are LangChain's own, among the ``annotations`` of the text block; the
    document's id and the place in it are in ``extras``. A sentence that is judged unfaithful is not cited. A streaming
    answer streams on, and one last chunk brings verdicts and citations. To block, and to write citations into the text,
    it is held back as a whole.

    Args:
        checks: one or some of ``"audit"`` (everything; a language model is asked once), ``"hallucination-detection"``,
            ``"citations"``, ``"check-citations"``, ``"fact-check"``, ``"uncertainty"``, ``"answer-relevance"`` and
            ``"evaluate"``.
        mode: ``"annotate"``; ``"block"``: an answer with a label in ``labels`` is replaced by ``text``. For
            graphs that ask again, ``"retry"``: what to tell the model stands beside the verdicts, as ``"retry"``,
            unless the input has ``again=True``; ``"retry_then_block"``: so, and with ``again=True`` it is replaced.
        labels: which labels of the answer as a whole count, or the one.
        text: what stands in a blocked answer's place.
        unretrieved: what becomes of an answer without documents: ``"annotate"`` (the verdict NA), ``"block"`` (unless
            it claims nothing) or ``"pass"``; None: it is judged like any other.
        options: of each check, by its name: ``{"fact-check": {"top_k": 3}}``.
        citations, style: write citations into the text (:mod:`intrinsics_core.render.citations`).
        live: judge each sentence of a streaming answer as it closes, with one call more for each: chunks without text
            bring its verdict under ``"sentences"``.
        hold: with ``live``, keep each sentence back until it is judged.

    Raises:
        InvalidInput: a name is unknown, a mode needs a check of sentences, or ``hold`` is without ``live``.

    Example:
        >>> from langchain_rag_intrinsics import AnswerCheck
        >>> answer = AnswerCheck().invoke({
        ...     "question": "Who built the tide mill?",
        ...     "documents": ["Ada Brink built the tide mill in 1911."],
        ...     "answer": "Ada Brink built the tide mill in 1911. She painted it gold for forty sailors.",
        ... })
        >>> audit = answer.response_metadata["rag_intrinsics"]["audit"]
        >>> [sentence["label"] for sentence in audit["sentences"]]
        ['faithful', 'unfaithful']
        >>> [citation["cited_text"] for citation in answer.content_blocks[0]["annotations"]]
        ['Ada Brink built the tide mill in 1911.']
    """

    intrinsic: ClassVar[str] = "audit"

    checks: Names = ("audit",)
    mode: Annotated[policy.Mode, SkipValidation] = "annotate"
    labels: Names = ("unfaithful",)
    text: str = BLOCKED
    unretrieved: Annotated[policy.Unretrieved | None, SkipValidation] = None
    options: Mapping[str, Mapping[str, Any]] = Field(default_factory=dict)
    citations: Mode | None = None
    style: Style = "text"
    live: bool = False
    hold: bool = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.hold and not self.live:
            raise InvalidInput("hold=True requires live=True")
        _ = self.judging  # a wrong setting is told now, and not at the first answer

    @cached_property
    def judging(self) -> AnswerChecks:
        """The checks, and what is done by them."""
        names = ("checks", "mode", "labels", "unretrieved", "on_error", "date", "options")
        return AnswerChecks(**{name: getattr(self, name) for name in names})

    @property
    def _raises(self) -> bool:
        return self.judging.policy.on_error == "raise"

    def _read(self, value: Any) -> ChainInput:
        of = next((name for name in self.judging.checks if TABLE[name].needs_documents), self.judging.checks[0])
        return read(value, of, self.metadata_fields, answered=True)

    def _judging(self, given: ChainInput) -> Steps[CheckedAnswer]:
        messages = given.messages
        if is_canned(given.answer):  # a result says of it what it says of an answer without words
            messages[-1] = {"role": "assistant", "content": ""}
        return self.judging.judge(messages, given.passages, again=given.again, known=given.known)

    def _result(self, given: ChainInput) -> CheckedAnswer:
        do = {"run": lambda calls: run_many(calls, self.engine, profile=self.profile)}
        return run_steps(self._judging(given), do)

    async def _aresult(self, given: ChainInput) -> CheckedAnswer:
        do = {"run": lambda calls: arun_many(calls, self.engine, profile=self.profile)}
        return await arun_steps(self._judging(given), do)

    def _output(self, value: Any, given: ChainInput, result: Any) -> Any:
        if self.return_result:
            return {underscored(name): found for name, found in result.results.items()}
        return self._tell(value, given, result)

    def _tell(self, value: Any, given: ChainInput, result: CheckedAnswer) -> AIMessage:
        """A copy of the answer with the verdicts."""
        answer, cited = given.answer or AIMessage(given.messages[-1]["content"]), result.citations
        if not result.results:
            return answer
        metadata, content, text = self._metadata(given, result), answer.content, str(answer.text)
        if result.decision.act == "replace":
            metadata[KEY][CANNED] = True
            update = {"content": with_text(content, self.text), "response_metadata": metadata, "additional_kwargs": {}}
            return answer.model_copy(update=update)
        if cited is not None and self.citations is not None:
            content = written(content, text, given, cited, self.citations, self.style)
        elif cited is not None:
            content = annotated(content, given, cited)
        return answer.model_copy(update={"content": content, "response_metadata": metadata})

    def _metadata(self, given: ChainInput, result: CheckedAnswer, before: bool = True) -> dict[str, Any]:
        """``response_metadata`` with the verdicts; without those ``before`` where a chunk adds them."""
        answer, cited = given.answer or AIMessage(""), result.citations
        metadata = signed(answer.response_metadata if before else {}, result.dumped, str(answer.text), given.passages)
        if result.decision.act == "retry":
            metadata[KEY][RETRY] = result.decision.feedback
        # Says that the content is LangChain's standard blocks: providers then take the answer back as history.
        blocks = isinstance(answer.content, str) and cited is not None and cited.citations and not answer.tool_calls
        return metadata | ({"output_version": "v1"} if blocks and not self.citations else {})

    def for_langsmith(self) -> Callable[..., list[dict[str, Any]]]:
        """An evaluator as LangSmith takes it: ``client.evaluate(app, data=..., evaluators=[check.for_langsmith()])``.

        It reads an example's inputs and the app's outputs as one input, and gives a score for each check, of
        ``"evaluate"`` for each metric. What could not be rated has no score.
        """

        def rag_intrinsics(inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> list[dict[str, Any]]:
            rows: list[dict[str, Any]] = []
            for name, result in self.returning_result().invoke({**inputs, **outputs}).items():
                if isinstance(result, Evaluation):
                    rows += [{"key": m.name, "score": m.score, "value": m.rating, "comment": m.explanation or m.reason}
                             for m in result.metrics]  # fmt: skip
                elif (score := TABLE[name.replace("_", "-")].score) is not None:
                    rows.append({"key": name, "score": score(result), "comment": result.degraded or result.reason})
            return rows

        return rag_intrinsics

    def _streamed(self) -> Steps[None]:
        """The answer's chunks as they come, and the verdicts as the last one; no I/O."""
        stream = _Stream(self)
        while (piece := (yield PIECE, None)) is not ENDED:
            for chunk in stream.take(piece):
                yield OUT, chunk
            if heard := stream.hearing():
                for chunk in stream.closed((yield "hear", heard)):
                    yield OUT, chunk
        given = self._read(stream.value)
        result = (yield "judge", given) if self._without_asking(given) is None else None
        for chunk in stream.close(given, result):
            yield OUT, chunk

    def _checker(self, value: Any) -> StreamChecker | None:
        """What judges sentences as they close; None where what is asked is not known yet."""
        try:
            given = self._read({**value, ANSWER[0]: AIMessage("")})
        except InvalidInput:
            return None
        on_error: Any = self.judging.policy.on_error
        return StreamChecker(given.messages[:-1], given.passages, runtime=self.engine, profile=self.profile,
                             on_error=on_error, date=self.date)  # fmt: skip


class _Stream:
    """The state of one streamed answer; no I/O.

    ``value`` is the whole input so far, ``passed`` the sum of what went out. A structured answer goes out at the end: a
    parser of JSON gives it again and again as it grows.
    """

    def __init__(self, check: AnswerCheck) -> None:
        self.check = check
        # What a result changes goes out with it, and not before.
        self.held = check.return_result or check.citations is not None or check.judging.policy.replaces
        self.value: Any = None
        self.passed: AIMessageChunk | None = None
        self._checker: StreamChecker | None = None
        self._id: str | None = None
        self._text, self._heard, self._released = "", 0, 0  # of the answer: text, and characters

    def take(self, piece: Any) -> Iterator[AIMessageChunk]:
        """Keep a piece of the input; the part of the answer that is in it goes out."""
        piece = kept(piece)
        if not isinstance(piece, Mapping):
            self.value = piece if self.value is None else self.value + piece
            return
        part = next((piece[name] for name in ANSWER if piece.get(name) is not None), None)
        structured, before = is_structured(part), self.value or {}
        if structured and not isinstance(part, AddableDict):  # it takes the place of the one before
            before = {name: value for name, value in before.items() if name not in ANSWER}
        self.value = AddableDict(before) + AddableDict(piece)
        if part is None or structured or self.held:
            return
        answer = as_answer(part, self.check.intrinsic)
        self._text, self._id = self._text + str(answer.text), self._id or answer.id
        if not self.check.hold or is_canned(answer):
            yield self._out(answer)
        elif rest := _beside_text(answer):
            yield self._out(rest)

    def hearing(self) -> tuple[StreamChecker, str] | None:
        """What is to hear which text; None where there is nothing to judge yet."""
        if not self.check.live or self._heard == len(self._text) or is_canned(self.passed):
            return None
        self._checker = self._checker or self.check._checker(self.value)
        if self._checker is None:
            return None
        begin, self._heard = self._heard, len(self._text)
        return self._checker, self._text[begin:]

    def closed(self, judged: Any) -> Iterator[AIMessageChunk]:
        """The verdicts of sentences that closed, and their text where it was held back."""
        if judged:
            rows = [sentence.model_dump(mode="json") for sentence in judged]
            yield AIMessageChunk(content="", id=self._id, response_metadata={KEY: {"sentences": rows}})
            if self._checker and self.check.hold:
                yield from self._release(self._checker.release())

    def close(self, given: ChainInput, result: CheckedAnswer | None) -> Iterator[Any]:
        """What comes last: sentences that closed with the end alone, and the verdicts."""
        check, answer = self.check, given.answer
        if result is not None and self.held:
            whole = check._output(self.value, given, result)
            yield whole if check.return_result else _chunk(whole).model_copy(update={"chunk_position": "last"})
            return
        assert answer is not None
        if result is not None and check.live and not check.return_result:
            audit: Any = result.results.get("audit") or result.results.get("hallucination-detection")
            left = self._checker.left(audit) if self._checker and isinstance(audit, Audit) else ()
            # Without a checker nothing was judged yet: a structured answer comes with the end.
            yield from self.closed(left if self._checker or audit is None else audit.sentences)
            if check.hold:
                yield from self._release(self._text[self._released :])
        if self.passed is None:  # the answer came as the last of the messages, or is structured
            yield self._out(answer)
        assert self.passed is not None
        last = AIMessageChunk(content="", id=self.passed.id, chunk_position="last")
        if result is not None:
            last.response_metadata = check._metadata(given, result, before=False)
            if cited := result.citations:
                last.content = added_annotations(self.passed.content, given, cited)
        yield last

    def _release(self, text: str) -> Iterator[AIMessageChunk]:
        self._released += len(text)
        if text:
            yield self._out(AIMessageChunk(content=text, id=self._id))

    def _out(self, part: AIMessage) -> AIMessageChunk:
        chunk = _chunk(part)
        if {"citations", "audit"} & {*self.check.judging.checks} and isinstance(chunk.content, str):
            # In the form in which the last chunk can add annotations to it.
            blocks: Content = [{"type": "text", "text": chunk.content, "index": 0}] if chunk.content else []
            chunk = chunk.model_copy(update={"content": blocks})
        self.passed = chunk if self.passed is None else self.passed + chunk
        return chunk


def _beside_text(message: AIMessage) -> AIMessageChunk | None:
    """What a message has beside its text: tool calls, usage, other blocks; None for nothing."""
    others = [block for block in message.content if isinstance(block, dict) and block.get("type") != "text"]
    rest = _chunk(message.model_copy(update={"content": others or ""}))
    parts = (rest.content, rest.tool_call_chunks, rest.usage_metadata, rest.response_metadata, rest.additional_kwargs)
    return rest if any(parts) else None


def _chunk(message: AIMessage) -> AIMessageChunk:
    if isinstance(message, AIMessageChunk):
        return as_open(message)
    return AIMessageChunk.model_validate(message.model_dump(exclude={"type"}))
