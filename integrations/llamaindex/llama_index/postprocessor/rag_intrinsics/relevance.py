"""Relevance filter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar

from llama_index.postprocessor.rag_intrinsics._judging import JudgingPostprocessor
from llama_index.rag_intrinsics._settings import Several

from intrinsics_core.protocol.results import ContextRelevance, Judgement, Relevance


class ContextRelevancePostprocessor(JudgingPostprocessor):
    """The nodes that help to answer the question, in their own order.

    ``metadata["context_relevance"]`` holds the label, ``metadata["context_relevance_score"]`` its probability.

    Args:
        labels: which labels to keep.
        similarity_cutoff: keep only nodes that score at least this; None for all. A node without a score of ours (its
            judgement failed, and ``on_error`` is ``"fallback"``) is kept; ``context_relevance_degraded`` says why.
        memory: the memory of a chat engine, to read the turns before the question from.
        metadata_mode: which metadata is read beside the text: what LLMs are shown of a node, what is embedded of it
            (``MetadataMode.EMBED``), or none.

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

    def _rows(self, result: ContextRelevance) -> Sequence[Judgement]:
        return result.kept(self.labels, self.similarity_cutoff)
