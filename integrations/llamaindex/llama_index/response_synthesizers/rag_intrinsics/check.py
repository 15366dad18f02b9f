"""What is said of a finished answer: verdicts, its citations in its text, and what is left when it is put right."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal, TypeVar, cast, get_args

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import RESPONSE_TYPE, StreamingResponse
from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined]
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle, QueryType
from llama_index.rag_intrinsics._component import InnerPrompts, IntrinsicComponent, Several
from llama_index.rag_intrinsics._inputs import History, asked_in, conversation, passages
from llama_index.rag_intrinsics._responses import (
    answer_of,
    as_stream,
    calls_of,
    is_structured,
    noted,
    noted_on,
    saying,
    sources_of,
    under_way,
)
from pydantic import Field

from intrinsics_core import Call, InvalidInput
from intrinsics_core.chains.checks import AnswerChecks
from intrinsics_core.chains.notes import CANNED, KEY, about, known_detection, underscored, verdicts_in
from intrinsics_core.chains.policy import Decision, Unretrieved
from intrinsics_core.chains.transcript import MadeCall
from intrinsics_core.intrinsics import OnError
from intrinsics_core.protocol.names import named
from intrinsics_core.protocol.results import Audit, Citations, Faithfulness, RevisedAnswer
from intrinsics_core.render.citations import Label, Mode, Style, labelled, view, write
from intrinsics_core.running.flows import CANNED as REFUSAL
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

    Takes what query engines, chat engines and agents give, streams too. Of an ``AgentOutput`` the sources are what its
    tools returned. Returns a copy whose ``metadata["rag_intrinsics"]`` (of an ``AgentOutput``
    ``response.additional_kwargs["rag_intrinsics"]``) holds, by check, what the command line writes. Offsets count in
    the response's text and in the nodes' own texts. A stream streams on, and its verdicts are there when it has ended;
    that of a chat engine comes back as the stream of a query engine, which has metadata.
    A judge that fails leaves a verdict that says so (``degraded``), and the answer as it is.

    Args:
        checks: one or several, which are asked for at the same time: ``"audit"`` (all verdicts in one request),
            ``"hallucination-detection"``, ``"citations"`` (a sentence that is judged unfaithful beside them is not
            cited), ``"check-citations"``, ``"fact-check"``, ``"uncertainty"``, ``"answer-relevance"``, ``"evaluate"``.
        mode: ``"annotate"`` notes the verdicts; ``"block"`` puts ``text`` in place of an answer with a label in
            ``labels``. A stream is then held whole until it is judged.
        labels: which labels of the whole answer block it.
        unretrieved: what becomes of an answer where nothing was retrieved: ``"annotate"`` notes the verdict *NA*;
            ``"block"`` replaces it unless it claims nothing; ``"pass"`` leaves it; None: it is judged like any other.
        text: what stands in place of a blocked answer.
        stream: when a stream is judged: at its ``"end"``; each of its ``"sentences"`` as it closes, whose verdicts grow
            under that name while tokens pass; or so with ``"hold"``, which keeps each sentence back until it is judged.
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
    text: str = REFUSAL
    stream: Literal["end", "sentences", "hold"] = "end"
    options: dict[str, dict[str, Any]] = Field(default_factory=dict)
    metadata_mode: MetadataMode = MetadataMode.LLM
    tools: Annotated[tuple[str, ...] | None, Several] = None

    def __init__(self, checks: str | Sequence[str] = ("audit",), **settings: Any) -> None:
        settings.setdefault("on_error", "raise" if settings.get("mode") == "block" else "fallback")
        super().__init__(checks=checks, **settings)
        self.checks = self._checks().checks  # tells what is wrong, and spells the names as the core does

    def check(self, query: QueryType, response: Shown, *, chat_history: History = None) -> Shown:
        """The response with verdicts. The turns before the question come with ``query`` or as ``chat_history``.

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
            >>> from llama_index.core import MockEmbedding, VectorStoreIndex
            >>> from llama_index.core.llms import MockLLM
            >>> from llama_index.core.schema import TextNode
            >>> index = VectorStoreIndex([TextNode(text="Ada Brink built it.")], embed_model=MockEmbedding(8))
            >>> engine = AnswerCheck().as_query_engine(index.as_query_engine(llm=MockLLM()))
            >>> sorted(engine.query("Who built it?").metadata["rag_intrinsics"])
            ['about', 'audit']
        """
        return _CheckedQueryEngine(query_engine, self)

    def _asked(self, query: QueryType, response: Any, history: History) -> Asked:
        return Asked(query, history, lambda: sources_of(response, self.tools, asked_in(query)), calls_of(response))

    def _checked(self, asked: Asked, response: Any) -> Any:
        if under_way(response) or _is_canned(response):
            return self._streamed(asked, response)
        return self._noted(response, *self._judge(asked, answer_of(response)))

    async def _achecked(self, asked: Asked, response: Any) -> Any:
        if under_way(response) or _is_canned(response):
            return self._streamed(asked, response)
        return self._noted(response, *await self._ajudge(asked, answer_of(response)))

    @dispatcher.span
    def _judge(self, asked: Asked, answer: str, names: Sequence[str] = ()) -> Judged:
        try:
            return run_steps(self._steps(asked, answer, names), {"run": self._results})
        except Exception as error:  # the answer is there: whatever a judge does wrong does not cost it
            return self._failed(error)

    @dispatcher.span
    async def _ajudge(self, asked: Asked, answer: str, names: Sequence[str] = ()) -> Judged:
        try:
            return await arun_steps(self._steps(asked, answer, names), {"run": self._aresults})
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

    def _steps(self, asked: Asked, answer: str, names: Sequence[str]) -> Steps[Judged]:
        documents = passages(asked.sources(), self.metadata_mode)
        messages = conversation(asked.query, answer, asked.history, asked.calls, documents)
        found = yield from self._checks(names).judge(messages, documents)
        for name, result in found.results.items():
            if result.degraded:
                logger.warning("%s fell back: %s", name, result.degraded)
        return {**found.dumped, **about(found.results, answer, documents)}, found.decision

    def _failed(self, error: Exception) -> Judged:
        """Where not even a fallback could be made of it: why there are no verdicts."""
        if self.on_error == "raise":
            raise error
        logger.warning("%s: no verdicts", self.class_name(), exc_info=error)
        return {name: {"degraded": f"{type(error).__name__}: {error}"} for name in self.checks}, Decision("annotate")

    def _noted(self, response: Any, verdicts: Verdicts, decision: Decision) -> Any:
        if decision.act == "replace":
            return noted(saying(response, self.text), verdicts | {CANNED: True})
        return noted(response, verdicts)

    # --- streams ------------------------------------------------------------------------------------------------------

    def _streamed(self, asked: Asked, response: Any) -> Any:
        """The same stream, which writes its verdicts into the metadata as they come; a canned answer as it is."""
        if _is_canned(response):
            return response
        signed = noted(as_stream(response), {})
        through = self._tokens if isinstance(signed, StreamingResponse) else self._atokens
        return replace(signed, response_gen=through(signed.response_gen, asked, signed.metadata[KEY]))

    def _tokens(self, tokens: Iterator[str], asked: Asked, verdicts: Verdicts) -> Iterator[str]:
        said, checker = "", self._checker(asked, verdicts)
        for event in checker.check(tokens) if checker else map(StreamEvent, tokens):
            self._tell(event, verdicts)
            said += event.text
            if event.text and not self._holds:
                yield event.text
        if left := self._left(checker):
            yield from self._end(verdicts, said, self._judge(asked, said, left))

    async def _atokens(self, tokens: AsyncIterator[str], asked: Asked, verdicts: Verdicts) -> AsyncIterator[str]:
        said, checker = "", self._checker(asked, verdicts)
        # Where sentences are judged, tokens pass at once, however long a verdict takes.
        passed = checker.acheck(tokens) if checker else (StreamEvent(token) async for token in tokens)
        async with aclosing(cast(Any, passed)) as events:
            async for event in events:
                self._tell(event, verdicts)
                said += event.text
                if event.text and not self._holds:
                    yield event.text
        if left := self._left(checker):
            for text in self._end(verdicts, said, await self._ajudge(asked, said, left)):
                yield text

    @property
    def _holds(self) -> bool:
        """Whether an answer may be replaced, so that nothing of it is shown before it is judged."""
        return "block" in (self.mode, self.unretrieved)

    def _end(self, verdicts: Verdicts, said: str, judged: Judged) -> Iterator[str]:
        """Notes the verdicts; the text of a stream that was held whole."""
        verdicts.update({underscored(name): verdict for name, verdict in judged[0].items()})
        if self._holds:
            replaced = judged[1].act == "replace"
            verdicts.update({CANNED: True} if replaced else {})
            yield self.text if replaced else said

    def _checker(self, asked: Asked, verdicts: Verdicts) -> StreamChecker | None:
        if self.stream == "end" or self._holds:
            return None
        verdicts[SENTENCES] = []
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
        if event.sentences:
            verdicts[SENTENCES] += [row.model_dump(mode="json") for row in event.sentences]
        if whole := event.audit:
            parts = dict(zip(_OF_AN_AUDIT, (whole, whole.citations, whole.hallucination), strict=True))
            told = {name: parts[name] for name in self.checks if name in parts}
            verdicts.update({underscored(name): part.model_dump(mode="json") for name, part in told.items()})

    def _left(self, checker: StreamChecker | None) -> list[str]:
        """The checks that are to be asked for once an answer is whole: of a stream that was judged, the other ones."""
        return [name for name in self.checks if checker is None or name not in _OF_AN_AUDIT]


def _is_canned(response: Any) -> bool:
    """Whether it is no answer but what is said in place of one: no judge has anything to say of it."""
    return CANNED in verdicts_in(noted_on(response))


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


class Reviser(IntrinsicComponent):
    """Takes out of a finished response what its source nodes do not say: flagged sentences are mended or dropped, and
    the result is judged again.

    Returns a copy with the new text; ``metadata["rag_intrinsics"]["revise"]`` holds each change with its offsets in the
    old text, and what is still unsupported. Without a language model as ``runtime`` nothing is mended: what is
    unfaithful is dropped. What an :class:`AnswerCheck` said of this very text's sentences by these nodes is used;
    verdicts on a text that is no more are left out. Where nothing is left, the text is empty and the verdict gives the
    reason.

    Args:
        mend: False only drops.
        metadata_mode, tools: as :class:`AnswerCheck` has them.
        on_error: ``"fallback"`` leaves the response as it was, and the verdict says ``degraded``; or ``"raise"``.

    Example:
        >>> from llama_index.core.base.response.schema import Response
        >>> from llama_index.core.schema import NodeWithScore, TextNode
        >>> from llama_index.response_synthesizers.rag_intrinsics import Reviser
        >>> node = NodeWithScore(node=TextNode(id_="mill", text="Ada Brink built the tide mill in 1911."))
        >>> said = Response("Ada Brink built the tide mill in 1911. She kept nine zebras.", source_nodes=[node])
        >>> print(Reviser().revise("Who built the tide mill?", said))
        Ada Brink built the tide mill in 1911.
    """

    intrinsic: ClassVar[str] = "revise"
    _options: ClassVar[Sequence[str]] = ("mend",)

    on_error: str = "fallback"
    mend: bool = True
    metadata_mode: MetadataMode = MetadataMode.LLM
    tools: Annotated[tuple[str, ...] | None, Several] = None

    @dispatcher.span
    def revise(self, query: QueryType, response: Shown, *, chat_history: History = None) -> Shown:
        """The response without what its nodes do not say.

        Raises:
            InvalidInput: it is an object or has one, or is a stream that has not ended: neither has a text to revise.
            IntrinsicsError: with ``on_error="raise"``; see :mod:`intrinsics_core.protocol.errors`.
        """
        revised: Shown = self._revised(response, self._result(self._call(query, response, chat_history)))
        return revised

    @dispatcher.span
    async def arevise(self, query: QueryType, response: Shown, *, chat_history: History = None) -> Shown:
        """Like :meth:`revise`, without ever blocking the event loop."""
        revised: Shown = self._revised(response, await self._aresult(self._call(query, response, chat_history)))
        return revised

    def _call(self, query: QueryType, response: Any, history: History) -> Call[RevisedAnswer]:
        if is_structured(response) or under_way(response):
            raise InvalidInput("the response has no text to revise", intrinsic=self.intrinsic,
                               expected="one that is text, and whole", got=type(response).__name__)  # fmt: skip
        documents = passages(sources_of(response, self.tools, asked_in(query)), self.metadata_mode)
        answer = answer_of(response)
        known = known_detection(noted_on(response), answer, documents)
        turns = conversation(query, answer, history, calls_of(response), documents)
        return self._ask(turns, documents, verdicts=known)

    def _revised(self, response: Any, result: RevisedAnswer) -> Any:
        if result.degraded:
            logger.warning("%s fell back: %s", self.intrinsic, result.degraded)
        verdict = {self.intrinsic: result.model_dump(mode="json")}
        return noted(saying(response, result.answer) if result.changes else response, verdict)


def cited(response: Any, mode: Mode = "postfix", style: Style = "text", *, label: Label | None = None) -> str:
    """The text of a response that was checked, with its citations in one of the four modes; a refusal as it is.

    Args:
        response: what an `AnswerCheck` or an `AnswerabilityGate` gave, an agent's output too.
        mode: ``"postfix"``, ``"postfix-snippet"``, ``"inline"`` or ``"inline-snippet"``.
        style: ``"text"``, ``"markdown"`` (footnotes) or ``"json"`` (the paper's), which
            :func:`intrinsics_core.render.citations.parse` reads back.
        label: what the list of a text shows for the id of a source: its title and address, or how it begins, where left
            out. With ``str`` it shows the ids, and ``parse`` reads that back, too.

    Raises:
        InvalidInput: the response was not checked for citations, citing it failed, or the mode is unknown.

    Example:
        >>> from llama_index.core.base.response.schema import Response
        >>> from llama_index.core.schema import NodeWithScore, TextNode
        >>> from llama_index.response_synthesizers.rag_intrinsics import AnswerCheck, cited
        >>> node = NodeWithScore(node=TextNode(id_="mill", text="Ada Brink built the tide mill in 1911."))
        >>> response = Response("Ada Brink built the tide mill in 1911.", source_nodes=[node])
        >>> print(cited(AnswerCheck("citations").check("Who built the tide mill?", response), "inline"))
        Ada Brink built the tide mill in 1911.[1]
        <BLANKLINE>
        Citations:
        [1] Ada Brink built the tide mill in 1911.
    """
    named("mode", mode, get_args(Mode))
    named("style", style, get_args(Style))
    verdicts = verdicts_in(noted_on(response))
    if CANNED in verdicts:
        verdicts = {"citations": {"citations": ()}}
        if style != "json":
            return answer_of(response)
    verdict = verdicts.get("citations", verdicts.get("audit"))
    if verdict is None:
        raise InvalidInput("the response has no citations", expected='AnswerCheck("citations").check(query, response)')
    if set(verdict) == {"degraded"}:  # not even a fallback could be made
        raise InvalidInput("the response has no citations: citing failed", got=verdict["degraded"])
    found = Citations.model_validate(verdict) if "citations" in verdicts else Audit.model_validate(verdict).citations
    every = {call.name for call in calls_of(response)}  # whichever were named when it was checked
    documents = passages(sources_of(response, every), MetadataMode.NONE)
    return write(view(found, answer_of(response), documents, mode), style, label=label or labelled(documents))
