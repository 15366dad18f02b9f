"""What of an answer only says where something stands: footnotes, links, file names, a line of sources.

It claims nothing that a source could support. "Sources: handbook.pdf, p. 3" is no sentence of the answer. A
comment of a few words only points, too; a longer one may claim something.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from intrinsics_core.embedded.scoring.document_marks import without_document_marks
from intrinsics_core.embedded.scoring.redactions import without_redactions
from intrinsics_core.embedded.scoring.verbs import HAS_VERB

_ENDING = r"\.(?:pdf|docx?|html?|md|txt|csv|xlsx?|pptx?)\b"
_NUMBERED = r"(?:document|doc|passage|source|page|chunk|section)"
_MARK = re.compile(
    rf"[\[(【](?:see )?(?:{_NUMBERED}s? ?\d{{1,4}}(?:(?:,| and| &) ?\d{{1,4}})*+"
    rf"|(?:source|see):? ?https?://[^\s()\[\]]++|[^\[\]()\s]{{1,80}}{_ENDING}(?:,? [^\[\]()]{{1,20}})?)[\])】]"
    r"|【\d[^【】]{0,40}】|<!--\s{0,9}[^<>\s]{0,80}(?:\s{1,9}[^<>\s]{1,80}){0,3}\s{0,9}-->|\[\^\w{1,20}\](?!:)"
    r"|(?<=[.!?”\"])\[\d{1,3}(?: ?[,–-] ?\d{1,3})*+\](?![(:])",  # "9 a.m.[4]"
    re.IGNORECASE,
)
_SUPERSCRIPT = re.compile(r"(?<=[^\W\d_][^\W\d_][^\W\d_])[¹²³⁴⁵⁶⁷⁸⁹⁰]++|(?<=[.!?])[¹²³⁴⁵⁶⁷⁸⁹⁰]++")
_UNIT = re.compile(r"\d\s?[^\W\d_]{3,12}\Z")  # "10 inch²"
_GAP = re.compile(r" ([.,;:!?])")  # where a mark stood
_LINK = re.compile(r"\[(?P<text>[^\[\]]{1,200})\]\((?P<to>(?:https?:|mailto:|[/#.])[^()\s]{1,400})\)")
_SAID_BY = re.compile(
    r"\A(?:the )?(?:document|source|passage) \[?\d{1,2}\]? (?:says|states|mentions|notes|explains)(?: that)? "
    r"|\Aaccording to (?:the )?(?:document|source|passage) \[?\d{1,2}\]?, "
    r"|,? as (?:(?:stated|mentioned|said|described) )?(?:(?:in|by) )?(?:the )?(?:document|source|passage) \[?\d{1,2}\]?"
    r"(?: (?:says|states|mentions))?(?=\W*\Z)",
    re.IGNORECASE,
)
_HEAD = re.compile(
    r"\A[\W_]*(?:sources?|references?|citations?|footnotes?|quellen?)(?:[*_]*:[*_]*\s*(?P<rest>.*)|[\W_]*)\Z",
    re.IGNORECASE | re.DOTALL,
)
_FOOTNOTE = re.compile(
    r"\A(?:[-*•]\s+)?(?:(?P<defined>\[\^\w{1,20}\]:)|\[\w{1,20}\]:?|[¹²³⁴⁵⁶⁷⁸⁹⁰]++:?)\s+(?P<rest>.+)", re.DOTALL
)
_PLACE = re.compile(
    rf"(?<=\w){_ENDING}|https?://|\b(?:p|pp|page|section|chapter|art|no|{_NUMBERED})\b\.? ?\d|\[\^?\d{{1,3}}\]",
    re.IGNORECASE,
)
_LONGEST = 14  # words of a line that names a source


def without_references(sentences: Sequence[str], documents: Sequence[str] = ()) -> list[str]:
    """As many texts as sentences: without marks of footnotes and files, links as their text, "" for a line of sources.

    Args:
        sentences: those of an answer, in order (`layout.laid_out`).
        documents: the texts of the documents, whose numbers may be cited.
    """
    found, below = list[str](), False
    for sentence in without_document_marks(sentences, documents) if documents else sentences:
        head = _HEAD.match(sentence)
        heads = head is not None and not head["rest"]
        names = heads or (head is not None and _names_a_place(head["rest"])) or _is_footnote(sentence, below)
        found.append("" if names or _is_link(sentence) else _plain(sentence))
        below = heads or (below and not found[-1])
    return found


def _plain(sentence: str) -> str:
    text = _SUPERSCRIPT.sub(lambda mark: mark[0] if _UNIT.search(sentence[: mark.start()][-16:]) else "", sentence)
    text = _GAP.sub(r"\1", without_redactions(_MARK.sub("", _LINK.sub(r"\g<text>", text)))).strip()
    said = _SAID_BY.sub("", text)
    return said if said == text else said[:1].upper() + said[1:]


def _is_footnote(sentence: str, below: bool) -> bool:
    """Whether a line names a source behind the mark of a footnote. ``below``: it stands below a line of sources."""
    footnote = _FOOTNOTE.match(sentence)
    if footnote is None:
        return below and _names_a_place(sentence)
    surely = below or footnote["defined"]  # then a title will do
    return _may_name_a_source(footnote["rest"]) if surely else _names_a_place(footnote["rest"])


def _may_name_a_source(line: str) -> bool:
    return len(line.split()) <= _LONGEST and not HAS_VERB.search(line)


def _names_a_place(line: str) -> bool:
    return _may_name_a_source(line) and bool(_PLACE.search(line))


def _is_link(sentence: str) -> bool:
    """Whether a sentence is nothing but a link to a file or named like one."""
    link = _LINK.fullmatch(sentence)
    return link is not None and bool(re.search(_ENDING, f"{link['text']} {link['to']}", re.IGNORECASE))
