"""Programs whose answers are more than sentences: objects, agents' output, code, marks that the model wrote."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from llama_index.core.agent.workflow import AgentOutput, ToolCallResult
from llama_index.core.base.llms import types
from llama_index.core.base.llms.types import TextBlock
from llama_index.core.base.response.schema import PydanticResponse, Response
from llama_index.core.llms import ChatMessage
from llama_index.core.query_engine import CitationQueryEngine
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.tools import ToolOutput
from llama_index.evaluation.rag_intrinsics import IntrinsicEvaluator
from llama_index.rag_intrinsics import ConversationQuery
from llama_index.response_synthesizers.rag_intrinsics import AnswerCheck, Reviser, cited
from pydantic import BaseModel

from integrations.llamaindex.tests.llms import BOTH, CompletingLLM
from integrations.llamaindex.tests.test_programs_parts import search
from intrinsics_core import InvalidInput
from intrinsics_core.render.citations import parse

ASKED = "Who built the tide mill at Port Ellery, and when?"
NODES = [
    NodeWithScore(node=TextNode(id_="mill", text="Ada Brink built the tide mill at Port Ellery in 1911.")),
    NodeWithScore(node=TextNode(id_="fog", text="Fog is common from March to May.")),
]
MADE_UP = "She kept nine zebras in the mill."


class Mill(BaseModel):
    """What is known of the mill."""

    builder: str
    year_built: int
    owners: list[str] = []


RIGHT, WRONG = Mill(builder="Ada Brink", year_built=1911), Mill(builder="Tom Reed", year_built=1935)


def tool_call(name: str) -> Any:
    if not hasattr(types, "ToolCallBlock"):
        pytest.skip("this llama-index-core has no blocks for tool calls")
    return types.ToolCallBlock(tool_call_id="2", tool_name=name, tool_kwargs={})


def labels(annotated: Any) -> list[str]:
    noted = annotated.response.additional_kwargs if isinstance(annotated, AgentOutput) else annotated.metadata
    return [row["label"] for row in noted["rag_intrinsics"]["hallucination_detection"]["sentences"]]


def called(name: str, returned: Any, failed: bool = False) -> ToolCallResult:
    result = ToolOutput(content=str(returned), tool_name=name, raw_input={}, raw_output=returned, is_error=failed)
    return ToolCallResult(tool_name=name, tool_kwargs={}, tool_id=name, tool_output=result, return_direct=False)


def agent_output(message: ChatMessage, structured: dict[str, Any] | None = None, *calls: Any) -> AgentOutput:
    output = AgentOutput(response=message, structured_response=structured, current_agent_name="Agent")
    output.tool_calls = [called("archive", NODES), *calls]  # type: ignore[list-item]  # as the workflow leaves it
    return output


# --- 22: objects ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["object", "dict", "agent"])
def test_22_a_structured_answer_is_read_as_its_fields(kind: str) -> None:
    def response(mill: Mill) -> Any:
        if kind == "agent":
            message = ChatMessage(mill.model_dump_json(), role="assistant")
            return agent_output(message, mill.model_dump())
        given: Any = mill.model_dump()
        return PydanticResponse(mill, NODES) if kind == "object" else Response(given, NODES)

    assert labels(AnswerCheck(BOTH).check(ASKED, response(RIGHT))) == ["faithful", "faithful"]
    assert labels(AnswerCheck(BOTH).check(ASKED, response(WRONG))) == ["unfaithful", "unfaithful"]
    annotated = AnswerCheck(BOTH).check(ASKED, response(RIGHT))
    as_it_was = annotated.structured_response if kind == "agent" else annotated.response
    assert as_it_was == (RIGHT if kind == "object" else RIGHT.model_dump())
    assert cited(annotated, "inline").startswith("builder: Ada Brink[1]\nyear built: 1911[1]")
    assert IntrinsicEvaluator("hallucination-detection").evaluate_response(ASKED, response(RIGHT)).passing
    with pytest.raises(InvalidInput, match="no text to revise"):
        Reviser().revise(ASKED, response(WRONG))


def test_22_an_agents_object_is_judged_beside_its_words() -> None:
    output = agent_output(ChatMessage("Ada Brink built it in 1911.", role="assistant"), WRONG.model_dump())
    assert labels(AnswerCheck(BOTH).check(ASKED, output)) == ["faithful", "unfaithful", "unfaithful"]


# --- 22: tool calls beside text -------------------------------------------------------------------------------------


def test_22_tool_calls_beside_the_text_stay_where_they_are() -> None:
    call = tool_call("send_mail")
    said = [TextBlock(text="Ada Brink built the tide mill in 1911."), call, TextBlock(text=MADE_UP)]
    output = agent_output(ChatMessage(blocks=said, role="assistant"))
    annotated = asyncio.run(AnswerCheck(BOTH).acheck(ASKED, output))
    assert labels(annotated) == ["faithful", "unfaithful"]
    assert annotated.response.blocks == said
    revised = Reviser().revise(ASKED, output)
    assert revised.response.content.strip() == "Ada Brink built the tide mill in 1911."
    assert [block for block in revised.response.blocks if not isinstance(block, TextBlock)] == [call]
    assert output.response.blocks == said


def test_22_a_history_with_tool_calls_is_a_conversation() -> None:
    call = tool_call("archive")
    turns = [
        ChatMessage("Is there a tide mill at Port Ellery?"),
        ChatMessage(blocks=[call], role="assistant"),
        ChatMessage("A mill stands on the quay.", role="tool", additional_kwargs={"tool_call_id": "2"}),
        ChatMessage("Yes, there is.", role="assistant"),
    ]
    response = Response("Ada Brink built it in 1911.", NODES)
    annotated = AnswerCheck(BOTH).check(ConversationQuery("Who built it?", chat_history=turns), response)
    assert labels(annotated) == ["faithful"]


# --- 22: marks of the model's own -----------------------------------------------------------------------------------


def test_22_marks_that_the_model_wrote_are_no_claims_and_stay() -> None:
    said = "On Saturdays the town library closes at one in the afternoon.[1] Parking is free after seven [2]."
    inner = CitationQueryEngine.from_args(None, llm=CompletingLLM(reply=said), retriever=search(2))
    response: Any = AnswerCheck().as_query_engine(inner).query("When does the library close on Saturdays?")
    assert [row["label"] for row in response.metadata["rag_intrinsics"]["audit"]["sentences"]] == ["faithful"] * 2
    assert response.response.strip() == said
    for mode in ("inline", "inline-snippet", "postfix"):
        assert parse(cited(response, mode, label=str)).response.strip() == said


# --- 22: code -------------------------------------------------------------------------------------------------------

CODE = """Install the client first:

```bash
pip install harbour
```

Then connect to it:

```python
import harbour
harbour.connect(port=8080)
```

Port 8080 is the default."""
MANUAL = [
    NodeWithScore(node=TextNode(id_="manual", text="Install the client with `pip install harbour`. Then import harbour "
                                "and call `harbour.connect(port=8080)`.")),
    NodeWithScore(node=TextNode(id_="ports", text="Port 8080 is the default.")),
]  # fmt: skip
FENCED = re.compile(r"^```\w*\n.*?^```$", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize(
    "answer", [CODE, CODE.partition("\n\nPort")[0], CODE + "\n"], ids=["in it", "at its end", "\\n"]
)
@pytest.mark.parametrize("style", ["text", "markdown"])
def test_22_no_mark_stands_in_code(answer: str, style: Any) -> None:
    annotated: Any = AnswerCheck(BOTH).check("How do I connect?", Response(answer, MANUAL))
    assert annotated.response == answer
    rows = annotated.metadata["rag_intrinsics"]["hallucination_detection"]["sentences"]
    assert {row["label"] for row in rows if row["text"].startswith("```")} == {"NA"}  # no claim
    for mode in ("inline", "inline-snippet"):
        shown = cited(annotated, mode, style, label=str)
        assert FENCED.findall(shown) == FENCED.findall(answer)
        assert parse(shown).response == answer
        assert any(reference.context_id == "manual" for reference in parse(shown).references)


def test_22_code_alone_is_cited_behind_it() -> None:
    code = "```python\nimport harbour\nharbour.connect(port=8080)\n```"
    annotated = AnswerCheck(BOTH).check("How do I connect?", Response(code, MANUAL))
    assert cited(annotated, "inline") == code  # no mark, so no list either
    assert "manual" in cited(annotated, "postfix", label=str)


def test_22_revising_leaves_code_whole() -> None:
    revised: Any = Reviser().revise("How do I connect?", Response(f"{CODE} {MADE_UP}", MANUAL))
    assert FENCED.findall(revised.response) == FENCED.findall(CODE) and MADE_UP not in revised.response
