"""Verdicts on a response."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Annotated, Any, ClassVar, TypeVar, cast

from llama_index.core.agent.workflow import AgentOutput
from llama_index.core.base.response.schema import StreamingResponse
from llama_index.core.chat_engine.types import StreamingAgentChatResponse
from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined]
from llama_index.core.llms import ChatMessage
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryType
from llama_index.rag_intrinsics._component import IntrinsicComponent, settled
from llama_index.rag_intrinsics._inputs import Calls, History, conversation, distinct, passages
from llama_index.rag_intrinsics._responses import answer_of, calls_of, noted_on, sources_of, under_way
from llama_index.rag_intrinsics._settings import Several
from llama_index.response_synthesizers.rag_intrinsics.streams import AnnotatedChatStream

from intrinsics_core import Call, InvalidInput, arun_many, run_many
from intrinsics_core.chains.notes import KEY, unfaithful_places, with_verdicts
from intrinsics_core.intrinsics import OnError
from intrinsics_core.protocol.results import Audit, AuditedSentence, Result
from intrinsics_core.running.streaming import StreamChecker, StreamEvent

dispatcher = get_dispatcher(__name__)
logger = logging.getLogger(__name__)

SENTENCES = "sentences"
Shown = TypeVar("Shown")
Verdicts = dict[str, Any]


class ResponseAnnotator(IntrinsicComponent):
    """Adds to a response what its source nodes say about it.

    Takes what query engines, chat engines and agents give: ``Response``, ``PydanticResponse``, ``AgentChatResponse``,
    ``AgentOutput`` (its sources are what its tools returned; the report of an action is no claim where its tool was
    called), and streams. Returns a copy whose
    ``metadata["rag_intrinsics"]`` holds, by intrinsic, what the command line writes: ``"citations"`` with the spans
    that each sentence rests on, ``"hallucination-detection"`` with a verdict for each sentence. A sentence that is
    judged unfaithful is not cited. Offsets count in the
    response's text and in the nodes' own texts. Both are asked for at the same time.

    A stream streams on, and its verdicts are in the metadata when it has ended. An ``AgentOutput`` has no metadata:
    its verdicts are in ``response.additional_kwargs["rag_intrinsics"]``. An answer without sources is judged by
    nothing; a judge that fails leaves a verdict that says so (``degraded``), and the answer as it is.

    Args:
        citations: whether to cite.
        hallucination: whether to judge each sentence.
        audit: whether to judge the answer in every way at once: ``"audit"`` then holds whether the nodes answer the
            question, a verdict with citations for each sentence, a certainty, whether the question is addressed, and
            what these disagree about. One request, where a language model judges. It has citations and verdicts in it:
            the other two are then off unless asked for.
        stream_verdicts: whether each sentence of a stream is judged as it closes: ``"sentences"`` grows while tokens
            pass and has every sentence once at the end; the other verdicts come then. A language model is asked once
            more for each sentence.
        hold: with ``stream_verdicts``, whether each sentence is kept back until it is judged: when its text comes, its
            verdict is in ``"sentences"`` already. A sentence is then seen when it has closed and was judged, not while
            it is written.
        metadata_mode: which metadata of the nodes is read beside their text: what LLMs are shown, by default.
        tools: one name or several of an agent's tools whose texts are sources beside the nodes: ``["weather"]``.
        on_error: ``"fallback"``, or ``"raise"`` where a judge's failure is to reach you in place of the answer.

    Example:
        >>> from llama_index.core.base.response.schema import Response
        >>> from llama_index.core.schema import NodeWithScore, TextNode
        >>> from llama_index.response_synthesizers.rag_intrinsics import ResponseAnnotator
        >>> node = NodeWithScore(node=TextNode(id_="mill", text="Ada Brink built the tide mill in 1911."))
        >>> response = Response("Ada Brink built the tide mill in 1911.", source_nodes=[node])
        >>> annotated = ResponseAnnotator().annotate("Who built the tide mill?", response)
        >>> annotated.metadata["rag_intrinsics"]["citations"]["citations"][0]["document_id"]
        'mill'
    """

    intrinsic: ClassVar[str] = "citations"

    on_error: str = "fallback"
    citations: bool | None = None
    hallucination: bool | None = None
    audit: bool = False
    stream_verdicts: bool = False
    hold: bool = False
    metadata_mode: MetadataMode = MetadataMode.LLM
    tools: Annotated[tuple[str, ...], Several] = ()

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        if self.hold and not self.stream_verdicts:
            raise InvalidInput("hold=True requires stream_verdicts=True")

    def annotate(self, query: QueryType, response: Shown, *, chat_history: History = None) -> Shown:
        """The response with verdicts.

        Args:
            query: the question that it answers; a conversation query brings the turns before it.
            chat_history: the turns before the question.

        Raises:
            IntrinsicsError: with ``on_error="raise"``; see :mod:`intrinsics_core.protocol.errors`.
        """
        if under_way(response):
            streaming: Shown = self.on_the_way(query, response, sources_of(response), {}, chat_history)
            return streaming
        answer, nodes, calls = answer_of(response), sources_of(response, self.tools), calls_of(response)
        return annotated(response, self.verdicts(query, answer, nodes, chat_history, calls))

    async def aannotate(self, query: QueryType, response: Shown, *, chat_history: History = None) -> Shown:
        """Like :meth:`annotate`, without ever blocking the event loop."""
        if under_way(response):
            streaming: Shown = self.on_the_way(query, response, sources_of(response), {}, chat_history)
            return streaming
        answer, nodes, calls = answer_of(response), sources_of(response, self.tools), calls_of(response)
        return annotated(response, await self.averdicts(query, answer, nodes, chat_history, calls))

    @dispatcher.span
    def verdicts(
        self,
        query: QueryType,
        answer: str,
        nodes: Sequence[NodeWithScore],
        history: Sequence[ChatMessage] | None = None,
        calls: Calls = (),
    ) -> Verdicts:
        """What :meth:`annotate` adds, for an answer, its nodes and the tool calls that were made for it."""
        try:
            asked = self._calls(query, answer, nodes, history, calls)
            return self._as_verdicts(asked, run_many(asked.values(), self.engine, profile=self.profile))
        except Exception as error:  # the answer is there: whatever a judge does wrong does not cost it
            return self._failed(error)

    @dispatcher.span
    async def averdicts(
        self,
        query: QueryType,
        answer: str,
        nodes: Sequence[NodeWithScore],
        history: Sequence[ChatMessage] | None = None,
        calls: Calls = (),
    ) -> Verdicts:
        """Like :meth:`verdicts`, without ever blocking the event loop."""
        try:
            asked = self._calls(query, answer, nodes, history, calls)
            return self._as_verdicts(asked, await arun_many(asked.values(), self.engine, profile=self.profile))
        except Exception as error:
            return self._failed(error)

    def on_the_way(
        self,
        query: QueryType,
        response: Any,
        nodes: Sequence[NodeWithScore],
        before: Verdicts,
        history: Sequence[ChatMessage] | None = None,
    ) -> Any:
        """The same stream, which writes its verdicts into the metadata as it ends."""
        if isinstance(response, StreamingAgentChatResponse):
            found: Verdicts = dict(before)
            if self.stream_verdicts:
                return AnnotatedChatStream.judged_on_the_way(
                    response,
                    {KEY: found},
                    lambda tokens: self._tokens(tokens, query, sources_of(response), found, history),
                    lambda tokens: self._atokens(tokens, query, sources_of(response), found, history),
                )

            def finish(text: str) -> None:
                found.update(self.verdicts(query, text, sources_of(response), history))

            async def afinish(text: str) -> None:
                found.update(await self.averdicts(query, text, sources_of(response), history))

            return AnnotatedChatStream.of(response, {KEY: found}, finish, afinish)
        signed = annotated(response, before)
        verdicts = signed.metadata[KEY]
        if isinstance(response, StreamingResponse):
            return replace(signed, response_gen=self._tokens(signed.response_gen, query, nodes, verdicts, history))
        return replace(signed, response_gen=self._atokens(signed.response_gen, query, nodes, verdicts, history))

    def _tokens(
        self,
        tokens: Iterator[str],
        query: QueryType,
        nodes: Sequence[NodeWithScore],
        verdicts: Verdicts,
        history: History,
    ) -> Iterator[str]:
        checker, said, shown = self._checker(query, nodes, history), "", 0
        hold = self.hold and checker is not None
        for token in tokens:
            said += token
            if not hold:
                yield token
            before = len(verdicts.get(SENTENCES, ()))
            checker = self._fed(checker, token, verdicts)
            if hold and (checker is None or len(verdicts.get(SENTENCES, ())) > before):
                # Where the judge failed, nothing is lost: the rest passes as it comes, and the verdicts say why.
                text, hold = said[shown:] if checker is None else checker.release(), checker is not None
                shown += len(text)
                yield text
        if checker is None or not self._closed(checker, verdicts):
            verdicts.update(self.verdicts(query, said, nodes, history))
        if hold and said[shown:]:
            yield said[shown:]

    async def _atokens(
        self,
        tokens: AsyncIterator[str],
        query: QueryType,
        nodes: Sequence[NodeWithScore],
        verdicts: Verdicts,
        history: History,
    ) -> AsyncIterator[str]:
        checker, said = self._checker(query, nodes, history), []
        if checker is None:
            async for token in tokens:
                said.append(token)
                yield token
            verdicts.update(await self.averdicts(query, "".join(said), nodes, history))
            return
        # Tokens pass at once, however long a verdict takes.
        async with aclosing(cast(AsyncGenerator[StreamEvent, None], checker.acheck(tokens))) as events:
            async for event in events:
                verdicts.setdefault(SENTENCES, []).extend(_dumped(event.sentences))
                if event.audit is not None:
                    verdicts.update(self._parts(event.audit))
                if event.text:
                    yield event.text

    # --- sentences as they close --------------------------------------------------------------------------------------

    def _checker(self, query: QueryType, nodes: Sequence[NodeWithScore], history: History) -> StreamChecker | None:
        if not self.stream_verdicts:
            return None
        try:
            documents = passages(distinct(nodes), self.metadata_mode)
            turns, choice = conversation(query, history=history), cast(OnError, self.on_error)
            return StreamChecker(
                turns,
                documents,
                runtime=self.engine,
                profile=self.profile,
                on_error=choice,
                date=self.date,
                hold=self.hold,
            )
        except Exception as error:
            self._failed(error)
            return None  # judged as a whole then, which says what is wrong

    def _fed(self, checker: StreamChecker | None, token: str, verdicts: Verdicts) -> StreamChecker | None:
        try:
            if checker is not None:
                verdicts.setdefault(SENTENCES, []).extend(_dumped(checker.feed(token)))
            return checker
        except Exception as error:
            self._failed(error)
            return None

    def _closed(self, checker: StreamChecker, verdicts: Verdicts) -> bool:
        try:
            whole = checker.close()
            verdicts.setdefault(SENTENCES, []).extend(_dumped(checker.left(whole)))
            verdicts.update(self._parts(whole))
            return True
        except Exception as error:
            self._failed(error)
            return False

    def _parts(self, judged: Audit) -> Verdicts:
        """An audit as those verdicts that are wanted."""
        found: dict[str, Result] = {
            "citations": judged.citations,
            "hallucination-detection": judged.hallucination,
            "audit": judged,
        }
        return {name: found[name].model_dump(mode="json") for name in self._wanted()}

    def _calls(
        self, query: QueryType, answer: str, nodes: Sequence[NodeWithScore], history: History, calls: Calls
    ) -> dict[str, Call[Any]]:
        messages = conversation(query, answer, history, calls)
        documents = passages(distinct(nodes), self.metadata_mode)
        return {name: self._ask(messages, documents, name) for name in self._wanted()}

    def _wanted(self) -> list[str]:
        wanted = {"citations": self.citations, "hallucination-detection": self.hallucination, "audit": self.audit}
        return [name for name, is_wanted in wanted.items() if (not self.audit if is_wanted is None else is_wanted)]

    def _as_verdicts(self, calls: Mapping[str, Call[Any]], results: Sequence[Any]) -> Verdicts:
        verdicts = {}
        for (name, call), result in zip(calls.items(), results, strict=True):
            result = settled(call, result)
            if result.degraded:
                logger.warning("%s fell back: %s", name, result.degraded)
            verdicts[name] = result.model_dump(mode="json")
        return _without_wrong_citations(verdicts)

    def _failed(self, error: Exception) -> Verdicts:
        """Where not even a fallback could be made of it: why there are no verdicts."""
        if self.on_error == "raise":
            raise error
        logger.warning("%s: no verdicts", self.class_name(), exc_info=error)
        return {name: {"degraded": f"{type(error).__name__}: {error}"} for name in self._wanted()}


def _without_wrong_citations(verdicts: Verdicts) -> Verdicts:
    """The verdicts without citations of sentences that are judged unfaithful beside them: nothing supports these."""
    wrong = unfaithful_places(verdicts.get("hallucination-detection") or verdicts.get("audit") or {})
    if wrong and (cited := verdicts.get("citations")):
        kept = [row for row in cited["citations"] if (row["response_begin"], row["response_end"]) not in wrong]
        return verdicts | {"citations": cited | {"citations": kept}}
    return verdicts


def _dumped(sentences: Iterable[AuditedSentence]) -> list[dict[str, Any]]:
    return [sentence.model_dump(mode="json") for sentence in sentences]


def annotated(response: Shown, verdicts: Verdicts) -> Shown:
    """A copy of any response, streaming ones too, with verdicts beside those that are there."""
    any_response: Any = response  # LlamaIndex's responses have no common base
    if isinstance(any_response, AgentOutput):
        message = any_response.response
        noted = {"additional_kwargs": with_verdicts(noted_on(response), verdicts)}
        copy: Any = any_response.model_copy(update={"response": message.model_copy(update=noted)})
    else:
        copy = replace(any_response, metadata=with_verdicts(noted_on(response), verdicts))
    shown: Shown = copy
    return shown
