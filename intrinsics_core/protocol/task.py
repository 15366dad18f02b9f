"""What every intrinsic is given: a conversation and documents, checked once and never mutated."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date as Date
from functools import cached_property
from typing import Any, Literal, get_args

from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.text.reasoning import blanked
from intrinsics_core.text.sentences import Span, punkt
from intrinsics_core.text.words import MONTHS

Role = Literal["system", "developer", "user", "assistant", "tool"]
ROLES: tuple[str, ...] = get_args(Role)
_NAMED_BY = ("source", "file_name", "filename", "file_path", "url", "title")  # where frameworks keep a document's name


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that was called: its name, its arguments as JSON, and what it returned, where that is known."""

    name: str
    arguments: str = ""
    result: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn in the OpenAI shape: ``role`` and plain-text ``content``; ``tool_calls`` that an assistant made."""

    role: str
    content: str
    tool_calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """One passage. ``id`` is the caller's and may repeat; ``score`` is the retriever's own."""

    text: str
    id: str | None = None
    title: str | None = None
    score: float | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """What an answer may call it: its id, title, file names and addresses, and the last parts of their paths."""
        given = [self.id, self.title, *(self.metadata.get(key) for key in _NAMED_BY)]
        whole = [name for name in given if isinstance(name, str) and name.strip()]
        return [*whole, *(name.rpartition("/")[2] for name in whole if "/" in name.rstrip("/"))]


GOES_ON = "goes_on"
"""The option of a task whose last turn goes on with the one before it: both are of one answer."""

Split = Callable[[str], tuple[Span, ...]]  # a text to its sentences, in order, with exact offsets
MessageLike = Message | Mapping[str, Any]
DocumentLike = Document | Mapping[str, Any] | str


@dataclass(frozen=True)
class Task:
    """A checked conversation with documents: what a profile renders.

    ``date`` is the text of the date for prompts that carry one, e.g. ``"April 1, 2025"``. ``arguments`` are texts that
    an adapter's own instruction names; ``options`` are choices that a format may look at when it renders (how to
    compare, what to leave out). ``split`` finds sentences; the profile sets its own.
    """

    intrinsic: str
    messages: tuple[Message, ...]
    documents: tuple[Document, ...] = ()
    date: str = ""
    arguments: Mapping[str, str] = field(default_factory=dict, hash=False)
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    split: Split = field(default=punkt, repr=False, compare=False)

    @property
    def last(self) -> Message:
        return self.messages[-1]

    @property
    def query(self) -> str:
        """The last user turn, or ``""`` where there is none."""
        return next((m.content for m in reversed(self.messages) if m.role == "user"), "")

    @property
    def response(self) -> str:
        """The last turn, where the assistant spoke last, else ``""``. Reasoning and tokens at its end are spaces."""
        return blanked(self.last.content) if self.last.role == "assistant" else ""

    @property
    def begun(self) -> str:
        """Of an answer that is judged while it is written, what was judged before: the turn before the last."""
        return self.messages[-2].content if self.options.get(GOES_ON) else ""

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The tools that the assistant called after the last user turn."""
        last = max((i for i, m in enumerate(self.messages) if m.role == "user"), default=-1)
        return tuple(call for m in self.messages[last + 1 :] for call in m.tool_calls)

    @property
    def texts(self) -> list[str]:
        """All texts that a judge may have to read: how long they are is what the work depends on."""
        calls = [call for m in self.messages for call in m.tool_calls]
        return [
            *(m.content for m in self.messages),
            *(text for call in calls for text in (call.arguments, call.result)),
            *(d.text for d in self.documents),
            *(d.title for d in self.documents if d.title),
            *self.arguments.values(),
        ]

    @cached_property
    def response_sentences(self) -> tuple[Span, ...]:
        return self.split(self.response)

    @cached_property
    def document_sentences(self) -> tuple[tuple[Span, ...], ...]:
        """Sentences of each document, in document order."""
        return tuple(self.split(document.text) for document in self.documents)

    def document_id(self, index: int) -> str:
        """The document's id; every document of a checked task has one."""
        identity = self.documents[index].id
        return str(index) if identity is None else identity

    def only(self, *indices: int) -> Task:
        """The same task with these documents alone, in this order."""
        return replace(self, documents=tuple(self.documents[i] for i in indices))

    def answered(self, response: str) -> Task:
        """The same task with this text as the last turn, the assistant's."""
        return replace(self, messages=(*self.messages[:-1], replace(self.last, content=response)))

    def split_by(self, split: Split) -> Task:
        """The same task, its sentences found by this splitter."""
        return self if split is self.split else replace(self, split=split)

    def then(self, role: Role, content: str) -> Task:
        """The same task with one more turn."""
        return replace(self, messages=(*self.messages, Message(role, content)))


def check(
    intrinsic: str,
    messages: Iterable[MessageLike] | None,
    documents: Iterable[DocumentLike] | None = (),
    *,
    ends_with: Sequence[Role],
    blank_answer: bool = False,
    date: str | None = None,
) -> Task:
    """Turn what the caller gave into a :class:`Task`.

    Args:
        intrinsic: the name used in errors.
        messages: `Message` objects or ``{"role", "content", "tool_calls"?}`` mappings. Content may be OpenAI content
            parts, of which the text parts are joined.
        documents: `Document` objects, ``{"text", "id"?, "title"?, "score"?, "metadata"?}`` mappings or plain strings.
            A document without an id gets its position, from 0, as a string. A mapping without a title has that of its
            metadata, where there is one.
        ends_with: roles that the last turn may have.
        blank_answer: whether a last assistant turn without text is an answer (one that says nothing) or an error.
        date: date text for prompts that carry one; the day of the call where left out.

    Returns:
        The checked input.

    Raises:
        InvalidInput: names the field that was wrong and the fix.
    """
    with _named(intrinsic):
        turns = tuple(_message(f"messages[{i}]", m) for i, m in enumerate(_items("messages", messages)))
        if not turns:
            raise InvalidInput("messages is empty", expected="at least one turn")
        last, said = f"messages[{len(turns) - 1}]", turns[-1]
        if said.role not in ends_with:
            expected = f"messages that end with the role {' or '.join(map(repr, ends_with))}"
            raise InvalidInput(f"{last}.role, of the last message, is {said.role!r}", expected=expected)
        if not said.content.strip() and not (blank_answer and said.role == "assistant"):
            raise InvalidInput(f"{last}.content is empty", expected="a last turn with text in it")
        if date is not None and not isinstance(date, str):
            raise InvalidInput("date is not text", expected='e.g. "April 1, 2025"', got=repr(date))
        return Task(intrinsic, turns, documents_of(intrinsic, documents), today() if date is None else date)


@contextmanager
def _named(intrinsic: str) -> Iterator[None]:
    """An error that is raised in here names this intrinsic."""
    try:
        yield
    except InvalidInput as error:
        raise error.named(intrinsic)  # noqa: B904  (the same error)


def today() -> str:
    """The day of the call as prompts write it, e.g. ``"April 1, 2025"``."""
    day = Date.today()
    # Not by strftime: its names follow the locale of the process, and prompts were trained in English.
    return f"{MONTHS[day.month - 1].capitalize()} {day.day}, {day.year}"


def _items(name: str, value: Any) -> Iterable[Any]:
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise InvalidInput(f"{name} is not a list", expected=f"a list of {name}", got=repr(value))
    return value


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"{name} is not text", expected="a string", got=repr(value))
    return value


def _message(name: str, value: Any) -> Message:
    shape = '{"role": ..., "content": ...}'
    if isinstance(value, Message):
        role, content, calls = value.role, value.content, value.tool_calls
    elif isinstance(value, Mapping):
        if missing := [repr(key) for key in ("role", "content") if key not in value]:
            raise InvalidInput(f"{name} has no {' and no '.join(missing)}", expected=shape, got=repr(dict(value)))
        role, content, calls = value["role"], value["content"], _tool_calls(value.get("tool_calls"))
        if content is None and value.get("tool_calls"):
            content = ""  # an assistant turn that only called tools says nothing
        elif isinstance(content, list | tuple):
            content = _parts(f"{name}.content", content)
    else:
        raise InvalidInput(f"{name} is not a message", expected=shape, got=repr(value))
    if role not in ROLES:
        raise InvalidInput(f"{name}.role is unknown", expected=f"one of {', '.join(ROLES)}", got=repr(role))
    return Message(role, _text(f"{name}.content", content), calls)


def _tool_calls(value: Any) -> tuple[ToolCall, ...]:
    """Calls in the shape of OpenAI's API, or flat as frameworks keep them; one without a name is left out."""
    found = []
    for call in value if isinstance(value, list | tuple) else ():
        if not isinstance(call, Mapping):
            continue
        made = call["function"] if isinstance(call.get("function"), Mapping) else call
        arguments, result = made.get("arguments", made.get("args", "")), call.get("result", "")
        if isinstance(name := made.get("name"), str) and name:
            found.append(ToolCall(name, _as_text(arguments), _as_text(result)))
    return tuple(found)


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _parts(name: str, parts: Iterable[Any]) -> str:
    """The text of content parts; of a part of another type there is none."""
    texts = []
    for i, part in enumerate(parts):
        text = part.get("text") if isinstance(part, Mapping) else part
        if isinstance(text, str):
            texts.append(text)
        elif not isinstance(part, Mapping) or "type" not in part:
            expected = '{"type": "text", "text": ...}'
            raise InvalidInput(f"{name}[{i}] is not a content part", expected=expected, got=repr(part))
    return "".join(texts)


def documents_of(intrinsic: str, documents: Any, *, content_ids: bool = False) -> tuple[Document, ...]:
    """Checked documents, each with an id: its own, which may be another's too, or its position, from 0, as a string.

    ``content_ids`` is for what a retriever gave: a document without an id then gets one made of its text and its title,
    so that it is known again in another list, and comes once.

    Args:
        intrinsic: the name used in errors.
        documents: `Document` objects, mappings or plain strings, as :func:`check` takes them.
        content_ids: give a document without an id one that is made of what it says.

    Returns:
        The checked documents, in the order given.

    Raises:
        InvalidInput: a document is wrong; names which.
    """
    passages: list[Document] = []
    met: set[str] = set()
    with _named(intrinsic):
        for index, value in enumerate(_items("documents", documents)):
            document = _document(f"documents[{index}]", value)
            if document.id is None:
                identity = _digest(document) if content_ids else str(index)
                if content_ids and identity in met:
                    continue
                document = replace(document, id=identity)
                met.add(identity)
            passages.append(document)
    return tuple(passages)


def _digest(document: Document) -> str:
    text = f"{document.title}\n{document.text}" if document.title else document.text
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


_DOCUMENT = '{"text": ...}, which may have an "id" too'
_FRAMEWORKS = {"langchain_core": "LangChain", "llama_index": "LlamaIndex", "haystack": "Haystack"}


def _document(name: str, value: Any) -> Document:
    if isinstance(value, Document):
        given: Mapping[str, Any] = {key: getattr(value, key) for key in Document.__slots__}
    elif isinstance(value, str):
        given = {"text": value}
    elif isinstance(value, Mapping):
        given = value
    else:
        framework = _FRAMEWORKS.get(type(value).__module__.partition(".")[0])
        ours = f", or a component of our integration with {framework}" if framework else ""
        raise InvalidInput(f"{name} is not a document", expected=f"{_DOCUMENT}, or a string{ours}", got=repr(value))
    if "text" not in given:
        meant = next((key for key in ("page_content", "content") if key in given), None)
        hint = f" (did you mean 'text' for {meant!r}?)" if meant else ""
        raise InvalidInput(f"{name} has no 'text'{hint}", expected=_DOCUMENT, got=repr(dict(given)))
    identity, title, score = given.get("id"), given.get("title"), given.get("score")
    if isinstance(identity, int) and not isinstance(identity, bool):
        identity = str(identity)
    if score is not None and (isinstance(score, bool) or not isinstance(score, int | float) or score != score):
        raise InvalidInput(f"{name}.score is not a number", expected="a float", got=repr(score))
    metadata = given.get("metadata")
    if metadata is not None and not isinstance(metadata, Mapping):
        raise InvalidInput(f"{name}.metadata is not a mapping", got=repr(metadata))
    # Where a title is given as None it is not to be shown.
    if "title" not in given and metadata is not None and isinstance(metadata.get("title"), str):
        title = metadata["title"]
    return Document(
        text=_text(f"{name}.text", given["text"]),
        id=None if identity is None else _text(f"{name}.id", identity),
        title=None if title is None else _text(f"{name}.title", title),
        score=None if score is None else float(score),
        metadata={} if metadata is None else metadata,
    )
