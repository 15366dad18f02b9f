"""The gate before a synthesizer: do the nodes answer the question, and what follows from that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from llama_index.core.llms import ChatMessage
from llama_index.core.schema import NodeWithScore, QueryType
from llama_index.rag_intrinsics._component import settled
from llama_index.rag_intrinsics._inputs import conversation, distinct, passages
from llama_index.rag_intrinsics._sub_questions import SubAnswer, sub_answers
from llama_index.response_synthesizers.rag_intrinsics.annotator import ResponseAnnotator, Verdicts

from intrinsics_core import Call, answerability, arun, arun_many, run, run_many
from intrinsics_core.intrinsics import TABLE
from intrinsics_core.protocol.names import named
from intrinsics_core.protocol.results import Answerability

GateMode = Literal["block", "annotate"]


@dataclass(frozen=True)
class Passed:
    """What the gate found.

    Attributes:
        result: whether the nodes answer the question; with sub-questions, whether these are answered.
        parts: of each sub-question that was asked about, the verdict.
        blocks: whether the canned answer is to stand in place of an answer.
    """

    result: Answerability
    parts: tuple[tuple[SubAnswer, Answerability], ...] = ()
    blocks: bool = False

    @property
    def signed(self) -> Verdicts:
        """As it is written into metadata: ``"answerability"``, and ``"sub_questions"`` where there were some."""
        rows = [{"question": part.question, **found.model_dump(mode="json")} for part, found in self.parts]
        return {"answerability": self.result.model_dump(mode="json")} | ({"sub_questions": rows} if rows else {})


class Gate:
    """Judges whether nodes answer a question, on the runtime of an annotator.

    Where they hold the answers to sub-questions that LlamaIndex made of the question, each of these is judged by its
    own answer and the sources. Where all are answered, so is the question. Where a sub-question is surely not
    answered, neither is the question.

    Args:
        mode: ``"block"``, or ``"annotate"``: the verdict is noted and nothing is blocked.
        block_unsure: whether "unanswerable" blocks also where the judge is unsure of it.
        on_error: what is done where a judgement failed; one of the intrinsic's.

    Raises:
        InvalidInput: ``mode`` or ``on_error`` is unknown; the message has the nearest name.
    """

    def __init__(self, annotator: ResponseAnnotator, *, mode: str, block_unsure: bool, on_error: str) -> None:
        self._mode: GateMode = named("mode", mode, get_args(GateMode))
        self._annotator, self._block_unsure = annotator, block_unsure
        self._on_error: Any = TABLE["answerability"].chosen(on_error)

    def judge(
        self,
        query: QueryType,
        documents: Sequence[Any],
        history: Sequence[ChatMessage],
        nodes: Sequence[NodeWithScore] = (),
        sources: Sequence[NodeWithScore] | None = None,
    ) -> Passed:
        """
        Args:
            documents: what the question is judged by.
            nodes: the nodes behind them, among which sub-answers may be.
            sources: what those were given from.

        Raises:
            IntrinsicsError: a judgement failed, and ``on_error`` is ``"raise"``.
        """
        settings: dict[str, Any] = {"profile": self._annotator.profile}
        whole = run(self._call(query, documents, history), self._annotator.engine, **settings)
        asked = sub_answers(nodes)
        calls = self._sub_calls(asked, sources)
        return self._decision(whole, asked, calls, run_many(calls, self._annotator.engine, **settings) if calls else ())

    async def ajudge(
        self,
        query: QueryType,
        documents: Sequence[Any],
        history: Sequence[ChatMessage],
        nodes: Sequence[NodeWithScore] = (),
        sources: Sequence[NodeWithScore] | None = None,
    ) -> Passed:
        """Like :meth:`judge`, without ever blocking the event loop."""
        settings: dict[str, Any] = {"profile": self._annotator.profile}
        whole = await arun(self._call(query, documents, history), self._annotator.engine, **settings)
        asked = sub_answers(nodes)
        calls = self._sub_calls(asked, sources)
        found = await arun_many(calls, self._annotator.engine, **settings) if calls else ()
        return self._decision(whole, asked, calls, found)

    def _call(
        self, query: QueryType, documents: Sequence[Any], history: Sequence[ChatMessage] = ()
    ) -> Call[Answerability]:
        turns = conversation(query, history=history)
        return answerability(turns, documents, on_error=self._on_error, date=self._annotator.date)

    def _sub_calls(
        self, asked: Sequence[SubAnswer], sources: Sequence[NodeWithScore] | None
    ) -> list[Call[Answerability]]:
        # The answer without its question, which would pass for an answer to itself; a short one needs its sources.
        behind = passages(distinct(sources or ()), self._annotator.metadata_mode)
        return [self._call(part.question, [{"text": part.answer}, *behind]) for part in asked]

    def _decision(
        self,
        whole: Answerability,
        asked: Sequence[SubAnswer],
        calls: Sequence[Call[Answerability]],
        found: Sequence[Any],
    ) -> Passed:
        results = [settled(call, result) for call, result in zip(calls, found, strict=True)]
        sure = whole.answerable and not whole.unsure
        if all(result.answerable for result in results):
            answered = sorted(results, key=lambda result: -1.0 if result.probability is None else result.probability)
            decisive = [] if sure else answered
        else:
            missed = [result for result in results if not result.answerable and not result.unsure]
            decisive = missed if sure or whole.unsure else []
        whole = decisive[0] if decisive else whole
        blocks = self._mode == "block" and not whole.passes(block_unsure=self._block_unsure)
        return Passed(whole, tuple(zip(asked, results, strict=True)), blocks)
