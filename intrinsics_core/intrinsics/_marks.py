"""Whether each mark and each quote of an answer holds, by what was judged of its sentences.

Which document a mark names, and whether quoted words stand in a document, needs no model. Whether a document supports
the sentence of its mark is read from verdicts on the whole answer. Small models, which are cheap to ask, are asked once
more about the documents that sentences cite alone; a language model is not.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeVar

from intrinsics_core.intrinsics.citations import citations
from intrinsics_core.intrinsics.hallucination_detection import hallucination_detection
from intrinsics_core.protocol.call import Call, asked_once, merge, watched
from intrinsics_core.protocol.errors import raised
from intrinsics_core.protocol.profile import Profile
from intrinsics_core.protocol.requests import Generated, Program
from intrinsics_core.protocol.results import (
    Audit,
    CheckedCitation,
    Citation,
    CitationVerdict,
    FoundPlace,
    SentenceVerdict,
)
from intrinsics_core.protocol.task import Task
from intrinsics_core.replies.quoted_words import is_quotation, quoted, standing
from intrinsics_core.text.cited_documents import CitationMark, marks_in

T = TypeVar("T")
_Verdict = tuple[CitationVerdict | None, FoundPlace | None, float | None]
_JUDGES: Mapping[str, Callable[..., Call[Any]]] = {
    "hallucination-detection": hallucination_detection,
    "citations": citations,
}


@dataclass(frozen=True)
class Cited:
    """What an answer cites: its marks, and its quotes without their quotation marks, in order."""

    text: str
    marks: list[CitationMark]
    quotes: list[tuple[int, int]]

    @cached_property
    def bare(self) -> str:
        """The answer with spaces in the place of its marks."""
        characters = list(self.text)
        for mark in self.marks:
            characters[mark.begin : mark.end] = " " * (mark.end - mark.begin)
        return "".join(characters)


@dataclass(frozen=True)
class JudgedBy:
    """Verdicts on an answer by some of the documents, whose positions are ``of``."""

    sentences: Sequence[SentenceVerdict]
    citations: Sequence[Citation]
    of: tuple[int, ...]

    @cached_property
    def _rows(self) -> tuple[list[Citation], int]:
        """The citations by where they begin, and the length of the longest."""
        rows = sorted(self.citations, key=lambda row: row.response_begin)
        return rows, max((row.response_end - row.response_begin for row in rows), default=0)

    def places(self, sentence: SentenceVerdict) -> list[FoundPlace]:
        """The places that a sentence rests on."""
        rows, longest = self._rows
        ends = sentence.begin - longest, sentence.end
        low, high = (bisect_left(rows, at, key=lambda row: row.response_begin) for at in ends)
        return [
            FoundPlace(document_index=self.of[c.document_index], begin=c.document_begin, end=c.document_end,
                       text=c.document_text)
            for c in rows[low:high]
            if sentence.begin < c.response_end
        ]  # fmt: skip

    def at(self, sentence: SentenceVerdict) -> SentenceVerdict | None:
        """The verdict on the same sentence, which may have been split otherwise."""
        low = bisect_right(self.sentences, sentence.begin, key=lambda s: s.end)
        same = self.sentences[low : bisect_left(self.sentences, sentence.end, key=lambda s: s.begin)]
        return max(same, key=lambda s: min(s.end, sentence.end) - max(s.begin, sentence.begin), default=None)


def cited_in(task: Task, base: int | None = None) -> Cited:
    """What the answer cites. Words that the conversation has, and no document, are not quoted from one."""
    documents, said = [d.text for d in task.documents], [m.content for m in task.messages[:-1]]
    text = task.response
    marks = marks_in(text, documents, [d.names for d in task.documents], base=base)
    titles = {name.casefold(): i for i, d in enumerate(task.documents) for name in d.names}
    quotes: list[tuple[int, int]] = []
    for begin, end in quoted(text):
        words = text[begin:end]
        if (named := titles.get(words.strip(" .,").casefold())) is not None and not words.isdecimal():
            marks.append(CitationMark(begin, end, named))
        elif is_quotation(words):
            theirs = any(standing(words, text) for text in said) and not any(
                standing(words, text) for text in documents
            )
            quotes += [] if theirs else [(begin, end)]
    return Cited(text, sorted(marks, key=lambda mark: mark[:2]), quotes)


def checked_by_words(task: Task, cited: Cited) -> list[CheckedCitation]:
    """The quotes, and the marks that name no document; the other marks without a verdict."""
    return _all_checked(task, cited, sentences_of(cited, task.response_sentences), {})


def ask_marks(
    task: Task, cited: Cited, of: Sequence[int], told: Audit, profile: Profile, *, by_document: bool
) -> Program[list[CheckedCitation]]:
    """The marks and quotes of an answer, each with its verdict.

    Args:
        task: the answer and the documents.
        cited: what the answer cites.
        of: the sentence of each mark and quote (`sentences_of`).
        told: verdicts on the answer by all documents.
        profile: who is asked about documents alone.
        by_document: whether to ask. Otherwise a sentence's sources in ``told`` say which document supports it.

    Raises:
        IntrinsicsError: a verdict could not be had.
    """
    whole = JudgedBy(told.sentences, told.citations.citations, tuple(range(len(task.documents))))
    sets: dict[int, set[int]] = {}
    for mark, i in zip(cited.marks, of, strict=False):
        if mark.document is not None and i >= 0 and whole.sentences[i].label != "NA":
            sets.setdefault(i, set()).add(mark.document)
    wanted = {tuple(sorted(each)) for each in sets.values()} | {(d,) for each in sets.values() for d in each}
    alone: dict[tuple[int, ...], JudgedBy] = {}
    if by_document:
        asked = sorted(wanted)
        bare = task.answered(cited.bare)
        judges = [judge for name, judge in _JUDGES.items() if profile.judge_of(name)]
        programs = [
            judge(bare.messages, bare.only(*each).documents, date=task.date).start(profile)
            for each in asked
            for judge in judges
        ]
        values = iter([raised(value) for value in (yield from asked_once(merge(programs, width=len(programs) or 1)))])
        for each in asked:
            by_judge = dict(zip(_JUDGES, (next(values) for _ in judges), strict=False))
            found = by_judge["citations"].citations if "citations" in by_judge else ()
            alone[each] = JudgedBy(by_judge["hallucination-detection"].sentences, found, each)
    verdicts: dict[tuple[int, int], _Verdict] = {}
    for i, documents in sets.items():
        sentence, together = whole.sentences[i], tuple(sorted(documents))
        for d in documents:
            verdicts[i, d] = (
                _by_document(sentence, d, whole, alone[d,], alone[together])
                if by_document
                else _by_sources(sentence, d, whole, task.documents[d].text)
            )
    return _all_checked(task, cited, of, verdicts)


def note_writing(program: Program[T]) -> Program[tuple[T, bool]]:
    """What a program gives, and whether a language model wrote anything for it."""
    written: list[bool] = []
    found = yield from watched(
        program, lambda _, outcomes: written.extend(isinstance(each, Generated) for each in outcomes)
    )
    return found, any(written)


def _by_document(sentence: SentenceVerdict, d: int, whole: JudgedBy, alone: JudgedBy, together: JudgedBy) -> _Verdict:
    """What a document says of a sentence, asked about alone and with the others that the sentence cites."""
    verdict, joint = alone.at(sentence), together.at(sentence)
    if verdict is None or joint is None or not verdict.judged:
        return None, None, None
    own = next(iter(alone.places(sentence)), None)
    if verdict.label == "faithful":
        return "supported", own, verdict.score
    if joint.label == "faithful" and (verdict.label == "partial" or _among(d, together.places(sentence))):
        return "supported", own, joint.score
    places = whole.places(sentence)
    if sentence.label == "faithful" and not _among(d, places):
        return "misattributed", next(iter(places), None), verdict.score
    if sentence.label == "faithful" and {place.document_index for place in places} == {d}:
        return "supported", places[0], sentence.score  # the only source where all are read together
    return None if verdict.unsure else "unsupported", None, verdict.score


def _by_sources(sentence: SentenceVerdict, d: int, whole: JudgedBy, text: str) -> _Verdict:
    """What a language model said of a sentence and its sources. The words of a source may stand in two documents."""
    if not sentence.judged:
        return None, None, None
    if sentence.label != "faithful":
        return "unsupported", None, sentence.score
    places = whole.places(sentence)
    for place in sorted(places, key=lambda place: place.document_index != d):
        at = (place.begin, place.end) if place.document_index == d else standing(place.text, text)
        if at:
            here = FoundPlace(document_index=d, begin=at[0], end=at[1], text=text[slice(*at)])
            return "supported", here, sentence.score
    return ("misattributed", places[0], None) if places else (None, None, None)


def _among(d: int, places: Sequence[FoundPlace]) -> bool:
    return any(place.document_index == d for place in places)


def _all_checked(
    task: Task, cited: Cited, of: Sequence[int], verdicts: Mapping[tuple[int, int], _Verdict]
) -> list[CheckedCitation]:
    """All rows, in the order of the answer. A mark right behind a quote is about its words."""
    text, bare, found = cited.text, cited.bare, list[CheckedCitation]()
    ends = [end for _, end in cited.quotes]
    by_sentence: dict[int, list[CitationMark]] = {}
    for mark, i in zip(cited.marks, of, strict=False):
        said = bisect_right(ends, mark.begin) - 1  # the quote before it
        behind = said >= 0 and not any(map(str.isalnum, bare[ends[said] : mark.begin]))
        verdict: _Verdict | None = ("no_document", None, None)
        if mark.document is not None:
            by_sentence.setdefault(i, []).append(mark)
            verdict = verdicts.get((i, mark.document))
            if behind:
                verdict = _quote(task, text[slice(*cited.quotes[said])], [mark.document])
        found.append(_row(task, (mark.begin, mark.end), "mark", mark.document, verdict))
    for quote, i in zip(cited.quotes, of[len(cited.marks) :], strict=True):
        marks = by_sentence.get(i, [])
        first = next((mark.begin for mark in marks if mark.begin >= quote[1]), None)
        named = [mark.document for mark in marks if mark.document is not None and first in (None, mark.begin)]
        verdict = _quote(task, text[slice(*quote)], named)
        place = verdict[1].document_index if verdict[0] == "supported" and verdict[1] else None
        found.append(_row(task, quote, "quote", place if place is not None else next(iter(named), None), verdict))
    return sorted(found, key=lambda row: (row.begin, row.end))


def _quote(task: Task, words: str, named: Sequence[int]) -> _Verdict:
    """Whether the words of a quote stand in a document that its mark names, in another, or in none."""
    for d in [*named, *(d for d in range(len(task.documents)) if d not in named)]:
        if at := standing(words, task.documents[d].text):
            place = FoundPlace(document_index=d, begin=at[0], end=at[1], text=task.documents[d].text[slice(*at)])
            return ("supported", place, 1.0) if d in named or not named else ("misattributed", place, 0.0)
    return "not_found", None, 0.0


def _row(
    task: Task, span: tuple[int, int], kind: Literal["mark", "quote"], document: int | None, verdict: _Verdict | None
) -> CheckedCitation:
    said, place, score = verdict or (None, None, None)
    return CheckedCitation(
        begin=span[0],
        end=span[1],
        text=task.last.content[slice(*span)],
        kind=kind,
        document_id=None if document is None else task.document_id(document),
        document_index=document,
        verdict=said,
        found=place,
        score=score,
    )


def sentences_of(cited: Cited, sentences: Sequence[Any]) -> list[int]:
    """The number of the sentence that each mark, then each quote, is about; -1 where there is none.

    A mark is about the sentence that it stands in or behind. One that begins a line, and each first of two tags, is
    about what follows; so are all at the head of sentences where the answer begins with one.
    """
    text = cited.bare
    spans = [(s.begin, s.end) for s in sentences]
    said = [(i, begin + len(t) - len(t.lstrip()), begin, end) for i, (begin, end) in enumerate(spans)
            if any(map(str.isalnum, t := text[begin:end]))]  # fmt: skip
    words = [first for _, first, _, _ in said]
    leads = bool(cited.marks) and not any(map(str.isalnum, text[: cited.marks[0].begin]))

    def of(begin: int, end: int, opens: bool) -> int:
        at = bisect_right(words, begin) - 1  # the last sentence with words before it
        heads = at < 0 or begin >= said[at][3] or not any(map(str.isalnum, text[said[at][1] : begin]))
        follows = at + 1 < len(said)
        line = begin - len(text[:begin].rpartition("\n")[2])
        begins_line = not any(map(str.isalnum, text[line:begin]))
        next_on_line = follows and "\n" not in text[begin : words[at + 1]]
        if follows and heads and next_on_line and (opens or begins_line or leads):
            return said[at + 1][0]
        return said[at][0] if at >= 0 else -1

    return [of(mark.begin, mark.end, mark.opens) for mark in cited.marks] + [
        of(max(end - 1, begin), end, False) for begin, end in cited.quotes
    ]
