"""A view as text, as Markdown with footnotes, or as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from intrinsics_core.chains.notes import citation_url, source_and_page
from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.protocol.task import Document, DocumentLike, documents_of
from intrinsics_core.render.citations.marks import LOOKS, NONE, WORD, Marks, before_slashes, called
from intrinsics_core.render.citations.paper_json import as_json
from intrinsics_core.render.citations.places import sentence_start
from intrinsics_core.render.citations.views import STYLES, Reference, Style, View
from intrinsics_core.text import stops

_PLAIN = re.compile(WORD)
_EXCERPT = 60  # characters of a document without a name

Label = Callable[[str], str]
"""What a list of sources shows for the id of a document."""


def source_label(document: Document) -> str:
    """A source as a person reads it: its title, its address or file, its page; else how its text begins."""
    kept, (source, page) = document.metadata, source_and_page(document.metadata)
    title = next((name for name in (kept.get("title"), document.title) if isinstance(name, str) and name), None)
    if named := [" ".join(name.split()) for name in (title, citation_url(kept) or source) if name]:
        return ", ".join(dict.fromkeys([*named, *([page] if page else [])]))
    words = " ".join(document.text.split())
    return words if len(words) <= _EXCERPT else f"{words[:_EXCERPT].rpartition(' ')[0] or words[:_EXCERPT]} …"


def labelled(documents: Iterable[DocumentLike], label: Callable[[Document], str] = source_label) -> Label:
    """For `write`: the labels of these documents by id; of equal ids the first counts.

    Args:
        documents: those that are cited.
        label: what is shown for a document.

    Returns:
        A function of an id; an id of none of them is shown as it is.
    """
    shown = {one.id or "": label(one) for one in reversed(documents_of("citations", documents))}
    return lambda name: shown.get(name, name)


def write(shown: View, style: Style = "text", *, label: Label | None = None) -> str:
    """A view as text, as Markdown with footnotes, or as JSON.

    Args:
        shown: the text and its references.
        style: one of ``STYLES``.
        label: for texts that people read: what the list shows for the id of a document, such as
            ``labelled(documents)``. A text without references then has no list. It cannot be read back, and JSON keeps
            the ids.

    Returns:
        The text.

    Raises:
        InvalidInput: the style is unknown.
    """
    if style == "json":
        return json.dumps(as_json(shown), ensure_ascii=False)
    if style not in LOOKS:
        raise InvalidInput("style is unknown", expected=f"one of {', '.join(STYLES)}", got=repr(style))
    look = LOOKS[style]
    numbers: dict[tuple[Any, ...], int] = {}
    ordered = []
    for i, r in enumerate(shown.references):  # each line of a postfix list is one reference
        key = (r.context_id, r.snippet, r.nth) if shown.inline else (i,)
        ordered.append(numbers.setdefault(key, len(numbers) + 1))
    body = _marked(shown, ordered, look) if shown.inline else shown.response + called(style, len(ordered))
    if label and not shown.references:
        return body
    first = dict(zip(reversed(ordered), reversed(shown.references), strict=True))
    lines = [look.listed.format(number) + _line(first[number], label) for number in sorted(first)]
    return "\n".join([body, "", look.headings[shown.mode], *(lines or [NONE])])


def _marked(shown: View, numbers: Sequence[int], look: Marks) -> str:
    starts = stops.starts(shown.response)
    parts, at = [], 0
    for i, (reference, number) in enumerate(zip(shown.references, numbers, strict=True)):
        begin, end = reference.begin or 0, reference.end or 0
        if end > at or not i:
            parts.append(_escaped(shown.response[at:end], look, before_mark=True))
            at = end
        last = i + 1 == len(numbers) or (shown.references[i + 1].end or 0) > end
        # What follows a mark of Markdown's must not pass for the characters back that it does not have.
        stated = begin != sentence_start(starts, end) or (last and shown.response.startswith("<!--", end))
        parts.append(look.written(number, end - begin if stated else None))
    return "".join([*parts, _escaped(shown.response[at:], look, before_mark=False)])


def _escaped(text: str, look: Marks, *, before_mark: bool) -> str:
    """Text between two marks: what looks like a mark gets a backslash, and backslashes before it are doubled."""
    parts, at = [], 0
    for match in look.mark.finditer(text):
        plain = text[at : match.start()]
        parts += [plain, plain[before_slashes(plain) :], "\\", match[0]]
        at = match.end()
    plain = text[at:]
    return "".join([*parts, plain, plain[before_slashes(plain) :] if before_mark else ""])


def _line(reference: Reference, label: Label | None) -> str:
    name = reference.context_id
    plain = label(name) if label else name if _PLAIN.fullmatch(name) else _quoted(name)
    which = f" #{reference.nth}" if reference.nth > 1 else ""
    return plain + which + ("" if reference.snippet is None else f": {_quoted(reference.snippet)}")


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
