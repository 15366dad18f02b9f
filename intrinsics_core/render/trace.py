"""What happened to one question on its way through a chain: the one thing that the renderers of a whole turn need."""

from __future__ import annotations

from dataclasses import dataclass

from intrinsics_core.protocol.results import (
    Answerability,
    Citations,
    ContextRelevance,
    FactCheck,
    Faithfulness,
    HallucinationDetection,
    QueryRewrite,
    Ranking,
    SentenceVerdict,
    Uncertainty,
)
from intrinsics_core.protocol.task import Document


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One question, what each intrinsic said, and the answer.

    Attributes:
        question: as the user asked it.
        answer: what the user was told.
        retrieved: the retriever's documents, in its order.
        kept: the documents that the answer could rest on.
        blocked: whether the gate stopped the question, so that ``answer`` is the canned one.
        remark: a word to the reader about this turn.
        seconds: wall-clock time of the turn.
    """

    question: str
    answer: str
    rewrite: QueryRewrite | None = None
    retrieved: tuple[Document, ...] = ()
    ranking: Ranking | None = None
    relevance: ContextRelevance | None = None
    kept: tuple[Document, ...] = ()
    gate: Answerability | None = None
    blocked: bool = False
    citations: Citations | None = None
    hallucination: HallucinationDetection | None = None
    certainty: Uncertainty | None = None
    fact_check: FactCheck | None = None
    remark: str = ""
    seconds: float = 0.0

    @property
    def sources(self) -> tuple[Document, ...]:
        """The documents that the answer was given, whose positions its citations have."""
        return self.kept or self.retrieved

    @property
    def scores(self) -> list[tuple[str, float, str | None]]:
        """How far to trust the answer: (name, score in 0..1, label where there is one)."""
        found = self.hallucination
        named = (
            ("certainty (probability of being right)", self.certainty.certainty if self.certainty else None, None),
            (
                "faithfulness (support of the whole answer)",
                found.score if found else None,
                found.label if found else None,
            ),
            ("fact check (mean support of its claims)", self.fact_check.score if self.fact_check else None, None),
        )
        return [(name, score, label) for name, score, label in named if score is not None]

    @property
    def flagged(self) -> list[SentenceVerdict]:
        """The sentences that the sources support in part or not at all."""
        verdicts = self.hallucination.sentences if self.hallucination else ()
        return [v for v in verdicts if v.label in ("partial", "unfaithful")]

    @property
    def worst(self) -> Faithfulness | None:
        """The most severe label of the answer as a whole and of its sentences; None where it was not judged.

        An answer can be faithful on the whole with a sentence in it that is not: who reads it should see that.
        """
        if self.hallucination is None:
            return None
        labels = {self.hallucination.label, *(v.label for v in self.flagged)}
        severity: tuple[Faithfulness, ...] = ("unfaithful", "partial", "faithful", "NA")
        return next(label for label in severity if label in labels)
