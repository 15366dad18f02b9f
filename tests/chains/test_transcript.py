"""Messages of a framework as the core's conversation."""

from __future__ import annotations

import pytest

from intrinsics_core import InvalidInput
from intrinsics_core.chains.transcript import (
    ChatTurn,
    MadeCall,
    calls_made,
    earlier_calls,
    is_stale,
    last_question,
    messages,
    open_question,
    shown_turns,
)

SENT = MadeCall("send_mail", {"to": "Anna"}, result="ok")
FOUND = MadeCall("search", "mill", result="Ada Brink built it.", documents=("Ada Brink built it.",))
FAILED = MadeCall("send_mail", {"to": "Bo"}, result="no such person", failed=True)
OPEN = MadeCall("search", "fog")

TALK = (
    ChatTurn("user", "Send the plan to Anna."),
    ChatTurn("assistant", "", calls=(SENT, FAILED)),
    ChatTurn("tool", "ok"),
    ChatTurn("assistant", "Sent."),
    ChatTurn("user", "Who built the mill?"),
    ChatTurn("assistant", "", calls=(FOUND, OPEN)),
    ChatTurn("tool", "Ada Brink built it."),
)
ANSWER = ChatTurn("assistant", "Ada Brink.")


def test_calls_stand_where_the_core_reads_them() -> None:
    assert messages([*TALK, ANSWER]) == [
        {"role": "user", "content": "Send the plan to Anna."},
        {
            "role": "assistant",
            "content": "Sent.",
            "tool_calls": [{"name": "send_mail", "arguments": {"to": "Anna"}, "result": "ok"}],
        },
        {"role": "user", "content": "Who built the mill?"},
        {
            "role": "assistant",
            "content": "Ada Brink.",
            "tool_calls": [{"name": "search", "arguments": "mill", "result": "Ada Brink built it."}],
        },
    ]
    assert earlier_calls(TALK) == {0: [SENT]} and calls_made(TALK) == [FOUND]


def test_a_result_that_the_judge_is_shown_as_a_document_is_left_out() -> None:
    *_, last = messages([*TALK, ANSWER], ["Ada Brink built it.", ""])
    assert last["tool_calls"] == [{"name": "search", "arguments": "mill"}]


def test_the_question_that_tools_are_asked_for_is_open() -> None:
    assert open_question(TALK) == TALK[:5] and open_question([*TALK, ANSWER]) == [*TALK, ANSWER]
    assert open_question(()) == ()
    assert [turn.text for turn in shown_turns(TALK)] == ["Send the plan to Anna.", "Sent.", "Who built the mill?"]


def test_a_summary_is_no_question() -> None:
    summary = ChatTurn("user", "They asked about the mill.", summary=True)
    turns = (summary, *TALK[5:])
    assert last_question(turns) == -1 and earlier_calls(turns) == {} and open_question(turns) == (summary,)
    assert messages([summary, ANSWER])[0] == {"role": "user", "content": "They asked about the mill."}


def test_a_stale_answer_gives_way_to_the_newer_one() -> None:
    def stale(turns: list[ChatTurn], answer: str) -> bool:
        return is_stale(turns, lambda turn: turn.text == answer, "audit")

    asked = [ChatTurn("user", "Who built it?"), ChatTurn("assistant", "Ada."), ChatTurn("user", "When?")]
    assert not stale([], "Ada.") and not stale(asked, "Ada.")  # none is newer
    newer = [*asked, ChatTurn("assistant", "", (FOUND,)), ChatTurn("tool", "1911"), ChatTurn("assistant", "In 1911.")]
    assert stale(newer, "Ada.") and not stale(newer, "In 1911.")
    with pytest.raises(InvalidInput, match="differs from 'answer'"):
        stale(newer, "In 1812.")
