"""Verdicts on one answer that do not go together, in words: told instead of hidden."""

from __future__ import annotations

import re

from intrinsics_core.protocol.results import Answerability, Citations, HallucinationDetection, SentenceVerdict

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
    judged = answerability is None or answerability.reason is None  # otherwise nothing was asked, or nothing retrieved
    gate = answerability.answerable if answerability and judged else None
    count = len(citations.citations) if citations else None
    found = {
        "certain, but unfaithful to the documents": certainty is not None
        and certainty >= _SURE
        and label == "unfaithful",
        "faithful to the documents, but uncertain": certainty is not None
        and certainty <= _UNSURE
        and label == "faithful",
        "unanswerable by the gate, but richly cited": gate is False and count is not None and count >= _RICHLY,
        "answerable by the gate, but nothing to cite": gate is True
        and count == 0
        and not (citations and citations.missing)
        and answered,
        "cited, but unfaithful to the documents": label == "unfaithful" and _all_cited(hallucination, citations),
        "faithful to the documents, but beside the question": answer_relevance is not None
        and answer_relevance < _BESIDE
        and label == "faithful"
        and judged
        and not _all_quoted(hallucination, citations),
    }
    return [words for words, holds in found.items() if holds]


def _all_cited(hallucination: HallucinationDetection | None, citations: Citations | None) -> bool:
    cited = {(c.response_begin, c.response_end) for c in citations.citations} if citations else set()
    claims = _claims(hallucination)
    return bool(claims) and all((s.begin, s.end) in cited for s in claims)


def _all_quoted(hallucination: HallucinationDetection | None, citations: Citations | None) -> bool:
    """Whether each claim stands word for word in what it cites: it is as near to the question as the documents are,
    and whether they answer it is the gate's to say.
    """
    quotes = [_plain(c.document_text) for c in citations.citations] if citations else []
    claims = _claims(hallucination)
    return bool(claims) and all(any(_plain(s.text) in quote for quote in quotes) for s in claims)


def _plain(text: str) -> str:
    """Its words alone, with a space around each."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def _claims(hallucination: HallucinationDetection | None) -> list[SentenceVerdict]:
    return [s for s in hallucination.sentences if s.label != "NA"] if hallucination else []
