"""Behind a sub-question engine: an LLM wrote the sub-answers, and they are no sources."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core import VectorStoreIndex, get_response_synthesizer
from llama_index.core.base.response.schema import Response
from llama_index.core.indices.query.query_transform.base import StepDecomposeQueryTransform
from llama_index.core.query_engine import MultiStepQueryEngine
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.embeddings.rag_intrinsics import IntrinsicsEmbedding
from llama_index.evaluation.rag_intrinsics import IntrinsicEvaluator
from llama_index.response_synthesizers.rag_intrinsics import AnswerabilityGate, AnswerCheck, cited

from integrations.llamaindex.tests.llms import BOTH, CompletingLLM
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
    assert (found["hallucination_detection"]["label"] == "faithful") is true
    assert {row["document_text"].split(".")[0] for row in found["citations"]["citations"]} <= {GARDEN.split(".")[0]}
    assert cited(response, "inline").startswith(said.rstrip("."))
    bare = Response(said, source_nodes=response.source_nodes)
    for again in (
        AnswerCheck(BOTH).check(COMPARED[0], bare),
        AnswerCheck().check(COMPARED[0], bare),
    ):
        [verdict] = [v for name, v in again.metadata["rag_intrinsics"].items() if name not in ("about", "citations")]
        assert (verdict["sentences"][0]["label"] == "faithful") is true
    assert (IntrinsicEvaluator("hallucination-detection").evaluate_response(COMPARED[0], bare).passing) is true


def test_sub_answers_alone_are_nothing_to_judge_by() -> None:
    alone = [NodeWithScore(node=TextNode(text=f"Sub question: {ASKED['garden']}\nResponse: {CHEAPER}"))]
    response: Any = AnswerabilityGate(CompletingLLM(reply=CHEAPER), check=BOTH, mode="annotate").synthesize(
        COMPARED[1], alone
    )
    verdict = response.metadata["rag_intrinsics"]["hallucination_detection"]
    assert (verdict["label"], verdict["reason"]) == ("NA", "nothing retrieved")


RENT = "The monthly rent is 950 euros and is due on the third working day of the month."
ZEBRAS = "The landlord keeps nine zebras in the cellar."


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize(("says", "label"), [("The monthly rent is 950 euros.", "faithful"), (ZEBRAS, "unfaithful")])
def test_the_answer_of_a_step_is_no_source(says: str, label: str, asynchronous: bool) -> None:
    index = VectorStoreIndex([TextNode(text=RENT, id_="rent")], embed_model=IntrinsicsEmbedding())
    steps = StepDecomposeQueryTransform(llm=CompletingLLM(reply="What is there?"), verbose=False)
    engine = AnswerCheck().as_query_engine(
        MultiStepQueryEngine(
            index.as_query_engine(llm=CompletingLLM(reply=says)),
            steps,
            response_synthesizer=get_response_synthesizer(llm=CompletingLLM(reply=says)),
            num_steps=2,
            index_summary="The lease",
        )
    )
    audit = asked(engine, "Tell me about the house.", asynchronous).metadata["rag_intrinsics"]["audit"]
    assert audit["label"] == label
    assert {row["document_id"] for sentence in audit["sentences"] for row in sentence["citations"]} <= {"rent"}


def test_a_document_of_questions_and_answers_is_a_source() -> None:
    def label(node: TextNode) -> str:
        response = Response("The rent is 950 euros.", source_nodes=[NodeWithScore(node=node)])
        found = AnswerCheck(BOTH).check("How much is the rent?", response)
        verdict: str = found.metadata["rag_intrinsics"]["hallucination_detection"]["label"]
        return verdict

    said = "Question: How much is the rent?\nAnswer: The rent is 950 euros."
    assert label(TextNode(text=said)) == label(TextNode(text=f"\n{said}", metadata={"file": "faq.md"})) == "faithful"
    assert label(TextNode(text=f"\n{said}")) == "NA"  # as MultiStepQueryEngine writes it
