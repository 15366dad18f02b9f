"""A text as it is read: without tags and what a page does not show, with the letters that were meant.

Code between two fences is read as it is. Of an answer, what a page would hide is read, too: its reader may see it.
Nothing of a sentence as it is read is cited or returned: offsets count in the text as it came.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Sequence
from html.entities import html5
from typing import NamedTuple

from intrinsics_core.text.lines import QUOTED, coded, fenced

_LIGATURE = re.compile("[\ufb00-\ufb06]")
_CUT = re.compile(r"(?<![^\W\d_-])([^\W\d_]{1,30}[a-zß-öø-ÿ])-[ \t]{0,9}\r?\n[ \t]{0,9}([a-zß-öø-ÿ]{1,30})")
_CUT_YEAR = re.compile(r"\b(1[5-9]|20)-[ \t]{0,9}\r?\n[ \t]{0,9}(\d\d)\b")
# A picture in base64, a key, a hash: in one run, or in lines of 60 and more.
_RUN = re.compile(r"(?<![\w+/=%-])(?:[\w+/=%-]{60,}+(?:\r?\n)?+)++", re.ASCII)
_LONGEST, _LEFT = 200, 20  # characters of a run that are read; of a longer one
_PART = 3  # letters that a word has which stands before a hyphen: "self-service"
_SPAN = 10  # two numbers no further apart may be a range: "in 18-20 days"

# Of pages. A tag behind a backtick is code.
_BLOCKS = (
    "(?-i:p)|div|li|ul|ol|tr|table|thead|tbody|h[1-6]|dt|dd|dl|blockquote|section|article|header|footer|figcaption|caption"
    "|option|form"
)
_INLINE = (
    "abbr|(?-i:[abiusq])|cite|code|del|dfn|em|font|ins|kbd|mark|nobr|samp|small|span|strike|strong|su[bp]|time"
    "|tt|var|wbr"
)
_OTHERS = (
    "address|aside|body|br|button|center|col|colgroup|details|figure|head|hr|html|img|label|main|nav|pre|select|summary"
    "|t[dh]|tfoot|title"
)
_ATTRIBUTES = r"(?:\s[^<>=]{0,80}=[^<>]{0,2000}|\s{1,4}(?:hidden|open|selected|disabled|checked))?\s?/?>"
_TAG = re.compile(
    rf"(?<!`)(?:</?(?:(?P<inline>{_INLINE})|{_BLOCKS}|{_OTHERS}){_ATTRIBUTES}|<!doctype[^<>]{{0,400}}>)", re.IGNORECASE
)
_ENDS_BLOCK = re.compile(rf"(?:(?<!`)(?:</(?:{_BLOCKS})\s?>|<br\s?/?>)\s{{0,3}})++", re.IGNORECASE)
_RAISED = re.compile(r"(?<=\d)<sup>", re.IGNORECASE)
_ROW = re.compile(r"\A\s{0,9}<tr(?=[\s>])", re.IGNORECASE)
_CELL = re.compile(r"<t[dh](?=[\s>])[^<>]{0,2000}>", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|(?P<name>[a-z][a-z0-9]{1,31}));", re.IGNORECASE)
_OPENED = re.compile(r"(?<!`)<(?:!(?P<comment>--)|(?P<name>[a-z][a-z0-9]{0,9})(?P<rest>(?=[\s>/])[^<>]{0,400})>)", re.I)
_HIDES = re.compile(r"(?:\s|\A)hidden(?=[\s=]|\Z)|display:\s?none|visibility:\s?hidden", re.IGNORECASE)
_UNSHOWN = ("script", "style", "template")
_STOPS = re.compile(r"[.!?]\s|[\r\n]")
_LONGEST_ROW = 1_000


def cleaned(sentences: Sequence[str], is_known: Callable[[str], bool], *, hidden: bool = False) -> list[str]:
    """The sentences without tags and what a page hides; entities, ligatures and cut words as they were meant.

    Args:
        sentences: in order (`layout.laid_out`).
        is_known: whether a word is one that texts use. "cancella-" and "tions" in the next line are one word then.
        hidden: what a page would hide is read, too.
    """
    code = coded(sentences)
    return [text if i in code else _cleaned(text, is_known, hidden) for i, text in enumerate(sentences)]


def _cleaned(text: str, is_known: Callable[[str], bool], hidden: bool) -> str:
    text = QUOTED.sub("", text) if ">" in text else text
    text = _lettered(as_formatted(text) if hidden else as_shown(text))
    return _joined(text, is_known) if "-" in text and "\n" in text else text


def without_runs(text: str) -> str:
    """The text with the beginning alone of each long run of characters without spaces, which has no words.

    >>> without_runs("A map: " + "iVBORw0KGgo" * 2_000 + " It opens at nine.")
    'A map: iVBORw0KGgoiVBORw0KG It opens at nine.'
    """
    if len(text) <= _LONGEST:
        return text
    return _RUN.sub(lambda run: run[0] if len(run[0]) <= _LONGEST else run[0][:_LEFT], text)


def as_meant(text: str) -> str:
    """A text of any length as a page shows it, without ligatures. Code between two fences stays as it is."""
    pieces, at = [], 0
    for begin, end in fenced(text):
        pieces += [_lettered(as_shown(text[at:begin])), text[begin:end]]
        at = end
    return "".join([*pieces, _lettered(as_shown(text[at:]))])


def _lettered(text: str) -> str:
    """The text without ligatures."""
    return text if text.isascii() else _LIGATURE.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)


def _joined(text: str, is_known: Callable[[str], bool]) -> str:
    def word(cut: re.Match[str]) -> str:
        begun, ended = cut.groups()
        apart = min(len(begun), len(ended)) >= _PART and is_known(begun) and is_known(ended)
        return f"{begun}-{ended}" if apart and not is_known(begun + ended) else begun + ended

    def year(cut: re.Match[str]) -> str:
        return cut[0] if 0 < int(cut[2]) - int(cut[1]) <= _SPAN else cut[1] + cut[2]

    return _CUT_YEAR.sub(year, _CUT.sub(word, text))


# --- pages --------------------------------------------------------------------------------------------------------


class Region(NamedTuple):
    """A part of a page: ``text[begin:end]`` is not ``shown``, or is a row of a table."""

    begin: int
    end: int
    shown: bool


def regions(text: str) -> list[Region]:
    """Comments, scripts, hidden elements and short rows of tables, in order, none inside another."""
    found, at, unclosed = list[Region](), 0, set[str]()
    while "<" in text and (opened := _OPENED.search(text, at)):
        at, name = opened.end(), (opened["comment"] or opened["name"]).lower()
        row = name == "tr"
        if name in unclosed or not (name in ("--", "tr", *_UNSHOWN) or _HIDES.search(opened["rest"])):
            continue
        closing = re.compile("-->" if name == "--" else rf"</{name}\s?>", re.IGNORECASE)
        closed = closing.search(text, at, opened.start() + _LONGEST_ROW if row else len(text))
        if closed:
            at = closed.end()
            found.append(Region(opened.start(), at, row))
        elif not row:
            unclosed.add(name)
    return found


def stands_apart(text: str, region: Region) -> bool:
    """Whether a region is no short part of a sentence: a tag or the end of a line stands beside it, or a stop in it."""
    begin, end, shown = region
    before, after = text[max(0, begin - 3) : begin].rstrip(" \t"), text[end : end + 3].lstrip(" \t")
    beside = before[-1:] in ("", "\n", "\r", ">") or after[:1] in ("", "\n", "\r", "<")
    return shown or beside or _STOPS.search(text, begin, end) is not None


def block_ends(line: str) -> list[int]:
    """Where blocks of a page end in a line, its own end left out."""
    return [match.end() for match in _ENDS_BLOCK.finditer(line) if line[match.end() :].strip()] if "<" in line else []


def as_shown(text: str) -> str:
    """The text as a page shows it: "" for what is hidden, cells between bars, no tags, characters for entities."""
    pieces, at = [], 0
    for begin, end, shown in regions(text):
        if not shown:
            pieces.append(text[at:begin])
            at = end
    return as_formatted("".join([*pieces, text[at:]]))


def as_formatted(text: str) -> str:
    """The text without the tags of its form, with characters for entities. What a page hides, and its scripts, stay."""
    if "<" in text:
        text = _without_tags(text)
    return _ENTITY.sub(_character, text) if "&" in text else text


def _character(entity: re.Match[str]) -> str:
    return html.unescape(entity[0]) if entity["name"] is None or entity[0][1:] in html5 else entity[0]


def _without_tags(text: str) -> str:
    row = _ROW.match(text) is not None
    if row:
        first, *cells = _CELL.split(text.replace("|", "/"))
        text = f"| {' | '.join(cells)} |" if cells[1:] else first + "".join(cells)
    bare = _TAG.sub(lambda tag: "" if tag["inline"] else " ", _RAISED.sub("^", text))
    if bare == text and not row:
        return text
    return " ".join(bare.split()) if row else "\n".join(line.strip() for line in bare.strip().splitlines())
