"""A graph's state that still holds the answer of the turn before."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_rag_intrinsics import AnswerCheck

from integrations.langchain.tests.scripts import detecting

FIRST = "Ada Brink built the tide mill in 1911."
INVENTED = "She painted it gold for forty sailors."
TALK = [
    HumanMessage("Who built the tide mill?"),
    AIMessage(FIRST),
    HumanMessage("What colour did she paint it?"),
]


def state(*after: Any, **more: Any) -> dict[str, Any]:
    return {"messages": [*TALK, *after], "documents": [FIRST], "answer": FIRST, **more}


@pytest.mark.parametrize("question", [{}, {"question": TALK[-1].content}])
def test_the_newer_answer_is_judged(question: dict[str, Any]) -> None:
    judged = detecting().invoke(state(AIMessage(INVENTED), **question))
    assert [sentence.text for sentence in judged.sentences] == [INVENTED]
    assert judged.label == "unfaithful"
    found = AnswerCheck().invoke(state(AIMessage(INVENTED), **question))
    assert found.text == INVENTED


def test_the_newer_answer_is_found_behind_a_tool_call() -> None:
    call = AIMessage("", tool_calls=[{"name": "search", "args": {}, "id": "1"}])
    given = state(call, ToolMessage(FIRST, tool_call_id="1"), AIMessage(INVENTED))
    judged = detecting().invoke(given)
    assert [sentence.text for sentence in judged.sentences] == [INVENTED]


def test_a_revised_answer_of_the_turn_before_is_stale() -> None:
    given = state(AIMessage(INVENTED), answer=AIMessage("Ada Brink built it.", id="first"))
    given["messages"][1] = AIMessage(FIRST, id="first")
    judged = detecting().invoke(given)
    assert [sentence.text for sentence in judged.sentences] == [INVENTED]


def test_a_revised_answer_of_this_turn_is_judged() -> None:
    given = state(AIMessage(f"{FIRST} {INVENTED}", id="now"), answer=AIMessage("It was built in 1911.", id="now"))
    judged = detecting().invoke(given)
    assert [sentence.text for sentence in judged.sentences] == ["It was built in 1911."]
