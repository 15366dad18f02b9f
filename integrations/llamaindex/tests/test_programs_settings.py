"""Programs that change, copy and save what they have built, and settings of a whole that its parts must follow."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from llama_index.core.llms import ChatMessage
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.embeddings.rag_intrinsics import IntrinsicsEmbedding
from llama_index.evaluation.rag_intrinsics import IntrinsicEvaluator
from llama_index.postprocessor.rag_intrinsics import ContextRelevancePostprocessor, IntrinsicsRerank
from llama_index.query_transform.rag_intrinsics import QueryRewriteTransform
from llama_index.rag_intrinsics import LLMRuntime
from llama_index.response_synthesizers.rag_intrinsics import AnswerabilityGate, AnswerCheck
from llama_index.retrievers.rag_intrinsics import IntrinsicsRetriever

from integrations.llamaindex.tests.llms import BOTH, CompletingLLM, JudgeLLM, searching
from intrinsics_core import InvalidInput
from intrinsics_core.embedded.models.bi_encoder import SHIPPED

ASKED = "When does the town library close on Saturdays?"
HOURS = "The town library is open from nine to six on weekdays. On Saturdays it closes at one in the afternoon."
PARKING = "Parking behind the town hall is free after seven in the evening."
SECRET = "sk-settings-0123456789"
NO = {"answerability": "unanswerable", "confidence": 0.9}


def town() -> list[NodeWithScore]:
    return [
        NodeWithScore(node=TextNode(id_="parking", text=PARKING), score=0.7),
        NodeWithScore(node=TextNode(id_="hours", text=HOURS), score=0.7),
    ]


def strict() -> JudgeLLM:
    """An LLM to which nothing is answerable."""
    return JudgeLLM(reply=lambda messages, options: NO)


# --- 18: what is changed, copied or saved after use -----------------------------------------------------------------


def test_18_a_runtime_that_is_changed_after_the_first_use_takes_effect() -> None:
    evaluator = IntrinsicEvaluator("answerability")
    assert evaluator.evaluate(ASKED, contexts=[HOURS]).passing
    evaluator.runtime = strict()
    assert evaluator.evaluate(ASKED, contexts=[HOURS]).passing is False
    evaluator.runtime = None
    assert evaluator.evaluate(ASKED, contexts=[HOURS]).passing
    again = evaluator.model_copy(update={"runtime": strict()})
    assert again.evaluate(ASKED, contexts=[HOURS]).passing is False
    assert evaluator.evaluate(ASKED, contexts=[HOURS]).passing


def test_18_a_runtime_of_another_address_does_not_get_the_key_of_the_first() -> None:
    rerank = IntrinsicsRerank(runtime={"kind": "server", "base_url": "http://127.0.0.1:9", "api_key": SECRET})
    rerank.runtime = {"kind": "server", "base_url": "http://127.0.0.1:8"}
    assert rerank.api_key is None
    for changed in (rerank, rerank.model_copy()):
        changed.runtime = {"kind": "server", "base_url": "http://127.0.0.1:7", "api_key": SECRET}
        assert changed.api_key is not None and changed.api_key.get_secret_value() == SECRET
        assert SECRET not in repr(changed) + changed.to_json() + repr(changed.model_dump())
    other = rerank.model_copy(update={"api_key": "sk-other", "runtime": {"kind": "server", "base_url": "http://a.b"}})
    assert other.api_key is not None and other.api_key.get_secret_value() == "sk-other"


def test_18_what_is_wrong_is_told_when_it_is_changed() -> None:
    rerank = IntrinsicsRerank()
    with pytest.raises(InvalidInput, match="embedded"):
        rerank.runtime = {"kind": "embeded"}
    with pytest.raises(InvalidInput, match="prompted"):
        rerank.profile = "promted"
    with pytest.raises(InvalidInput, match="on_error"):
        rerank.on_error = "fall back"
    with pytest.raises(ValueError, match="top_k"):
        rerank.top_k = 3  # type: ignore[attr-defined]
    with pytest.raises(InvalidInput, match="embedded"):
        rerank.model_copy(update={"runtime": {"kind": "embeded"}})
    assert [n.node_id for n in rerank.postprocess_nodes(town(), query_str=ASKED)] == ["hours", "parking"]


@pytest.mark.parametrize("copied", [lambda c: pickle.loads(pickle.dumps(c)), copy.deepcopy, copy.copy])  # noqa: S301
def test_18_a_component_is_copied_after_use_as_before(copied: Any) -> None:
    rerank = IntrinsicsRerank(top_n=1)
    before = copied(rerank)
    assert rerank.postprocess_nodes(town(), query_str=ASKED)[0].node_id == "hours"
    after = copied(rerank)
    assert after.to_dict() == before.to_dict() == rerank.to_dict()
    assert after.engine is rerank.engine  # the one model of the process
    assert after.postprocess_nodes(town(), query_str=ASKED)[0].node_id == "hours"
    assert len(pickle.dumps(after)) < 5_000  # settings, not a model


@pytest.mark.parametrize("runtime", [lambda: LLMRuntime(strict()), strict], ids=["runtime", "LLM"])
def test_18_a_deep_copy_shares_the_client_that_judges(runtime: Any) -> None:
    evaluator = IntrinsicEvaluator("answerability", runtime=runtime())
    for copied in (copy.deepcopy(evaluator), evaluator.model_copy(deep=True)):
        assert copied.runtime is evaluator.runtime
    assert evaluator.evaluate(ASKED, contexts=[HOURS]).passing is False
    for copied in (copy.deepcopy(evaluator), evaluator.model_copy(deep=True)):
        assert copied.evaluate(ASKED, contexts=[HOURS]).passing is False


def test_18_a_server_config_keeps_one_engine_and_pickles_after_use() -> None:
    rerank = IntrinsicsRerank(runtime={"kind": "server", "base_url": "http://127.0.0.1:9", "api_key": SECRET})
    assert rerank.engine is rerank.engine
    again = pickle.loads(pickle.dumps(rerank))  # noqa: S301
    assert again.api_key == rerank.api_key and again.runtime == rerank.runtime
    assert copy.deepcopy(rerank).runtime == rerank.runtime


# --- 18: settings of a whole reach its parts ------------------------------------------------------------------------


def search() -> Any:
    return searching([item.node for item in town()], k=2)


def answering() -> RetrieverQueryEngine:
    return RetrieverQueryEngine(
        search(), AnswerabilityGate(CompletingLLM(reply="At one in the afternoon."), check=BOTH)
    )


TURNS = [ChatMessage("Tell me about the town library."), ChatMessage("It stands by the river.", role="assistant")]


# --- 18: wrong choices and misspelt settings, when they are made ----------------------------------------------------


@pytest.mark.parametrize(
    ("build", "nearest"),
    [
        (lambda: IntrinsicsRerank(mode="pointwse"), "pointwise"),
        (lambda: IntrinsicsRerank(topn=3), "top_n"),
        (lambda: ContextRelevancePostprocessor(labels=["relevent"]), "relevant"),
        (lambda: IntrinsicEvaluator("hallucination-detection", treshold=0.5), "threshold"),
        (lambda: IntrinsicEvaluator("evaluate", metrics="faithfullness"), "faithfulness"),
        (lambda: QueryRewriteTransform(memmory=None), "memory"),
        (lambda: AnswerCheck("haluccination-detection"), "hallucination-detection"),
        (lambda: AnswerCheck(BOTH, metadata_mode="lllm"), "llm"),
    ],
    ids=["mode", "top_n", "labels", "threshold", "metrics", "memory", "hallucination", "metadata_mode"],
)
def test_18_a_wrong_name_is_told_with_the_nearest_one(build: Any, nearest: str) -> None:
    with pytest.raises(InvalidInput, match=f"did you mean '{nearest}'"):
        build()


@pytest.mark.parametrize(
    ("build", "nearest"),
    [
        (lambda: AnswerabilityGate(CompletingLLM(reply="x"), check=BOTH, cannned="No."), "canned"),  # type: ignore[call-arg]
        (lambda: AnswerabilityGate(CompletingLLM(reply="x"), check=BOTH, on_error="clsed"), "closed"),
        (lambda: AnswerabilityGate(CompletingLLM(reply="x"), mode="anotate"), "annotate"),
        (lambda: AnswerCheck(metadata_mod="llm").as_query_engine(answering()), "metadata_mode"),
        (lambda: IntrinsicsRetriever(search(), mode="reciprocal_rerankk"), "reciprocal_rerank"),
        (lambda: IntrinsicsRetriever(search(), similarity_topk=3), "similarity_top_k"),
        (lambda: IntrinsicsEmbedding(embed_batch_siez=3), "embed_batch_size"),
    ],
    ids=["canned", "on_error", "mode", "audited", "fusion", "top_k", "embedding"],
)  # fmt: skip
def test_18_a_wrong_name_in_what_is_built_of_parts_too(build: Any, nearest: str) -> None:
    with pytest.raises(InvalidInput, match=f"did you mean '{nearest}'"):
        build()


def test_18_an_embedding_refuses_a_model_that_it_does_not_load(tmp_path: Any) -> None:
    with pytest.raises(InvalidInput, match="all-MiniLM-L6-v2"):
        IntrinsicsEmbedding(model_name="BAAI/bge-small-en-v1.5")
    embedding = IntrinsicsEmbedding()
    assert IntrinsicsEmbedding.from_dict(embedding.to_dict()).model_name == embedding.model_name
    (tmp_path / "house-model").symlink_to(SHIPPED)
    own = IntrinsicsEmbedding(runtime={"kind": "embedded", "path": str(tmp_path / "house-model")})
    assert own.model_name.endswith("house-model")  # a cache keyed by the name does not mix two models
    assert IntrinsicsEmbedding.from_dict(own.to_dict()).model_name == own.model_name
    for changed in (embedding.model_copy(update={"runtime": own.runtime}), embedding):
        changed.runtime = own.runtime
        assert changed.model_name == own.model_name and changed.engine.path == own.engine.path
        assert len(changed.get_text_embedding("A house.")) == 384
    with pytest.raises(InvalidInput, match="does not embed"):
        embedding.runtime = {"kind": "server", "base_url": "http://127.0.0.1:9"}
