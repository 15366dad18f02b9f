"""Verdicts on one answer that do not go together, in words: told instead of hidden."""

from __future__ import annotations

import re
from collections.abc import Sequence

from intrinsics_core.protocol.results import (
    Answerability,
    Citation,
    Citations,
    HallucinationDetection,
    SentenceVerdict,
)

_SURE, _UNSURE = 0.75, 0.35  # certainties from, and up to, which an answer counts as certain and as uncertain
_BESIDE = 0.2  # answer relevance below which it is sure that an answer does not address the question
_RICHLY = 2  # citations
_WORD = re.compile(r"\w+")


def between(
    *,
    answerability: Answerability | None,
    hallucination: HallucinationDetection | None,
    citations: Citations | None,
    certainty: float | None,
    answer_relevance: float | None = None,
    answered: bool = True,
) -> list[str]:
    """What disagrees; a part that is None agrees with everything.

    Args:
        answered: whether this is an answer, or the canned text that stands in for one.
    """
    label = hallucination.label if hallucination else None
    faithful, unfaithful = label == "faithful", label == "unfaithful"
    judged = answerability is None or answerability.reason is None  # otherwise nothing was asked, or nothing retrieved
    gate = answerability.answerable if answerability and judged else None
    rows = citations.citations if citations else ()
    nothing_cited = citations is not None and not rows and not citations.missing
    claims = [s for s in hallucination.sentences if s.label != "NA"] if hallucination else []
    beside = answer_relevance is not None and answer_relevance < _BESIDE
    found = {
        "certain, but unfaithful to the documents": unfaithful and certainty is not None and certainty >= _SURE,
        "faithful to the documents, but uncertain": faithful and certainty is not None and certainty <= _UNSURE,
        "unanswerable by the gate, but richly cited": gate is False and len(rows) >= _RICHLY,
        "answerable by the gate, but nothing to cite": gate is True and nothing_cited and answered,
        "cited, but unfaithful to the documents": unfaithful and _all_cited(claims, rows),
        "faithful to the documents, but beside the question": faithful and beside and judged
        and not _all_quoted(claims, rows),
    }  # fmt: skip
    return [words for words, holds in found.items() if holds]


def _all_cited(claims: Sequence[SentenceVerdict], citations: Sequence[Citation]) -> bool:
    cited = {(c.response_begin, c.response_end) for c in citations}
    return bool(claims) and all((s.begin, s.end) in cited for s in claims)


def _all_quoted(claims: Sequence[SentenceVerdict], citations: Sequence[Citation]) -> bool:
    """Whether each claim stands word for word in what it cites: it is as near to the question as the documents are,
    and whether they answer it is the gate's to say.
    """
    quotes = [_plain(c.document_text) for c in citations]
    return bool(claims) and all(any(_plain(s.text) in quote for quote in quotes) for s in claims)


def _plain(text: str) -> str:
    """Its words alone, with a space around each."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "
