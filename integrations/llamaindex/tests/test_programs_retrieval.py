"""Programs as people write them around retrieval: empty lists, repeated ids, metadata, scores, thresholds, stores.

Numbers are those of the list of what broke; benchmarks/results/programs.md says which passed before.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.evaluation import BatchEvalRunner
from llama_index.core.llms import MockLLM
from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import MetadataMode, NodeWithScore, TextNode
from llama_index.core.vector_stores.utils import node_to_metadata_dict
from llama_index.embeddings.rag_intrinsics import IntrinsicsEmbedding
from llama_index.evaluation.rag_intrinsics import IntrinsicEvaluator
from llama_index.postprocessor.rag_intrinsics import ContextRelevancePostprocessor, IntrinsicsRerank
from llama_index.response_synthesizers.rag_intrinsics import AnswerabilityGate

from integrations.llamaindex.tests.llms import (
    BOTH,
    FAITHFUL,
    QUESTION,
    WHEN,
    CompletingLLM,
    Gives,
    Says,
    nodes,
    searching,
)
from intrinsics_core import RuntimeUnavailable
from tests.contract.judge import judge
from tests.contract.scripts import no_judge
from tests.scripted import Scripted

OFF_TOPIC = "How many zebras does the circus own?"


def node(identity: str, text: str, score: float | None = None, **metadata: Any) -> NodeWithScore:
    return NodeWithScore(node=TextNode(id_=identity, text=text, metadata=metadata), score=score)


# --- 1: a filter leaves nothing -----------------------------------------------------------------------------------


@pytest.mark.parametrize("asynchronous", [False, True])
def test_1_an_off_topic_question_through_filter_and_gate(asynchronous: bool) -> None:
    engine = RetrieverQueryEngine(
        searching(),
        AnswerabilityGate(Says(FAITHFUL), check=BOTH, canned="Not in the archive."),
        node_postprocessors=[ContextRelevancePostprocessor(), IntrinsicsRerank(top_n=2)],
    )
    response: Any = asyncio.run(engine.aquery(OFF_TOPIC)) if asynchronous else engine.query(OFF_TOPIC)
    assert str(response) == "Not in the archive." and response.source_nodes == []
    assert response.metadata["rag_intrinsics"]["answerability"]["reason"] == "nothing retrieved"


def test_1_a_batch_of_evaluations_with_an_empty_retrieval_and_an_empty_answer() -> None:
    names = ("answerability", "context-relevance", "fact-check", "hallucination-detection", "uncertainty")
    evaluators = {name: IntrinsicEvaluator(name) for name in names}
    engine = RetrieverQueryEngine(Gives([]), Says("Empty, but an answer."))
    responses = [engine.query(OFF_TOPIC), RetrieverQueryEngine(Gives(nodes()), Says("")).query(QUESTION),
                 RetrieverQueryEngine(Gives(nodes()), Says(FAITHFUL)).query(QUESTION)]  # fmt: skip
    runner = BatchEvalRunner(evaluators, workers=2)
    found = runner.evaluate_responses([OFF_TOPIC, QUESTION, QUESTION], responses)
    assert all(len(results) == 3 for results in found.values())
    empty = {name: results[0].passing for name, results in found.items()}
    assert empty["answerability"] is False and empty["context-relevance"] is False
    assert empty["hallucination-detection"] is None and empty["fact-check"] is None
    assert found["hallucination-detection"][0].feedback == "nothing retrieved"
    assert found["hallucination-detection"][1].feedback == "nothing said"
    assert found["hallucination-detection"][2].passing and found["fact-check"][2].passing
    assert not any(result.invalid_result for results in found.values() for result in results)


# --- 3: ids repeat ------------------------------------------------------------------------------------------------


def test_3_two_nodes_of_one_id_and_one_that_looks_numbered() -> None:
    given = [
        node("a", "The harbour has two cranes.", 0.5),
        node("a", "Ada Brink built the tide mill in 1911.", 0.4),
        node("a (2)", "Fog is common from March to May.", 0.3),
    ]
    ranked = IntrinsicsRerank().postprocess_nodes(given, query_str="Who built the tide mill?")
    assert ranked[0].node_id == "a" and "Ada Brink" in ranked[0].get_content()
    assert sorted(n.node_id for n in ranked) == ["a", "a", "a (2)"]
    # LlamaIndex's own retrievers keep one node of an id; what comes from stores and postprocessors may repeat.
    grounded = AnswerabilityGate(Says("Ada Brink built the tide mill in 1911."), check=BOTH)
    response: Any = grounded.synthesize("Who built the tide mill?", given)
    (cited,) = response.metadata["rag_intrinsics"]["citations"]["citations"]
    assert (cited["document_id"], cited["document_index"]) == ("a", 1)


# --- 4: what the model is shown is what the judges see ------------------------------------------------------------

REPORTS = ("Initech", "Globex", "Umbrella")


def reports() -> list[NodeWithScore]:
    """Reports of three companies that do not say of whom they are: the metadata does."""
    said = "Revenue in the third quarter was {} million dollars, and staff grew."
    return [node(name, said.format(41 + i), None, company=name) for i, name in enumerate(REPORTS)]


def test_4_the_right_node_ranks_first_by_the_metadata_that_is_shown() -> None:
    for name in REPORTS:
        asked = f"What was the revenue of {name} in the third quarter?"
        assert IntrinsicsRerank().postprocess_nodes(reports(), query_str=asked)[0].node_id == name
        kept = ContextRelevancePostprocessor().postprocess_nodes(reports(), query_str=asked)
        assert max(kept, key=lambda n: n.score or 0).node_id == name


def test_4_the_gate_reads_the_metadata_that_the_model_reads() -> None:
    asked, given = "Which company is Initech's revenue report about?", reports()[:1]
    open_gate = AnswerabilityGate(Says("Initech.")).synthesize(asked, given)
    given[0].node.excluded_llm_metadata_keys = ["company"]  # hidden from the model: then from the gate too
    shut: Any = AnswerabilityGate(Says("Initech.")).synthesize(asked, given)

    def sure(response: Any) -> float:
        return float(response.metadata["rag_intrinsics"]["answerability"]["probability"])

    assert sure(open_gate) > sure(shut) + 0.1


@pytest.mark.parametrize("asynchronous", [False, True])
def test_4_an_evaluator_shows_the_judge_title_and_metadata_and_offsets_stay_in_the_text(asynchronous: bool) -> None:
    shown: list[str] = []

    def script(request: Any) -> Any:
        shown.append(request.messages[-1].content)
        return judge(request)

    item = node("q3", "Revenue was 41 million dollars.", title="Third quarter", company="Initech", path="/tmp/x")
    item.node.excluded_llm_metadata_keys = ["path"]
    response: Any = RetrieverQueryEngine(Gives([item]), Says("Revenue was 41 million dollars.")).query("Revenue?")
    for evaluator in (
        IntrinsicEvaluator("hallucination-detection", runtime=Scripted(script)),
        IntrinsicEvaluator("answerability", runtime=Scripted(script)),
    ):
        if asynchronous:
            asyncio.run(evaluator.aevaluate_response("Revenue?", response))
        else:
            evaluator.evaluate_response("Revenue?", response)
    assert len(shown) == 2
    assert all("Third quarter\\ncompany: Initech" in text and "/tmp/x" not in text for text in shown)
    grounded: Any = AnswerabilityGate(Says("Revenue was 41 million dollars."), check=BOTH, mode="annotate")
    (cited,) = grounded.synthesize("Revenue?", [item]).metadata["rag_intrinsics"]["citations"]["citations"]
    assert item.node.get_content()[cited["document_begin"] : cited["document_end"]] == cited["document_text"]


def test_4_embed_mode_is_the_rerankers_own() -> None:
    seen: list[Any] = []
    item = node("q3", "Revenue was 41 million dollars.", company="Initech", questions="What did Initech earn?")
    item.node.excluded_llm_metadata_keys = ["questions"]  # as question extractors leave it

    def script(request: Any) -> Any:
        seen.append(request.messages[-1].content)
        return judge(request)

    two = [item, node("x", "Fog.")]
    IntrinsicsRerank(runtime=Scripted(script)).postprocess_nodes(two, query_str="Initech?")
    IntrinsicsRerank(runtime=Scripted(script), metadata_mode=MetadataMode.LLM).postprocess_nodes(two, query_str="?")
    assert "What did Initech earn?" in seen[0] and "What did Initech earn?" not in seen[1]
    assert "company: Initech" in seen[1]


# --- 5: the retriever's scores ------------------------------------------------------------------------------------


def equals(*scores: float | None) -> list[NodeWithScore]:
    """Passages that no ranker can tell apart, but for what the retriever gave."""
    return [node(str(i), "Ada Brink built the tide mill in 1911.", score) for i, score in enumerate(scores)]


def test_5_the_retrievers_scores_reach_the_ranker() -> None:
    ranked = IntrinsicsRerank().postprocess_nodes(equals(0.9, 0.5, 0.1), query_str="Who built the tide mill?")
    assert [n.node_id for n in ranked] == ["0", "1", "2"]
    scores = [n.score or 0 for n in ranked]
    assert scores[0] > scores[1] > scores[2]
    assert {n.metadata["reranking_prior"] for n in ranked} == {"higher is better"}


def test_5_distances_are_told_from_scores_or_said_to_be_distances() -> None:
    asked = "Who built the tide mill?"
    rising = IntrinsicsRerank().postprocess_nodes(equals(0.2, 0.4, 0.9), query_str=asked)
    assert [n.node_id for n in rising] == ["0", "1", "2"]
    assert rising[0].metadata["reranking_prior"] == "lower is better"
    ranker = IntrinsicsRerank(prior="lower")
    assert [n.node_id for n in ranker.postprocess_nodes(equals(0.4, 0.9, 0.2), query_str=asked)] == ["2", "0", "1"]
    unsaid = IntrinsicsRerank().postprocess_nodes(equals(0.4, 0.9, 0.2), query_str=asked)
    assert [n.node_id for n in unsaid] == ["0", "1", "2"] and "reranking_prior" not in unsaid[0].metadata
    saved = IntrinsicsRerank.from_dict(IntrinsicsRerank(prior="lower").to_dict())
    assert saved.prior == "lower"
    assert (
        len({n.score for n in IntrinsicsRerank(prior=None).postprocess_nodes(equals(0.2, 0.4, 0.9), query_str=asked)})
        == 1
    )


def test_5_after_a_filter_the_ranker_still_gets_the_retrievers_scores() -> None:
    asked = "Who built the tide mill?"
    kept = ContextRelevancePostprocessor().postprocess_nodes(equals(0.9, 0.5, 0.1), query_str=asked)
    ranked = IntrinsicsRerank().postprocess_nodes(kept, query_str=asked)
    assert [n.node_id for n in ranked] == ["0", "1", "2"]
    assert {n.metadata["reranking_prior"] for n in ranked} == {"higher is better"}
    assert [n.metadata["retrieval_score"] for n in ranked] == [0.9, 0.5, 0.1]


# --- 6: thresholds and fallbacks ------------------------------------------------------------------------------------


def test_6_a_similarity_cutoff_behind_the_reranker() -> None:
    steps: list[Any] = [IntrinsicsRerank(), SimilarityPostprocessor(similarity_cutoff=0.5)]

    def through(given: list[NodeWithScore], asked: str) -> list[str]:
        for step in steps:
            given = step.postprocess_nodes(given, query_str=asked)
        return [n.node_id for n in given]

    assert through([nodes()[1]], WHEN) == ["mill"]  # one right node alone
    assert through(nodes(), WHEN) == ["mill"]
    assert through(nodes(), "qwx zrf blorp?") == []  # gibberish does not top a list


def test_6_a_fallback_keeps_the_scores_and_tells_each_node_its_own_reason() -> None:
    down = no_judge()
    given = nodes()
    ranked = IntrinsicsRerank(runtime=down, on_error="fallback").postprocess_nodes(given, query_str=QUESTION)
    assert [(n.node_id, n.score) for n in ranked] == [(n.node_id, n.score) for n in given]
    assert all("connection refused" in n.metadata["reranking_degraded"] for n in ranked)

    def one_fails(request: Any) -> Any:
        return RuntimeUnavailable("fog is out") if "Fog" in request.messages[-1].content else judge(request)

    every = ("relevant", "partially relevant", "irrelevant")
    keep = ContextRelevancePostprocessor(runtime=Scripted(one_fails), on_error="fallback", labels=every)
    judged = {n.node_id: n for n in keep.postprocess_nodes(given, query_str=QUESTION)}
    assert "fog is out" in judged["fog"].metadata["context_relevance_degraded"]
    assert "cranes" not in judged["fog"].metadata["context_relevance_degraded"]
    assert judged["fog"].score == given[2].score
    assert "context_relevance_degraded" not in judged["mill"].metadata


def test_6_a_single_label_is_a_label() -> None:
    kept = ContextRelevancePostprocessor(labels="relevant").postprocess_nodes(nodes(), query_str=WHEN)
    assert [n.node_id for n in kept] == ["mill"]


# --- 16: what is written fits flat stores and templates -----------------------------------------------------------


def test_16_judged_nodes_go_into_a_store_of_flat_metadata() -> None:
    judged = IntrinsicsRerank().postprocess_nodes(
        ContextRelevancePostprocessor().postprocess_nodes(nodes(), query_str=WHEN), query_str=WHEN
    )
    for item in judged:
        flat = node_to_metadata_dict(item.node, flat_metadata=True)  # what Chroma's and others' integrations call
        assert flat["context_relevance"] == "relevant" and flat["reranking_rank"] == 1
    index = VectorStoreIndex([item.node for item in judged], embed_model=IntrinsicsEmbedding())
    assert index.as_query_engine(llm=MockLLM()).query(WHEN).source_nodes[0].node_id == "mill"


def test_16_metadata_of_the_users_that_is_called_as_ours_was() -> None:
    given = [node("mill", "Ada Brink built the tide mill in 1911.", 0.3, rag_intrinsics="a note", id="7")]
    (ranked,) = IntrinsicsRerank().postprocess_nodes(given, query_str="Who built the tide mill?")
    assert (ranked.metadata["rag_intrinsics"], ranked.metadata["id"], ranked.node_id) == ("a note", "7", "mill")
    named = NodeWithScore(node=TextNode(id_="rag_intrinsics", text="Ada Brink built the tide mill in 1911."))
    response: Any = AnswerabilityGate(CompletingLLM(reply=FAITHFUL), check=BOTH).synthesize(
        "Who built the tide mill?", [named]
    )
    assert set(response.metadata["rag_intrinsics"]) >= {"answerability", "citations"}
