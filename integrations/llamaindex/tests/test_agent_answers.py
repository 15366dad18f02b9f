"""What an agent says beside its object, and what it reports of its tools."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from llama_index.core.agent.workflow import AgentOutput
from llama_index.core.base.response.schema import Response
from llama_index.core.llms import ChatMessage
from llama_index.evaluation.rag_intrinsics import IntrinsicEvaluator
from llama_index.rag_intrinsics import ConversationQuery
from llama_index.response_synthesizers.rag_intrinsics import AnswerCheck, Reviser, cited

from integrations.llamaindex.tests.llms import BOTH
from integrations.llamaindex.tests.test_programs_answers import (
    ASKED,
    MADE_UP,
    NODES,
    RIGHT,
    agent_output,
    called,
    labels,
    tool_call,
)


@pytest.mark.parametrize("ahead", ["[Note] ", "[Otto Lang](https://ellery.example/lang) built it. ", "{sic} "])
def test_words_that_begin_like_an_object_are_judged(ahead: str) -> None:
    output = agent_output(ChatMessage(ahead + MADE_UP, role="assistant"), RIGHT.model_dump())
    found = labels(AnswerCheck(BOTH).check(ASKED, output))
    assert len(found) > 2 and "unfaithful" in found[:-2]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_the_report_of_an_action_is_no_claim(asynchronous: bool) -> None:
    asked, said = "Mail Anna who built the tide mill.", ChatMessage("I have sent the email to Anna.", role="assistant")
    output = agent_output(said, None, called("send_email", "ok"))
    assert Reviser().revise(asked, output).response.content == said.content
    evaluator = IntrinsicEvaluator("hallucination-detection")
    evaluating = evaluator.aevaluate_response if asynchronous else evaluator.evaluate_response
    result: Any = evaluating(asked, output)  # type: ignore[arg-type]
    evaluation = asyncio.run(result) if asynchronous else result
    assert evaluation.verdict["label"] == "NA"


def test_a_call_that_was_made_for_an_earlier_question_counts() -> None:
    call = tool_call("send_email")
    done = ChatMessage("ok", role="tool", additional_kwargs={"tool_call_id": call.tool_call_id})
    first, last = ChatMessage("Mail Anna who built the tide mill."), ChatMessage("Done.", role="assistant")
    said = Response("Yes, I have sent the email to Anna.", NODES)

    def found(*between: ChatMessage) -> list[str]:
        query = ConversationQuery("Did you send the email to Anna?", chat_history=[first, *between, last])
        return labels(AnswerCheck(BOTH).check(query, said))

    assert found(ChatMessage(blocks=[call], role="assistant"), done) == ["NA"]
    assert found() == ["unfaithful"]


RAIN = "It will rain in Lisbon tomorrow, with 14 degrees."
BUILT = "Ada Brink built the tide mill in 1911."


def label_of(output: AgentOutput, **settings: Any) -> str | None:
    found = AnswerCheck(BOTH, **settings).check(ASKED, output)
    label: str | None = found.response.additional_kwargs["rag_intrinsics"]["hallucination_detection"]["label"]
    return label


def without_calls(said: str, raw: Any = None) -> AgentOutput:
    message = ChatMessage(said, role="assistant")
    return AgentOutput(response=message, current_agent_name="Agent", raw=raw)


def returning(said: str, returned: Any) -> AgentOutput:
    output = without_calls(said)
    output.tool_calls = [called("archive", returned)]
    return output


@pytest.mark.parametrize("said", [BUILT, "The landlord keeps nine zebras in the cellar."])
def test_the_sources_of_an_agent_in_any_form(said: str) -> None:
    """Nodes without scores, one node alone, an agent within the agent, and a tool with ``return_direct``."""
    expected = "faithful" if said == BUILT else "unfaithful"
    bare = [node.node for node in NODES]
    for returned in (bare, NODES[0], bare[0], returning(BUILT, NODES), Response(BUILT, source_nodes=NODES)):
        assert label_of(returning(said, returned)) == expected
    assert label_of(without_calls(said, raw=Response(said, source_nodes=NODES))) == expected
    for other in ("sent", None, {"id": "of a provider"}, []):
        assert label_of(returning(said, other), tools=()) == label_of(without_calls(said, raw=other)) == "NA"
    # Where no tool returned nodes, what tools said counts.
    assert label_of(returning(RAIN, RAIN)) == "faithful"


def test_named_tools_are_sources_beside_the_nodes() -> None:
    message = ChatMessage(f"{BUILT} {RAIN}", role="assistant")
    output = agent_output(message, None, called("weather", RAIN), called("mail", "refused", failed=True))
    assert label_of(output) == "unfaithful"
    assert label_of(output, tools="weather") == label_of(output, tools=["weather", "mail"]) == "faithful"
    annotated = AnswerCheck(BOTH, tools=["weather"]).check(ASKED, output)
    assert cited(annotated, "inline", label=str).endswith("with 14 degrees.[2]\n\nCitations:\n[1] mill\n[2] weather")
    assert Reviser(tools=["weather"]).revise(ASKED, output).response.content == f"{BUILT} {RAIN}"
    assert Reviser().revise(ASKED, output).response.content == BUILT
