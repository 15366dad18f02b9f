"""A view read back from what was written of it."""

from __future__ import annotations

import json
from dataclasses import replace

from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.render.citations.marks import LOOKS, NONE, Marks, before_slashes, called
from intrinsics_core.render.citations.paper_json import from_json
from intrinsics_core.render.citations.places import sentence_start
from intrinsics_core.render.citations.views import Reference, View
from intrinsics_core.text import stops


def parse(text: str, response: str | None = None) -> View:
    """What :func:`write` wrote, whichever style.

    Args:
        text: all of it.
        response: the text that is cited in, for JSON that does not hold it.

    Raises:
        InvalidInput: it is no such text; says where.
    """
    if text.lstrip().startswith("{"):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            pass  # a response may begin so
        else:
            return from_json(value, response)
    found = [
        (text.rfind(f"\n\n{heading}\n"), style, mode)
        for style, look in LOOKS.items()
        for mode, heading in look.headings.items()
    ]
    at, style, mode = max(found)
    if at < 0:
        raise InvalidInput(
            "the text has no list of sources", expected="text that write() returned", got=repr(text[-200:])
        )
    look = LOOKS[style]
    lines = text[at + len(look.headings[mode]) + 3 :].removesuffix("\n").split("\n")
    sources = {} if lines == [NONE] else dict(_listed(line, look, i) for i, line in enumerate(lines))
    if not mode.startswith("inline"):
        return View(mode, text[:at].removesuffix(called(style, len(sources))), tuple(sources.values()))
    body, marks = _unmarked(text[:at], look)
    starts = stops.starts(body)
    references = []
    for number, end, back in marks:
        if number not in sources:
            raise InvalidInput(f"mark {number} has no source in the list", expected=f"one of {list(sources)}")
        begin = sentence_start(starts, end) if back is None else end - back
        references.append(replace(sources[number], begin=begin, end=end))
    return View(mode, body, tuple(references))


def _listed(line: str, look: Marks, i: int) -> tuple[int, Reference]:
    match = look.item.fullmatch(line)
    try:
        if match is None:
            raise ValueError("it does not have the expected form")
        number, name, nth, snippet = match.groups()
        name = json.loads(name, strict=False) if name.startswith('"') else name
        words = None if snippet is None else json.loads(snippet, strict=False)
        return int(number), Reference(name, words, int(nth or 1))
    except ValueError as error:
        raise InvalidInput(f"line {i} of the list is not a source: {error}", expected='[1] id: "snippet"',
                           got=repr(line)) from None  # fmt: skip


def _unmarked(text: str, look: Marks) -> tuple[str, list[tuple[int, int, int | None]]]:
    """The text without marks and escapes, and each mark: number, where it stood, characters back."""
    parts: list[str] = []
    marks: list[tuple[int, int, int | None]] = []
    at = size = 0
    for match in look.mark.finditer(text):
        plain = text[at : match.start()]
        slashes = len(plain) - before_slashes(plain)
        kept = plain[: len(plain) - slashes + slashes // 2]
        literal = slashes % 2 == 1
        parts.append(kept + match[0] if literal else kept)
        size += len(parts[-1])
        if not literal:
            marks.append((int(match[1]), size, None if match[2] is None else int(match[2])))
        at = match.end()
    return "".join([*parts, text[at:]]), marks
