"""What the reranker and the relevance filter share: nodes in, judged copies out, with the events of a reranking."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from llama_index.core.callbacks import CBEventType, EventPayload
from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined]
from llama_index.core.instrumentation.events.rerank import ReRankEndEvent, ReRankStartEvent
from llama_index.core.memory import BaseMemory
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle
from llama_index.rag_intrinsics import _marks
from llama_index.rag_intrinsics._component import IntrinsicComponent
from llama_index.rag_intrinsics._inputs import aremembered, asked_in, conversation, passages, remembered, required
from pydantic import Field

from intrinsics_core.protocol.results import Ranking, Result
from intrinsics_core.running.steps import Steps, arun_steps, run_steps

dispatcher = get_dispatcher(__name__)

_SHOWN = ("label", "rank", "score", "wins")  # of a row; where it stood and what it was are the node's

Documents = Sequence[dict[str, Any]]


class JudgingPostprocessor(IntrinsicComponent, BaseNodePostprocessor):
    """Returns copies: ``score`` is the intrinsic's, ``metadata["retrieval_score"]`` what it was before any intrinsic,
    and further flat keys hold the verdict. None of them is in what LLMs and embeddings read. No nodes in, no nodes out.

    The turns before the question come from the query (a :class:`~llama_index.rag_intrinsics.ConversationQuery`) or from
    ``memory``. A chat engine gives its postprocessors the bare follow-up: give them the engine's memory.
    """

    memory: BaseMemory | None = Field(default=None, exclude=True, repr=False)
    metadata_mode: MetadataMode = MetadataMode.LLM

    # Not abstract: LlamaIndex makes a span of every method that implements an abstract one.

    def _rows(self, result: Any) -> Sequence[Any]:
        """The rows of the result that name the nodes to return, in order."""
        raise NotImplementedError

    @property
    def _most(self) -> int | None:
        """How many nodes are returned at most, for the events."""
        return None

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        do: dict[str, Any] = {"remember": lambda query: remembered(query, self.memory), "judge": self._result}
        with self._traced(nodes, query_bundle) as end:
            return end(run_steps(self._steps(nodes, query_bundle), do))

    @dispatcher.span
    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        do: dict[str, Any] = {"remember": lambda query: aremembered(query, self.memory), "judge": self._aresult}
        with self._traced(nodes, query_bundle) as end:
            return end(await arun_steps(self._steps(nodes, query_bundle), do))

    def _steps(self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None) -> Steps[list[NodeWithScore]]:
        if not nodes:
            return []
        query = required(query_bundle, self.intrinsic)
        documents = passages(nodes, self.metadata_mode, asked=asked_in(query))
        history = yield "remember", query
        result = yield "judge", self._ask(conversation(query, history=history), documents)
        return self._judged(nodes, documents, result, asked_in(query))

    def _judged(
        self, nodes: Sequence[NodeWithScore], documents: Documents, result: Result, asked: str
    ) -> list[NodeWithScore]:
        odd = {name: value for name in ("cut", "unread", "prior") if (value := getattr(result, name, None))}
        rows, found = self._rows(result), []
        shown = [name for name in _SHOWN if rows and name in type(rows[0]).model_fields]
        for row in rows:
            item = nodes[row.index]
            why = _own_reason(row, result)
            verdict = _marks.flat(self.intrinsic, {name: getattr(row, name) for name in shown} | odd | why)
            # A fallback has no score of its own, at best the one that it was given: the node's then stands.
            fallen = row.score is None or (why and row.score == documents[row.index]["score"])
            found.append(_marks.marked(item, asked, verdict, item.score if fallen else row.score))
        return found

    @contextmanager
    def _traced(
        self, nodes: list[NodeWithScore], query: QueryBundle | None
    ) -> Iterator[Callable[[list[NodeWithScore]], list[NodeWithScore]]]:
        """Events around one run, in both of LlamaIndex's ways; what it yields passes the outcome on."""
        top_n, name = len(nodes) if self._most is None else self._most, self.class_name()
        dispatcher.event(ReRankStartEvent(query=query, nodes=nodes, top_n=top_n, model_name=name))
        said: dict[str, Any] = {
            EventPayload.NODES: nodes,
            EventPayload.MODEL_NAME: name,
            EventPayload.QUERY_STR: query.query_str if query else "",
            EventPayload.TOP_K: top_n,
        }
        with self.callback_manager.event(CBEventType.RERANKING, payload=said) as event:

            def end(found: list[NodeWithScore]) -> list[NodeWithScore]:
                event.on_end(payload={EventPayload.NODES: found})
                dispatcher.event(ReRankEndEvent(nodes=found))
                return found

            yield end


def _own_reason(row: Any, result: Result) -> dict[str, str]:
    """Why this node's verdict is none: the failure of its own judgement, where each has one, never those of all."""
    why = result.degraded if isinstance(result, Ranking) else row.failure
    return {"degraded": why} if why else {}
