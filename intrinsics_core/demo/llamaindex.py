"""The story told by LlamaIndex: a query engine of the kind that people have, with our components in their places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from llama_index.core import VectorStoreIndex
from llama_index.core.llms import ChatMessage, MockLLM
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle, TextNode
from llama_index.embeddings.rag_intrinsics import IntrinsicsEmbedding
from llama_index.evaluation.rag_intrinsics import IntrinsicEvaluator
from llama_index.postprocessor.rag_intrinsics import ContextRelevancePostprocessor, IntrinsicsRerank
from llama_index.query_transform.rag_intrinsics import QueryRewriteTransform
from llama_index.rag_intrinsics import ConversationQuery
from llama_index.response_synthesizers.rag_intrinsics import AnswerCheck

from intrinsics_core.demo.story import (
    CHECKS,
    KEPT,
    RETRIEVED,
    Question,
    Said,
    Story,
    answer_from,
    rankings_of,
    turns,
    verdicts_of,
)
from intrinsics_core.protocol.results import Answerability, QueryRewrite
from intrinsics_core.protocol.task import Document
from intrinsics_core.render.trace import Turn
from intrinsics_core.runtimes import Runtime

JUDGED = MetadataMode.EMBED


def searching(nodes: Sequence[TextNode], k: int = RETRIEVED) -> BaseRetriever:
    """The nodes nearest to the query in LlamaIndex's in-memory store, over the encoder that ships."""
    index = VectorStoreIndex(list(nodes), embed_model=IntrinsicsEmbedding())
    retriever: BaseRetriever = index.as_retriever(similarity_top_k=k)
    return retriever


def nodes_of(documents: Sequence[Document]) -> list[TextNode]:
    """The passages as nodes. The title is for retrieval and for judging (`JUDGED`); an answer quotes the text alone."""
    return [
        TextNode(id_=d.id, text=d.text, metadata={"title": d.title}, excluded_llm_metadata_keys=["title"])
        for d in documents
    ]


@dataclass
class Steps:
    """What each part of the engine gave, for one question."""

    rewrite: QueryRewrite
    retrieved: list[NodeWithScore] = field(default_factory=list)
    reranked: list[NodeWithScore] = field(default_factory=list)
    relevant: list[NodeWithScore] = field(default_factory=list)
    context: list[NodeWithScore] = field(default_factory=list)
    verdicts: dict[str, Any] = field(default_factory=dict)
    answer: str = ""


class Engine:
    """Rewrite, retrieve, rerank, filter, gate, answer, cite, flag, weigh: one question after another."""

    def __init__(self, documents: Sequence[Document], refusal: str, runtime: Runtime) -> None:
        self.refusal = refusal
        self.rewrite = QueryRewriteTransform(runtime=runtime)
        self.retriever = searching(nodes_of(documents))
        self.rerank = IntrinsicsRerank(runtime=runtime)
        self.filter = ContextRelevancePostprocessor(runtime=runtime, metadata_mode=JUDGED)
        self.gate = IntrinsicEvaluator("answerability", runtime=runtime, metadata_mode=JUDGED, on_error="raise")
        # The gate is a part of its own here: it sees the best passages, and the answer rests on the relevant ones.
        self.synthesizer = answerer(runtime)
        self.check = AnswerCheck(CHECKS, runtime=runtime, metadata_mode=JUDGED)

    def ask(self, question: str, history: Sequence[ChatMessage] = (), invented: str = "") -> Steps:
        """All that was found on the way and, last, the answer."""
        query: Any = self.rewrite.run(ConversationQuery(question, chat_history=history))
        steps = Steps(query.rewrite)
        # From here on the rewritten question is the question, and the history has served.
        asked = QueryBundle(query.query_str)
        steps.retrieved = self.retriever.retrieve(query.embedding_strs[0])
        steps.reranked = self.rerank.postprocess_nodes(steps.retrieved, asked)
        steps.relevant = self.filter.postprocess_nodes(steps.reranked, asked)
        best = steps.reranked[:KEPT]
        steps.verdicts["answerability"] = self.gate.evaluate(asked, contexts=best).verdict
        if steps.verdicts["answerability"]["label"] == "unanswerable":
            steps.answer = self.refusal
            return steps
        steps.context = steps.relevant[:KEPT] or best
        said = self.synthesizer.synthesize(asked, steps.context, invented=invented)
        response: Any = self.check.check(asked, said)
        steps.answer = response.response
        steps.verdicts |= response.metadata["rag_intrinsics"]
        return steps


class _AnsweringSynthesizer(BaseSynthesizer):
    def __init__(self, runtime: Runtime) -> None:
        super().__init__(llm=MockLLM())  # never asked
        self.runtime = runtime

    def get_response(self, query_str: str, text_chunks: Sequence[str], invented: str = "", **kwargs: Any) -> str:
        answer = answer_from(self.runtime, query_str, [*map(Document, text_chunks)])
        return " ".join(filter(None, (answer, invented)))

    async def aget_response(self, query_str: str, text_chunks: Sequence[str], **kwargs: Any) -> str:
        return self.get_response(query_str, text_chunks, **kwargs)

    def _get_prompts(self) -> dict[str, Any]:
        return {}

    def _update_prompts(self, prompts_dict: dict[str, Any]) -> None:
        """There are none."""


def answerer(runtime: Runtime) -> BaseSynthesizer:
    """A synthesizer that answers by the runtime's language model, or by quoting. ``invented=`` is said after it."""
    return _AnsweringSynthesizer(runtime)


def play(tale: Story, questions: Sequence[Question], documents: Sequence[Document], runtime: Runtime) -> Iterator[Turn]:
    """Ask the questions in one conversation; each turn as it ends."""
    engine = Engine(documents, tale.refusal, runtime)

    def tell(question: Question, said: Said) -> Turn:
        roles = ("user", "assistant")
        history = [ChatMessage(text, role=role) for pair in said for text, role in zip(pair, roles, strict=True)]
        return _turn(question, engine.ask(question.ask, history, question.invented))

    return turns(questions, tell)


def _turn(question: Question, steps: Steps) -> Turn:
    """What the engine left in nodes and metadata, as results again."""
    gate = steps.verdicts.get("answerability")
    reranked, relevant = ([(n.node_id, n.metadata) for n in nodes] for nodes in (steps.reranked, steps.relevant))
    return Turn(
        question=question.ask,
        remark=question.remark,
        answer=steps.answer,
        rewrite=steps.rewrite,
        retrieved=tuple(map(_document, steps.retrieved)),
        **rankings_of([n.node_id for n in steps.retrieved], reranked, relevant),
        kept=tuple(map(_document, steps.context)),
        gate=None if gate is None else Answerability.model_validate(gate),
        blocked=not steps.context,
        **verdicts_of(steps.verdicts),
    )


def _document(item: NodeWithScore) -> Document:
    score = item.metadata.get("retrieval_score", item.score)
    return Document(item.text, id=item.node_id, title=item.metadata["title"], score=score)
