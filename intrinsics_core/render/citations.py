"""Four ways to show citations, each written as text, as Markdown with footnotes or as JSON, and each read back.

| mode | tells |
|---|---|
| ``postfix`` | after the text, what it rests on |
| ``postfix-snippet`` | the same, with the words that are cited |
| ``inline`` | in the text, which claim rests on what |
| ``inline-snippet`` | the same, with the words: from it and the texts alone the citations come back, to the character |

No mark stands in a block of code: a claim that ends there goes on to the line behind it.

>>> view = View("inline-snippet", "It is red. It is old.", (Reference("barn", "painted red", begin=0, end=10),))
>>> print(write(view))
It is red.[1] It is old.
<BLANKLINE>
Citations, quoted:
[1] barn: "painted red"
>>> parse(write(view)) == view
True

How it is written. A number in brackets stands where a claim ends, with no space put in. The claim begins where its
sentence does (`text.stops.starts`); where it does not, the mark says how many characters back: ``[1 ←57]``, in Markdown
``[^1]<!--57-->``. What the text itself holds that looks like a mark is escaped by a backslash, and nothing else is. The
list is the end of the text, behind the last of its headings; identifiers and snippets are JSON strings in it where they
are not plain words, so each stands on one line. Where a snippet stands in a source more than once, ``#2`` says which.

JSON is the paper's (*REC: Rate, Explain and Cite*, 2024): ``{"citations": [{"context_id", "snippet"?, "claim"?}]}``,
``"None"`` where there are none; besides, the ``mode`` and the ``response``, and ``nth`` or ``claim_nth`` where a
snippet or a claim is not the first of its words. Without a ``response`` the reader must be given it.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.protocol.names import named
from intrinsics_core.protocol.results import Citation, Citations, Evaluation, RatedMetric
from intrinsics_core.protocol.task import DocumentLike, documents_of
from intrinsics_core.replies.quotes import occurrences
from intrinsics_core.text import stops
from intrinsics_core.text.fences import fenced

Mode = Literal["postfix", "postfix-snippet", "inline", "inline-snippet"]
Style = Literal["text", "markdown", "json"]
MODES: tuple[Mode, ...] = get_args(Mode)
STYLES: tuple[Style, ...] = get_args(Style)


@dataclass(frozen=True, slots=True)
class Reference:
    """What is cited, and for what.

    Attributes:
        context_id: the id of the document, or the name of another text (``"response"``, ``"messages[0]"``).
        snippet: its words that are cited; None in a mode without them.
        nth: which of the places where they stand, from 1, through all documents of that id in order.
        begin, end: the claim, in characters of the response; None in a postfix mode.
    """

    context_id: str
    snippet: str | None = None
    nth: int = 1
    begin: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class View:
    """A text and its references, as a mode shows them; inline ones in order of the ends of their claims.

    Raises:
        InvalidInput: a reference has more, or less, than the mode shows, or lies outside the response.
    """

    mode: Mode
    response: str
    references: tuple[Reference, ...] = ()

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise InvalidInput("mode is unknown", expected=f"one of {', '.join(MODES)}", got=repr(self.mode))
        for i, reference in enumerate(self.references):
            if why := self._wrong(reference):
                raise InvalidInput(f"references[{i}]: {why}", expected=f"what mode {self.mode!r} shows",
                                   got=repr(reference))  # fmt: skip
        if self.inline:
            object.__setattr__(self, "references", tuple(sorted(self.references, key=lambda r: r.end or 0)))

    @property
    def inline(self) -> bool:
        return self.mode.startswith("inline")

    @property
    def quoted(self) -> bool:
        return self.mode.endswith("snippet")

    def _wrong(self, reference: Reference) -> str | None:
        if (reference.snippet is not None) != self.quoted:
            return "has a snippet" if reference.snippet is not None else "has no snippet"
        if reference.nth < 1 or (reference.nth > 1 and not self.quoted):
            return "nth is out of range"
        begin, end = reference.begin, reference.end
        if not self.inline:
            return None if begin is None and end is None else "has a claim"
        if begin is None or end is None or not 0 <= begin <= end <= len(self.response):
            return "has no claim within the response"
        return None


# --- from results to views, and back ----------------------------------------------------------------------------------


def view(found: Citations, response: str, documents: Iterable[DocumentLike], mode: Mode = "inline-snippet") -> View:
    """Citations as a mode shows them. No mark stands in a block of code: what ends there is marked behind it.

    Args:
        found: of the intrinsic ``citations``, or of a flow.
        response, documents: the texts that they are of.
        mode: how the citations are shown: one of ``MODES``.

    Returns:
        The text with its citations, and the list of sources.

    Raises:
        InvalidInput: the mode is unknown, or a citation lies outside the response.
    """
    members, places = _by_id(documents)
    references = [
        Reference(
            c.document_id,
            c.document_text,
            places.number(c.document_id, _member(members, c), c.document_begin, c.document_text),
            c.response_begin,
            c.response_end,
        )
        for c in found.citations
    ]
    return _shown(mode, response, references)


def restored(shown: View, documents: Iterable[DocumentLike]) -> Citations:
    """The citations of an ``inline-snippet`` view, given the documents; a snippet that is in none is dropped, counted.

    Raises:
        InvalidInput: the view is of another mode.
    """
    if shown.mode != "inline-snippet":
        raise InvalidInput(
            "the view does not contain its citations", expected="mode 'inline-snippet'", got=repr(shown.mode)
        )
    members, places = _by_id(documents)
    rows = []
    for reference in shown.references:
        snippet, begin, end = reference.snippet or "", reference.begin or 0, reference.end or 0
        place = places.find(reference.context_id, snippet, reference.nth)
        if place is None:
            continue
        which, at = place
        rows.append(
            Citation(
                response_begin=begin,
                response_end=end,
                response_text=shown.response[begin:end],
                document_id=reference.context_id,
                document_index=members[reference.context_id][which],
                document_begin=at,
                document_end=at + len(snippet),
                document_text=snippet,
            )
        )
    return Citations(citations=tuple(rows), dropped=len(shown.references) - len(rows))


def metric_view(rated: RatedMetric, texts: Mapping[str, str], mode: Mode = "inline-snippet") -> View:
    """One metric of an evaluation: its explanation and statements, a line each, with what they cite.

    Args:
        rated: one metric of an evaluation.
        texts: by the names that its citations have for them, the texts themselves.
        mode: how the citations are shown: one of ``MODES``.

    Returns:
        The text with its citations, and the list of sources.
    """
    places = _Places({name: [text] for name, text in texts.items()})
    lines = [rated.explanation] if rated.explanation else []
    references = []
    for statement in rated.statements:
        begin = sum(len(line) + 1 for line in lines)
        lines.append(statement.text)
        for quote in statement.citations:
            nth = places.number(quote.source, 0, quote.begin, quote.text)
            references.append(Reference(quote.source, quote.text, nth, begin, begin + len(statement.text)))
    return _shown(mode, "\n".join(lines), references)


def metric_views(found: Evaluation, texts: Mapping[str, str], mode: Mode = "inline-snippet") -> dict[str, View]:
    """The views of all metrics that were rated, by name.

    Args:
        found: the result of the intrinsic ``evaluate``.
        texts: by the names that its citations have for them, the texts themselves.
        mode: how the citations are shown: one of ``MODES``.

    Returns:
        A view for each rated metric, by the metric's name.
    """
    return {rated.name: metric_view(rated, texts, mode) for rated in found.metrics if rated.rating is not None}


def _shown(mode: Mode, response: str, references: Sequence[Reference]) -> View:
    """The whole references cut to what the mode shows; a postfix mode tells each source once."""
    placed = (
        _outside_code(response, references)
        if named("mode", mode, MODES).startswith("inline")
        else [replace(r, begin=None, end=None) for r in references]
    )
    kept = [r if mode.endswith("snippet") else replace(r, snippet=None, nth=1) for r in placed]
    return View(mode, response, tuple(dict.fromkeys(kept)))


def _outside_code(response: str, references: Sequence[Reference]) -> list[Reference]:
    """The references with claims that do not end within a block of code, where a mark would be part of the code.

    Such a claim goes on to the line behind the block; where the text ends with the block, what is said before it is
    the claim; where nothing is, the reference is left out.
    """
    blocks, starts = _apart(fenced(response)), stops.starts(response)
    found = []
    for reference in references:
        begin, end = reference.begin or 0, _mark_place(response, blocks, reference.end or 0)
        if end is not None:
            begin = begin if end >= (reference.end or 0) else _start(starts, end)
            found.append(replace(reference, begin=begin, end=end))
    return found


def mark_place(response: str, end: int) -> int | None:
    """Where a mark for a claim may stand that ends at ``end``: not within a block of code, where it would be code.

    Args:
        response: the whole answer.
        end: offset in it, in characters.

    Returns:
        The same place; the beginning of the line behind the block; where the answer ends with the block, the end of
        what is said before it. None where there is nothing but code.
    """
    return _mark_place(response, _apart(fenced(response)), end)


def _mark_place(response: str, blocks: Sequence[tuple[int, int]], end: int) -> int | None:
    place = _behind_code(response, blocks, end)
    if place is None and (said := response[: blocks[-1][0]].rstrip()):  # in the block that the text ends with
        return _behind_code(response, blocks, len(said)) or 0
    return place


def _apart(blocks: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Blocks that follow one another without a line between as one: a mark before a fence would hide it, too."""
    found: list[tuple[int, int]] = []
    for begin, end in blocks:
        begin = found.pop()[0] if found and found[-1][1] == begin else begin
        found.append((begin, end))
    return found


def _behind_code(response: str, blocks: Sequence[tuple[int, int]], end: int) -> int | None:
    """Where a mark may stand for a claim that ends here: here, or on the line behind the code, if any."""
    at = bisect_right(blocks, end, key=lambda block: block[1])  # the first block that ends behind this place
    if at and blocks[at - 1][1] == end:
        return end if _line_ends(response, end) else None
    if at == len(blocks) or end <= blocks[at][0]:
        return end
    return blocks[at][1] if _line_ends(response, blocks[at][1]) else None


def _line_ends(text: str, at: int) -> bool:
    return text[at - 1 : at].splitlines() == [""]


def _by_id(documents: Iterable[DocumentLike]) -> tuple[Mapping[str, Sequence[int]], _Places]:
    """The positions of the documents of each id, and the places of words in them."""
    known = documents_of("citations", documents)
    members: dict[str, list[int]] = {}
    for i, document in enumerate(known):
        members.setdefault(document.id or "", []).append(i)
    return members, _Places({name: [known[i].text for i in own] for name, own in members.items()})


def _member(members: Mapping[str, Sequence[int]], citation: Citation) -> int:
    """Which of the documents of its id a citation is of.

    Raises:
        InvalidInput: of none of them.
    """
    own = members.get(citation.document_id, ())
    if citation.document_index not in own:
        raise InvalidInput("the citation is not from these documents", expected=f"one of {', '.join(members)}",
                           got=f"documents[{citation.document_index}], {citation.document_id!r}")  # fmt: skip
    return own.index(citation.document_index)


class _Places:
    """Where words stand in the texts of a name: numbered from 1 through all of them, also where they overlap."""

    def __init__(self, texts: Mapping[str, Sequence[str]]) -> None:
        self._texts = texts
        self._found: dict[tuple[str, str], list[tuple[int, int]]] = {}

    def _of(self, name: str, words: str) -> list[tuple[int, int]]:
        if (name, words) not in self._found:
            texts = self._texts.get(name, ())
            self._found[name, words] = [
                (i, at) for i, text in enumerate(texts) for at in occurrences(words, text, overlapping=True)
            ]
        return self._found[name, words]

    def number(self, name: str, which: int, at: int, words: str) -> int:
        """Raises InvalidInput where the words do not stand at that place."""
        found = self._of(name, words)
        number = bisect_right(found, (which, at))
        if not number or found[number - 1] != (which, at):
            raise InvalidInput(
                "the citation is not from these texts", expected=f"words of {name!r} at {at}", got=repr(words)
            )
        return number

    def find(self, name: str, words: str, nth: int) -> tuple[int, int] | None:
        found = self._of(name, words)
        return found[nth - 1] if nth <= len(found) else None


# --- writing ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Marks:
    """How marks and the list look. ``mark`` matches one: its number, and characters back or nothing."""

    mark: re.Pattern[str]
    headings: Mapping[Mode, str]
    item: re.Pattern[str]
    written: Callable[[int, int | None], str]
    listed: str


def _text_mark(number: int, back: int | None) -> str:
    return f"[{number}]" if back is None else f"[{number} ←{back}]"


def _footnote_mark(number: int, back: int | None) -> str:
    return f"[^{number}]" if back is None else f"[^{number}]<!--{back}-->"


_WORD = r"[\w.-]++(?:\[[0-9]{1,9}\])?+"  # an id, or the name of a text: documents[0]
_LISTED = rf'((?:{_WORD}|"(?:[^"\\]|\\.)*+"))(?: #([0-9]{{1,9}}))?(?:: ("(?:[^"\\]|\\.)*+"))?'
_LOOKS: Mapping[str, _Marks] = {
    "text": _Marks(
        re.compile(r"\[([0-9]{1,9})(?: ←([0-9]{1,9}))?\]"),
        dict(zip(MODES, ("Sources:", "Sources, quoted:", "Citations:", "Citations, quoted:"), strict=True)),
        re.compile(rf"\[([0-9]{{1,9}})\] {_LISTED}"),
        _text_mark,
        "[{}] ",
    ),
    "markdown": _Marks(
        re.compile(r"\[\^([0-9]{1,9})\](?:<!--([0-9]{1,9})-->)?"),
        {mode: f"<!-- citations: {mode} -->" for mode in MODES},
        re.compile(rf"\[\^([0-9]{{1,9}})\]: {_LISTED}"),
        _footnote_mark,
        "[^{}]: ",
    ),
}
_NONE = "None"  # the paper's word
_PLAIN = re.compile(_WORD)


def write(shown: View, style: Style = "text") -> str:
    """A view as text, as Markdown with footnotes, or as JSON.

    Raises:
        InvalidInput: the style is unknown.
    """
    if style == "json":
        return json.dumps(as_json(shown), ensure_ascii=False)
    if style not in _LOOKS:
        raise InvalidInput("style is unknown", expected=f"one of {', '.join(STYLES)}", got=repr(style))
    look = _LOOKS[style]
    numbers: dict[tuple[Any, ...], int] = {}
    ordered = []
    for i, r in enumerate(shown.references):  # each line of a postfix list is one reference
        key = (r.context_id, r.snippet, r.nth) if shown.inline else (i,)
        ordered.append(numbers.setdefault(key, len(numbers) + 1))
    body = _marked(shown, ordered, look) if shown.inline else shown.response + _called(style, len(ordered))
    first = dict(zip(reversed(ordered), reversed(shown.references), strict=True))
    lines = [look.listed.format(number) + _line(first[number]) for number in sorted(first)]
    return "\n".join([body, "", look.headings[shown.mode], *(lines or [_NONE])])


def _called(style: str, count: int) -> str:
    """What a text ends with in a postfix mode: Markdown shows no footnote that nothing calls."""
    marks = "".join(_footnote_mark(number, None) for number in range(1, count + 1))
    return f"\n\n{marks}" if marks and style == "markdown" else ""


def _marked(shown: View, numbers: Sequence[int], look: _Marks) -> str:
    starts = stops.starts(shown.response)
    parts, at = [], 0
    for i, (reference, number) in enumerate(zip(shown.references, numbers, strict=True)):
        begin, end = reference.begin or 0, reference.end or 0
        if end > at or not i:
            parts.append(_escaped(shown.response[at:end], look, before_mark=True))
            at = end
        last = i + 1 == len(numbers) or (shown.references[i + 1].end or 0) > end
        # What follows a mark of Markdown's must not pass for the characters back that it does not have.
        stated = begin != _start(starts, end) or (last and shown.response.startswith("<!--", end))
        parts.append(look.written(number, end - begin if stated else None))
    return "".join([*parts, _escaped(shown.response[at:], look, before_mark=False)])


def _escaped(text: str, look: _Marks, *, before_mark: bool) -> str:
    """Text between two marks: what looks like a mark gets a backslash, and backslashes before it are doubled."""
    parts, at = [], 0
    for match in look.mark.finditer(text):
        plain = text[at : match.start()]
        parts += [plain, plain[_slashes(plain) :], "\\", match[0]]
        at = match.end()
    plain = text[at:]
    return "".join([*parts, plain, plain[_slashes(plain) :] if before_mark else ""])


def _slashes(text: str) -> int:
    """Where the backslashes at the end of a text begin."""
    return len(text.rstrip("\\"))


def _line(reference: Reference) -> str:
    name = reference.context_id
    plain = name if _PLAIN.fullmatch(name) else _quoted(name)
    which = f" #{reference.nth}" if reference.nth > 1 else ""
    return plain + which + ("" if reference.snippet is None else f": {_quoted(reference.snippet)}")


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _start(starts: Sequence[int], end: int) -> int:
    """Where the sentence begins that ends at ``end``."""
    at = bisect_right(starts, end - 1)
    return starts[at - 1] if at else 0


def as_json(shown: View) -> dict[str, Any]:
    """The paper's JSON, with what is needed to read it back."""
    claims = _Places({"": [shown.response]})
    rows = []
    for r in shown.references:
        row: dict[str, Any] = {"context_id": r.context_id}
        if r.begin is not None and r.end is not None:
            row = {"claim": (claim := shown.response[r.begin : r.end])} | row
            if (nth := claims.number("", 0, r.begin, claim)) > 1:
                row["claim_nth"] = nth
        row |= {} if r.snippet is None else {"snippet": r.snippet}
        rows.append(row | ({"nth": r.nth} if r.nth > 1 else {}))
    return {"mode": shown.mode, "response": shown.response, "citations": rows or _NONE}


# --- reading ----------------------------------------------------------------------------------------------------------


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
        for style, look in _LOOKS.items()
        for mode, heading in look.headings.items()
    ]
    at, style, mode = max(found)
    if at < 0:
        raise InvalidInput(
            "the text has no list of sources", expected="text that write() returned", got=repr(text[-200:])
        )
    look = _LOOKS[style]
    lines = text[at + len(look.headings[mode]) + 3 :].removesuffix("\n").split("\n")
    sources = {} if lines == [_NONE] else dict(_listed(line, look, i) for i, line in enumerate(lines))
    if not mode.startswith("inline"):
        return View(mode, text[:at].removesuffix(_called(style, len(sources))), tuple(sources.values()))
    body, marks = _unmarked(text[:at], look)
    starts = stops.starts(body)
    references = []
    for number, end, back in marks:
        if number not in sources:
            raise InvalidInput(f"mark {number} has no source in the list", expected=f"one of {list(sources)}")
        begin = _start(starts, end) if back is None else end - back
        references.append(replace(sources[number], begin=begin, end=end))
    return View(mode, body, tuple(references))


def _listed(line: str, look: _Marks, i: int) -> tuple[int, Reference]:
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


def _unmarked(text: str, look: _Marks) -> tuple[str, list[tuple[int, int, int | None]]]:
    """The text without marks and escapes, and each mark: number, where it stood, characters back."""
    parts: list[str] = []
    marks: list[tuple[int, int, int | None]] = []
    at = size = 0
    for match in look.mark.finditer(text):
        plain = text[at : match.start()]
        slashes = len(plain) - _slashes(plain)
        kept = plain[: len(plain) - slashes + slashes // 2]
        literal = slashes % 2 == 1
        parts.append(kept + match[0] if literal else kept)
        size += len(parts[-1])
        if not literal:
            marks.append((int(match[1]), size, None if match[2] is None else int(match[2])))
        at = match.end()
    return "".join([*parts, text[at:]]), marks


def from_json(value: Any, response: str | None = None) -> View:
    """The view of the paper's JSON.

    Raises:
        InvalidInput: a field is missing or wrong, or a claim is not in the response.
    """
    rows = value.get("citations") if isinstance(value, dict) else None
    rows = [] if rows == _NONE else rows
    text = value.get("response", response) if isinstance(value, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows) or not isinstance(text, str):
        raise InvalidInput(
            "json is not a list of citations",
            expected='{"citations": [{"context_id": ...}], "response": ...}',
            got=repr(value)[:500],
        )
    mode: Any = value.get("mode") or _mode_of(rows[0] if rows else {})
    claims = _Places({"": [text]})
    references = []
    for i, row in enumerate(rows):
        name, snippet, claim = row.get("context_id"), row.get("snippet"), row.get("claim")
        nth, claim_nth = row.get("nth", 1), row.get("claim_nth", 1)
        numbers = all(isinstance(n, int) and not isinstance(n, bool) and n > 0 for n in (nth, claim_nth))
        texts = isinstance(name, str) and all(isinstance(x, str | None) for x in (snippet, claim))
        if not (texts and numbers):
            raise InvalidInput(f"citations[{i}] is wrong", expected='{"context_id": text, "snippet"?, "claim"?}',
                               got=repr(row))  # fmt: skip
        place = None if claim is None else claims.find("", claim, claim_nth)
        if claim is not None and place is None:
            raise InvalidInput(f"citations[{i}].claim is not in the response", expected="its words", got=repr(claim))
        span = (None, None) if place is None else (place[1], place[1] + len(claim or ""))
        references.append(Reference(name, snippet, nth, *span))
    return View(mode, text, tuple(references))


def _mode_of(row: Mapping[str, Any]) -> str:
    """The mode of the paper's own JSON, which does not name it."""
    return ("inline" if "claim" in row else "postfix") + ("-snippet" if "snippet" in row else "")
