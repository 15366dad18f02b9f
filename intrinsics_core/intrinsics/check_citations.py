"""Whether the citations that an answer has itself hold: marks, and words in quotation marks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from intrinsics_core.intrinsics._marks import ask_marks, checked_by_words, cited_in, note_writing, sentences_of
from intrinsics_core.intrinsics.audit import audit_of
from intrinsics_core.intrinsics.calling import Documents, Messages, OnError, call, wrong
from intrinsics_core.intrinsics.table import register, without_verdict
from intrinsics_core.protocol.call import Call
from intrinsics_core.protocol.profile import Profile
from intrinsics_core.protocol.requests import Program
from intrinsics_core.protocol.results import CheckedCitation, CitationCheck, ResponseSpan, SentenceVerdict
from intrinsics_core.protocol.task import Task

NAME = "check-citations"


def _by_words(task: Task) -> CitationCheck:
    """What needs no model, where there is nothing to judge by or the judge failed."""
    return _result(task, checked_by_words(task, cited_in(task)))


@register(
    NAME,
    result=CitationCheck,
    ends_with=("assistant",),
    needs_documents=True,
    needs="answer with citations, documents",
    gives="a verdict per mark and per quote, with offsets, and the sentences that cite nothing",
    **without_verdict(_by_words),
)
def check_citations(
    messages: Messages,
    documents: Documents,
    *,
    base: int | None = None,
    on_error: OnError = "raise",
    date: str | None = None,
) -> Call[CitationCheck]:
    """Check each citation that the last assistant turn has itself: does the document say what the mark claims?

    Marks are numbers (``[1]``, ``[^2]``, ``【3†source】``), ids, titles, file names and addresses. Words in quotation
    marks are looked for in the documents: as they are, then without regard to spaces, hyphens, capitals and ellipses.

    Args:
        messages: a conversation that ends with an assistant turn.
        documents: any number, in the order in which the answering model was shown them; without them no mark names a
            document, and there is a reason.
        base: number of the first document, 0 or 1. It is found out from the answer where it is left out.
        on_error: ``"fallback"`` checks what needs no model, marked as degraded: quotes, and marks that name no
            document. The other marks have no verdict.
        date: date text for prompts that carry one; the day of the call where left out.

    Returns:
        A call whose result has a verdict for each mark and each quote, in order, with exact offsets; one for each
        document of a mark that names several. A mark is about the sentence that it stands in or behind.

    Raises:
        InvalidInput: if the input is invalid. It is raised by this function, not by `run`.

    Example:

        >>> from intrinsics_core import check_citations, run
        >>> question = [{"role": "user", "content": "Who built the lighthouse?"}]
        >>> documents = ["Ada Brink built the lighthouse in 1911.", "Fog is common in May."]
        >>> answer = [*question, {"role": "assistant", "content": "Ada Brink built the lighthouse in 1911 [2]."}]
        >>> [(one.text, one.verdict, one.found.text) for one in run(check_citations(answer, documents)).citations]
        [('[2]', 'misattributed', 'Ada Brink built the lighthouse in 1911.')]
    """
    if base not in (None, 0, 1):
        raise wrong(NAME, "base is unknown", "0, 1 or None", base)
    made = call(NAME, messages, documents, date=date, program=partial(_program, base=base), on_error=on_error)
    return replace(made, composite=True)


def _program(task: Task, profile: Profile, *, base: int | None) -> Program[CitationCheck]:
    cited = cited_in(task, base)
    bare = task.answered(cited.bare)
    judging = audit_of(("hallucination-detection", "citations"), bare.messages, bare.documents, date=task.date)
    told, written = yield from note_writing(judging.start(profile))
    of = sentences_of(cited, told.sentences)
    checked = yield from ask_marks(task, cited, of, told, profile, by_document=not written)
    cites = set(of)
    found = _result(task, checked, [s for i, s in enumerate(told.sentences) if s.label != "NA" and i not in cites])
    return found.model_copy(update={"degraded": told.degraded, "missing": found.missing})


def _result(task: Task, checked: Sequence[CheckedCitation], uncited: Sequence[SentenceVerdict] = ()) -> CitationCheck:
    verdicts = [one.verdict for one in checked if one.verdict is not None]
    return CitationCheck(
        citations=tuple(checked),
        uncited=tuple(ResponseSpan(begin=s.begin, end=s.end, text=task.last.content[s.begin : s.end]) for s in uncited),
        score=verdicts.count("supported") / len(verdicts) if verdicts else None,
        missing=len(checked) - len(verdicts),
    )
