"""Statements with quotes: a model's reply to rated metrics with exact citations, and back (REC: rate, explain, cite).

A quote is looked for in the text that the reply names, as it stands, then in what the model was shown of it, then by
what does not change its words (`quotes`). Where it stands verbatim in exactly one of the other texts alone, that one is
meant. A ``snippet``, as REC's own models cite, names no text: the first that holds it verbatim is cited, in the order
of the prompt. Everything else is dropped and counted, and so is an entry that is no statement: no citation is invented.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.protocol.results import Quote, Statement
from intrinsics_core.protocol.task import Task
from intrinsics_core.replies import quotes
from intrinsics_core.text.markup import defuse

MOST = 256  # quotes that are looked for; a reply that repeats itself to its last token holds more

RESPONSE = "response"
_SHORT = {"d": "documents", "m": "messages"}
_NAMED = re.compile(r"\A(?:documents?|messages?|[dm])[\s\[]*+([0-9]{1,6})\]?\Z", re.IGNORECASE)


def sources(task: Task) -> dict[str, str]:
    """Every text that can be cited, by the name that results have for it, documents first."""
    documents = {f"documents[{i}]": document.text for i, document in enumerate(task.documents)}
    turns = {f"messages[{i}]": message.content for i, message in enumerate(task.messages[:-1])}
    return documents | turns | {RESPONSE: task.last.content}


def short(source: str) -> str:
    """``"documents[3]"`` as prompts and replies have it: ``"d3"``."""
    return source if source == RESPONSE else source[0] + source[source.index("[") + 1 : -1]


def read(task: Task, rows: Sequence[Any]) -> tuple[tuple[Statement, ...], int]:
    """The statements of a reply, and how many quotes (and entries that are no statement, or blank) were dropped."""
    texts = sources(task)
    found: list[Statement] = []
    looked = dropped = 0
    for row in rows:
        said = row.get("text", row.get("statement_string")) if isinstance(row, dict) else None
        if not isinstance(said, str) or not (text := said.strip()):
            dropped += 1
            continue
        named = row.get("citations", [])
        cited: dict[Quote, None] = {}
        for each in named if isinstance(named, list) else [named]:
            looked += 1
            quote = _located(each, texts) if looked <= MOST else None
            if quote is None or quote in cited:
                dropped += 1
            else:
                cited[quote] = None
        found.append(Statement(text=text, citations=tuple(cited)))
    return tuple(found), dropped


def _located(cited: Any, texts: Mapping[str, str]) -> Quote | None:
    quote = cited.get("quote", cited.get("snippet")) if isinstance(cited, dict) else None
    if not isinstance(quote, str) or not quote.strip():
        return None
    verbatim = [name for name, text in texts.items() if quote.strip() in text]
    if "quote" not in cited and "source" not in cited:
        names = verbatim or list(texts)
    else:
        name = _name(cited.get("source"))
        elsewhere = [other for other in verbatim if other != name]
        names = [name] * (name in texts) + elsewhere * (len(elsewhere) == 1)
    for name in names:
        if place := _place(quote, texts[name]):
            return Quote(source=name, begin=place[0], end=place[1], text=texts[name][slice(*place)])
    return None


def _name(source: Any) -> str:
    """A source as results name it: "d3" is "documents[3]"."""
    source = source.strip() if isinstance(source, str) else ""
    match = _NAMED.match(source)
    return f"{_SHORT[source[0].lower()]}[{int(match[1])}]" if match else source.lower()


def _place(quote: str, text: str) -> tuple[int, int] | None:
    """Where a quote stands; also one of words that were shown with a space in a special token."""
    if found := quotes.locate(quote, text):
        return found
    shown = defuse(text)
    if shown == text or not (found := quotes.locate(quote, shown)):
        return None
    origins = list(_origins(text, shown))
    begin, end = origins[found[0]], origins[found[1]]
    return (begin, end) if begin < end else None


def _origins(text: str, shown: str) -> Iterator[int]:
    """For each place in what was shown, the place in the text: what was shown has some spaces more."""
    at = 0
    for character in shown:
        yield at
        at += at < len(text) and text[at] == character
    yield at


def written(task: Task, statements: Sequence[Statement]) -> list[dict[str, Any]]:
    """Statements as a reply holds them. A blank one, and a quote that is read at another place, are `InvalidInput`."""
    texts = sources(task)
    rows = []
    for i, statement in enumerate(statements):
        if not (text := statement.text.strip()):
            raise InvalidInput(f"statements[{i}].text is blank", expected="text")
        cited = []
        for k, quote in enumerate(statement.citations):
            whole = texts.get(quote.source)
            if whole is None or _place(quote.text, whole) != (quote.begin, quote.end):
                got = repr((quote.source, quote.begin, quote.end, quote.text))
                raise InvalidInput(f"statements[{i}].citations[{k}] is not where its words first occur in its source",
                                   expected="the first occurrence", got=got)  # fmt: skip
            cited.append({"source": short(quote.source), "quote": quote.text})
        rows.append({"text": text, "citations": cited})
    return rows
