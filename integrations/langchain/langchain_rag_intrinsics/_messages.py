"""What a chain carries, read as a conversation with documents. Nothing here judges; the core checks what it gets."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, ChatMessage, HumanMessage, ToolMessage, convert_to_messages
from langchain_core.prompt_values import PromptValue
from pydantic import BaseModel

from intrinsics_core import InvalidInput
from intrinsics_core.chains import transcript
from intrinsics_core.chains.fields import as_lines
from intrinsics_core.chains.notes import CANNED, KEY, known_detection, verdicts_in
from intrinsics_core.chains.transcript import ChatTurn, MadeCall, is_stale, last_question
from intrinsics_core.intrinsics import TABLE
from intrinsics_core.protocol.results import HallucinationDetection
from langchain_rag_intrinsics._documents import as_document, passages

# The names that LangChain's own chains, tutorials and compressors use.
QUESTION = ("question", "query", "input")
HISTORY = ("chat_history", "history")
DOCUMENTS = ("documents", "context", "source_documents")
ANSWER = ("answer", "response", "generation", "result")

_ROLES = {"human": "user", "ai": "assistant", "function": "tool"}

_WITH_RAW = {"raw", "parsed", "parsing_error"}  # with_structured_output(..., include_raw=True)

_PAIRED = ("human", "user", "ai", "assistant", "system")


@dataclass(frozen=True)
class ChainInput:
    """One input: a conversation, the answer where it ends with one, and documents.

    ``fields`` names the metadata that the answering model is shown beside a document's text, ``again`` whether it was
    asked for this answer because its first was not supported.
    """

    turns: tuple[BaseMessage, ...]
    documents: tuple[Document, ...] = ()
    fields: tuple[str, ...] = ()
    again: bool = False

    @property
    def answer(self) -> AIMessage | None:
        last = self.turns[-1] if self.turns else None
        return last if isinstance(last, AIMessage) else None

    @cached_property
    def neutral(self) -> tuple[ChatTurn, ...]:
        return as_turns(self.turns)

    @cached_property
    def question(self) -> str:
        """The last user turn's text; "" where there is none."""
        at = last_question(self.neutral)
        return self.neutral[at].text if at >= 0 else ""

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The turns as the core takes them, with the calls that were made for them."""
        shown = [document.page_content for document in self.documents] if self.answer is not None else ()
        return transcript.messages(self.neutral, shown)

    @cached_property
    def passages(self) -> list[dict[str, Any]]:
        """The documents as the core takes them."""
        return passages(self.documents, self.fields, self.question)

    @property
    def known(self) -> HallucinationDetection | None:
        """What the answer carries of an earlier check of its sentences by these documents."""
        answer = self.answer
        return None if answer is None else known_detection(answer.response_metadata, str(answer.text), self.passages)


def as_turns(messages: Sequence[BaseMessage]) -> tuple[ChatTurn, ...]:
    """Messages as the neutral turns of `intrinsics_core.chains`: a tool's result stands with its call."""
    results = {m.tool_call_id: m for m in messages if isinstance(m, ToolMessage)}
    called = {call["id"] for m in messages if isinstance(m, AIMessage) for call in m.tool_calls}
    return tuple(_turn(message, results, called) for message in messages)


def _turn(message: BaseMessage, results: Mapping[str, ToolMessage], called: Container[str | None]) -> ChatTurn:
    calls: tuple[MadeCall, ...] = ()
    if isinstance(message, AIMessage):
        calls = tuple(made_call(results.get(call["id"] or ""), call) for call in message.tool_calls)
    elif isinstance(message, ToolMessage) and message.tool_call_id not in called:  # its call was trimmed away
        calls = (made_call(message),)
    summed_up = message.additional_kwargs.get("lc_source") == "summarization"
    return ChatTurn(_role(message), str(message.text), calls, summary=summed_up, message=message)


def made_call(result: ToolMessage | None, call: Mapping[str, Any] | None = None) -> MadeCall:
    """A call with what the tool answered: the documents of its artifact, as a checkpointer keeps them too.

    An empty list is a search that found nothing where the tool says nothing beside it; a calendar may say "no events".
    """
    if result is None:
        return MadeCall(call["name"], call["args"], call["id"]) if call else MadeCall("")
    name, arguments = (call["name"], call["args"]) if call else (result.name or "", "")
    text, artifact, found = str(result.text), result.artifact, None
    if isinstance(artifact, list | tuple) and (artifact or not text.strip()):
        documents = [as_document(item) for item in artifact]
        found = None if None in documents else tuple(documents)
    return MadeCall(name, arguments, result.tool_call_id, text, result.status == "error", found)


def read(value: Any, intrinsic: str, fields: tuple[str, ...] = (), *, answered: bool = False) -> ChainInput:
    """A chain's value as an input.

    What is asked about a question reads no answer: one that a state still holds from the turn before is left alone, as
    are calls of tools and their results after the last user turn. What judges an answer leaves it out, too, where the
    messages go on to a newer one.

    Args:
        value: a question; a message; a list of messages; or a mapping, or a state that is a pydantic model or a
            dataclass, with ``messages`` (a whole conversation), with ``question``, or with both: the question is then
            the last turn and the messages what came before, as ``chat_history`` may be beside ``question`` alone.
        answered: whether an answer is judged, whatever else the intrinsic takes.

    Raises:
        InvalidInput: names the field, or says that the messages end with another answer than the one beside them.
    """
    record = TABLE.get(intrinsic)
    asks = not answered and (record is None or "user" in record.ends_with)
    value = as_mapping(value)
    given = value if isinstance(value, Mapping) else {}
    documents = _first(given, DOCUMENTS)
    if documents is None and record and record.needs_documents:
        raise InvalidInput("the input has no documents", intrinsic=intrinsic,
                           expected=f"a list, maybe empty, as one of {_names(DOCUMENTS)}")  # fmt: skip
    answer = _first(given, ANSWER) if record and record.judges_answers else None
    turns = _conversation(value, intrinsic, answered=answer is None and not asks, beside=answer is not None)
    if not turns and answer is None:
        got = f"the keys {_names(given) or '(none)'}" if isinstance(value, Mapping) else "no messages"
        raise InvalidInput("the input has neither messages nor a question", intrinsic=intrinsic, got=got,
                           expected=f"'messages', or one of {_names(QUESTION)}")  # fmt: skip
    if answer is not None:
        turns = _answered(turns, as_answer(answer, intrinsic), intrinsic)
    elif asks and not isinstance(turns[-1], HumanMessage):
        turns = tuple(turns[: len(transcript.open_question(as_turns(turns)))])
    elif not asks and _role(turns[-1]) != "assistant":
        raise InvalidInput("the input has no answer", intrinsic=intrinsic,
                           expected=f"one of {_names(ANSWER)}, or messages that end with it")  # fmt: skip
    return ChainInput(turns, as_documents(documents, intrinsic), fields, given.get("again") is True)


def as_mapping(value: Any) -> Any:
    """A graph's state that is a pydantic model or a dataclass as a mapping of its fields; anything else as it is."""
    if isinstance(value, BaseModel) and not isinstance(value, BaseMessage | PromptValue | Document):
        return {name: getattr(value, name) for name in type(value).model_fields}
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    return value


def kept(value: Any) -> Any:
    """A chain's value that can be read more than once: a state as its mapping, documents of an iterator as a list."""
    value = as_mapping(value)
    if not isinstance(value, Mapping):
        return value
    lists = {name: list(value[name]) for name in DOCUMENTS if isinstance(value.get(name), Iterator)}
    return {**value, **lists} if lists else value


def as_answer(value: Any, intrinsic: str) -> AIMessage:
    """An answer as a message. A structured one is its fields, each a line, and itself under ``parsed``."""
    if isinstance(value, Mapping) and value.keys() == _WITH_RAW:
        value = value["raw"] if value["parsed"] is None else value["parsed"]
    if _is_pair(value) or _is_written_message(value):
        (value,) = _turns(value, intrinsic, "answer")
    if isinstance(value, AIMessage):
        return value
    if isinstance(value, str):
        return AIMessage(value)
    if is_structured(value):
        return AIMessage("\n".join(as_lines(value)), additional_kwargs={"parsed": value})
    raise InvalidInput("answer is neither text, nor an AI message, nor structured", intrinsic=intrinsic,
                       expected="a string, an AIMessage, a pydantic model, a dataclass or a mapping",
                       got=type(value).__name__)  # fmt: skip


def is_structured(answer: Any) -> bool:
    """Whether an answer is an object with fields: neither text nor a message, however that is written."""
    return isinstance(as_mapping(answer), Mapping) and not _is_written_message(answer)


def as_documents(value: Any, intrinsic: str) -> tuple[Document, ...]:
    """Documents from a list of documents or texts, or from one text; none from a text without words."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return ()
    if isinstance(value, str | Document):
        value = [value]
    if isinstance(value, Mapping) or not isinstance(value, Iterable):
        raise InvalidInput("documents is not a list", intrinsic=intrinsic, expected="a list of Document",
                           got=type(value).__name__)  # fmt: skip
    items = [Document(item) if isinstance(item, str) else item for item in value]
    found = tuple(document for item in items if (document := as_document(item)) is not None)
    if len(found) < len(items):
        wrong = next(i for i, item in enumerate(items) if as_document(item) is None)
        raise InvalidInput(f"documents[{wrong}] is not a document", intrinsic=intrinsic,
                           expected="a Document or text", got=type(items[wrong]).__name__)  # fmt: skip
    return found


def canned(text: str, verdicts: Mapping[str, Any]) -> AIMessage:
    """An answer that says that there is none, with the verdicts (by intrinsic) that it is there for."""
    return AIMessage(text, response_metadata={KEY: {**verdicts, CANNED: True}})


def is_canned(message: BaseMessage | None) -> bool:
    """Whether a message claims nothing because one of our components wrote it."""
    return message is not None and verdicts_in(message.response_metadata).get(CANNED) is True


def _conversation(value: Any, intrinsic: str, *, answered: bool, beside: bool) -> tuple[BaseMessage, ...]:
    """All turns of a value; ``answered``: the last is the answer in question, ``beside``: one stands beside them."""
    if not isinstance(value, Mapping):
        return _turns(value, intrinsic, "input")
    question = _first(value, QUESTION)
    asked = () if question is None else _turns(question, intrinsic, "question")
    if value.get("messages") is None:
        before = _first(value, HISTORY)
        return _turns(before, intrinsic, "chat_history") + asked if before else asked
    turns = _turns(value["messages"], intrinsic, "messages")
    if not asked:
        return turns
    at = last_question(as_turns(turns))
    if at >= 0 and len(asked) == 1 and turns[at].text == asked[0].text:
        return turns if answered or beside else turns[: at + 1]
    return (*turns[: at + 1], *asked, *turns[at + 1 :]) if answered else (*turns, *asked)


def _answered(turns: tuple[BaseMessage, ...], answer: AIMessage, intrinsic: str) -> tuple[BaseMessage, ...]:
    """The turns with the answer at the end, once; a stale one is left out (:func:`is_stale`)."""

    def same(turn: BaseMessage) -> bool:  # perhaps before it was marked or revised: then its id is the same
        return turn.text == answer.text or (turn.id is not None and turn.id == answer.id)

    if turns and isinstance(turns[-1], AIMessage) and same(turns[-1]):
        return (*turns[:-1], answer)
    return turns if is_stale(as_turns(turns), lambda turn: same(turn.message), intrinsic) else (*turns, answer)


def _turns(value: Any, intrinsic: str, name: str) -> tuple[BaseMessage, ...]:
    if isinstance(value, str):
        return (HumanMessage(value),)
    if isinstance(value, BaseMessage):
        return (value,)
    if _is_pair(value) or _is_written_message(value):
        value = [value]
    try:
        if isinstance(value, PromptValue | Sequence) and not isinstance(value, bytes):
            return tuple(convert_to_messages(value))
    except (ValueError, NotImplementedError, TypeError) as error:
        raise InvalidInput(f"{name} has something that is not a message: {error}", intrinsic=intrinsic,
                           expected="a list of messages") from error  # fmt: skip
    raise InvalidInput(f"{name} cannot be read", intrinsic=intrinsic, expected="text or a list of messages",
                       got=type(value).__name__)  # fmt: skip


def _is_pair(value: Any) -> bool:
    """Whether this is one message, such as ``("human", "Who built the mill?")``."""
    return isinstance(value, tuple) and len(value) == 2 and value[0] in _PAIRED and isinstance(value[1], str)


def _is_written_message(value: Any) -> bool:
    """Whether this is one message as a mapping: ``{"role": "assistant", "content": "..."}``, or with a ``type``."""
    if not isinstance(value, Mapping) or not isinstance(value.get("content"), str | list):
        return False
    return value.get("role", value.get("type")) in _PAIRED


def _role(turn: BaseMessage) -> str:
    kind = turn.type.removesuffix("MessageChunk").lower()
    return turn.role if isinstance(turn, ChatMessage) else _ROLES.get(kind, kind)


def _first(value: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((value[name] for name in names if value.get(name) is not None), None)


def _names(names: Iterable[Any]) -> str:
    return ", ".join(map(repr, names))
