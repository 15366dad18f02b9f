"""The gate: a synthesizer around a synthesizer, which answers only what the nodes answer."""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any, ClassVar, Literal

from llama_index.core.base.response import schema
from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined]
from llama_index.core.instrumentation.events.synthesis import SynthesizeEndEvent, SynthesizeStartEvent
from llama_index.core.llms import LLM
from llama_index.core.llms.structured_llm import StructuredLLM
from llama_index.core.memory import BaseMemory
from llama_index.core.response_synthesizers import BaseSynthesizer, get_response_synthesizer
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryType, TextNode
from llama_index.core.types import RESPONSE_TEXT_TYPE
from llama_index.rag_intrinsics._component import InnerPrompts, IntrinsicComponent, check_names
from llama_index.rag_intrinsics._inputs import aremembered, asked_in, conversation, distinct, passages, remembered
from llama_index.rag_intrinsics._responses import PlainRefusal, StructuredRefusal, judged_by, noted, sub_answers
from llama_index.response_synthesizers.rag_intrinsics.check import AnswerCheck, Asked
from pydantic import BaseModel

from intrinsics_core import InvalidInput
from intrinsics_core.chains.checks import result_or_fallback
from intrinsics_core.chains.notes import CANNED
from intrinsics_core.protocol.results import Answerability
from intrinsics_core.running.flows import CANNED as REFUSAL
from intrinsics_core.running.steps import Steps, arun_steps, run_steps

dispatcher = get_dispatcher(__name__)

Canned = str | BaseModel | Callable[[str], Any]


class _Gate(IntrinsicComponent):
    """The settings of a gate, and its judgement."""

    intrinsic: ClassVar[str] = "answerability"

    mode: Literal["block", "annotate"] = "block"
    block_unsure: bool = False
    metadata_mode: MetadataMode = MetadataMode.LLM

    def judged(
        self, query: QueryType, documents: Sequence[Any], history: Any, asked: Sequence[tuple[str, str]], behind: Any
    ) -> Steps[tuple[Answerability, dict[str, Any]]]:
        """The verdict on the question, and the verdicts as they are noted.

        Where the nodes hold the answers to sub-questions that LlamaIndex made of the question, each of these is judged
        by its own answer and the sources. Where all are answered, so is the question. Where a sub-question is surely
        not answered, neither is the question.
        """
        # The answer without its question, which would pass for an answer to itself; a short one needs its sources.
        parts = [(question, [{"text": answer}, *behind], ()) for question, answer in asked]
        calls = [self._ask(conversation(one, history=h), by) for one, by, h in [(query, documents, history), *parts]]
        told: Any = yield "judge", calls
        found: list[Any] = [result_or_fallback(*each) for each in zip(calls, told, strict=True)]
        rows = [{"question": one, **of.model_dump(mode="json")} for (one, *_), of in zip(parts, found[1:], strict=True)]
        whole = _decisive(found[0], found[1:])
        return whole, {"answerability": whole.model_dump(mode="json")} | ({"sub_questions": rows} if rows else {})


def _decisive(whole: Answerability, parts: Sequence[Answerability]) -> Answerability:
    sure = whole.answerable and not whole.unsure
    if all(part.answerable for part in parts):
        answered = sorted(parts, key=lambda part: -1.0 if part.probability is None else part.probability)
        return whole if sure or not answered else answered[0]
    missed = [part for part in parts if not part.answerable and not part.unsure]
    return missed[0] if missed and (sure or whole.unsure) else whole


class AnswerabilityGate(InnerPrompts, BaseSynthesizer):
    """Any synthesizer, which now answers only what the nodes answer: where they do not, the ``canned`` answer comes
    back and ``inner`` is not asked.

    The verdict is in ``response.metadata["rag_intrinsics"]["answerability"]``, and beside it what ``check`` finds on
    the answer. A stream streams on. Behind a ``SubQuestionQueryEngine`` a comparison passes where each of its
    sub-questions is answered (``"sub_questions"``). An LLM wrote these sub-answers: the answer is judged by what they
    were given from. Prompts are those of ``inner``, under its names.

    Args:
        inner: the synthesizer that answers, or an LLM, for LlamaIndex's default one with it; None: with its default.
        check: how an answer is judged: an :class:`AnswerCheck`, or the names of its checks (``"audit"``), which are
            asked for where the gate asks; None: not at all.
        canned: the answer to what the nodes do not answer: a text, a function of the question that gives it (which may
            be awaited), or, for structured answers, an object of their class. A structured answer that is refused with
            a text is a response without an object, whose fields read as None.
        memory: the memory of a chat engine, to read the turns before the question from; a
            :class:`~llama_index.rag_intrinsics.ConversationQuery` brings its own.
        streaming: whether the synthesizer that is made of an LLM streams; one that is given does as it was made to.
        settings: ``mode`` (``"block"``, or ``"annotate"``: the verdict is noted, and ``inner`` always asked),
            ``block_unsure`` (whether *unanswerable* blocks also where the judge is ``unsure`` of it), ``metadata_mode``
            (which metadata of the nodes is read beside their text), ``on_error`` (``"raise"``, ``"open"``, also
            ``"fallback"``, or ``"closed"``), ``runtime``, ``api_key``, ``profile``, ``date``.

    Raises:
        InvalidInput: there is no such setting, a choice is none of those allowed, or ``inner`` is neither a synthesizer
            nor an LLM.

    Example:
        >>> from llama_index.core.llms import MockLLM
        >>> from llama_index.core.schema import NodeWithScore, TextNode
        >>> from llama_index.response_synthesizers.rag_intrinsics import AnswerabilityGate
        >>> node = NodeWithScore(node=TextNode(id_="mill", text="Ada Brink built the tide mill in 1911."))
        >>> gate = AnswerabilityGate(MockLLM(), check="audit", canned="The archive does not say.")
        >>> sorted(gate.synthesize("Who built the tide mill?", [node]).metadata["rag_intrinsics"])
        ['about', 'answerability', 'audit']
        >>> print(gate.synthesize("What does a zeppelin ticket cost?", [node]))
        The archive does not say.
    """

    def __init__(
        self,
        inner: BaseSynthesizer | LLM | None = None,
        *,
        check: AnswerCheck | str | Sequence[str] | None = None,
        canned: Canned = REFUSAL,
        memory: BaseMemory | None = None,
        streaming: bool = False,
        **settings: Any,
    ) -> None:
        known = [*inspect.signature(AnswerabilityGate).parameters, *_Gate.model_fields]
        check_names(settings, known, called=type(self).__name__)
        if not isinstance(canned, str | BaseModel) and not callable(canned):
            raise InvalidInput("canned is not an answer", expected="a string, an object, or a function that gives one",
                               got=repr(canned))  # fmt: skip
        if inner is None or isinstance(inner, LLM):
            inner = get_response_synthesizer(llm=inner, streaming=streaming)
        if not isinstance(inner, BaseSynthesizer):
            raise InvalidInput("inner neither answers nor is an LLM", expected="a synthesizer, e.g. of "
                               "get_response_synthesizer(...), or an LLM", got=type(inner).__name__)  # fmt: skip
        self._inner: BaseSynthesizer = inner
        super().__init__(
            llm=inner._llm,
            callback_manager=inner.callback_manager,
            prompt_helper=inner._prompt_helper,
            streaming=inner._streaming,
            output_cls=inner._output_cls,
        )
        self._canned, self._memory = canned, memory
        self._gate = _Gate(**settings)
        if check is not None and not isinstance(check, AnswerCheck):
            shared = ("runtime", "api_key", "profile", "date", "metadata_mode")
            check = AnswerCheck(check, **{name: getattr(self._gate, name) for name in shared})
        self._check = check

    @property
    def _streaming(self) -> bool:
        """Whether answers stream: as ``inner`` does, also where a chat engine over a query engine changes it."""
        return self._inner._streaming

    @_streaming.setter
    def _streaming(self, streaming: bool) -> None:
        self._inner._streaming = streaming

    # --- with nodes: what query engines call ------------------------------------------------------------------------

    def synthesize(
        self,
        query: QueryType,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
        **response_kwargs: Any,
    ) -> schema.RESPONSE_TYPE:
        do: dict[str, Any] = {
            "remember": lambda asked: remembered(asked, self._memory),
            "judge": self._gate._results,
            "say": self._said,
            "answer": lambda asked: self._inner.synthesize(asked, nodes, additional_source_nodes, **response_kwargs),
            "check": lambda given: given[0]._checked(*given[1:]),
        }
        return run_steps(self._steps(query, nodes, additional_source_nodes, schema.StreamingResponse), do)

    async def asynthesize(
        self,
        query: QueryType,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
        **response_kwargs: Any,
    ) -> schema.RESPONSE_TYPE:
        do: dict[str, Any] = {
            "remember": lambda asked: aremembered(asked, self._memory),
            "judge": self._gate._aresults,
            "say": self._asaid,
            "answer": lambda asked: self._inner.asynthesize(asked, nodes, additional_source_nodes, **response_kwargs),
            "check": lambda given: given[0]._achecked(*given[1:]),
        }
        return await arun_steps(self._steps(query, nodes, additional_source_nodes, schema.AsyncStreamingResponse), do)

    def _steps(
        self, query: QueryType, nodes: Sequence[NodeWithScore], more: Sequence[NodeWithScore] | None, stream: Any
    ) -> Steps[schema.RESPONSE_TYPE]:
        history = yield "remember", query
        documents, behind = (passages(distinct(of), self._gate.metadata_mode) for of in (nodes, more or ()))
        found, verdicts = yield from self._gate.judged(query, documents, history, sub_answers(nodes), behind)
        if self._gate.mode == "block" and not found.passes(block_unsure=self._gate.block_unsure):
            dispatcher.event(SynthesizeStartEvent(query=query))
            canned = yield "say", query
            response: schema.RESPONSE_TYPE = noted(
                self._refusal([*nodes, *(more or ())], canned, stream), verdicts | {CANNED: True}
            )
            dispatcher.event(SynthesizeEndEvent(query=query, response=response))
        else:
            if self._check:
                _ = self._check.engine  # what is wrong with the runtime is reported before an answer is paid for
            response = noted((yield "answer", query), verdicts)
            if self._check:
                asked = Asked(query, history, lambda: distinct(judged_by(nodes, more)))
                response = yield "check", (self._check, asked, response)
        return response

    # --- with texts alone: there is no metadata to write into ---------------------------------------------------------

    def get_response(self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any) -> RESPONSE_TEXT_TYPE:
        return _said_by(self.synthesize(query_str, _as_nodes(text_chunks), **response_kwargs))

    async def aget_response(
        self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any
    ) -> RESPONSE_TEXT_TYPE:
        return _said_by(await self.asynthesize(query_str, _as_nodes(text_chunks), **response_kwargs))

    def _said(self, query: QueryType) -> Any:
        """The canned answer to this question."""
        return self._canned(asked_in(query)) if callable(self._canned) else self._canned

    async def _asaid(self, query: QueryType) -> Any:
        said = self._said(query)
        return await said if inspect.isawaitable(said) else said

    def _refusal(self, nodes: list[NodeWithScore], canned: Any, stream: Any) -> schema.RESPONSE_TYPE:
        """The canned answer, in the form in which ``inner`` would have answered."""
        metadata = self._get_metadata_for_response([item.node for item in nodes]) or {}
        if isinstance(canned, BaseModel):
            return schema.PydanticResponse(canned, nodes, metadata)
        if self._output_cls is not None or isinstance(self._llm, StructuredLLM):
            return StructuredRefusal(None, nodes, metadata, canned)
        if self._streaming:
            tokens = (text for text in [canned]) if stream is schema.StreamingResponse else _atokens(canned)
            response: schema.RESPONSE_TYPE = stream(tokens, nodes, metadata)
            return response
        return PlainRefusal(canned, nodes, metadata)


def _as_nodes(texts: Sequence[str]) -> list[NodeWithScore]:
    return [NodeWithScore(node=TextNode(text=text)) for text in texts]


def _said_by(response: Any) -> RESPONSE_TEXT_TYPE:
    said: RESPONSE_TEXT_TYPE = getattr(response, "response_gen", None) or response.response
    return said


async def _atokens(text: str) -> AsyncGenerator[str, None]:
    yield text
