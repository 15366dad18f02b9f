"""Reranker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from llama_index.core.schema import MetadataMode
from llama_index.postprocessor.rag_intrinsics._judging import JudgingPostprocessor
from pydantic import Field

from intrinsics_core.intrinsics.reranking import OPTIONS, Mode, Reading
from intrinsics_core.protocol.results import RankedDocument, Ranking


class IntrinsicsRerank(JudgingPostprocessor):
    """Nodes in the order in which they answer the question, best first.

    ``metadata`` gets ``reranking_rank``, ``reranking_score`` and, where comparisons were held, ``reranking_wins``.
    Where each node has a probability (embedded and encoder runtimes, ``mode="pointwise"``), the retriever's own scores
    take part in it, with a bound, where all nodes have one. A score that a reranker of ours wrote for another question
    does not count. Scores that only rise down the list are distances; ``reranking_prior`` says how they were read.
    Such probabilities depend on nothing else in the list, so LlamaIndex's ``SimilarityPostprocessor`` fits behind it.
    No threshold fits the lists and comparisons of a language model.

    Args:
        top_n: return at most this many; None for all.
        mode: how a language model ranks: ``"listwise"`` (one call up to 20 documents), ``"pairwise"``
            (comparisons), ``"pointwise"`` (one call a document, scores that a threshold fits); None for the profile's
            own. See :func:`intrinsics_core.reranking`.
        prior: which of two of the retriever's scores is the better one: ``"higher"``, ``"lower"`` (distances), or
            ``"auto"``, as the list's order tells; a list that neither rises nor falls then leaves its scores out. None:
            they do not count.
        memory: the memory of a chat engine, to read the turns before the question from.
        metadata_mode: which metadata is read beside the text: what is embedded of a node (as LlamaIndex's own
            cross-encoder reranker reads it), what LLMs are shown (``MetadataMode.LLM``), or none.

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

    @property
    def _most(self) -> int | None:
        return self.top_n

    def _rows(self, result: Ranking) -> Sequence[RankedDocument]:
        return result.ranking[: self.top_n]
