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
from itertools import pairwise

from intrinsics_core.text.lines import QUOTED, coded, fenced

_LIGATURES = {code: unicodedata.normalize("NFKC", chr(code)) for code in range(0xFB00, 0xFB07)}
# A word that is cut at the end of a line, or a year.
_CUT = re.compile(
    r"(?<![^\W_-])(?:([^\W\d_]{1,30}[a-zß-öø-ÿ]|1[5-9]|20))-[ \t]{0,9}\r?\n[ \t]{0,9}([a-zß-öø-ÿ]{1,30}|\d\d\b)"
)
# A picture in base64, a key, a hash: in one run, or in lines of 60 and more.
_RUN = re.compile(r"(?<![\w+/=%-])(?:[\w+/=%-]{60,}+(?:\r?\n)?+)++", re.ASCII)
_LONGEST, _LEFT = 200, 20  # characters of a run that are read; of a longer one
_PART = 3  # letters that a word has which stands before a hyphen: "self-service"
_SPAN = 10  # two numbers no further apart may be a range: "in 18-20 days"

# Of pages. A tag behind a backtick is code.
_INLINE = (
    "abbr|(?-i:[abiusq])|cite|code|del|dfn|em|font|ins|kbd|mark|nobr|samp|small|span|strike|strong|su[bp]|time"
    "|tt|var|wbr"
)
_BLOCKS = (
    "(?-i:p)|address|article|aside|blockquote|body|br|button|caption|center|col|colgroup|dd|details|div|dl|dt|figcaption"
    "|figure|footer|form|h[1-6]|head|header|hr|html|img|label|li|main|nav|ol|option|pre|section|select|summary|table"
    "|tbody|tfoot|thead|title|tr|ul"
)
_TAG = re.compile(
    rf"(?<!`)(?:(?:(?P<cell><t[dh])|</?(?:(?P<inline>{_INLINE})|{_BLOCKS}|t[dh]))"
    r"(?:\s[^<>=]{0,80}=[^<>]{0,2000}|\s{1,4}(?:hidden|open|selected|disabled|checked))?\s?/?>|<!doctype[^<>]{0,400}>)",
    re.IGNORECASE,
)
_ENDS_BLOCK = re.compile(
    r"(?:(?<!`)(?:</(?:(?-i:p)|[duo]l|article|blockquote|caption|d[dt]|div|h[1-6]|li|option|section|table|tr)\s?>|<br\s?/?>)\s{0,3})++",
    re.IGNORECASE,
)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|(?P<name>[a-z][a-z0-9]{1,31}));", re.IGNORECASE)
_OPENED = re.compile(r"(?<!`)<(?:!--|(?P<name>[a-z][a-z0-9]{0,9})(?P<rest>(?=[\s>/])[^<>]{0,400})>)", re.IGNORECASE)
_HIDES = re.compile(r"(?:\s|\A)hidden(?=[\s=]|\Z)|display:\s?none|visibility:\s?hidden", re.IGNORECASE)
_LONGEST_ROW = 1_000
_UNSHOWN = ("", "script", "style", "template")


def cleaned(sentences: Sequence[str], is_known: Callable[[str], bool], *, hidden: bool = False) -> list[str]:
    """The sentences without tags and what a page hides; entities, ligatures and cut words as they were meant.

    Args:
        sentences: in order (`layout.laid_out`).
        is_known: whether a word is one that texts use: "cancella-" and "tions" in the next line may be one.
        hidden: what a page would hide is read, too.
    """
    code, found = coded(sentences), list[str]()
    for i, text in enumerate(sentences):
        if i not in code:
            text = QUOTED.sub("", text) if ">" in text else text
            text = (_formatted(text) if hidden else _shown(text)).translate(_LIGATURES)
            text = _joined(text, is_known) if "-" in text and "\n" in text else text
        found.append(text)
    return found


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
    for begin, end in [*fenced(text), (len(text), len(text))]:
        pieces += [_shown(text[at:begin]).translate(_LIGATURES), text[begin:end]]
        at = end
    return "".join(pieces)


def regions(text: str, *, rows: bool = False) -> list[tuple[int, int]]:
    """(begin, end) of what a page hides: comments, scripts, hidden elements. ``rows``: and of short rows of tables."""
    found, at, unclosed = list[tuple[int, int]](), 0, set[str]()
    while "<" in text and (opened := _OPENED.search(text, at)):
        at, name = opened.end(), opened["name"] or ""
        row = rows and name.lower() == "tr"
        if name in unclosed or not (row or name.lower() in _UNSHOWN or _HIDES.search(opened["rest"])):
            continue
        closing = f"</{name}>" if name else "-->"
        if (closes := text.find(closing, at, at + _LONGEST_ROW if row else len(text))) >= 0:
            at = closes + len(closing)
            found.append((opened.start(), at))
        elif not row:
            unclosed.add(name)
    return found


def at_block_ends(line: str) -> list[str]:
    """A line in parts, cut behind each tag that ends a block of a page."""
    ends = [match.end() for match in _ENDS_BLOCK.finditer(line) if line[match.end() :].strip()] if "<" in line else []
    return [line[begin:end] for begin, end in pairwise([0, *ends, len(line)])]


def _joined(text: str, is_known: Callable[[str], bool]) -> str:
    def word(cut: re.Match[str]) -> str:
        begun, ended = cut.groups()
        if begun.isdigit() or ended.isdigit():
            year = begun.isdigit() and ended.isdigit() and not 0 < int(ended) - int(begun) <= _SPAN
            return begun + ended if year else cut[0]
        apart = min(len(begun), len(ended)) >= _PART and is_known(begun) and is_known(ended)
        return f"{begun}-{ended}" if apart and not is_known(begun + ended) else begun + ended

    return _CUT.sub(word, text)


def _shown(text: str) -> str:
    """The text as a page shows it: "" for what is hidden, no tags, characters for entities."""
    pieces, at = [], 0
    for begin, end in [*regions(text), (len(text), 0)]:
        pieces.append(text[at:begin])
        at = end
    return _formatted("".join(pieces))


def _formatted(text: str) -> str:
    """The text without the tags of its form, with characters for entities. What a page hides, and its scripts, stay."""
    if "<" in text and (bare := _TAG.sub(_in_place_of, text)) != text:
        text = ("\n", " ")[text.startswith("<tr")].join(line.strip() for line in bare.strip().splitlines())
    return _ENTITY.sub(_character, text) if "&" in text else text


def _in_place_of(tag: re.Match[str]) -> str:
    if tag["inline"]:  # a raised number does not go on with one before it
        raised = tag["inline"].casefold() == "sup" and tag[0][1] != "/" and tag.string[tag.start() - 1].isdigit()
        return "^" if raised else ""
    return "|" if tag["cell"] else " "


def _character(entity: re.Match[str]) -> str:
    return html.unescape(entity[0]) if entity["name"] is None or entity[0][1:] in html5 else entity[0]
