"""Behind a sub-question engine: an LLM wrote the sub-answers, and they are no sources."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core.base.response.schema import Response
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.evaluation.rag_intrinsics import HallucinationEvaluator
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


def test_sub_answers_alone_are_nothing_to_judge_by() -> None:
    alone = [NodeWithScore(node=TextNode(text=f"Sub question: {ASKED['garden']}\nResponse: {CHEAPER}"))]
    response: Any = GroundedSynthesizer(CompletingLLM(reply=CHEAPER), mode="annotate").synthesize(COMPARED[1], alone)
    verdict = response.metadata["rag_intrinsics"]["hallucination-detection"]
    assert (verdict["label"], verdict["reason"]) == ("NA", "nothing retrieved")
