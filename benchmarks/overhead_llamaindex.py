"""What LlamaIndex adds to a call of the core: ``python -m benchmarks.overhead_llamaindex [--calls N]``.

The judge is a constant scorer, so that nothing but conversion, tracing and the drivers is timed. Each row: the core
called directly; LlamaIndex's own component of that kind, which does nothing, on the same input; ours; and what ours
adds to the two together. Medians, in milliseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.base.response.schema import Response
from llama_index.core.evaluation import BaseEvaluator, EvaluationResult
from llama_index.core.llms import MockLLM
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.prompts.mixin import PromptMixin
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.evaluation.rag_intrinsics import IntrinsicEvaluator
from llama_index.postprocessor.rag_intrinsics import IntrinsicsRerank
from llama_index.response_synthesizers.rag_intrinsics import AnswerabilityGate

from benchmarks.overhead import PASSAGES, QUESTION, TEXT, Constant, Work, measure


class NoOpPostprocessor(BaseNodePostprocessor):
    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        return nodes

    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        return nodes


class NoPrompts(PromptMixin):
    def _get_prompts(self) -> dict[str, Any]:
        return {}

    def _get_prompt_modules(self) -> dict[str, Any]:
        return {}

    def _update_prompts(self, prompts: dict[str, Any]) -> None:
        pass


class NoOpSynthesizer(NoPrompts, BaseSynthesizer):
    def get_response(self, query_str: str, text_chunks: Sequence[str], **kwargs: Any) -> str:
        return "Ada Brink."

    async def aget_response(self, query_str: str, text_chunks: Sequence[str], **kwargs: Any) -> str:
        return "Ada Brink."


class NoOpEvaluator(NoPrompts, BaseEvaluator):
    async def aevaluate(
        self,
        query: str | None = None,
        response: str | None = None,
        contexts: Sequence[str] | None = None,
        **kwargs: Any,
    ) -> EvaluationResult:
        return EvaluationResult(query=query, contexts=contexts, passing=True, score=0.5)


def main() -> None:
    runtime = Constant()
    nodes = [NodeWithScore(node=TextNode(id_=str(i), text=TEXT.format(i)), score=0.5) for i in range(PASSAGES)]
    query, few = QueryBundle(QUESTION), nodes[:5]
    response = Response("Ada Brink.", source_nodes=few)
    rerank, nothing = IntrinsicsRerank(runtime=runtime), NoOpPostprocessor()
    evaluator, no_evaluator = IntrinsicEvaluator("answerability", runtime=runtime), NoOpEvaluator()
    inner = NoOpSynthesizer(llm=MockLLM())
    gate = AnswerabilityGate(inner, runtime=runtime)

    assert len(rerank.postprocess_nodes(nodes, query)) == PASSAGES  # what is timed is the real thing
    assert gate.synthesize(QUESTION, few).metadata["rag_intrinsics"]["answerability"]["probability"] == 0.5

    rows: list[tuple[str, str, Work, Work]] = [
        (
            f"reranker, {PASSAGES} passages",
            "rank",
            lambda: nothing.postprocess_nodes(nodes, query),
            lambda: rerank.postprocess_nodes(nodes, query),
        ),
        (
            "gate around a synthesizer, 5 passages",
            "judge",
            lambda: inner.synthesize(QUESTION, few),
            lambda: gate.synthesize(QUESTION, few),
        ),
        (
            "answerability evaluator, 5 passages",
            "judge",
            lambda: no_evaluator.evaluate_response(QUESTION, response),
            lambda: evaluator.evaluate_response(QUESTION, response),
        ),
    ]
    awaited = (
        "the same reranker, awaited",
        lambda: nothing.apostprocess_nodes(nodes, query),
        lambda: rerank.apostprocess_nodes(nodes, query),
    )
    measure(__doc__, [(n.node_id, n.node.get_content()) for n in nodes], "LlamaIndex's no-op", rows, awaited)


if __name__ == "__main__":
    main()
