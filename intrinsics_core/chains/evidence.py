"""What an answer may rest on: documents that were retrieved, and what tools said.

A tool that keeps a record for the agent, or hands the conversation over, only repeats its call ("Updated todo list to
[...]", "Successfully transferred to writer"). Its result tells nothing that an answer could rest on. The result of a
lookup does, even where it repeats words of its call ("Monday: open"), and so may that of an action in the world
("Order 7 was shipped").
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from intrinsics_core.chains.transcript import MadeCall
from intrinsics_core.replies.placeholders import says_nothing
from intrinsics_core.text.words import word_set

D = TypeVar("D")
Tools = Collection[str] | None

_warned: set[str] = set()
_WORD = re.compile(r"[^\W_]+")
_CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LONGEST = 20_000  # characters of a result that is read


def tool_names(tools: Tools | str) -> frozenset[str] | None:
    """Names of tools, one alone or several; None stays None."""
    return None if tools is None else frozenset([tools] if isinstance(tools, str) else tools)


def evidence(
    documents: Iterable[D],
    now: Sequence[MadeCall],
    before: Sequence[MadeCall],
    tools: Tools,
    *,
    text_of: Callable[[D], str],
    from_text: Callable[[MadeCall, str | None], D],
    question: str = "",
    key: Callable[[D], Hashable] | None = None,
) -> list[D]:
    """All that an answer may rest on, each once: what was retrieved for it first, then what was retrieved before.

    Documents count whichever tool returned them. What a tool says in words counts where the tool is named. Where none
    is, and nothing was retrieved since the question, the words of all tools count that were called since then, but for
    those that only acknowledge their call. Words that repeat a document are left out. One warning a tool says that its
    words did not count.

    Args:
        documents: those that no call returned, such as the ones in a state.
        now: the calls since the last question that did not fail (`transcript.calls_made`).
        before: those of earlier turns, oldest first.
        tools: names of the tools whose words count; None as above.
        text_of: the text of a document.
        from_text: a document of what a call said, with its title (`title_of`).
        question: the last user turn.
        key: what makes a document known again; its text where left out.

    Returns:
        The framework's own documents. Those without a text, such as pictures, are left out.
    """
    given = [*documents]
    retrieved = [*given, *_documents(now)]
    known = [text for text in map(text_of, [*retrieved, *_documents(before)]) if text.strip()]
    told, earlier = _told(now, known), _told(before[::-1], known)
    if tools is None and not any(text_of(document).strip() for document in retrieved):
        said, earlier = told, [] if known else earlier
    else:
        searched = {call.name for call in now if call.done and (call.documents or _repeats(call, known))}
        searching = searched if tools is None else set(tools)
        said, earlier = ([call for call in calls if call.name in searching] for calls in (told, earlier))
        tell_of_texts([call for call in told if call.name not in searching], searching, tools)
    now_said, said_before = ([from_text(call, title_of(call, question)) for call in calls] for calls in (said, earlier))
    found = [*retrieved, *now_said, *_documents(before[::-1]), *said_before]
    first: dict[Hashable, D] = {}
    for document in found:
        if text_of(document).strip():
            first.setdefault(text_of(document) if key is None else key(document), document)
    return list(first.values())


def title_of(call: MadeCall, question: str) -> str | None:
    """What a tool's words are about: "weather: Paris". A tool may say "Sunny, 21 degrees." and leave the place unsaid.

    Only short values of the call's arguments count, of at most two words, that stand in the user's question: longer
    ones are the model's own words, by which nothing is judged.

    Args:
        call: the call.
        question: the last user turn.
    """
    values = [line.strip() for line in _values(call.arguments)]
    said = [value for value in values if value and len(value.split()) <= 2 and value.casefold() in question.casefold()]
    return f"{call.name}: {', '.join(said)}" if said else None


def is_search(call: MadeCall, tools: Tools) -> bool:
    """Whether a call retrieved: it returned documents, maybe none, or its tool is named."""
    return call.done and (call.documents is not None or (tools is not None and call.name in tools))


def has_other_results(calls: Iterable[MadeCall], tools: Tools) -> bool:
    """Whether a tool that does not retrieve told something: it may have the rest of the answer."""
    return any(not is_search(call, tools) and not acknowledges(call) for call in calls)


def tell_of_texts(calls: Iterable[MadeCall], retrieving: Iterable[str], tools: Tools) -> None:
    """Warn, once for each tool, that by what it said in words nothing is judged. Where tools are named nothing is said.

    Args:
        calls: those whose words do not count.
        retrieving: names of tools that do count.
        tools: as `evidence` takes them.
    """
    for call in calls if tools is None else ():
        if call.name and call.name not in _warned and not acknowledges(call) and (call.result or "").strip():
            _warned.add(call.name)
            logging.getLogger(__name__).warning(
                "the tool %r returned text and no documents, by which nothing is judged: name all tools that an answer "
                "may rest on (tools=%r), or let it return documents",
                call.name,
                sorted({*retrieving, call.name}),
            )


def acknowledges(call: MadeCall) -> bool:
    """Whether a call's result says nothing beside the call, or nothing at all."""
    return says_nothing(call.result or "") or only_acknowledges(call.name, call.arguments, call.result or "")


def _documents(calls: Iterable[MadeCall]) -> list[Any]:
    return [document for call in calls if call.done for document in call.documents or ()]


def _told(calls: Iterable[MadeCall], known: Sequence[str]) -> list[MadeCall]:
    """The calls whose tools said something in words that no document says."""
    return [
        call
        for call in calls
        if call.done and not call.documents and not acknowledges(call) and not _repeats(call, known)
    ]


def _repeats(call: MadeCall, known: Sequence[str]) -> bool:
    return any(text in (call.result or "") for text in known)


def only_acknowledges(name: str, arguments: Any, result: str) -> bool:
    """Whether a tool's result says nothing beside its call but that a record was kept or the talk was handed over.

    Args:
        name: the tool's.
        arguments: what it was called with.
        result: what it said.
    """
    called = _words(name)
    if len(result) > _LONGEST or called.isdisjoint(_ACTS) or not called.isdisjoint(_LOOKS_UP):
        return False
    said = _singular(_words(result))
    return not said.isdisjoint(_DONE) and said <= _DONE | _AROUND | _singular(called | _words(_as_text(arguments)))


def _values(arguments: Any) -> list[str]:
    if isinstance(arguments, Mapping):
        arguments = list(arguments.values())
    return [text for each in arguments for text in _values(each)] if isinstance(arguments, list) else [str(arguments)]


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(_CASE.sub(" ", text).casefold()))


def _singular(words: frozenset[str]) -> frozenset[str]:
    """A tool ``write_todos`` updates a "todo list"."""
    return frozenset(word.removesuffix("s") for word in words)


def _as_text(arguments: Any) -> str:
    """The names and values of a call's arguments."""
    if isinstance(arguments, Mapping):
        return " ".join(f"{name} {_as_text(value)}" for name, value in arguments.items())
    if isinstance(arguments, list | tuple):
        return " ".join(map(_as_text, arguments))
    return str(arguments)


_ACTS = word_set(
    "add assign delegate escalate hand handoff handover keep log memorize memory note plan record reflect reflection"
    " remember route save set store switch think todo todos transfer update write"
)
_LOOKS_UP = word_set(
    "ask calculate check compute describe fetch find get history is list load lookup query read retrieve search show"
    " status track validate verify view"
)
_DONE = word_set(
    "updated saved stored recorded noted logged remembered memorized transferred transferring handed delegated"
    " delegating switched switching routed routing escalated assigned"
)
_AROUND = _singular(
    word_set(
        "a agent an and as assistant back been by control conversation entry for from has have i is it item list"
        " memory message my new note now of off ok on over plan reflection success successfully task that the this"
        " thought to todo user was with you your"
    )
)
