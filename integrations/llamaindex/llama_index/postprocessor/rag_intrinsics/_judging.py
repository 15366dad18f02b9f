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
from llama_index.rag_intrinsics._component import IntrinsicComponent
from llama_index.rag_intrinsics._inputs import aremembered, asked_in, conversation, passages, remembered
from pydantic import Field

from intrinsics_core import InvalidInput
from intrinsics_core.chains import scores
from intrinsics_core.protocol.results import Result
from intrinsics_core.running.steps import Steps, arun_steps, run_steps

dispatcher = get_dispatcher(__name__)


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
        if (query := query_bundle) is None:
            raise InvalidInput("query_str= or query_bundle= is missing", intrinsic=self.intrinsic,
                               expected="the question")  # fmt: skip
        documents = passages(nodes, self.metadata_mode, asked=asked_in(query))
        history = yield "remember", query
        result = yield "judge", self._ask(conversation(query, history=history), documents)
        return self._judged(nodes, result, asked_in(query))

    def _judged(self, nodes: Sequence[NodeWithScore], result: Result, asked: str) -> list[NodeWithScore]:
        found = []
        for row in self._rows(result):
            item = nodes[row.index]
            verdict = scores.verdict_on(self.intrinsic, row, result)
            metadata = scores.marked(item.node.metadata, verdict, item.score, asked)
            # Our keys are kept out of what LLMs and embeddings read.
            ours = [key for key in metadata if key in scores.KEYS]
            hidden = {
                name: list(dict.fromkeys([*(getattr(item.node, name) or ()), *ours]))
                for name in ("excluded_llm_metadata_keys", "excluded_embed_metadata_keys")
            }
            copy = item.node.model_copy(update={"metadata": metadata, **hidden})
            score = scores.own_score(row, result, item.score)
            found.append(item.model_copy(update={"node": copy, "score": score}))
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
