"""Which documents the marks of an answer name: by number in the list, id, title, file name or address.

The shapes are those of `citation_marks`. Numbers are counted from 0 where the answer has a 0, else from 1. Where the
ids of the documents are numbers, and all that the answer cites are among them, numbers are ids. A list of sources in
the answer itself ("[1]: guide.pdf") says what its numbers mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from intrinsics_core.text.citation_marks import ANY, DIGITS, FILE, LABEL, LINK, NUMBERED, PART, unmarked
from intrinsics_core.text.lines import fenced

_URL = re.compile(r"(?:https?://|www\.)[^\s()\[\]<>\"“”]{1,400}", re.IGNORECASE)
_FILE = re.compile(rf"(?!\S{{0,80}}†){FILE}\b|(?<=†){FILE}\b", re.IGNORECASE)
_LABELLED = re.compile(rf"(?:{LABEL})[ :#_-]{{0,3}}(?=[\w.-])", re.IGNORECASE)
_PART = re.compile(rf"{PART}\b\.? ?\d", re.IGNORECASE)
_NUMBER = re.compile(r"(\d{1,3})(?:\s?[–-]\s?(\d{1,3})\Z)?(?![\w-])")
_AT = re.compile(r"(?:(\d{1,6}):)?(\d{1,6})†")  # 【4:0†file】: the message and, from 0, the document
_BRACKETED = re.compile(r"[\[(【](?:see |source: ?)?([^\[\]()【】\n]{1,200})[\])】](?!\()", re.IGNORECASE)
_ITEM = re.compile(r"\A[\W_]{0,4}(\d{1,3}|[¹²³⁴⁵⁶⁷⁸⁹⁰]{1,3})(?!\w)")
_HEXADECIMAL = re.compile(r"[0-9a-f]++", re.IGNORECASE)
_RAISED = str.maketrans("¹²³⁴⁵⁶⁷⁸⁹⁰", "1234567890")
_AROUND = " \t\n[](){}<>【】^*\"'“”‘’«»„.,;:"


class CitationMark(NamedTuple):
    """``text[begin:end]`` cites the document at a position; None where it names one that is not there.

    ``opens`` is True for the first of two tags: what it marks stands behind it.
    """

    begin: int
    end: int
    document: int | None
    opens: bool = False


class _Name(NamedTuple):
    """What a mark says: a number of the list, or a name. ``first`` is the list's first number, where the mark tells.

    ``unknown`` is True where a name that no document has still names a document.
    """

    name: str = ""
    number: int = -1
    first: int | None = None
    unknown: bool = False


class _Documents:
    """The documents by all that an answer may call them."""

    def __init__(self, texts: Sequence[str], names: Sequence[Sequence[str]]) -> None:
        self.count, self.texts = len(names), texts
        self.by_name: dict[str, int] = {}
        self.by_number: dict[int, int] = {}
        for i, own in enumerate(names):
            for name in own:
                if name.isdecimal():
                    self.by_number.setdefault(int(name), i)
                else:
                    self.by_name.setdefault(_key(name), i)
        self.are_positions = all(number == i for number, i in self.by_number.items())
        whole = [name for each in names for name in each]
        self.have_addresses = any(_URL.search(name) for name in whole)
        self.have_files = any(_FILE.search(name) for name in whole)
        self.shapes = {shape for name in whole if (shape := _shape(name))}

    def written(self, words: str) -> bool:
        """Whether a document itself has these words."""
        return any(words in text for text in self.texts)


def marks_in(
    text: str, documents: Sequence[str], names: Sequence[Sequence[str]], *, base: int | None = None
) -> list[CitationMark]:
    """The marks of an answer and the document of each; of a mark that names several, one for each of them.

    Args:
        text: the answer.
        documents: the texts of the documents, in the order of the list.
        names: by document, what it may be called: id, title, file name, addresses.
        base: the number of the first document, 0 or 1; found out from the answer where it is None.

    Returns:
        The marks in order. Lines that list sources, and code, have none.
    """
    known = _Documents(documents, names)
    defined, listed = _defined(text, known)
    quiet = bytearray(len(text))
    for low, high in [*listed, *fenced(text)]:
        quiet[low:high] = b"1" * (high - low)
    found = sorted(_said(text, known), key=lambda each: each[:2])
    kept: list[tuple[int, int, bool, list[_Name]]] = []
    for begin, end, opens, says in found:
        if not quiet[begin] and (not kept or begin >= kept[-1][1]):
            kept.append((begin, end, opens, says))
    numbers = {name.number for *_, says in kept for name in says if name.number >= 0 and name.first is None}
    by_id = not known.are_positions and numbers <= known.by_number.keys() and base is None
    first = base if base is not None else 0 if 0 in numbers else 1
    marks: list[CitationMark] = []
    for begin, end, opens, says in kept:
        of: dict[int | None, None] = {}
        for name in says:
            if name.name:
                place = known.by_name.get(_key(name.name))
                of |= {place: None} if place is not None or name.unknown else {}
            elif name.first is None and name.number in defined:
                of[defined[name.number]] = None
            elif by_id and name.first is None:
                of[known.by_number[name.number]] = None
            else:
                at = name.number - (first if name.first is None else name.first)
                of[at if 0 <= at < known.count else None] = None
        marks += [CitationMark(begin, end, place, opens) for place in of]
    return marks


def _key(name: str) -> str:
    """A name as it is compared."""
    bare = " ".join(name.casefold().split()).strip(_AROUND).split("#")[0].rstrip("/")
    return bare.removeprefix("https://").removeprefix("http://").removeprefix("www.")


def _shape(name: str) -> str:
    """An id without its digits, which a made-up one shares: "guide-7"; "" for a name of other kinds."""
    if " " in name or name.isdecimal() or "/" in name:
        return ""
    return _HEXADECIMAL.sub(lambda part: "#" if any(map(str.isdigit, part[0])) else part[0], name.casefold())


def _defined(text: str, known: _Documents) -> tuple[dict[int, int], list[tuple[int, int]]]:
    """The numbers that a list of sources in the answer defines, and where its lines are."""
    lines = text.splitlines(keepends=True)
    numbers, places, at = dict[int, int](), list[tuple[int, int]](), 0
    for line, said in zip(lines, unmarked([line.strip() for line in lines], known.texts, known.by_name), strict=True):
        item = _ITEM.match(line)
        words = LINK.sub(r"\g<text>", line)[item.end() if item else 0 :].strip(_AROUND + "-")
        if item and not said and any(map(str.isalpha, words)):
            address = _URL.search(line)
            called = [words, *words.split(", "), *([address[0]] if address else [])]
            place = next((known.by_name[_key(name)] for name in called if _key(name) in known.by_name), None)
            if place is not None:
                numbers[int(item[1].translate(_RAISED))] = place
            places.append((at, at + len(line)))
        at += len(line)
    return numbers, places


def _said(text: str, known: _Documents) -> Iterator[tuple[int, int, bool, list[_Name]]]:
    """(begin, end, whether it opens, what it says) of all that looks like a mark; places may overlap."""
    for mark in ANY.finditer(text):
        closes = mark[0].startswith("</")
        if (mark.lastgroup or "_").startswith("n") and not closes and (says := _names(mark[0], known)):
            is_tag = mark[0].startswith("<") and "</" not in mark[0]
            yield mark.start(), mark.end(), is_tag, says
    for mark in NUMBERED.finditer(text):
        if mark["mark"] and not _is_theirs(text, mark, known):
            for each in re.finditer(r"\[[^\[\]]*\]", mark[0]):
                yield mark.start() + each.start(), mark.start() + each.end(), False, list(_numbers(each[0][1:-1]))
    for mark in LINK.finditer(text):
        address = _URL.search(mark[0])
        if address and (says := _address(address[0], known)):
            yield mark.start(), mark.end(), False, says
    for mark in _BRACKETED.finditer(text):
        if _key(mark[1]) in known.by_name or (mark[0][0] != "(" and _shape(mark[1]) in known.shapes):
            yield mark.start(), mark.end(), False, [_Name(mark[1], unknown=True)]
    for mark in _URL.finditer(text):
        if _key(mark[0]) in known.by_name:
            yield mark.start(), mark.end(), False, [_Name(mark[0])]


def _is_theirs(text: str, mark: re.Match[str], known: _Documents) -> bool:
    """Whether a document writes such a number in brackets itself, so that it may be copied: `argv[1]`, "Otto [12]"."""
    before = text[max(0, mark.start() - 1) : mark.start()]
    index = f"{before}{mark[0]}"
    over = max(map(int, DIGITS.findall(mark[0])), default=0) > known.count
    return (before.isalnum() and known.written(index)) or (over and known.written(mark[0]))


def _address(address: str, known: _Documents) -> list[_Name]:
    """An address as a name; nothing where the documents have none, or write this one themselves."""
    address = address.rstrip(".,;:!?")
    if _key(address) in known.by_name:
        return [_Name(address)]
    return [_Name(address, unknown=True)] if known.have_addresses and not known.written(address) else []


def _names(mark: str, known: _Documents) -> list[_Name]:
    """What one mark of a shape says."""
    if mark.startswith("\ue200") or "\ue202" in mark:
        last = DIGITS.findall(mark)
        return [_Name(number=int(last[-1]), first=0)] if last else []
    inner = mark.strip(_AROUND)
    if addresses := _URL.findall(mark):
        told = [name for address in addresses for name in _address(address, known)]
        return told or ([] if known.have_addresses else list(_numbers(inner.split("]")[0])))
    if _key(_LABELLED.sub("", inner, count=1)) in known.by_name:
        return [_Name(_LABELLED.sub("", inner, count=1))]
    if files := _FILE.findall(inner):
        told = [_Name(file, unknown=known.have_files and not known.written(file)) for file in files]
        return [name for name in told if name.unknown or _key(name.name) in known.by_name]
    if at := _AT.search(mark):
        return [_Name(number=int(at[2]), first=0 if at[1] else None)]
    if mark.startswith("<"):
        found = DIGITS.findall(mark)
        return [_Name(number=int(number)) for number in (found if "</" in mark else found[:1])]
    in_parentheses = mark.startswith("(")
    said = list(_numbers(inner.translate(_RAISED), labelled=not in_parentheses))
    return [name for name in said if not in_parentheses or name.number <= known.count]


def _numbers(inner: str, *, labelled: bool = False) -> Iterator[_Name]:
    """The numbers of a list, "1, 3" or "2-4", with a label or without; what is no number is a name."""
    for part in re.split(r"[,;˒&]|\band\b", inner):
        token = part.strip(_AROUND)
        if _PART.match(token):
            continue
        bare = _LABELLED.sub("", token, count=1)
        number = _NUMBER.match(bare)
        if number and (first := int(number[1])) <= (last := int(number[2] or first)):
            yield from (_Name(number=each) for each in range(first, last + 1))
        elif bare and labelled and bare != token:
            yield _Name(bare, unknown=True)
