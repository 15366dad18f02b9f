"""Results in words that a model can act on: what to do about them first, and never more than fits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from intrinsics_core.intrinsics.calling import NO_TEXT, NOTHING_RETRIEVED, NOTHING_SAID
from intrinsics_core.protocol.results import (
    Answerability,
    Audit,
    CheckedCitation,
    CitationCheck,
    Citations,
    FactCheck,
    QueryRewrite,
    Ranking,
)

MOST = 1_500  # characters of a text for a model
_QUOTE = 160  # characters of a quotation
_ENTRIES = 6  # shown of a list; the others are counted


def audit(found: Audit) -> str:
    """Which sentences do not hold, and what else there is against the answer."""
    claims = [s for s in found.sentences if s.label != "NA"]
    wrong = [s for s in claims if s.label != "faithful"]
    unjudged = [s for s in found.sentences if not s.judged]
    if found.reason in (NOTHING_SAID, NOTHING_RETRIEVED, NO_TEXT) and not claims:
        return _fitted([f"Nothing was judged: {found.reason}."])
    if unjudged and not claims:
        lines = ["The judge gave no verdict on the answer."]
    elif not claims:
        lines = ["No sentence of the answer claims anything that the documents could support."]
    elif wrong:
        lines = [f"{len(wrong)} of {_sentences(len(claims))} not fully supported by the documents:"]
        lines += _listed(f"{s.label}: {_quoted(s.text)}" for s in wrong)
        lines.append("Remove or correct these, or search for sources that support them.")
    else:
        every = "" if unjudged or len(claims) == 1 else "All "
        lines = [f"{every}{_sentences(len(claims))} supported by the documents."]
    if unjudged and claims:
        lines.append(f"The judge gave no verdict on {_counted(len(unjudged), 'sentence')}:")
        lines += _listed(_quoted(s.text) for s in unjudged)
    if found.answerability and found.answerability.label == "unanswerable":
        lines.append("The documents do not seem to answer the question.")
    lines += _wrong(found.marks)
    lines += [f"Note: {one}." for one in found.disagreements]
    if found.certainty is not None and not found.degraded:
        lines.append(f"Probability that the answer is right: {found.certainty:.2f}.")
    return _fitted([*lines, *_odd(found)])


def answerability(found: Answerability) -> str:
    """Whether to answer or to search again."""
    sure = "" if found.probability is None else f" (probability {found.probability:.2f})"
    if found.probability is None and found.label == "answerable" and found.reason:
        return _fitted([f"There is no question that documents could answer: {found.reason}."])
    if found.probability is None and found.degraded:
        return _fitted(["It is not known whether the documents answer the question.", *_odd(found)])
    if found.label == "answerable":
        return _fitted([f"The documents answer the question{sure}.", *_odd(found)])
    return _fitted([f"The documents do not answer the question{sure}. Search again, or say that it is not known.",
                    *_odd(found)])  # fmt: skip


def ranking(found: Ranking, texts: Sequence[str]) -> str:
    """The best documents, by the position in which they were given."""
    if not found.ranking:
        return "There are no documents to rank."
    rows = (
        f"document {row.index}{'' if row.score is None else f' ({row.score:.2f})'}: {_quoted(texts[row.index])}"
        for row in found.ranking
    )
    said = ", with the probability of relevance" if found.mode == "pointwise" else ""
    return _fitted([f"{_counted(len(found.ranking), 'document')}, best first{said}:", *_listed(rows), *_odd(found)])


def rewrite(found: QueryRewrite) -> str:
    """The question to search with."""
    searched = found.retrieval_query != found.query
    if found.changed:
        said = "Standalone question"
    else:
        said = "The question was left as it is" if searched else "The question is already standalone"
    lines = [f"{said}: {found.query}"]
    if searched:
        lines.append(f"For a search: {found.retrieval_query}")
    return _fitted([*lines, *_odd(found)])


def citations(found: Citations) -> str:
    """Where each sentence of the answer stands."""
    if not found.citations:
        why = f": {found.reason}" if found.reason else ""
        if found.degraded:
            return _fitted([f"No citation was found{why}.", *_odd(found)])
        return _fitted([f"Nothing in the documents supports a sentence of the answer{why}.", *_odd(found)])
    rows = (
        f"{_quoted(c.response_text, 80)} rests on document {c.document_index}: {_quoted(c.document_text)}"
        for c in found.citations
    )
    return _fitted([f"{_counted(len(found.citations), 'citation')}:", *_listed(rows), *_odd(found)])


def checked(found: CitationCheck) -> str:
    """Which marks and quotes of the answer do not hold, and which claims have none."""
    if not found.citations:
        return _fitted(["The answer cites nothing.", *_odd(found)])
    judged = [one for one in found.citations if one.verdict]
    held = sum(one.verdict == "supported" for one in judged)
    lines = [f"{held} of {_counted(len(judged), 'citation')} {'holds' if held == 1 else 'hold'}.", *_wrong(judged)]
    if found.missing:
        lines.append(f"{_counted(found.missing, 'citation')} without a verdict.")
    if found.uncited:
        lines.append(f"{_counted(len(found.uncited), 'claim')} without a citation:")
        lines += _listed(_quoted(one.text) for one in found.uncited)
    return _fitted([*lines, *_odd(found)])


_HOW = {
    "unsupported": "no document says what it is cited for",
    "misattributed": "another document says it",
    "not_found": "these words stand in no document",
    "no_document": "there is no such document",
}


def _wrong(marks: Sequence[CheckedCitation]) -> list[str]:
    wrong = [one for one in marks if one.verdict in _HOW]
    rows = (
        f"{_quoted(one.text, 80)}: {_HOW[one.verdict or '']}"
        + (f" (document {one.found.document_index}: {_quoted(one.found.text)})" if one.found else "")
        for one in wrong
    )
    return ["Citations that do not hold:", *_listed(rows)] if wrong else []


def facts(found: FactCheck) -> str:
    """How far the sources support the answer, the weakest claims first."""
    if found.score is None:
        why = found.reason or ("no verdict was given" if found.degraded else "there is no claim")
        notes = [] if why == found.reason and not found.degraded else _odd(found)
        return _fitted([f"Nothing was judged: {why}.", *notes])
    weak = sorted((claim for claim in found.claims if claim.score < 0.5), key=lambda claim: claim.score)
    over = _counted(len(found.claims), "claim")
    lines = [f"Probability that the sources support the answer, over {over}: {found.score:.2f}."]
    if weak:
        lines.append(f"{len(weak)} of them more likely not supported by the sources:")
        lines += _listed(f"{claim.score:.2f}: {_quoted(claim.text)}" for claim in weak)
    return _fitted([*lines, *_odd(found)])


def _odd(found: Answerability | Audit | CitationCheck | Citations | FactCheck | QueryRewrite | Ranking) -> list[str]:
    notes = [f"Reason: {found.reason}."] if found.reason else []
    return notes + ([f"Degraded, do not rely on it: {found.degraded}."] if found.degraded else [])


def _sentences(count: int) -> str:
    return f"{_counted(count, 'sentence')} {'is' if count == 1 else 'are'}"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _quoted(text: str, most: int = _QUOTE) -> str:
    line = " ".join(text.split())
    return f'"{line if len(line) <= most else line[: most - 1] + "…"}"'


def _listed(rows: Iterable[str]) -> list[str]:
    found = list(rows)
    more = [f"- and {len(found) - _ENTRIES} more, in the structured result"] if len(found) > _ENTRIES else []
    return [f"- {row}" for row in found[:_ENTRIES]] + more


def _fitted(lines: Sequence[str]) -> str:
    """Whole lines as far as they fit; a line that does not is cut."""
    text = "\n".join(lines)
    return text if len(text) <= MOST else text[: MOST - 1] + "…"
