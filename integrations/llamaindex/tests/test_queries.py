"""Query transforms, the retriever, and chat engines that condense with them."""

from __future__ import annotations

import asyncio
import json
import warnings
from typing import Any

import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.chat_engine import CondensePlusContextChatEngine
from llama_index.core.llms import ChatMessage, MockLLM
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.query_engine import RetrieverQueryEngine, TransformQueryEngine
from llama_index.core.retrievers.fusion_retriever import FUSION_MODES
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.embeddings.rag_intrinsics import IntrinsicsEmbedding
from llama_index.query_transform.rag_intrinsics import QueryExpansionTransform, QueryRewriteTransform
from llama_index.rag_intrinsics import ConversationQuery
from llama_index.retrievers.rag_intrinsics import IntrinsicsRetriever

from integrations.llamaindex.tests.llms import Gives, Traced, judging, texts
from tests.contract.scripts import no_judge
from tests.scripted import Scripted

HISTORY = [
    ChatMessage("Tell me about the tide mill at Port Ellery."),
    ChatMessage("It stands on the east quay.", role="assistant"),
]


class Remembers(BaseRetriever):
    """Finds what it is told to, by query; remembers what it was asked, and how."""

    def __init__(self, found: dict[str, list[str]] | None = None) -> None:
        super().__init__()
        self.found, self.asked = found or {}, []

    def _nodes(self, query: QueryBundle, how: str) -> list[NodeWithScore]:
        self.asked.append((query.query_str, how))
        ids = self.found.get(query.query_str, ["cranes", "mill", "fog"])
        by_id = {node.node_id: node for node in texts()}
        return [NodeWithScore(node=by_id[i], score=1 - 0.1 * rank) for rank, i in enumerate(ids)]

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._nodes(query_bundle, "sync")

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        await asyncio.sleep(0)
        return self._nodes(query_bundle, "async")


def expanding(request: Any) -> Any:
    name = request.constraint.schema["title"] if request.constraint else "answer"
    return {
        "query_rewrite": {"rewritten_question": "Who built the tide mill at Port Ellery?"},
        "synonym_query": {"query": "builder of the water mill"},
        "reverse_question": {"question": "Which person made the mill?"},
        "answer": "Ada Brink.",
    }[name]


@pytest.mark.parametrize("how", ["query", "metadata", "memory"])
@pytest.mark.parametrize("asynchronous", [False, True])
def test_the_conversation_comes_three_ways(how: str, asynchronous: bool) -> None:
    turns = [ChatMessage("Where is the tide mill at Port Ellery?"), HISTORY[1]]
    memory = ChatMemoryBuffer.from_defaults(chat_history=turns, token_limit=3000)
    rewrite = QueryRewriteTransform(memory=memory if how == "memory" else None)
    query = ConversationQuery("Who built it?", chat_history=turns) if how == "query" else "Who built it?"
    metadata = {"chat_history": turns} if how == "metadata" else {}
    found: Any = asyncio.run(rewrite.arun(query, metadata)) if asynchronous else rewrite.run(query, metadata)
    assert found.rewrite.changed and "mill" in found.query_str
    assert found.rewrite.original == "Who built it?"


def test_a_question_that_stands_alone_is_embedded_without_keywords() -> None:
    found: Any = QueryRewriteTransform().run(ConversationQuery("Who built the tide mill?", chat_history=HISTORY))
    assert found.rewrite.retrieval_query != found.query_str == "Who built the tide mill?"
    assert found.embedding_strs == [found.query_str]


def test_a_question_that_leans_on_others_is_embedded_with_its_keywords() -> None:
    found: Any = QueryRewriteTransform().run(ConversationQuery("And how, and why?", chat_history=HISTORY))
    assert found.query_str == found.rewrite.query != found.rewrite.retrieval_query
    assert "(" not in found.query_str
    assert found.embedding_strs == [found.rewrite.retrieval_query]


def test_a_fallback_is_logged_and_told(caplog: pytest.LogCaptureFixture) -> None:
    down = no_judge()
    found: Any = QueryRewriteTransform(runtime=down, on_error="fallback").run("Who built it?")
    assert found.query_str == "Who built it?" and "connection refused" in found.rewrite.degraded
    assert "query-rewrite fell back" in caplog.text


def test_a_transform_query_engine_takes_it() -> None:
    index = VectorStoreIndex(texts(), embed_model=IntrinsicsEmbedding())
    engine = TransformQueryEngine(
        index.as_query_engine(llm=MockLLM(), similarity_top_k=1),
        QueryRewriteTransform(),
        transform_metadata={"chat_history": HISTORY},
    )
    with Traced() as traced:
        response = engine.query("Who built it?")
    assert response.source_nodes[0].node_id == "mill"
    assert "QueryRewriteTransform._run" in traced.parents()


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("use_async", [False, True])
def test_it_rewrites_expands_and_fuses(asynchronous: bool, use_async: bool) -> None:
    search = Remembers({"Ada Brink.": ["mill"], "builder of the water mill": ["mill", "fog"]})
    runtime = Scripted(expanding)
    retriever = IntrinsicsRetriever(
        [search],
        rewriter=QueryRewriteTransform(runtime=runtime),
        expander=QueryExpansionTransform(runtime=runtime),
        use_async=use_async,
    )
    query = ConversationQuery("Who built it?", chat_history=HISTORY)
    found = asyncio.run(retriever.aretrieve(query)) if asynchronous else retriever.retrieve(query)
    how = "async" if asynchronous or use_async else "sync"
    assert search.asked == [
        ("Who built the tide mill at Port Ellery?", how),
        ("builder of the water mill", how),
        ("Which person made the mill?", how),
        ("Ada Brink.", how),
    ]
    assert [n.node_id for n in found] == ["mill", "fog", "cranes"]
    # Reciprocal rank fusion with k = 60 over the four rankings.
    assert [n.score for n in found] == pytest.approx([2 / 60 + 2 / 61, 1 / 61 + 2 / 62, 2 / 60])


def test_one_query_keeps_the_retrievers_order_and_scores() -> None:
    found = IntrinsicsRetriever([Remembers()], similarity_top_k=2).retrieve("Who?")
    assert [(n.node_id, n.score) for n in found] == [("cranes", 1.0), ("mill", 0.9)]


def test_a_query_that_was_prepared_reaches_the_retriever_as_it_is() -> None:
    class Keeps(Remembers):
        def _nodes(self, query: QueryBundle, how: str) -> list[NodeWithScore]:
            self.bundle = query
            return super()._nodes(query, how)

    search, query = Keeps(), QueryBundle("Who?", custom_embedding_strs=["a", "b"], embedding=[1.0])
    IntrinsicsRetriever([search]).retrieve(query)
    assert search.bundle is query


@pytest.mark.parametrize("mode", list(FUSION_MODES))
def test_every_fusion_of_llamaindex_and_what_is_given_stays(mode: FUSION_MODES) -> None:
    mine = [NodeWithScore(node=node, score=0.5) for node in texts()]
    other = [NodeWithScore(node=TextNode(id_="x", text="x"), score=0.7)]
    retriever = IntrinsicsRetriever([Gives(mine), Gives(other)], mode=mode, similarity_top_k=3, use_async=False)
    assert len(retriever.retrieve("Who?")) == 3
    assert [n.score for n in mine] == [0.5] * 3


def test_it_works_inside_a_running_loop() -> None:
    async def main() -> list[NodeWithScore]:
        return IntrinsicsRetriever(
            [Remembers(), Remembers()], rewriter=QueryRewriteTransform(), expander=QueryExpansionTransform()
        ).retrieve("Who built the mill?")

    assert len(asyncio.run(main())) == 3


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_chat_engine_condenses_with_the_rewriter(asynchronous: bool) -> None:
    memory = ChatMemoryBuffer.from_defaults(chat_history=list(HISTORY), token_limit=3000)
    search = Remembers()
    retriever = IntrinsicsRetriever([search], rewriter=QueryRewriteTransform(runtime=judging(), memory=memory))
    chat = CondensePlusContextChatEngine.from_defaults(retriever, llm=MockLLM(), memory=memory, skip_condense=True)
    asyncio.run(chat.achat("Who built it?")) if asynchronous else chat.chat("Who built it?")
    # The judge's rewrite puts the users' turns side by side.
    assert search.asked[0][0] == "Tell me about the tide mill at Port Ellery. Who built it?"
    assert len(memory.get_all()) == 4


def test_a_conversation_query_goes_through_a_whole_query_engine() -> None:
    index = VectorStoreIndex(texts(), embed_model=IntrinsicsEmbedding())
    retriever = IntrinsicsRetriever([index.as_retriever(similarity_top_k=1)], rewriter=QueryRewriteTransform())
    engine = RetrieverQueryEngine.from_args(retriever, llm=MockLLM())
    query = ConversationQuery("Who built it?", chat_history=HISTORY)
    with Traced() as traced:
        assert engine.query(query).source_nodes[0].node_id == "mill"
    assert traced.parents()["QueryRewriteTransform._run"] == "IntrinsicsRetriever._retrieve"
    assert asyncio.run(engine.aquery(query)).source_nodes[0].node_id == "mill"


def test_events_that_hold_our_queries_can_be_exported() -> None:
    query = ConversationQuery("Who built it?", chat_history=HISTORY)
    with Traced() as traced, warnings.catch_warnings():
        warnings.simplefilter("error")
        IntrinsicsRetriever([Remembers()], rewriter=QueryRewriteTransform()).retrieve(query)
        dumps = [json.loads(event.model_dump_json()) for event in traced.events.seen]
    assert dumps[0]["str_or_query_bundle"]["query_str"] == "Who built it?"
