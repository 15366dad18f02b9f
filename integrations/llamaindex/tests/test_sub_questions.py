"""Behind a sub-question engine: an LLM wrote the sub-answers, and they are no sources."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core import get_response_synthesizer
from llama_index.core.base.response.schema import Response
from llama_index.core.indices.query.query_transform.base import StepDecomposeQueryTransform
from llama_index.core.query_engine import MultiStepQueryEngine
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.evaluation.rag_intrinsics import HallucinationEvaluator
from llama_index.query_engine.rag_intrinsics import AuditedQueryEngine
from llama_index.rag_intrinsics._sub_questions import judged_by
from llama_index.response_synthesizers.rag_intrinsics import GroundedSynthesizer, ResponseAnnotator, cited

from integrations.llamaindex.tests.llms import CompletingLLM
from integrations.llamaindex.tests.test_programs_gate import ASKED, CHEAPER, COMPARED, GARDEN, asked, comparing, hotel


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("costs", ["95 euros", "150 euros"])
def test_an_answer_is_not_judged_by_sub_answers(costs: str, asynchronous: bool) -> None:
    """An LLM wrote them. What they were given from says whether they are true."""
    said = f"The Garden Hotel charges {costs} a night."
    engine = comparing(hotel(GARDEN, says=said), says=said, mode="annotate")
    response = asked(engine, COMPARED[0], asynchronous)
    found = response.metadata["rag_intrinsics"]
    true = costs == "95 euros"
    assert (found["hallucination-detection"]["label"] == "faithful") is true
    assert {row["document_text"].split(".")[0] for row in found["citations"]["citations"]} <= {GARDEN.split(".")[0]}
    assert cited(response, "inline").startswith(said.rstrip("."))
    bare = Response(said, source_nodes=response.source_nodes)
    for again in (
        ResponseAnnotator().annotate(COMPARED[0], bare),
        ResponseAnnotator(audit=True).annotate(COMPARED[0], bare),
    ):
        [verdict] = [v for name, v in again.metadata["rag_intrinsics"].items() if name != "citations"]
        assert (verdict["sentences"][0]["label"] == "faithful") is true
    assert (HallucinationEvaluator().evaluate_response(COMPARED[0], bare).passing) is true


@pytest.mark.parametrize("asynchronous", [False, True])
def test_an_answer_is_not_judged_by_the_steps_of_an_engine(asynchronous: bool) -> None:
    labels = {}
    for costs in ("95 euros", "150 euros"):
        said = f"The Garden Hotel charges {costs} a night."
        steps = StepDecomposeQueryTransform(llm=CompletingLLM(reply=ASKED["garden"]), verbose=False)
        engine = AuditedQueryEngine(MultiStepQueryEngine(
            hotel(GARDEN, says=said), steps, num_steps=1, index_summary="hotels",
            response_synthesizer=get_response_synthesizer(llm=CompletingLLM(reply=said)),
        ))  # fmt: skip
        found = asked(engine, ASKED["garden"], asynchronous).metadata["rag_intrinsics"]["audit"]
        labels[costs] = found["label"]
        assert all(c["document_text"] in GARDEN for s in found["sentences"] for c in s["citations"])
    assert labels == {"95 euros": "faithful", "150 euros": "unfaithful"}


def test_a_question_with_its_answer_in_a_document_is_a_source() -> None:
    text = f"\nQuestion: {ASKED['garden']}\nAnswer: {CHEAPER}"
    found = [NodeWithScore(node=TextNode(text=text, metadata=metadata)) for metadata in ({}, {"file": "faq.md"})]
    assert [len(judged_by([node])) for node in found] == [0, 1]


def test_sub_answers_alone_are_nothing_to_judge_by() -> None:
    alone = [NodeWithScore(node=TextNode(text=f"Sub question: {ASKED['garden']}\nResponse: {CHEAPER}"))]
    response: Any = GroundedSynthesizer(CompletingLLM(reply=CHEAPER), mode="annotate").synthesize(COMPARED[1], alone)
    verdict = response.metadata["rag_intrinsics"]["hallucination-detection"]
    assert (verdict["label"], verdict["reason"]) == ("NA", "nothing retrieved")
