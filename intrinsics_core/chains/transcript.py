"""A framework's messages as the core's conversation: which calls belong to which question, which answer is judged.

An adapter maps each of its messages to a `ChatTurn`, once. Agents hold tool calls in messages of their own between the
turns. "Did you send it?" is answered by a call that was made for an earlier question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from intrinsics_core.protocol.errors import InvalidInput


@dataclass(frozen=True)
class MadeCall:
    """One call of a tool.

    Attributes:
        name: the tool's.
        arguments: what it was called with.
        id: of the call, where the framework has one.
        result: the text that the tool returned; None where it has not answered.
        failed: whether it returned an error.
        documents: the framework's own documents that it returned; ``()`` of a search that found nothing; None of a
            tool that returned no documents at all.
    """

    name: str
    arguments: Any = ""
    id: str | None = None
    result: str | None = None
    failed: bool = False
    documents: tuple[Any, ...] | None = None

    @property
    def done(self) -> bool:
        """Whether the tool has answered, and with no error."""
        return self.result is not None and not self.failed


@dataclass(frozen=True)
class ChatTurn:
    """One message.

    Attributes:
        role: ``"user"``, ``"assistant"``, ``"system"`` or ``"tool"``.
        text: what people read of it; of a structured answer its fields, a line each (`fields.as_lines`).
        calls: the tool calls that it made, each with its result; or, where a framework keeps a call with its result
            alone, those that it reports.
        summary: whether the framework wrote it in place of earlier turns: then it is no question of the user's.
        message: the framework's own.
    """

    role: str
    text: str
    calls: tuple[MadeCall, ...] = ()
    summary: bool = False
    message: Any = None

    @property
    def asks(self) -> bool:
        """Whether it counts as one of the user's."""
        return self.role == "user" and not self.summary and bool(self.text.strip())


def last_question(turns: Sequence[ChatTurn]) -> int:
    """Where the last user turn is, or -1. A summary is none."""
    return next((i for i in reversed(range(len(turns))) if turns[i].role == "user" and not turns[i].summary), -1)


def open_question(turns: Sequence[ChatTurn]) -> Sequence[ChatTurn]:
    """The turns up to the question that tools are being asked for; all of them where they end otherwise."""
    at = last_question(turns)
    if at < 0:  # the summary of what was asked is all that is left of it
        at = next((i for i in reversed(range(len(turns))) if turns[i].summary), -1)
    working = bool(turns) and (turns[-1].role == "tool" or (turns[-1].role == "assistant" and bool(turns[-1].calls)))
    return turns[: at + 1] if working and at >= 0 else turns


def shown_turns(turns: Iterable[ChatTurn]) -> list[ChatTurn]:
    """The turns as people see them: tools and messages without text left out."""
    return [turn for turn in turns if turn.role != "tool" and turn.text.strip()]


def calls_in(turns: Iterable[ChatTurn]) -> list[MadeCall]:
    """The tool calls in some turns that have answered, and did not fail."""
    return [call for turn in turns for call in turn.calls if call.done]


def calls_made(turns: Sequence[ChatTurn]) -> list[MadeCall]:
    """Those behind the last user turn."""
    return calls_in(turns[last_question(turns) + 1 :])


def earlier_calls(turns: Sequence[ChatTurn]) -> dict[int, list[MadeCall]]:
    """Those before it, by the number of the user's turn that they were made for, from 0."""
    asked = [i for i, turn in enumerate(turns) if turn.asks]
    found = {n: calls_in(turns[one:following]) for n, (one, following) in enumerate(pairwise(asked))}
    return {n: made for n, made in found.items() if made}


def messages(turns: Sequence[ChatTurn], shown: Iterable[str] = ()) -> list[dict[str, Any]]:
    """The turns as the core takes them, with what tools did for them.

    The calls made for an earlier question stand on the assistant's first turn behind it that has text, those made for
    the last question on the last turn, where that is the assistant's. Turns without text are left out, and so is what
    an agent says beside its calls while it works on the last question; the last turn always stays.

    Args:
        turns: a conversation; it may end with the answer.
        shown: texts of the documents that the judge is shown. A result that has one of them in it is left out.
    """
    known, earlier, question = [text for text in shown if text.strip()], earlier_calls(turns), last_question(turns)
    asked, found = -1, []
    for i, turn in enumerate(turns):
        last = i == len(turns) - 1
        asked += turn.asks
        working = i > question and bool(turn.calls)
        if not last and (working or turn.role == "tool" or not turn.text.strip()):
            continue
        row: dict[str, Any] = {"role": turn.role, "content": turn.text}
        if turn.role == "assistant":
            made = calls_made(turns) if last else earlier.pop(asked, [])
            if made:
                row["tool_calls"] = [as_call(call, known if last else ()) for call in made]
        found.append(row)
    return found


def as_call(call: MadeCall, shown: Sequence[str] = ()) -> dict[str, Any]:
    """A call as the core takes it."""
    row = {"name": call.name, "arguments": call.arguments}
    return row if call.result is None or any(text in call.result for text in shown) else row | {"result": call.result}


def is_stale(turns: Sequence[ChatTurn], same: Callable[[ChatTurn], bool], intrinsic: str) -> bool:
    """Whether the answer beside these turns is an earlier one, so that the turn that they end with is judged.

    A state often still holds the answer of the turn before. An answer that is an earlier assistant turn is stale where
    the conversation has an assistant turn after the last user turn.

    Args:
        turns: the conversation.
        same: whether a turn is the answer that stands beside them.
        intrinsic: the name used in errors.

    Returns:
        Whether it is an earlier one.

    Raises:
        InvalidInput: the conversation ends with another answer, and the one beside it is no earlier turn.
    """
    last, asked = turns[-1] if turns else None, last_question(turns)
    if last is None or last.role != "assistant" or last.calls or not last.text.strip() or same(last) or asked < 0:
        return False
    if any(turn.role == "assistant" and not turn.calls and same(turn) for turn in turns[:asked]):
        return True
    raise InvalidInput("the messages end with an answer that differs from 'answer'", intrinsic=intrinsic,
                       expected="one answer: messages that end with it, without 'answer', or 'answer' and messages "
                       "that end with the question")  # fmt: skip
