"""Programs with a gate: comparisons behind a sub-question engine, what blocks and what only notes."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from llama_index.core.query_engine import RetrieverQueryEngine, SubQuestionQueryEngine
from llama_index.core.question_gen import LLMQuestionGenerator
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.tools import QueryEngineTool, ToolMetadata
from llama_index.response_synthesizers.rag_intrinsics import AnswerabilityGate

from integrations.llamaindex.tests.llms import BOTH, CompletingLLM, JudgeLLM, searching
from intrinsics_core import RuntimeUnavailable
from tests.scripted import Scripted

HARBOUR = "The Harbour Hotel charges 120 euros a night, breakfast included."
GARDEN = "The Garden Hotel charges 95 euros a night. Breakfast costs 14 euros more."
LIFT = "The lift of the Garden Hotel was repaired in May."
CHEAPER = "The Garden Hotel is cheaper."
COMPARED = [
    "Compare and contrast the prices of the two hotels.",
    "Which is cheaper, the Harbour Hotel or the Garden Hotel?",
    "What is the price difference between the Harbour Hotel and the Garden Hotel?",
]
ASKED = {
    "harbour": "What does a night at the Harbour Hotel cost?",
    "garden": "What does a night at the Garden Hotel cost?",
}
CANNED = "The brochures do not say."


def hotel(*texts: str, says: str) -> RetrieverQueryEngine:
    nodes = [TextNode(text=text) for text in texts]
    search = searching(nodes, k=1)
    return RetrieverQueryEngine.from_args(search, llm=CompletingLLM(reply=says))


def comparing(garden: RetrieverQueryEngine, says: str = CHEAPER, **settings: Any) -> SubQuestionQueryEngine:
    """LlamaIndex's engine over two hotels, with its own splitting of the question and our synthesizer."""
    engines = {"harbour": hotel(HARBOUR, says="120 euros, breakfast included."), "garden": garden}
    tools = [QueryEngineTool(engine, ToolMetadata(f"about the {name} hotel", name)) for name, engine in engines.items()]
    items = [{"sub_question": asked, "tool_name": name} for name, asked in ASKED.items()]
    splitting = CompletingLLM(reply=f"```json\n{json.dumps({'items': items})}\n```")
    return SubQuestionQueryEngine.from_defaults(
        tools,
        llm=splitting,
        question_gen=LLMQuestionGenerator.from_defaults(llm=splitting),
        response_synthesizer=AnswerabilityGate(CompletingLLM(reply=says), check=BOTH, canned=CANNED, **settings),
        use_async=False,
        verbose=False,
    )


def asked(engine: Any, question: str, asynchronous: bool = False) -> Any:
    return asyncio.run(engine.aquery(question)) if asynchronous else engine.query(question)


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("question", COMPARED)
def test_20_a_comparison_whose_sub_answers_were_found_passes(question: str, asynchronous: bool) -> None:
    engine = comparing(hotel(GARDEN, LIFT, says="95 euros."), block_unsure=True)
    response = asked(engine, question, asynchronous)
    assert response.response.strip() == CHEAPER
    found = response.metadata["rag_intrinsics"]
    assert found["answerability"]["label"] == "answerable"
    assert [(row["question"], row["label"]) for row in found["sub_questions"]] == [
        (sub_question, "answerable") for sub_question in ASKED.values()
    ]


@pytest.mark.parametrize("question", COMPARED)
def test_20_a_comparison_with_a_sub_answer_missing_does_not(question: str) -> None:
    engine = comparing(hotel(LIFT, says="Empty Response"))
    response = asked(engine, question)
    assert response.response == CANNED
    found = response.metadata["rag_intrinsics"]
    assert found["answerability"]["label"] == "unanswerable"
    assert [row["label"] for row in found["sub_questions"]] == ["answerable", "unanswerable"]


def test_20_a_judge_that_fails_over_a_sub_question_does_what_on_error_says() -> None:
    def script(request: Any) -> Any:
        whole = '"question": "Compare' in request.messages[-1].content or COMPARED[0] in request.messages[-1].content
        return json.dumps({"answerability": "unanswerable", "confidence": 0.9}) if whole else RuntimeUnavailable("down")

    garden = hotel(GARDEN, says="95 euros.")
    closed = comparing(garden, runtime=Scripted(script), on_error="closed")
    assert asked(closed, COMPARED[0]).response == CANNED
    with pytest.raises(RuntimeUnavailable):
        asked(comparing(garden, runtime=Scripted(script)), COMPARED[0])


# --- what blocks ----------------------------------------------------------------------------------------------------


def brochures() -> list[NodeWithScore]:
    return [NodeWithScore(node=TextNode(text=text)) for text in (HARBOUR, GARDEN)]


OFF_TOPIC = "Who repaired the church organ?"
UNSURE = COMPARED[1]
STRICT = {"kind": "embedded", "thresholds": {"answerability": {"answerable": 0.99}}}  # nothing is as sure as that


@pytest.mark.parametrize("asynchronous", [False, True])
def test_20_a_gate_that_only_notes_lets_everything_pass(asynchronous: bool) -> None:
    grounded = AnswerabilityGate(CompletingLLM(reply=CHEAPER), check=BOTH, mode="annotate")
    given = (OFF_TOPIC, brochures())
    response: Any = asyncio.run(grounded.asynthesize(*given)) if asynchronous else grounded.synthesize(*given)
    assert response.response.strip() == CHEAPER
    assert response.metadata["rag_intrinsics"]["answerability"]["label"] == "unanswerable"
    assert grounded.get_response(OFF_TOPIC, [HARBOUR]).strip() == CHEAPER  # type: ignore[union-attr]
    blocking = AnswerabilityGate(CompletingLLM(reply=CHEAPER), check=BOTH, canned=CANNED)
    assert str(blocking.synthesize(OFF_TOPIC, brochures())) == blocking.get_response(OFF_TOPIC, [HARBOUR]) == CANNED


def test_20_what_the_gate_is_unsure_of_passes_unless_asked() -> None:
    def said(**settings: Any) -> Any:
        synthesizer = AnswerabilityGate(
            CompletingLLM(reply=CHEAPER), check=BOTH, runtime=STRICT, canned=CANNED, **settings
        )
        return synthesizer.synthesize(UNSURE, brochures())

    passed = said()
    found = passed.metadata["rag_intrinsics"]["answerability"]
    assert (found["label"], found["unsure"]) == ("unanswerable", True)
    assert passed.response.strip() == CHEAPER
    assert said(block_unsure=True).response == CANNED


def test_20_a_comparison_of_two_nodes_passes_without_sub_questions() -> None:
    synthesizer = AnswerabilityGate(CompletingLLM(reply=CHEAPER), check=BOTH, canned=CANNED, block_unsure=True)
    response: Any = synthesizer.synthesize(COMPARED[1], brochures())
    assert response.response != CANNED


def test_20_a_language_models_no_blocks() -> None:
    judge = JudgeLLM(reply=lambda messages, options: {"answerability": "unanswerable", "confidence": 0.6})
    response: Any = AnswerabilityGate(
        CompletingLLM(reply=CHEAPER), check=BOTH, runtime=judge, canned=CANNED
    ).synthesize(UNSURE, brochures())
    assert response.response == CANNED
