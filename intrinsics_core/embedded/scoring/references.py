"""What of an answer only says where something stands: footnotes, links, file names, a line of sources.

It claims nothing that a source could support. "Sources: handbook.pdf, p. 3" is no sentence of the answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_ENDING = r"\.(?:pdf|docx?|html?|md|txt|csv|xlsx?|pptx?)\b"
_NUMBERED = r"(?:document|doc|passage|source|page|chunk|section)"
_MARK = re.compile(
    rf"[\[(【](?:see )?(?:{_NUMBERED}s? ?\d{{1,4}}(?:(?:,| and| &) ?\d{{1,4}})*+"
    rf"|(?:source|see):? ?https?://[^\s()\[\]]++|[^\[\]()\s]{{1,80}}{_ENDING}(?:,? [^\[\]()]{{1,20}})?)[\])】]"
    r"|【[^【】]{1,40}】|<!--[^<>]{0,200}-->|\[\^\w{1,20}\](?!:)"
    # "month¹" has a footnote, "m²" is a unit.
    r"|(?:(?<=[^\W\d_][^\W\d_][^\W\d_])|(?<=[.!?]))[¹²³⁴⁵⁶⁷⁸⁹⁰]++",
    re.IGNORECASE,
)
_GAP = re.compile(r" ([.,;:!?])")  # where a mark stood
_LINK = re.compile(r"\[(?P<text>[^\[\]]{1,200})\]\((?:https?:|mailto:|[/#.])[^()\s]{1,400}\)")
_SAID_BY = re.compile(
    rf"\A(?:the )?{_NUMBERED} \[?\d{{1,2}}\]? (?:says|states|mentions|notes|explains)(?: that)? "
    rf"|\Aaccording to (?:the )?{_NUMBERED} \[?\d{{1,2}}\]?, "
    rf"|,? as (?:(?:stated|mentioned|said|described) )?(?:(?:in|by) )?(?:the )?{_NUMBERED} \[?\d{{1,2}}\]?"
    r"(?: (?:says|states|mentions))?(?=\W*\Z)",
    re.IGNORECASE,
)
_HEAD = re.compile(
    r"\A[\W_]*(?:sources?|references?|citations?|footnotes?|quellen?)(?:[*_]*:[*_]*\s*(?P<rest>.*)|[\W_]*)\Z",
    re.IGNORECASE | re.DOTALL,
)
_FOOTNOTE = re.compile(
    r"\A(?:[-*•]\s+)?(?:\[\^[^\[\]]{1,20}\]:|(?:\[\d{1,3}\]|[¹²³⁴⁵⁶⁷⁸⁹⁰]++):?\s+(?P<rest>.+))", re.DOTALL
)
_PLACE = re.compile(rf"(?<=\w){_ENDING}|https?://|\b(?:p|pp|page|section|chapter|art|no)\b\.? ?\d", re.IGNORECASE)
_VERB = re.compile(
    r"\b(?:is|are|was|were|be|has|have|had|do|does|did|can|could|may|must|will|would|should|costs?|opens?|closes?)\b",
    re.IGNORECASE,
)
_LONGEST = 14  # words of a line that names a source


def without_references(sentences: Sequence[str]) -> list[str]:
    """As many texts as sentences: without marks of footnotes and files, links as their text, "" for a line of sources.

    Args:
        sentences: those of an answer, in order (`layout.laid_out`).
    """
    found, below = list[str](), False
    for sentence in sentences:
        head = _HEAD.match(sentence)
        heads = head is not None and not head["rest"]
        if heads or (head and _names_a_source(head["rest"])) or (below and _names_a_source(sentence)):
            found.append("")
        else:
            found.append("" if _LINK.fullmatch(sentence) or _is_footnote(sentence) else _plain(sentence))
        below = heads or (below and not found[-1])
    return found


def _is_footnote(sentence: str) -> bool:
    footnote = _FOOTNOTE.match(sentence)
    if footnote is None or footnote["rest"] is None:
        return footnote is not None
    return _names_a_source(sentence) and _is_place(footnote["rest"])


def _plain(sentence: str) -> str:
    text = _GAP.sub(r"\1", _MARK.sub("", _LINK.sub(r"\g<text>", sentence))).strip()
    said = _SAID_BY.sub("", text)
    return said if said == text else said[:1].upper() + said[1:]


def _names_a_source(line: str) -> bool:
    return len(line.split()) <= _LONGEST and not _VERB.search(line)


def _is_place(line: str) -> bool:
    return bool(_PLACE.search(line)) or not any(map(str.isdigit, line))
