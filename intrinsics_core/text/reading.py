"""The sentences of a document as they are read: each says by itself what it means.

Rows of tables and boxes are put in words. An item of a list is read behind what introduces it, and an answer behind its
question: in a passage behind the question as it stands (`as_read`), as evidence of a claim as a statement (`readings`).
What only asks is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from intrinsics_core.text import tables
from intrinsics_core.text.lines import behind, coded, heading, in_list, is_fence, mark, unmarked
from intrinsics_core.text.prose import ended, is_ended
from intrinsics_core.text.sentences import Span
from intrinsics_core.text.words import AUXILIARY, NO, SADLY, SURELY, YES

_LONGEST, _MOST = 300, 25  # characters of a question and of what introduces items; words of that
_DEEP = 3  # so many items above an item are read with it, the nearest ones
_MARKS = "*_ \t:"
_ENDS = " \t,;"
_TAB = 4  # spaces that a tab stands for


class ReadSentence(NamedTuple):
    """A sentence as it is read: ``text``, "" for nothing. It may be cited for its ``own``: what it says itself.

    ``section`` changes where something else begins. ``question``: the one before it, which it answers; "" for none.
    """

    text: str
    own: str
    section: int = 0
    question: str = ""


def as_read(sentences: Sequence[str], columns: Sequence[int] = ()) -> list[str]:
    """The sentences of one passage (`layout.laid_out`) as they are read beside a user's question, as many texts.

    An answer stands behind its question, however it begins: "Is there a gym? On the second floor." ``columns``:
    `columns_of` the sentences; empty: each begins a line.
    """
    return [f"{each.question}? {each.text}" if each.question else each.text for each in _read(sentences, columns)]


def readings(sentences: Sequence[str], columns: Sequence[int] = ()) -> list[ReadSentence]:
    """The sentences as evidence of claims, with what each says itself and where something else begins."""
    found = _read(sentences, columns)
    said = [answered(each.question, each.text) if each.question else "" for each in found]
    return [each._replace(text=text, own=text) if text else each for each, text in zip(found, said, strict=True)]


def columns_of(text: str, spans: Sequence[Span]) -> list[int]:
    """For each sentence of a text the column in which it begins a line; -1 where it goes on in one."""
    found, end = list[int](), 0
    for span in spans:
        between = text[end : span.begin]
        *earlier, indent = between.splitlines() if between[-1:] not in "\r\n" else [between, ""]
        found.append(len(indent.expandtabs(_TAB)) if earlier or end == 0 else -1)
        end = span.end
    return found


def _read(sentences: Sequence[str], columns: Sequence[int]) -> list[ReadSentence]:
    rows, code = tables.in_words(sentences), coded(sentences)
    boxed = _without_boxes(["" if i in code else row for i, row in enumerate(rows)])
    said = [row if i in code else boxed[i] for i, row in enumerate(rows)]
    found, asks, of = list[ReadSentence](), "", 0  # of: the section of the question
    places = _places([text if said[i] else "" for i, text in enumerate(sentences)], columns or [0] * len(sentences))
    for text, words, (front, section, introduces) in zip(sentences, said, places, strict=True):
        if question := asked(text):
            asks, of = "" if introduces else question, section
            found.append(ReadSentence("", "", section))
            continue
        read = "" if introduces else words
        if read and front:
            read = ended(behind(front, unmarked(read).rstrip(_ENDS) if in_list(read) else read))
        found.append(ReadSentence(read, words, section, asks if read and of == section else ""))
        asks = "" if words else asks
    return found


# --- what stands above a sentence ---------------------------------------------------------------------------------

Place = tuple[str, int, bool]
"""What a sentence is read behind, "" for nothing; a number that changes where something else begins; whether it only
introduces others, which are read behind it."""


def _places(lines: Sequence[str], columns: Sequence[int]) -> Iterator[Place]:
    """For each sentence its place. "Not covered:" says what "- water damage" means, and "- Garden Hotel" of whose price
    "- double room: 70 euros" below it is."""
    introduction, section = "", 0
    items = list[tuple[int, str, str]]()  # of each item above: its column, the kind of its mark, what it introduces
    for i, (text, column) in enumerate(zip(lines, columns, strict=True)):
        title = heading(text) if column >= 0 else None
        item = column >= 0 and title is None and in_list(text)
        left = title is not None
        if item:
            kind = mark(text)
            while items and not _is_above(items, column, kind):
                left = items.pop()[0] > column or left
            front = ": ".join(filter(None, (introduction, *(each[2] for each in items[-_DEEP:]))))
        elif left or (column >= 0 and not (items and column > items[0][0])):
            items, introduction = [], ""
        said = unmarked(title.name) if title else unmarked(text) if item else text
        opens = (item or not items) and _opens(lines, columns, i, item)
        said = _introduction(said) if opens else ""
        section += bool(said or left)
        if item:
            items.append((column, kind, said))
        else:
            front, introduction = "", said or introduction
        yield front, section, bool(said)


def _is_above(items: Sequence[tuple[int, str, str]], column: int, kind: str) -> bool:
    """Whether the last item is above a new one: it is indented less, or holds it as "(1)" holds "a)"."""
    last, _, says = items[-1]
    return last < column or (
        last == column and says != "" and kind not in [k for c, k, _ in items[-_DEEP:] if c == last]
    )


def _opens(lines: Sequence[str], columns: Sequence[int], i: int, item: bool) -> bool:
    """Whether a list begins below a sentence."""
    if i + 1 == len(lines) or columns[i + 1] < 0 or heading(lines[i + 1]) or not in_list(lines[i + 1]):
        return False
    below = columns[i] == columns[i + 1] and lines[i].endswith(":") and mark(lines[i]) != mark(lines[i + 1])
    return not item or columns[i] < columns[i + 1] or below


def _introduction(text: str) -> str:
    """What a sentence says of the items below it, if it is one that introduces: it has no end, a colon, or asks."""
    question = "" if is_fence(text) else asked(text)
    said = question or text.strip(_MARKS)
    introduces = _OPEN.match(question) if question else not is_ended(said) and said[-1:] not in tuple(",;|")
    return said if introduces and len(said) <= _LONGEST and len(said.split()) <= _MOST and not is_fence(text) else ""


# --- questions ----------------------------------------------------------------------------------------------------

_LABELS = re.compile(r"\A(?:#{1,6}\s+|[-*•>]\s+|\*\*|__|\(?\d{1,3}[.)]\s+|[“\"«„]|[^\W\d_][\w .’'-]{0,30}:\s+){0,3}")
_POLAR = re.compile(rf"\A(?:and |but |or |so )?(?P<auxiliary>{AUXILIARY})(?P<rest>\s.+)", re.IGNORECASE | re.DOTALL)
_OPEN = re.compile(
    r"\A(?:and |but |so )?(?:(?:in|at|on|to|by|for|from|since|until|with|under) )?"
    r"(?:who|whom|whose|what|which|when|where|why|how)\b",
    re.IGNORECASE,
)
_CLOSING = "*_\"'”’»)] \t\r\n"
_BEGUN = re.compile(
    rf"\A(?:(?:{SADLY})\b,? )?(?:(?:{YES}|{SURELY})|(?P<no>(?:{NO})(?!\.\s?\d)|(?:(?:{SADLY}|{SURELY}) )?not))\b"
    r"(?:,? unfortunately)?(?:\s?[.,;:!–—-]++\s*|\Z)",
    re.IGNORECASE,
)


def asked(sentence: str) -> str:
    """The question that a sentence is, without a mark or a speaker in front and its question mark; "" if it is none.

    A sentence that asks at its end alone ("My parcel is lost, can you help?") tells something, too.
    """
    text = sentence.rstrip(_CLOSING)
    if not text.endswith("?") or len(text) > _LONGEST:
        return ""
    text = _LABELS.sub("", text).strip(_CLOSING).rstrip("?")
    return text if _POLAR.match(text) or _OPEN.match(text) else ""


def answered(question: str, answer: str) -> str:
    """A sentence that follows a question (`asked`), as it is read with it. Neither yes nor no is not taken for a yes.

    "Is breakfast included?" above "No, it is 9 euros extra." reads "Is not breakfast included: it is 9 euros extra."
    """
    polar, said = _POLAR.match(question), _LABELS.sub("", answer).strip()
    if polar is None:
        return f"{question}: {said}"
    begun = _BEGUN.match(said)
    if begun is None:
        return answer
    rest, denied = said[begun.end() :], " not" if begun["no"] else ""
    return f"{polar['auxiliary']}{denied}{polar['rest']}{f': {rest}' if rest else '.'}"


# --- boxes --------------------------------------------------------------------------------------------------------

_BOX = re.compile(r"(?<!\S)(\[[ xX✓✔]\]|[☐☑☒🗹])(?=\s|\Z)")
_EMPTY = ("[ ]", "☐")
_AROUND = " \t\r\n.,;:|"


def _without_boxes(sentences: Sequence[str]) -> list[str]:
    """The sentences with what their boxes say: "[x] vegan" is "vegan: yes", and "[ ] vegan" is "not vegan".

    Where none is ticked, a box that begins a line is the mark of an item ("☐ Lock the cabinet") and says nothing.
    """
    ticked = any(box not in _EMPTY for text in sentences for box in _BOX.findall(text))
    return [_ticked(text, ticked) for text in sentences]


def _ticked(text: str, ticked: bool) -> str:
    """A sentence with what stands behind each of its boxes, or before them where the last has nothing behind it.

    Prose may speak of boxes: "Use [ ] for an empty list." So the sentence begins with one, or a colon stands before the
    first, or it has no end mark and several, or one at its end.
    """
    before, *rest = _BOX.split(text)
    names = [name.strip(_AROUND) for name in rest[1::2]]
    begins = not unmarked(before + " ")
    if not rest or (begins and not ticked and names == [names[0]] and names[0]):
        return ended(names[0]) if rest else text
    if not (begins or before.rstrip().endswith(":")) and (is_ended(text) or (len(names) == 1 and names[0])):
        return text
    opening = "" if begins else before.strip(_AROUND)
    if not names[-1]:  # "shower [x] bathtub [ ]"
        names, opening = [opening, *names[:-1]], ""
    told = [
        f"not {name}" if box in _EMPTY else f"{name}: yes" for box, name in zip(rest[::2], names, strict=True) if name
    ]
    return ended(behind(opening, "; ".join(told))) if told else text
