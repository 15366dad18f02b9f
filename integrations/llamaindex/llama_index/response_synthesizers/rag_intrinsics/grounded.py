"""A synthesizer around a synthesizer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from llama_index.core.base.response.schema import (
    RESPONSE_TYPE,
    AsyncStreamingResponse,
    StreamingResponse,
)
from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined]
from llama_index.core.instrumentation.events.synthesis import SynthesizeEndEvent, SynthesizeStartEvent
from llama_index.core.prompts.mixin import PromptDictType, PromptMixinType
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.schema import NodeWithScore, QueryType
from llama_index.core.types import RESPONSE_TEXT_TYPE, TokenAsyncGen, TokenGen
from llama_index.rag_intrinsics._inputs import conversation, distinct, passages
from llama_index.response_synthesizers.rag_intrinsics.annotator import (
    KEY,
    ResponseAnnotator,
    Verdicts,
    annotated,
    text_of,
)

from intrinsics_core import Call, answerability, arun, run
from intrinsics_core.flows import CANNED
from intrinsics_core.results import Answerability

OnError = Literal["raise", "open", "closed"]

dispatcher = get_dispatcher(__name__)


class GroundedSynthesizer(BaseSynthesizer):
    """Any synthesizer, which now answers only what the nodes answer, and says what its answer rests on.

    First the gate: where the nodes do not answer the question, the ``canned`` answer comes back and ``inner`` is not
    asked. Then the answer of ``inner``, with citations and a verdict for each sentence. All verdicts are in
    ``response.metadata["rag_intrinsics"]`` under the intrinsics' names. A streaming answer streams on, token by token;
    its citations and verdicts are in the metadata when the stream has ended.

    Args:
        inner: the synthesizer that answers.
        answerability: whether to gate.
        citations: whether to cite.
        hallucination: whether to judge each sentence.
        canned: the answer to what the nodes do not answer.
        runtime: where the judging is done: a core runtime, a config, a LlamaIndex LLM, or None (embedded).
        profile: a profile or its name; the runtime's own where left out.
        on_error: what the gate does where its judgement failed: ``"raise"``, ``"open"`` or ``"closed"``; the verdict
            then says that it is degraded.
        date: date text for prompts that carry one; the day of the call where left out.

    Example:
        >>> from llama_index.core import get_response_synthesizer
        >>> from llama_index.core.llms import MockLLM
        >>> from llama_index.core.schema import NodeWithScore, TextNode
        >>> from llama_index.response_synthesizers.rag_intrinsics import GroundedSynthesizer
        >>> node = NodeWithScore(node=TextNode(id_="mill", text="Ada Brink built the tide mill in 1911."))
        >>> synthesizer = GroundedSynthesizer(get_response_synthesizer(llm=MockLLM()))
        >>> response = synthesizer.synthesize("Who built the tide mill?", [node])
        >>> sorted(response.metadata["rag_intrinsics"])
        ['answerability', 'citations', 'hallucination-detection']
    """

    def __init__(
        self,
        inner: BaseSynthesizer,
        *,
        answerability: bool = True,
        citations: bool = True,
        hallucination: bool = True,
        canned: str = CANNED,
        runtime: Any = None,
        profile: Any = None,
        on_error: OnError = "raise",
        date: str | None = None,
    ) -> None:
        super().__init__(
            llm=inner._llm,
            callback_manager=inner.callback_manager,
            prompt_helper=inner._prompt_helper,
            streaming=inner._streaming,
        )
        self._inner, self._gate, self._canned, self._on_error = inner, answerability, canned, on_error
        self._annotator = ResponseAnnotator(
            citations=citations, hallucination=hallucination, runtime=runtime, profile=profile, date=date
        )

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
        gate = self._verdict(query, passages(distinct(nodes)))
        if gate and not gate.answerable:
            return self._refusal(query, nodes, gate, self._canned_tokens() if self._streaming else None)
        response = self._inner.synthesize(query, nodes, additional_source_nodes, **response_kwargs)
        if isinstance(response, StreamingResponse | AsyncStreamingResponse):
            return self._on_the_way(query, nodes, response, gate)
        text = text_of(response)
        verdicts = self._annotator.verdicts(query, text, nodes) if _checkable(text, nodes) else {}
        return annotated(response, {**_signed(gate), **verdicts})

    async def asynthesize(
        self,
        query: QueryType,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
        **response_kwargs: Any,
    ) -> RESPONSE_TYPE:
        gate = await self._averdict(query, passages(distinct(nodes)))
        if gate and not gate.answerable:
            return self._refusal(query, nodes, gate, self._canned_atokens() if self._streaming else None)
        response = await self._inner.asynthesize(query, nodes, additional_source_nodes, **response_kwargs)
        if isinstance(response, StreamingResponse | AsyncStreamingResponse):
            return self._on_the_way(query, nodes, response, gate)
        text = text_of(response)
        verdicts = await self._annotator.averdicts(query, text, nodes) if _checkable(text, nodes) else {}
        return annotated(response, {**_signed(gate), **verdicts})

    # --- with texts alone: there is no metadata to write into, so this is the gate and the inner synthesizer ----------

    def get_response(self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any) -> RESPONSE_TEXT_TYPE:
        gate = self._verdict(query_str, text_chunks)
        if gate and not gate.answerable:
            return self._canned_tokens() if self._streaming else self._canned
        return self._inner.get_response(query_str, text_chunks, **response_kwargs)

    async def aget_response(
        self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any
    ) -> RESPONSE_TEXT_TYPE:
        gate = await self._averdict(query_str, text_chunks)
        if gate and not gate.answerable:
            return self._canned_atokens() if self._streaming else self._canned
        return await self._inner.aget_response(query_str, text_chunks, **response_kwargs)

    # --- the gate ---------------------------------------------------------------------------------------------------

    def _verdict(self, query: QueryType, documents: Sequence[Any]) -> Answerability | None:
        if not self._gate or not documents:
            return _NOTHING_FOUND if self._gate else None
        return run(self._ask(query, documents), self._annotator.engine, profile=self._annotator.profile)

    async def _averdict(self, query: QueryType, documents: Sequence[Any]) -> Answerability | None:
        if not self._gate or not documents:
            return _NOTHING_FOUND if self._gate else None
        return await arun(self._ask(query, documents), self._annotator.engine, profile=self._annotator.profile)

    def _ask(self, query: QueryType, documents: Sequence[Any]) -> Call[Answerability]:
        return answerability(conversation(query), documents, on_error=self._on_error, date=self._annotator.date)

    def _refusal(
        self,
        query: QueryType,
        nodes: Sequence[NodeWithScore],
        gate: Answerability,
        tokens: TokenGen | TokenAsyncGen | None,
    ) -> RESPONSE_TYPE:
        """The canned answer, in the form in which ``inner`` would have answered, with the events of a synthesis."""
        dispatcher.event(SynthesizeStartEvent(query=query))
        text = self._canned if tokens is None else tokens
        response = annotated(self._prepare_response_output(text, list(nodes)), _signed(gate))
        dispatcher.event(SynthesizeEndEvent(query=query, response=response))
        return response

    def _canned_tokens(self) -> TokenGen:
        yield self._canned

    async def _canned_atokens(self) -> TokenAsyncGen:
        yield self._canned

    # --- streams ----------------------------------------------------------------------------------------------------

    def _on_the_way(
        self,
        query: QueryType,
        nodes: Sequence[NodeWithScore],
        response: StreamingResponse | AsyncStreamingResponse,
        gate: Answerability | None,
    ) -> StreamingResponse | AsyncStreamingResponse:
        """The same stream, which writes its verdicts into the metadata as it ends."""
        signed = annotated(response, _signed(gate))
        verdicts = (signed.metadata or {})[KEY]
        if isinstance(signed, StreamingResponse):
            return replace(signed, response_gen=self._tokens(signed.response_gen, query, nodes, verdicts))
        return replace(signed, response_gen=self._atokens(signed.response_gen, query, nodes, verdicts))

    def _tokens(
        self, tokens: TokenGen, query: QueryType, nodes: Sequence[NodeWithScore], verdicts: Verdicts
    ) -> TokenGen:
        said = []
        for token in tokens:
            said.append(token)
            yield token
        if _checkable(text := "".join(said), nodes):
            verdicts.update(self._annotator.verdicts(query, text, nodes))

    async def _atokens(
        self, tokens: TokenAsyncGen, query: QueryType, nodes: Sequence[NodeWithScore], verdicts: Verdicts
    ) -> TokenAsyncGen:
        said = []
        async for token in tokens:
            said.append(token)
            yield token
        if _checkable(text := "".join(said), nodes):
            verdicts.update(await self._annotator.averdicts(query, text, nodes))

    # --- prompts: the inner synthesizer's ---------------------------------------------------------------------------

    def _get_prompts(self) -> PromptDictType:
        return {}

    def _get_prompt_modules(self) -> PromptMixinType:
        return {"inner": self._inner}

    def _update_prompts(self, prompts: PromptDictType) -> None:
        """They are updated by their names, ``inner:…``."""


# As in the core's flows: nothing found is nothing to answer from.
_NOTHING_FOUND = Answerability(label="unanswerable", probability=0.0)


def _checkable(text: str, nodes: Sequence[NodeWithScore]) -> bool:
    return bool(nodes) and bool(text.strip())


def _signed(gate: Answerability | None) -> Verdicts:
    return {} if gate is None else {"answerability": gate.model_dump(mode="json")}
