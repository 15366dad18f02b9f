"""Marks in an answer that cite a document, or stand where data was taken out: format, and no part of a claim.

Marks are blanked: spaces take their place, so that all offsets stay. What is blanked is told from its shape alone, and
from the names of the documents at hand (ids, titles, file names, addresses). Used wherever an answer is judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_URL = r"(?:https?://|www\.|mailto:|[/#.])[^\s()\[\]]{1,400}(?:\([^\s()]{0,100}\)[^\s()\[\]]{0,100})?"
FILE = r"[^\s()\[\]【】]{1,80}\.(?:pdf|docx?|html?|md|txt|csv|xlsx?|pptx?)"
_FILE = rf"{FILE}(?:[,:#]? ?[^\s()\[\]【】][^()\[\]【】]{{0,19}})?"
PART = r"(?:page|chunk|section|p)s?"  # of a document: its number is none of the list
LABEL = rf"(?:see |source: ?)?(?:(?:cit(?:ation|e)?|doc(?:ument)?|source|passage|id|ref(?:erence)?|node)s?|{PART})"
_NUMBERS = r"\d{1,3}(?: ?[,;–-] ?\d{1,3})*"

SHAPES: dict[str, str] = {
    "numbered link": rf"\[\[?\^?\d{{1,3}}\^?\]?\]\({_URL}\)",
    "footnote": r"\[\^[\w-]{1,20}\^?\](?!:)",
    "link in parentheses": rf"\((?:\[[^\[\]\n]{{1,200}}\]\({_URL}\)(?:[,;] )?){{1,9}}\)",
    "doubled brackets": r"\[\[\d{1,3}\]\]",
    "lenticular brackets": r"【[^【】\n]{1,80}】",
    "label and number": rf"[\[(【]{LABEL}[ :#_-]{{0,2}}\d[\w.:-]{{0,40}}(?:(?:,| and| &) ?[\w.:-]{{1,40}})*[\])】]",
    "file": rf"(?<!\])[\[(【](?:see |source: ?)?(?:{_FILE}|{_URL})[\])】]",
    "address": rf"[\[(](?:source|see|from):? ?{_URL}[\])]",
    "raised tag": r"<sup>[\s\[(]{0,3}\d{1,3}(?:[\s,;]{1,3}\d{1,3}){0,9}[\s\])]{0,3}</sup>",
    "tags around a number": r"<(?P<tag>cite|citation|ref|source|co)>\s?\d{1,3}(?:, ?\d{1,3}){0,9}\s?</(?P=tag)>",
    "link that is named like its site": r"\[(?:https?://)?(?P<site>(?:[\w-]{1,40}\.){1,4}[a-z]{2,12})[^\[\]\s]{0,80}\]"
    r"\(https?://(?:www\.)?(?P=site)[^\s()]{0,400}\)",
    "tag": r"</?(?:cite|citation|ref|source|co)(?:[\s:=][^<>\n]{0,200})?/?>",
    "private characters": r"[\ue200-\ue2ff](?:[^\ue200-\ue2ff\n]{1,80}[\ue200-\ue2ff]){1,9}",
    "comment": r"<!--\s{0,9}(?:[^<>\s]{1,80}\s{0,9}){0,4}-->",
    "raised number": r"(?:(?<=[^\W\d_]{3})|(?<=\s)|(?<=[.!?”\"’»)%€$£]))[¹²³⁴⁵⁶⁷⁸⁹⁰]{1,4}(?:[˒,][¹²³⁴⁵⁶⁷⁸⁹⁰]{1,4})*"
    r"|(?<=\d)[¹²³⁴⁵⁶⁷⁸⁹](?=[.!?]?\s{0,9}\Z)",
    "taken out": r"(?-i:\[(?:REDACTED|MASKED)?_?[A-Z]{3,}(?:_[A-Z\d]+){0,5}\])|<\w{1,40}_hash:[\da-f]{6,64}>"
    r"|(?<![\w.+-])[\w.+-]{1,64}@\*{3,}(?:\.\w{2,24})?|(?<![\w*])(?:\*{4}[- ]?){1,4}(?=\w{0,3}\d)\w{4}(?![\w*])",
    "token": r"<\|[\w.-]{1,40}\|>|</?s>|<(?:end|start)_of_turn>|<eos>|\[/?INST\]",
}
"""By name, the shape of each mark that is one whatever the documents are called."""

_NO_NAMES = ("comment", "taken out", "token")  # of these, none names a document
ANY = re.compile(
    "|".join(f"(?P<{'_' if name in _NO_NAMES else 'n'}{i}>{shape})" for i, (name, shape) in enumerate(SHAPES.items())),
    re.IGNORECASE,
)
"""Any of the shapes; ``lastgroup`` begins with "n" where such a mark names a document."""
# A number in brackets cites a document where there are so many of them, and none writes it so itself: `argv[1]`.
NUMBERED = re.compile(
    rf"`[^`\n]*`|(?P<mark>(?:\[{_NUMBERS}\] ?)*\[{_NUMBERS}\])(?=[\s*]{{0,3}}(?:[.!?…;,:)|。！？，]|$|[^\W\d_]|\n))",
    re.MULTILINE,
)
DIGITS = re.compile(r"\d+")
LINK = re.compile(rf"!?\[(?P<text>[^\[\]\n]{{1,200}})\]\((?:{_URL}|[^\s()\[\]]{{1,200}}\.\w{{2,5}})\)")
_CALL = re.compile(r"\[(?P<caret>\^?)(?P<name>[\w-]{1,30})\^?\](?P<colon>:?)")
_HEAD = re.compile(
    r"\A[\W_]*(?:sources?|references?|citations?|footnotes?|quellen?|fuentes?)[*_]*(?P<colon>:)?[*_]*", re.I
)
_PLACE = re.compile(
    rf"{_FILE}|{_URL}|\[\^?\d{{1,3}}\^?\]|\b(?:p|pp|page|section|document|doc|passage|source)\b\.? ?\d", re.I
)
_LONGEST = 14  # words of a line that names a source
_GAP = re.compile(r"(?<!\s)\s++(?P<stop>[.,;:!?。，！？])?+")


def blank_marks(text: str, documents: Sequence[str] = (), names: Iterable[str] = ()) -> str:
    """A text of the same length, with spaces in the place of marks; of a link its words stay.

    Args:
        text: an answer, or a sentence of one.
        documents: the texts of the documents, whose numbers may be cited in brackets, counted from 0 or 1.
        names: their ids, titles, file names and addresses, which may stand in brackets.
    """
    if not any(character in text for character in "[(<【\ue200*¹²³⁴⁵⁶⁷⁸⁹⁰"):
        return text
    text = ANY.sub(_blank, text)
    if named := _named(names):
        text = named.sub(_blank, text)
    text = LINK.sub(_words, text)
    return text if not documents or "[" not in text else _without_numbers(text, documents)


def unmarked(sentences: Sequence[str], documents: Sequence[str] = (), names: Iterable[str] = ()) -> list[str]:
    """The sentences of an answer, in order, as they are read: without marks, "" for one that only names sources.

    Args:
        sentences, documents, names: as `blank_marks` takes them.
    """
    names, found, below = tuple(names), list[str](), False
    for sentence in sentences:
        bare = blank_marks(sentence, documents, names)
        head = _HEAD.match(sentence)
        rest = sentence[head.end() :].strip(" *_") if head else ""
        heads = head is not None and not rest
        names_source = heads or (head is not None and bool(head["colon"]) and _is_place(rest))
        names_source = names_source or (note(sentence) or ("", False))[1] or (below and _is_place(sentence))
        said = "" if names_source else sentence if bare == sentence else _GAP.sub(_closed, bare).strip()
        found.append(said if any(map(str.isalnum, said)) or bare == sentence else "")
        below = heads or (below and not found[-1])
    return found


def called(text: str) -> list[str]:
    """The names of the footnotes and sources that a text calls: "1" for ``[1]`` and ``[^1]``."""
    return [call["name"] for call in _CALL.finditer(text)]


def note(text: str) -> tuple[str, bool] | None:
    """The name of the footnote or source that a line begins with, and whether it is a footnote: ``[^2]: ``."""
    found = _CALL.match(text)
    if not found or not text[found.end() :][:1].isspace():
        return None
    return found["name"], bool(found["caret"] and found["colon"])


def _blank(mark: re.Match[str]) -> str:
    return " " * len(mark[0])


def _closed(gap: re.Match[str]) -> str:
    return gap["stop"] or (gap[0] if len(gap[0]) == 1 else " ")


def _words(link: re.Match[str]) -> str:
    begin = link.start("text") - link.start()
    return f"{' ' * begin}{link['text']}".ljust(len(link[0]))


def _named(names: Iterable[str]) -> re.Pattern[str] | None:
    """What marks with one of these names look like; None without a name."""
    known = sorted({name.strip() for name in names if name and len(name.strip()) <= 200}, key=len, reverse=True)
    any_name = "|".join(re.escape(name) for name in known if name)
    return re.compile(rf"[\[(【](?:source: ?|see )?(?:{any_name})[\])】]", re.IGNORECASE) if any_name else None


def _without_numbers(text: str, documents: Sequence[str]) -> str:
    def blank(found: re.Match[str]) -> str:
        numbers = [int(number) for number in DIGITS.findall(found["mark"] or "")]
        if not numbers or max(numbers) > len(documents):
            return found[0]
        before = text[found.start() - 1 : found.start()]
        is_index = before.isalnum() and len(numbers) == 1 and any(f"{before}{found[0]}" in each for each in documents)
        return found[0] if is_index else _blank(found)

    return NUMBERED.sub(blank, text)


def _is_place(line: str) -> bool:
    return len(line.split()) <= _LONGEST and _PLACE.search(line) is not None
