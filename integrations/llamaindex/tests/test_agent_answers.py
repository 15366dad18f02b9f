"""What an agent says beside its object, and what it reports of its tools."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from llama_index.core.agent.workflow import AgentOutput
from llama_index.core.base.response.schema import Response
from llama_index.core.llms import ChatMessage
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.evaluation.rag_intrinsics import HallucinationEvaluator
from llama_index.rag_intrinsics._responses import sources_of
from llama_index.response_synthesizers.rag_intrinsics import ResponseAnnotator, ResponseReviser

from integrations.llamaindex.tests.test_programs_answers import ASKED, MADE_UP, RIGHT, agent_output, called, labels


@pytest.mark.parametrize("ahead", ["[Note] ", "[Otto Lang](https://ellery.example/lang) built it. ", "{sic} "])
def test_words_that_begin_like_an_object_are_judged(ahead: str) -> None:
    output = agent_output(ChatMessage(ahead + MADE_UP, role="assistant"), RIGHT.model_dump())
    found = labels(ResponseAnnotator().annotate(ASKED, output))
    assert len(found) > 2 and "unfaithful" in found[:-2]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_the_report_of_an_action_is_no_claim(asynchronous: bool) -> None:
    asked, said = "Mail Anna who built the tide mill.", ChatMessage("I have sent the email to Anna.", role="assistant")

    def found(*calls: Any) -> list[str]:
        output, annotator = agent_output(said, None, *calls), ResponseAnnotator()
        annotated = (
            asyncio.run(annotator.aannotate(asked, output)) if asynchronous else annotator.annotate(asked, output)
        )
        return labels(annotated)

    sent = called("send_email", "ok")
    assert found(sent) == ["NA"]
    assert found() == found(called("send_email", "refused", failed=True)) == ["unfaithful"]
    output = agent_output(said, None, sent)
    assert ResponseReviser().revise(asked, output).response.content == said.content
    evaluator = HallucinationEvaluator()
    evaluating = evaluator.aevaluate_response if asynchronous else evaluator.evaluate_response
    result: Any = evaluating(asked, output)  # type: ignore[arg-type]
    evaluation = asyncio.run(result) if asynchronous else result
    assert evaluation.verdict["label"] == "NA"


def test_sources_of_an_agent_are_found_wherever_its_tools_left_them() -> None:
    nodes = [TextNode(text="Ada Brink built the mill.", id_="mill")]
    said, answered = ChatMessage("x", role="assistant"), Response("x", [NodeWithScore(node=nodes[0])])
    inner = AgentOutput(response=said, current_agent_name="Inner")
    inner.tool_calls = [called("archive", answered)]  # type: ignore[list-item]
    for returned in (answered, nodes, answered.source_nodes, inner):
        output = AgentOutput(response=said, current_agent_name="Agent")
        output.tool_calls = [called("archive", returned)]  # type: ignore[list-item]
        assert [node.node_id for node in sources_of(output)] == ["mill"]
    direct = AgentOutput(response=said, current_agent_name="Agent", raw=answered)  # of a tool with return_direct
    direct.tool_calls = [ToolSelection(tool_id="1", tool_name="archive", tool_kwargs={})]
    assert [node.node_id for node in sources_of(direct)] == ["mill"]
