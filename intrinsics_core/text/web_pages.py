"""Text with HTML in it: what a page does not show, rows of its tables, where its blocks end, its tags and entities."""

from __future__ import annotations

import html
import re
from html.entities import html5
from typing import NamedTuple

_OPENED = re.compile(
    r"<!--|(?P<head></thead\s?>\s{0,20}(?:<tbody(?=[\s>])[^<>]{0,400}>)?)"
    r"|<(?P<name>[a-z][a-z0-9]{0,9})(?P<rest>(?=[\s>/])[^<>]{0,400})>",
    re.IGNORECASE,
)
_HIDES = re.compile(r"(?:\s|\A)hidden(?=[\s=]|\Z)|display:\s?none|visibility:\s?hidden", re.IGNORECASE)
_UNSHOWN = ("script", "style", "template")
_STOPS = re.compile(r"[.!?]\s|[\r\n]")
_LONGEST_ROW = 1_000
_CLOSED = re.compile(
    r"</(?:p|div|li|ul|ol|tr|table|thead|tbody|h[1-6]|dt|dd|dl|blockquote|section|article|header|footer|figcaption"
    r"|caption|option|form)\s?>|<br\s?/?>",
    re.IGNORECASE,
)
# Behind a tag that ends nothing: prose that speaks of it ("`</p>` closes a paragraph"), or another one that ends more.
_SAID_ON = re.compile(r"\s{0,3}(?:[a-z`'\".,;:)\]]|</)")
_NAMES = (
    "abbr|address|article|aside|blockquote|body|br|button|caption|center|cite|code|col|colgroup|dd|del|details|dfn|div"
    "|dl|dt|em|figcaption|figure|font|footer|form|h[1-6]|head|header|hr|html|ins|kbd|label|li|main|mark"
    "|nav|nobr|ol|option|pre|samp|section|select|small|span|strike|strong|sub|summary|sup|table|tbody|td|tfoot|th"
    "|thead|time|title|tr|tt|ul|var|wbr"
)
_ATTRIBUTES = r"(?:\s[^<>=]{0,80}=[^<>]{0,2000}|\s{1,4}(?:hidden|open|selected|disabled|checked))?\s?/?>"
_TAG = re.compile(rf"</?(?:(?P<one>[abipqsu])|(?i:(?P<name>{_NAMES}))){_ATTRIBUTES}|<!(?i:doctype)[^<>]{{0,400}}>")
_ADDRESS = re.compile(r"\bhref\s?=\s?[\"']?(?:https?:|mailto:|tel:)", re.IGNORECASE)
_BEFORE_NAMED = re.compile(
    r"\b(?:tags?|elements?|the|an?|use[sd]?|using|called|named|or|and|between)\s\Z", re.IGNORECASE
)
# Tags that stand as often for what a user puts in their place.
_OFTEN_PLACEHOLDERS = (
    "<(?:time|title|address|code|label|section|option|select|summary|table|body|header|form|article|font|button)>"
)
_PLACEHOLDER = re.compile(rf"{_OFTEN_PLACEHOLDERS}\Z")
_WORDS_BEFORE = re.compile(rf"[\w=/-] ?(?:{_OFTEN_PLACEHOLDERS} ){{0,3}}\Z")
_NEAR = 50  # characters before a placeholder that are looked at
_AFTER_NAMED = re.compile(r"[\s.,;:?!)]|\Z")
_INLINE = re.compile(
    r"(?:abbr|[abiusq]|cite|code|del|dfn|em|font|ins|kbd|mark|nobr|samp|small|span|strike|strong|su[bp]|time|tt|var"
    r"|wbr)\Z",
    re.IGNORECASE,
)
_RAISED = re.compile(r"(?<=\d)<sup>", re.IGNORECASE)
_ROW = re.compile(r"\A\s{0,9}<tr(?=[\s>])", re.IGNORECASE)
_CELL = re.compile(r"<t[dh](?=[\s>])[^<>]{0,2000}>", re.IGNORECASE)
_BODY = re.compile(r"\A\s{0,9}</thead\s?>\s{0,9}(?:<tbody(?=[\s>])[^<>]{0,400}>)?\s{0,9}\Z", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")


class Region(NamedTuple):
    """A part of a page: ``text[begin:end]`` is not ``shown``, or is a row of a table."""

    begin: int
    end: int
    shown: bool


def regions(text: str) -> list[Region]:
    """Comments, scripts, hidden elements and short rows of tables, in order, none inside another."""
    found, at, unclosed = list[Region](), 0, set[str]()
    if "<" not in text:
        return []
    while opened := _OPENED.search(text, at):
        at = opened.end()
        name = (opened["name"] or "--").lower()
        row = name == "tr"
        if opened["head"]:
            found.append(Region(opened.start(), at, True))
            continue
        closes = name == "--" or name in _UNSHOWN or row or _HIDES.search(opened["rest"])
        if not closes or name in unclosed or _is_named(opened):
            continue
        limit = opened.start() + _LONGEST_ROW if row else len(text)
        closed = re.compile("-->" if name == "--" else rf"</{name}\s?>", re.IGNORECASE).search(text, at, limit)
        if closed:
            found.append(Region(opened.start(), closed.end(), row))
            at = closed.end()
        elif not row:
            unclosed.add(name)
    return found


def _is_named(tag: re.Match[str]) -> bool:
    """Whether prose speaks of a tag: "the <br> tag"."""
    before = tag.string[max(0, tag.start() - 10) : tag.start()]
    named = _AFTER_NAMED.match(tag.string, tag.end()) and _BEFORE_NAMED.search(before)
    return bool(named) or before.endswith("`")


def _is_placeholder(tag: re.Match[str]) -> bool:
    """Whether a tag stands among words for one of them ("Run deploy <address> <time>."), and none ends it."""
    before = tag.string[max(0, tag.start() - _NEAR) : tag.start()]
    if not _PLACEHOLDER.match(tag[0]) or not _WORDS_BEFORE.search(before):
        return False
    return f"</{tag[0][1:-1]}" not in tag.string[tag.end() : tag.end() + _LONGEST_ROW]


def stands_apart(text: str, region: Region) -> bool:
    """Whether a region is no short part of a sentence: a tag or the end of a line stands beside it, or a stop in it."""
    begin, end, shown = region
    before, after = text[max(0, begin - 3) : begin].rstrip(" \t"), text[end : end + 3].lstrip(" \t")
    beside = before[-1:] in ("", "\n", "\r", ">") or after[:1] in ("", "\n", "\r", "<")
    return shown or beside or _STOPS.search(text, begin, end) is not None


def block_ends(line: str) -> list[int]:
    """Where blocks of a page end in a line, its own end left out."""
    if "<" not in line:
        return []
    ends = [match.end() for match in _CLOSED.finditer(line)]
    return [end for end in ends if line[end:].strip() and not _SAID_ON.match(line, end)]


def as_shown(text: str) -> str:
    """The text as a page shows it: "" for what is hidden, cells between bars, no tags, characters for entities."""
    return as_formatted(_without_hidden(text) if "<" in text else text)


def as_formatted(text: str) -> str:
    """The text without the tags of its form, with characters for entities. What a page hides, and its scripts, stay."""
    if "<" in text:
        text = _without_tags(text)
    return _ENTITY.sub(_character, text) if "&" in text else text


def _character(entity: re.Match[str]) -> str:
    known = entity[0][1] == "#" or entity[0][1:] in html5
    return html.unescape(entity[0]) if known else entity[0]


def _without_hidden(text: str) -> str:
    pieces, at = [], 0
    for begin, end, shown in regions(text):
        if not shown:
            pieces.append(text[at:begin])
            at = end
    return "".join([*pieces, text[at:]])


def _without_tags(text: str) -> str:
    if _BODY.match(text):
        return "|---|"  # the rule below the names of columns
    row = _ROW.match(text) is not None
    if row:
        first, *cells = _CELL.split(text.replace("|", "/"))
        text = f"| {' | '.join(cells)} |" if cells[1:] else first + "".join(cells)
    bare = _TAG.sub(_instead, _RAISED.sub("^", text))
    if bare == text and not row:
        return text
    return " ".join(bare.split()) if row else "\n".join(line.strip() for line in bare.strip().splitlines())


def _instead(tag: re.Match[str]) -> str:
    """What stands in place of a tag: itself where prose names it, where it has an address or is a placeholder."""
    if _is_named(tag) or _ADDRESS.search(tag[0]) or _is_placeholder(tag):
        return tag[0]
    return "" if _INLINE.match(tag["one"] or tag["name"] or "") else " "
