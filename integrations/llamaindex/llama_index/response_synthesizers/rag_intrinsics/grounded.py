"""A synthesizer around a synthesizer."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from llama_index.core.base.response.schema import RESPONSE_TYPE, AsyncStreamingResponse, StreamingResponse
from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined]
from llama_index.core.instrumentation.events.synthesis import SynthesizeEndEvent, SynthesizeStartEvent
from llama_index.core.llms import LLM
from llama_index.core.llms.structured_llm import StructuredLLM
from llama_index.core.memory import BaseMemory
from llama_index.core.response_synthesizers import BaseSynthesizer, get_response_synthesizer
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryType
from llama_index.core.types import RESPONSE_TEXT_TYPE
from llama_index.rag_intrinsics._inputs import aremembered, asked_in, distinct, passages, remembered
from llama_index.rag_intrinsics._prompts import InnerPrompts
from llama_index.rag_intrinsics._responses import answer_of
from llama_index.rag_intrinsics._settings import checks_names
from llama_index.rag_intrinsics._sub_questions import judged_by
from llama_index.response_synthesizers.rag_intrinsics.annotator import ResponseAnnotator, Verdicts, annotated
from llama_index.response_synthesizers.rag_intrinsics.gate import Gate, GateMode, Passed
from llama_index.response_synthesizers.rag_intrinsics.refusals import Canned, atokens, refusal, tokens
from pydantic import BaseModel

from intrinsics_core import InvalidInput
from intrinsics_core.running.flows import CANNED

dispatcher = get_dispatcher(__name__)


class GroundedSynthesizer(InnerPrompts, BaseSynthesizer):
    """Any synthesizer, which now answers only what the nodes answer, and says what its answer rests on.

    First the gate: where the nodes do not answer the question, the ``canned`` answer comes back and ``inner`` is not
    asked. Then the answer of ``inner``, with citations and a verdict for each sentence. All verdicts are in
    ``response.metadata["rag_intrinsics"]`` under the intrinsics' names. A streaming answer streams on, token by token;
    its citations and verdicts are in the metadata when the stream has ended.

    Behind a ``SubQuestionQueryEngine`` a comparison passes the gate where each of its sub-questions is answered
    (``"sub_questions"``). An LLM wrote these sub-answers: the answer is judged by what they were given from.

    The judges see of a node what the answering LLM is shown of it: its text and the metadata that it does not exclude.
    Prompts are those of ``inner``, under its names.

    Args:
        inner: the synthesizer that answers, or an LLM, for LlamaIndex's default one with it; None: with its default.
        answerability: whether to gate.
        mode: ``"block"``: the canned answer stands where the nodes do not answer the question; ``"annotate"``: the
            gate's verdict is noted, and ``inner`` always asked.
        block_unsure: what is done with a question that is *unanswerable* where the judge is ``unsure`` of that, its
            probability being close to the threshold. True blocks it; False has it answered.
        citations: whether to cite; left out, where no audit is asked for, which has citations in it.
        hallucination: whether to judge each sentence; left out as for citations.
        audit: whether to judge the answer in every way at once (``"audit"``); see :class:`ResponseAnnotator`.
        stream_verdicts: whether each sentence of a stream is judged as it closes, in ``"sentences"``, while tokens
            pass; see :class:`ResponseAnnotator`.
        hold: with ``stream_verdicts``, whether each sentence is kept back until it is judged.
        canned: the answer to what the nodes do not answer: a text, a function of the question that gives it (in
            asynchronous use it may be awaited), or, for structured answers, an object of their class. A structured
            answer that is refused with a text is a response without an object, whose fields read as None.
        memory: the memory of a chat engine, to read the turns before the question from; a
            :class:`~llama_index.rag_intrinsics.ConversationQuery` brings its own.
        metadata_mode: which metadata of the nodes the judges read beside their text.
        runtime: where the judging is done: a core runtime, a config, a LlamaIndex LLM, a name, or None (embedded).
        api_key: the key for a runtime config.
        profile: a profile or its name; the runtime's own where left out.
        on_error: what the gate does where its judgement failed: ``"raise"``, ``"open"`` (also ``"fallback"``) or
            ``"closed"``; the verdict then says that it is degraded.
        on_judging_error: what is done where a judgement of the answer failed: ``"fallback"`` keeps the answer, and the
            verdict says that it is degraded; ``"raise"`` loses it.
        date: date text for prompts that carry one; the day of the call where left out.
        streaming: whether the synthesizer that is made of an LLM streams; one that is given does as it was made to.

    Raises:
        InvalidInput: there is no such setting, ``mode``, ``on_error`` or ``on_judging_error`` is unknown, ``hold`` has
            no ``stream_verdicts``, or ``inner`` is neither a synthesizer nor an LLM.

    Example:
        >>> from llama_index.core.llms import MockLLM
        >>> from llama_index.core.schema import NodeWithScore, TextNode
        >>> from llama_index.response_synthesizers.rag_intrinsics import GroundedSynthesizer
        >>> node = NodeWithScore(node=TextNode(id_="mill", text="Ada Brink built the tide mill in 1911."))
        >>> response = GroundedSynthesizer(MockLLM()).synthesize("Who built the tide mill?", [node])
        >>> sorted(response.metadata["rag_intrinsics"])
        ['answerability', 'citations', 'hallucination-detection']
    """

    @checks_names
    def __init__(
        self,
        inner: BaseSynthesizer | LLM | None = None,
        *,
        answerability: bool = True,
        mode: GateMode = "block",
        block_unsure: bool = False,
        citations: bool | None = None,
        hallucination: bool | None = None,
        audit: bool = False,
        stream_verdicts: bool = False,
        hold: bool = False,
        canned: Canned = CANNED,
        memory: BaseMemory | None = None,
        metadata_mode: MetadataMode = MetadataMode.LLM,
        runtime: Any = None,
        api_key: Any = None,
        profile: Any = None,
        on_error: str = "raise",
        on_judging_error: str = "fallback",
        date: str | None = None,
        streaming: bool = False,
    ) -> None:
        if not isinstance(canned, str | BaseModel) and not callable(canned):
            raise InvalidInput("canned is not an answer", expected="a string, an object, or a function that gives one",
                               got=repr(canned))  # fmt: skip
        inner = _synthesizer(inner, streaming)
        super().__init__(
            llm=inner._llm,
            callback_manager=inner.callback_manager,
            prompt_helper=inner._prompt_helper,
            streaming=inner._streaming,
            output_cls=inner._output_cls,
        )
        self._inner: BaseSynthesizer = inner
        self._canned, self._memory = canned, memory
        self._annotator = ResponseAnnotator(
            citations=citations,
            hallucination=hallucination,
            audit=audit,
            stream_verdicts=stream_verdicts,
            hold=hold,
            metadata_mode=metadata_mode,
            runtime=runtime,
            api_key=api_key,
            profile=profile,
            on_error=on_judging_error,
            date=date,
        )
        gate = Gate(self._annotator, mode=mode, block_unsure=block_unsure, on_error=on_error)
        self._gate = gate if answerability else None

    def __repr__(self) -> str:
        return f"GroundedSynthesizer({type(self._inner).__name__}, {self._annotator!r})"

    # --- with nodes: what query engines call ------------------------------------------------------------------------

    def synthesize(
        self,
        query: QueryType,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
        **response_kwargs: Any,
    ) -> RESPONSE_TYPE:
        history = remembered(query, self._memory)
        gate = None
        if self._gate:
            gate = self._gate.judge(query, self._passages(nodes), history, nodes, additional_source_nodes)
        if gate and gate.blocks:
            canned = self._said(query)
            return self._refusal(query, [*nodes, *(additional_source_nodes or ())], gate, canned, "stream")
        _ = self._annotator.engine  # what is wrong with the runtime is reported before an answer is paid for
        response = self._inner.synthesize(query, nodes, additional_source_nodes, **response_kwargs)
        sources = judged_by(nodes, additional_source_nodes)
        if isinstance(response, StreamingResponse | AsyncStreamingResponse):
            streaming: RESPONSE_TYPE = self._annotator.on_the_way(query, response, sources, _signed(gate), history)
            return streaming
        verdicts = self._annotator.verdicts(query, answer_of(response), sources, history)
        return annotated(response, _signed(gate) | verdicts)

    async def asynthesize(
        self,
        query: QueryType,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
        **response_kwargs: Any,
    ) -> RESPONSE_TYPE:
        history = await aremembered(query, self._memory)
        gate = None
        if self._gate:
            documents = self._passages(nodes)
            gate = await self._gate.ajudge(query, documents, history, nodes, additional_source_nodes)
        if gate and gate.blocks:
            canned = await self._asaid(query)
            return self._refusal(query, [*nodes, *(additional_source_nodes or ())], gate, canned, "astream")
        _ = self._annotator.engine
        response = await self._inner.asynthesize(query, nodes, additional_source_nodes, **response_kwargs)
        sources = judged_by(nodes, additional_source_nodes)
        if isinstance(response, StreamingResponse | AsyncStreamingResponse):
            streaming: RESPONSE_TYPE = self._annotator.on_the_way(query, response, sources, _signed(gate), history)
            return streaming
        verdicts = await self._annotator.averdicts(query, answer_of(response), sources, history)
        return annotated(response, _signed(gate) | verdicts)

    def _passages(self, nodes: Sequence[NodeWithScore]) -> list[Any]:
        return passages(distinct(nodes), self._annotator.metadata_mode)

    # --- with texts alone: there is no metadata to write into, so this is the gate and the inner synthesizer ----------

    def get_response(self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any) -> RESPONSE_TEXT_TYPE:
        history = remembered(query_str, self._memory)
        if self._gate and self._gate.judge(query_str, text_chunks, history).blocks:
            canned = self._said(query_str)
            return tokens(canned) if self._streaming and isinstance(canned, str) else canned
        return self._inner.get_response(query_str, text_chunks, **response_kwargs)

    async def aget_response(
        self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any
    ) -> RESPONSE_TEXT_TYPE:
        history = await aremembered(query_str, self._memory)
        if self._gate and (await self._gate.ajudge(query_str, text_chunks, history)).blocks:
            canned = await self._asaid(query_str)
            return atokens(canned) if self._streaming and isinstance(canned, str) else canned
        return await self._inner.aget_response(query_str, text_chunks, **response_kwargs)

    def _said(self, query: QueryType) -> str | BaseModel:
        """The canned answer to this question."""
        said: str | BaseModel = self._canned(asked_in(query)) if callable(self._canned) else self._canned
        return said

    async def _asaid(self, query: QueryType) -> str | BaseModel:
        said: Any = self._said(query)
        awaited: str | BaseModel = await said if inspect.isawaitable(said) else said
        return awaited

    def _refusal(
        self,
        query: QueryType,
        nodes: list[NodeWithScore],
        gate: Passed,
        canned: str | BaseModel,
        stream: str,
    ) -> RESPONSE_TYPE:
        """The canned answer, in the form in which ``inner`` would have answered, with the events of a synthesis."""
        dispatcher.event(SynthesizeStartEvent(query=query))
        structured = self._output_cls is not None or isinstance(self._llm, StructuredLLM)
        metadata = self._get_metadata_for_response([item.node for item in nodes]) or {}
        refused = refusal(canned, nodes, metadata, stream if self._streaming else "whole", structured)
        response = annotated(refused, _signed(gate))
        dispatcher.event(SynthesizeEndEvent(query=query, response=response))
        return response


def _synthesizer(inner: Any, streaming: bool) -> BaseSynthesizer:
    if isinstance(inner, BaseSynthesizer):
        return inner
    if inner is None or isinstance(inner, LLM):
        return get_response_synthesizer(llm=inner, streaming=streaming)
    raise InvalidInput("inner neither answers nor is an LLM", expected="a synthesizer, e.g. of "
                       "get_response_synthesizer(...), or an LLM", got=type(inner).__name__)  # fmt: skip


def _signed(gate: Passed | None) -> Verdicts:
    return {} if gate is None else gate.signed
