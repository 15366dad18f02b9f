"""The reranker and the relevance filter: nodes in, judged copies out, with the events of a reranking."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, ClassVar

from llama_index.core.callbacks import CBEventType, EventPayload
from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined]
from llama_index.core.instrumentation.events.rerank import ReRankEndEvent, ReRankStartEvent
from llama_index.core.memory import BaseMemory
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle
from llama_index.rag_intrinsics._component import IntrinsicComponent, Several
from llama_index.rag_intrinsics._inputs import aremembered, asked_in, conversation, passages, remembered
from pydantic import Field

from intrinsics_core import InvalidInput
from intrinsics_core.chains import scores
from intrinsics_core.intrinsics.reranking import OPTIONS, Mode, Reading
from intrinsics_core.protocol.results import ContextRelevance, Ranking, Relevance
from intrinsics_core.running.steps import Steps, arun_steps, run_steps

dispatcher = get_dispatcher(__name__)

Nodes = list[NodeWithScore]
_KEYS = frozenset(scores.KEYS)


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

    def _postprocess_nodes(self, nodes: Nodes, query_bundle: QueryBundle | None = None) -> Nodes:
        do: dict[str, Any] = {"remember": lambda query: remembered(query, self.memory), "judge": self._result}
        with self._traced(nodes, query_bundle) as end:
            return end(run_steps(self._steps(nodes, query_bundle), do))

    @dispatcher.span
    async def _apostprocess_nodes(self, nodes: Nodes, query_bundle: QueryBundle | None = None) -> Nodes:
        do: dict[str, Any] = {"remember": lambda query: aremembered(query, self.memory), "judge": self._aresult}
        with self._traced(nodes, query_bundle) as end:
            return end(await arun_steps(self._steps(nodes, query_bundle), do))

    def _steps(self, nodes: Nodes, query: QueryBundle | None) -> Steps[Nodes]:
        if not nodes:
            return []
        if query is None:
            raise InvalidInput("query_str= or query_bundle= is missing", intrinsic=self.intrinsic,
                               expected="the question")  # fmt: skip
        asked = asked_in(query)
        documents = passages(nodes, self.metadata_mode, asked=asked)
        history = yield "remember", query
        result = yield "judge", self._ask(conversation(query, history=history), documents)
        return [self._judged(nodes[row.index], row, result, asked) for row in self._rows(result)]

    def _judged(self, item: NodeWithScore, row: Any, result: Any, asked: str) -> NodeWithScore:
        verdict = scores.verdict_on(self.intrinsic, row, result)
        metadata = scores.marked(item.node.metadata, verdict, item.score, asked)
        # Our keys are kept out of what LLMs and embeddings read.
        ours, node = [key for key in metadata if key in _KEYS], item.node
        hidden = {
            "excluded_llm_metadata_keys": _with(ours, node.excluded_llm_metadata_keys),
            "excluded_embed_metadata_keys": _with(ours, node.excluded_embed_metadata_keys),
        }
        node = node.model_copy(update={"metadata": metadata, **hidden})
        made = {"node": node, "score": scores.own_score(row, result, item.score)}
        # One made anew takes half the time of a copy; a subclass may have more fields.
        return NodeWithScore(**made) if type(item) is NodeWithScore else item.model_copy(update=made)

    @contextmanager
    def _traced(self, nodes: Nodes, query: QueryBundle | None) -> Iterator[Callable[[Nodes], Nodes]]:
        """Events around one run, in both of LlamaIndex's ways; what it yields passes the outcome on."""
        most = getattr(self, "top_n", None)
        top_n, name = len(nodes) if most is None else most, self.class_name()
        dispatcher.event(ReRankStartEvent(query=query, nodes=nodes, top_n=top_n, model_name=name))
        said: dict[str, Any] = {
            EventPayload.NODES: nodes,
            EventPayload.MODEL_NAME: name,
            EventPayload.QUERY_STR: query.query_str if query else "",
            EventPayload.TOP_K: top_n,
        }
        with self.callback_manager.event(CBEventType.RERANKING, payload=said) as event:

            def end(found: Nodes) -> Nodes:
                event.on_end(payload={EventPayload.NODES: found})
                dispatcher.event(ReRankEndEvent(nodes=found))
                return found

            yield end


def _with(ours: Sequence[str], keys: Sequence[str]) -> list[str]:
    return [*keys, *(key for key in ours if key not in keys)] if keys else [*ours]


class IntrinsicsRerank(JudgingPostprocessor):
    """Nodes in the order in which they answer the question, best first.

    ``metadata`` gets ``reranking_rank``, ``reranking_score`` and, where comparisons were held, ``reranking_wins``.
    Where each node has a probability (embedded and encoder runtimes, ``mode="pointwise"``), the retriever's own scores
    take part in it, with a bound, where all nodes have one; ``reranking_prior`` says how they were read. Such
    probabilities depend on nothing else in the list, so LlamaIndex's ``SimilarityPostprocessor`` fits behind it.

    Args:
        top_n: return at most this many; None for all.
        mode: how a language model ranks: ``"listwise"``, ``"pairwise"`` or ``"pointwise"``, as
            :func:`intrinsics_core.reranking` has it; None for the profile's own.
        prior: which of two of the retriever's scores is the better one: ``"higher"``, ``"lower"`` (distances), or
            ``"auto"``, as the list's order tells; a list that neither rises nor falls then leaves its scores out. None:
            they do not count.
        memory: the memory of a chat engine, to read the turns before the question from.
        metadata_mode: which metadata is read beside the text: what is embedded of a node, by default.

    Example:
        >>> from llama_index.core.schema import NodeWithScore, TextNode
        >>> from llama_index.postprocessor.rag_intrinsics import IntrinsicsRerank
        >>> nodes = [NodeWithScore(node=TextNode(id_="cranes", text="The harbour has two cranes."), score=0.7),
        ...          NodeWithScore(node=TextNode(id_="mill", text="Ada Brink built the tide mill in 1911."), score=0.7)]
        >>> best = IntrinsicsRerank(top_n=1).postprocess_nodes(nodes, query_str="Who built the tide mill?")
        >>> best[0].node_id, best[0].metadata["retrieval_score"]
        ('mill', 0.7)
    """

    intrinsic: ClassVar[str] = "reranking"
    _options: ClassVar[Sequence[str]] = OPTIONS

    top_n: int | None = Field(default=None, ge=0)
    mode: Mode | None = None
    prior: Reading | None = "auto"
    metadata_mode: MetadataMode = MetadataMode.EMBED

    def _rows(self, result: Ranking) -> Sequence[Any]:
        return result.ranking[: self.top_n]


class ContextRelevancePostprocessor(JudgingPostprocessor):
    """The nodes that help to answer the question, in their own order.

    ``metadata["context_relevance"]`` holds the label, ``metadata["context_relevance_score"]`` its probability.

    Args:
        labels: which labels to keep.
        similarity_cutoff: keep only nodes that score at least this; None for all. A node without a score of ours (its
            judgement failed, and ``on_error`` is ``"fallback"``) is kept; ``context_relevance_degraded`` says why.
        memory: the memory of a chat engine, to read the turns before the question from.
        metadata_mode: which metadata is read beside the text: what LLMs are shown of a node, by default.

    Example:
        >>> from llama_index.core.schema import NodeWithScore, TextNode
        >>> from llama_index.postprocessor.rag_intrinsics import ContextRelevancePostprocessor
        >>> nodes = [NodeWithScore(node=TextNode(id_="mill", text="Ada Brink built the tide mill in 1911."))]
        >>> kept = ContextRelevancePostprocessor().postprocess_nodes(nodes, query_str="Who built the tide mill?")
        >>> [node.node_id for node in kept]
        ['mill']
    """

    intrinsic: ClassVar[str] = "context-relevance"

    labels: Annotated[Sequence[Relevance] | Relevance, Several] = ("relevant", "partially relevant")
    similarity_cutoff: float | None = None

    def _rows(self, result: ContextRelevance) -> Sequence[Any]:
        return result.kept(self.labels, self.similarity_cutoff)
