"""Verdicts on an answer."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal, TypeVar, cast

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import RESPONSE_TYPE, StreamingResponse
from llama_index.core.chat_engine.types import StreamingAgentChatResponse
from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined]
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle, QueryType
from llama_index.rag_intrinsics._component import IntrinsicComponent
from llama_index.rag_intrinsics._inputs import History, conversation, passages
from llama_index.rag_intrinsics._prompts import InnerPrompts
from llama_index.rag_intrinsics._responses import answer_of, calls_of, noted, saying, sources_of, under_way
from llama_index.rag_intrinsics._settings import Several
from llama_index.response_synthesizers.rag_intrinsics._streams import CheckedChatStream
from pydantic import Field

from intrinsics_core import InvalidInput, arun_many, run_many
from intrinsics_core.chains.checks import AnswerChecks, CheckedAnswer
from intrinsics_core.chains.notes import KEY, underscored
from intrinsics_core.chains.policy import Decision, Unretrieved
from intrinsics_core.chains.transcript import MadeCall
from intrinsics_core.intrinsics import OnError
from intrinsics_core.protocol.results import Faithfulness
from intrinsics_core.running.flows import CANNED
from intrinsics_core.running.steps import Steps, arun_steps, run_steps
from intrinsics_core.running.streaming import StreamChecker, StreamEvent

dispatcher = get_dispatcher(__name__)
logger = logging.getLogger(__name__)

SENTENCES = "sentences"
_OF_AN_AUDIT = ("audit", "citations", "hallucination-detection")
Shown = TypeVar("Shown")
Verdicts = dict[str, Any]
Judged = tuple[Verdicts, Decision]


@dataclass(frozen=True)
class Asked:
    """What an answer is judged by; of a stream the sources may come with its tokens."""

    query: QueryType
    history: History
    sources: Callable[[], Sequence[NodeWithScore]]
    calls: Sequence[MadeCall] = ()


class AnswerCheck(IntrinsicComponent):
    """Says of a response what its source nodes say about it.

    Takes what query engines, chat engines and agents give: ``Response``, ``PydanticResponse``, ``AgentChatResponse``,
    ``AgentOutput`` (its sources are what its tools returned; the report of an action is no claim where its tool was
    called), and streams. Returns a copy whose ``metadata["rag_intrinsics"]`` holds, by check, what the command line
    writes. An ``AgentOutput`` has no metadata: its verdicts are in ``response.additional_kwargs["rag_intrinsics"]``.
    Offsets count in the response's text and in the nodes' own texts. All checks are asked for at the same time.

    A stream streams on, and its verdicts are in the metadata when it has ended. An answer without sources is judged by
    nothing; a judge that fails leaves a verdict that says so (``degraded``), and the answer as it is.

    Args:
        checks: one or several: ``"audit"`` (in one request whether the nodes answer the question, a verdict with
            citations for each sentence, a certainty, whether the question is addressed, and what these disagree about),
            ``"hallucination-detection"``, ``"citations"`` (a sentence that is judged unfaithful beside them is not
            cited), ``"fact-check"``, ``"uncertainty"``, ``"answer-relevance"``, ``"evaluate"``.
        mode: ``"annotate"`` notes the verdicts; ``"block"`` puts ``text`` in place of an answer with a label in
            ``labels``. A stream is then held whole until it is judged.
        labels: which labels of the whole answer block it.
        unretrieved: what becomes of an answer where nothing was retrieved: ``"annotate"`` notes the verdict *NA*;
            ``"block"`` replaces it unless it claims nothing; ``"pass"`` leaves it; None: it is judged like any other.
        text: what stands in place of a blocked answer.
        stream: when a stream is judged: at its ``"end"``; in ``"sentences"``, each as it closes: the verdicts under
            ``"sentences"`` grow while tokens pass, and all others come at the end; or with ``"hold"``, which keeps each
            sentence back until it is judged. A language model is asked once more for each sentence.
        options: further arguments of a check, by its name: ``{"evaluate": {"metrics": ["coherence"]}}``.
        metadata_mode: which metadata of the nodes is read beside their text: what LLMs are shown, by default.
        tools: one name or several of an agent's tools whose texts are sources beside the nodes: ``["weather"]``; left
            out, the texts of all tools where none of them returned nodes.
        on_error: ``"fallback"``, or ``"raise"`` where a judge's failure is to reach you in place of the answer; left
            out, ``"raise"`` to block and ``"fallback"`` to annotate.

    Example:
        >>> from llama_index.core.base.response.schema import Response
        >>> from llama_index.core.schema import NodeWithScore, TextNode
        >>> from llama_index.response_synthesizers.rag_intrinsics import AnswerCheck
        >>> node = NodeWithScore(node=TextNode(id_="mill", text="Ada Brink built the tide mill in 1911."))
        >>> response = Response("Ada Brink built the tide mill in 1911.", source_nodes=[node])
        >>> checked = AnswerCheck("citations").check("Who built the tide mill?", response)
        >>> checked.metadata["rag_intrinsics"]["citations"]["citations"][0]["document_id"]
        'mill'
    """

    intrinsic: ClassVar[str] = "audit"

    checks: Annotated[tuple[str, ...], Several] = ("audit",)
    mode: Literal["annotate", "block"] = "annotate"
    labels: Annotated[tuple[Faithfulness, ...], Several] = ("unfaithful",)
    unretrieved: Unretrieved | None = None
    text: str = CANNED
    stream: Literal["end", "sentences", "hold"] = "end"
    options: dict[str, dict[str, Any]] = Field(default_factory=dict)
    metadata_mode: MetadataMode = MetadataMode.LLM
    tools: Annotated[tuple[str, ...] | None, Several] = None

    def __init__(self, checks: str | Sequence[str] = ("audit",), **settings: Any) -> None:
        settings.setdefault("on_error", "raise" if settings.get("mode") == "block" else "fallback")
        super().__init__(checks=checks, **settings)
        self.checks = self._checks().checks  # tells what is wrong, and spells the names as the core does

    def check(self, query: QueryType, response: Shown, *, chat_history: History = None) -> Shown:
        """The response with verdicts.

        Args:
            query: the question that it answers; a conversation query brings the turns before it.
            chat_history: the turns before the question.

        Raises:
            IntrinsicsError: with ``on_error="raise"``; see :mod:`intrinsics_core.protocol.errors`.
        """
        checked: Shown = self._checked(self._asked(query, response, chat_history), response)
        return checked

    async def acheck(self, query: QueryType, response: Shown, *, chat_history: History = None) -> Shown:
        """Like :meth:`check`, without ever blocking the event loop."""
        checked: Shown = await self._achecked(self._asked(query, response, chat_history), response)
        return checked

    def as_query_engine(self, query_engine: BaseQueryEngine) -> BaseQueryEngine:
        """Any query engine, whose responses come checked. Prompts are the inner engine's, under its names.

        Example:
            >>> from llama_index.core import VectorStoreIndex
            >>> from llama_index.core.llms import MockLLM
            >>> from llama_index.core.schema import TextNode
            >>> from llama_index.embeddings.rag_intrinsics import IntrinsicsEmbedding
            >>> nodes = [TextNode(text="Ada Brink built it in 1911.")]
            >>> index = VectorStoreIndex(nodes, embed_model=IntrinsicsEmbedding())
            >>> engine = AnswerCheck().as_query_engine(index.as_query_engine(llm=MockLLM()))
            >>> sorted(engine.query("Who built it?").metadata["rag_intrinsics"])
            ['audit']
        """
        return _CheckedQueryEngine(query_engine, self)

    def _asked(self, query: QueryType, response: Any, history: History) -> Asked:
        calls = () if under_way(response) else calls_of(response)
        return Asked(query, history, lambda: sources_of(response, self.tools), calls)

    def _checked(self, asked: Asked, response: Any) -> Any:
        return self._streamed(asked, response) if under_way(response) else self._noted(
            response, self._judge(asked, answer_of(response)))  # fmt: skip

    async def _achecked(self, asked: Asked, response: Any) -> Any:
        return self._streamed(asked, response) if under_way(response) else self._noted(
            response, await self._ajudge(asked, answer_of(response)))  # fmt: skip

    @dispatcher.span
    def _judge(self, asked: Asked, answer: str, names: Sequence[str] = ()) -> Judged:
        try:
            run = {"run": lambda calls: run_many(calls, self.engine, profile=self.profile)}
            return self._told(run_steps(self._steps(asked, answer, names), run))
        except Exception as error:  # the answer is there: whatever a judge does wrong does not cost it
            return self._failed(error)

    @dispatcher.span
    async def _ajudge(self, asked: Asked, answer: str, names: Sequence[str] = ()) -> Judged:
        try:
            run = {"run": lambda calls: arun_many(calls, self.engine, profile=self.profile)}
            return self._told(await arun_steps(self._steps(asked, answer, names), run))
        except Exception as error:
            return self._failed(error)

    def _checks(self, names: Sequence[str] = ()) -> AnswerChecks:
        return AnswerChecks(
            names or self.checks,
            mode=self.mode,
            labels=self.labels,
            unretrieved=self.unretrieved,
            on_error=self.on_error,
            date=self.date,
            options={name: self.options[name] for name in self.options if not names or name in names},
            modes=("annotate", "block"),
        )

    def _steps(self, asked: Asked, answer: str, names: Sequence[str]) -> Steps[CheckedAnswer]:
        documents = passages(asked.sources(), self.metadata_mode)
        messages = conversation(asked.query, answer, asked.history, asked.calls, documents)
        return self._checks(names).judge(messages, documents)

    def _told(self, found: CheckedAnswer) -> Judged:
        for name, result in found.results.items():
            if result.degraded:
                logger.warning("%s fell back: %s", name, result.degraded)
        return found.dumped, found.decision

    def _failed(self, error: Exception) -> Judged:
        """Where not even a fallback could be made of it: why there are no verdicts."""
        if self.on_error == "raise":
            raise error
        logger.warning("%s: no verdicts", self.class_name(), exc_info=error)
        return {name: {"degraded": f"{type(error).__name__}: {error}"} for name in self.checks}, Decision("annotate")

    def _noted(self, response: Any, judged: Judged) -> Any:
        verdicts, decision = judged
        return noted(saying(response, self.text) if decision.act == "replace" else response, verdicts)

    # --- streams ------------------------------------------------------------------------------------------------------

    def _streamed(self, asked: Asked, response: Any) -> Any:
        """The same stream, which writes its verdicts into the metadata as they come."""
        if isinstance(response, StreamingAgentChatResponse):
            found: Verdicts = {}
            return CheckedChatStream.of(
                response,
                {KEY: found},
                lambda tokens: self._tokens(tokens, asked, found),
                lambda tokens: self._atokens(tokens, asked, found),
            )
        signed = noted(response, {})
        through = self._tokens if isinstance(response, StreamingResponse) else self._atokens
        return replace(signed, response_gen=through(signed.response_gen, asked, signed.metadata[KEY]))

    def _tokens(self, tokens: Iterator[str], asked: Asked, verdicts: Verdicts) -> Iterator[str]:
        said: list[str] = []
        if checker := self._checker(asked):
            for event in checker.check(tokens):
                self._tell(event, verdicts)
                said.append(event.text)
                if event.text:
                    yield event.text
        for token in () if checker else tokens:
            said.append(token)
            if self.mode != "block":
                yield token
        if left := self._left(checker):
            yield from self._end(verdicts, "".join(said), self._judge(asked, "".join(said), left))

    async def _atokens(self, tokens: AsyncIterator[str], asked: Asked, verdicts: Verdicts) -> AsyncIterator[str]:
        said: list[str] = []
        if checker := self._checker(asked):
            # Tokens pass at once, however long a verdict takes.
            async with aclosing(cast(AsyncGenerator[StreamEvent, None], checker.acheck(tokens))) as events:
                async for event in events:
                    self._tell(event, verdicts)
                    said.append(event.text)
                    if event.text:
                        yield event.text
        else:
            async for token in tokens:
                said.append(token)
                if self.mode != "block":
                    yield token
        if left := self._left(checker):
            for text in self._end(verdicts, "".join(said), await self._ajudge(asked, "".join(said), left)):
                yield text

    def _end(self, verdicts: Verdicts, said: str, judged: Judged) -> Iterator[str]:
        """Notes the verdicts; the text of a stream that was held whole."""
        verdicts.update({underscored(name): verdict for name, verdict in judged[0].items()})
        if self.mode == "block":
            yield self.text if judged[1].act == "replace" else said

    def _checker(self, asked: Asked) -> StreamChecker | None:
        if self.stream == "end" or self.mode == "block":
            return None
        try:
            return StreamChecker(
                conversation(asked.query, history=asked.history),
                passages(asked.sources(), self.metadata_mode),
                runtime=self.engine,
                profile=self.profile,
                on_error=cast(OnError, self.on_error),
                date=self.date,
                hold=self.stream == "hold",
            )
        except Exception as error:
            self._failed(error)
            return None  # judged as a whole then, which says what is wrong

    def _tell(self, event: StreamEvent, verdicts: Verdicts) -> None:
        verdicts.setdefault(SENTENCES, []).extend(row.model_dump(mode="json") for row in event.sentences)
        if whole := event.audit:
            parts = dict(zip(_OF_AN_AUDIT, (whole, whole.citations, whole.hallucination), strict=True))
            told = {name: parts[name] for name in self.checks if name in parts}
            verdicts.update({underscored(name): part.model_dump(mode="json") for name, part in told.items()})

    def _left(self, checker: StreamChecker | None) -> list[str]:
        """The checks that are to be asked for once an answer is whole: of a stream that was judged, the other ones."""
        return [name for name in self.checks if checker is None or name not in _OF_AN_AUDIT]


class _CheckedQueryEngine(InnerPrompts, BaseQueryEngine):
    """A query engine around another one; see :meth:`AnswerCheck.as_query_engine`."""

    def __init__(self, query_engine: BaseQueryEngine, check: AnswerCheck) -> None:
        if not isinstance(query_engine, BaseQueryEngine):
            raise InvalidInput("query_engine is not a query engine", expected="e.g. index.as_query_engine()",
                               got=type(query_engine).__name__)  # fmt: skip
        super().__init__(callback_manager=query_engine.callback_manager)
        self._inner: BaseQueryEngine = query_engine
        self._check = check

    def _query(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        return self._check.check(query_bundle, self._inner.query(query_bundle))

    async def _aquery(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        return await self._check.acheck(query_bundle, await self._inner.aquery(query_bundle))

    def retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return list(self._inner.retrieve(query_bundle))
