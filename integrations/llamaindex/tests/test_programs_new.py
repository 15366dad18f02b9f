"""Programs that people reached for: vector search offline, corrective retrieval as a workflow, clean traces."""

from __future__ import annotations

import asyncio
import json
import pickle
from typing import Any

import pytest
from llama_index.core import Document, Settings, StorageContext, VectorStoreIndex, load_index_from_storage
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.llms import ChatMessage, MockLLM
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.schema import QueryBundle
from llama_index.core.vector_stores import SimpleVectorStore
from llama_index.core.workflow import Context, Event, StartEvent, StopEvent, Workflow, step
from llama_index.embeddings.rag_intrinsics import IntrinsicsEmbedding
from llama_index.evaluation.rag_intrinsics import IntrinsicEvaluator
from llama_index.postprocessor.rag_intrinsics import ContextRelevancePostprocessor, IntrinsicsRerank
from llama_index.query_transform.rag_intrinsics import QueryExpansionTransform, QueryRewriteTransform
from llama_index.rag_intrinsics import ConversationQuery
from llama_index.response_synthesizers.rag_intrinsics import AnswerabilityGate
from llama_index.retrievers.rag_intrinsics import IntrinsicsRetriever

from integrations.llamaindex.tests.llms import (
    BOTH,
    FAITHFUL,
    QUESTION,
    CompletingLLM,
    Says,
    Traced,
    judging,
    nodes,
    texts,
)
from intrinsics_core import InvalidInput
from intrinsics_core.embedded.runtime import EmbeddedRuntime
from tests.loop import files_on_loop

# --- the embedding model --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("asynchronous", [False, True])
def test_new_vector_search_with_the_in_memory_store(asynchronous: bool) -> None:
    storage = StorageContext.from_defaults(vector_store=SimpleVectorStore())
    index = VectorStoreIndex(texts(), storage_context=storage, embed_model=IntrinsicsEmbedding())
    engine = index.as_query_engine(llm=MockLLM(), similarity_top_k=1)
    response: Any = asyncio.run(engine.aquery(QUESTION)) if asynchronous else engine.query(QUESTION)
    assert response.source_nodes[0].node_id == "mill" and 0 < response.source_nodes[0].score <= 1.0001


def test_new_the_vectors_are_the_runtimes_and_one_model_is_shared() -> None:
    runtime = EmbeddedRuntime()
    model = IntrinsicsEmbedding(runtime)
    asked = [text.text for text in texts()]
    assert model.get_text_embedding_batch(asked) == runtime.embed(asked, kind="passage")
    assert model.get_query_embedding(QUESTION) == runtime.embed([QUESTION], kind="query")[0]
    assert asyncio.run(model.aget_text_embedding_batch(asked)) == model.get_text_embedding_batch(asked)
    assert asyncio.run(model.aget_query_embedding(QUESTION)) == model.get_query_embedding(QUESTION)


def test_new_settings_and_an_ingestion_pipeline_take_it(tmp_path: Any) -> None:
    model = IntrinsicsEmbedding(embed_batch_size=2)
    before = Settings._embed_model
    try:
        Settings.embed_model = model
        made = IngestionPipeline(transformations=[model]).run(documents=[Document(text=n.text) for n in texts()])
        assert len(made) == 3 and all(len(node.embedding or ()) == 384 for node in made)
        index = VectorStoreIndex(texts())
        index.storage_context.persist(str(tmp_path))
        again: Any = load_index_from_storage(StorageContext.from_defaults(persist_dir=str(tmp_path)))
        assert again.as_retriever(similarity_top_k=1).retrieve(QUESTION)[0].node_id == "mill"
    finally:
        Settings._embed_model = before


def test_new_it_is_saved_and_pickled_and_takes_no_other_runtime() -> None:
    model = IntrinsicsEmbedding(runtime="embedded", embed_batch_size=7)
    again = IntrinsicsEmbedding.from_dict(json.loads(json.dumps(model.to_dict())))
    assert again.to_dict() == model.to_dict() and again.embed_batch_size == 7
    assert IntrinsicsEmbedding.from_json(model.to_json()).get_query_embedding("a") == model.get_query_embedding("a")
    assert pickle.loads(pickle.dumps(model)).get_query_embedding("a") == model.get_query_embedding("a")  # noqa: S301
    for wrong in ({"kind": "server", "base_url": "http://127.0.0.1:9"}, MockLLM()):
        with pytest.raises(InvalidInput, match="does not embed"):
            IntrinsicsEmbedding(runtime=wrong)


def test_new_embedding_leaves_the_event_loop_free() -> None:
    story = "The keeper of light {} wrote that the fog of day {} hid the tide mill. "

    async def main() -> None:
        await IntrinsicsEmbedding().aget_text_embedding_batch([story.format(i, 7 * i) * 20 for i in range(8)])

    assert not files_on_loop(main)


def test_new_beside_another_retriever_in_a_fusion() -> None:
    index = VectorStoreIndex(texts(), embed_model=IntrinsicsEmbedding())
    fused = QueryFusionRetriever(
        [index.as_retriever(), index.as_retriever()], llm=MockLLM(), num_queries=1, use_async=False
    )
    retriever = IntrinsicsRetriever(fused, rewriter=QueryRewriteTransform(), expander=QueryExpansionTransform())
    assert retriever.retrieve(QUESTION)[0].node_id == "mill"  # one retriever need not be in a list


# --- corrective retrieval as a workflow -----------------------------------------------------------------------------


class Graded(Event):
    query: Any
    nodes: list[Any]
    attempt: int


class Retry(Event):
    query: Any
    attempt: int


class Corrective(Workflow):
    """Retrieve, grade, gate; where the gate is shut, ask in other words, once; then answer, or say that it cannot."""

    def __init__(self, retrieve: Any, answer: AnswerabilityGate, **settings: Any) -> None:
        super().__init__(**settings)
        self.retrieve, self.answer = retrieve, answer
        self.rewrite, self.grade, self.gate = (
            QueryRewriteTransform(),
            ContextRelevancePostprocessor(),
            IntrinsicEvaluator("answerability"),
        )

    @step
    async def search(self, ctx: Context, event: StartEvent | Retry) -> Graded:
        attempt = getattr(event, "attempt", 0)
        query = event.query if attempt else QueryBundle(event.question)
        found = await self.retrieve(query)
        return Graded(query=query, nodes=await self.grade.apostprocess_nodes(found, query), attempt=attempt)

    @step
    async def check(self, ctx: Context, event: Graded) -> Retry | StopEvent:
        verdict = await self.gate.aevaluate(event.query, contexts=event.nodes)
        if not verdict.passing and event.attempt == 0:
            history = [ChatMessage("Tell me about the tide mill at Port Ellery.")]
            rewritten = await self.rewrite.arun(ConversationQuery(event.query.query_str, chat_history=history))
            return Retry(query=rewritten, attempt=1)
        return StopEvent(result=await self.answer.asynthesize(event.query, event.nodes))


@pytest.mark.parametrize(("found_at", "says"), [(0, FAITHFUL), (1, FAITHFUL), (9, "I could not find an answer")])
def test_new_corrective_rag_as_a_workflow(found_at: int, says: str) -> None:
    asked: list[str] = []

    async def retrieve(query: QueryBundle) -> list[Any]:
        asked.append(query.query_str)
        return nodes() if len(asked) > found_at else []  # also the zero-document case

    workflow = Corrective(retrieve, AnswerabilityGate(Says(FAITHFUL), check=BOTH), timeout=60)

    async def main() -> Any:
        return await workflow.run(question="Who built it, the mill, and when?")

    response = asyncio.run(main())
    assert str(response).startswith(says) and len(asked) == min(found_at, 1) + 1


# --- 17: traces ---------------------------------------------------------------------------------------------------


def test_17_traces_hold_no_spans_of_private_helpers() -> None:
    with Traced() as traced:
        IntrinsicsRerank(runtime=judging()).postprocess_nodes(nodes(), query_str=QUESTION)
        QueryRewriteTransform(runtime=judging()).run(QUESTION)
        asyncio.run(QueryExpansionTransform().arun(QUESTION))
        IntrinsicEvaluator("answerability", runtime=judging()).evaluate(QUESTION, contexts=[FAITHFUL])
    names = {span.id_.rsplit("-", 5)[0] for span in traced.spans.completed_spans}
    assert not [name for name in names if name.split(".")[-1] in ("_ask", "_tell", "_rows", "_score")]
    assert "IntrinsicsRerank._postprocess_nodes" in names


def test_17_a_verdict_that_fell_back_says_so_in_what_is_dumped() -> None:
    engine: Any = AnswerabilityGate(
        CompletingLLM(reply=FAITHFUL), check=BOTH, runtime=CompletingLLM(reply="?"), on_error="open"
    )
    found = json.loads(json.dumps(engine.synthesize(QUESTION, nodes()).metadata["rag_intrinsics"]))
    assert found.pop("about").keys() == set(BOTH)
    assert all("MalformedReply" in verdict["degraded"] for verdict in found.values()) and len(found) == 3
