"""What the reranker and the relevance filter share: nodes in, judged copies out, with the events of a reranking."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from llama_index.core.callbacks import CBEventType, EventPayload
from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined]
from llama_index.core.instrumentation.events.rerank import ReRankEndEvent, ReRankStartEvent
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.rag_intrinsics._component import IntrinsicComponent
from llama_index.rag_intrinsics._inputs import conversation, passages, required

from intrinsics_core import Call
from intrinsics_core.results import Result

dispatcher = get_dispatcher(__name__)

RETRIEVAL_SCORE, VERDICTS = "retrieval_score", "rag_intrinsics"


class JudgingPostprocessor(IntrinsicComponent, BaseNodePostprocessor):
    """Returns copies: ``score`` is the intrinsic's, ``metadata["retrieval_score"]`` what it was before any intrinsic,
    ``metadata["rag_intrinsics"]`` the verdict. Both keys are kept out of what LLMs and embeddings read. No nodes in, no
    nodes out.
    """

    @abstractmethod
    def _ask(self, messages: Sequence[dict[str, str]], documents: Sequence[dict[str, Any]]) -> Call[Any]:
        """The call of the core."""

    @abstractmethod
    def _rows(self, result: Any) -> Sequence[Any]:
        """The rows of the result that name the nodes to return, in order."""

    @property
    def _most(self) -> int | None:
        """How many nodes are returned at most, for the events."""
        return None

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        with self._traced(nodes, query_bundle) as end:
            if not nodes:
                return end([])
            documents = passages(nodes)
            result = self._result(self._ask(conversation(required(query_bundle, self.intrinsic)), documents))
            return end(self._judged(nodes, result))

    @dispatcher.span
    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        with self._traced(nodes, query_bundle) as end:
            if not nodes:
                return end([])
            documents = passages(nodes)
            result = await self._aresult(self._ask(conversation(required(query_bundle, self.intrinsic)), documents))
            return end(self._judged(nodes, result))

    def _judged(self, nodes: Sequence[NodeWithScore], result: Result) -> list[NodeWithScore]:
        why = {} if result.degraded is None else {"degraded": result.degraded}
        return [
            _copy(nodes[row.index], row.score, {self.intrinsic: row.model_dump(exclude={"document_id"}) | why})
            for row in self._rows(result)
        ]

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


def _copy(item: NodeWithScore, score: float | None, verdict: dict[str, Any]) -> NodeWithScore:
    """The node with a score and verdict. Where a fallback stands in for a score, the node keeps the one it has."""
    node = item.node
    metadata = dict(node.metadata)
    if item.score is not None:
        metadata.setdefault(RETRIEVAL_SCORE, item.score)
    metadata[VERDICTS] = {**(metadata.get(VERDICTS) or {}), **verdict}
    copy = node.model_copy(
        update={
            "metadata": metadata,
            "excluded_llm_metadata_keys": _with_ours(node.excluded_llm_metadata_keys),
            "excluded_embed_metadata_keys": _with_ours(node.excluded_embed_metadata_keys),
        }
    )
    return item.model_copy(update={"node": copy, "score": item.score if score is None else score})


def _with_ours(keys: Sequence[str]) -> list[str]:
    return [*keys, *(key for key in (RETRIEVAL_SCORE, VERDICTS) if key not in keys)]
