"""What adapters and their folders are called, and which intrinsic that is."""

from __future__ import annotations

import re
from collections.abc import Mapping

_SAME = {  # what tasks are called in the libraries published so far
    "context-relevancy": "context-relevance",
    "answerability-prediction": "answerability",
    "certainty": "uncertainty",
    "hallucinations": "hallucination-detection",
    "hallucination": "hallucination-detection",
    "citation": "citations",
    "citation-generation": "citations",
    "requirement-checking": "requirement-check",
}


# Tasks of the libraries that are published, beyond the intrinsics here: what `adapter` is asked for by name.
PUBLISHED = (
    "context-attribution",
    "factuality-correction",
    "factuality-detection",
    "guardian-core",
    "policy-guardrails",
    "query-clarification",
    "requirement-check",
)


def intrinsic_of(name: str) -> str:
    """``query_rewrite`` and ``query-rewrite-lora`` are ``query-rewrite``."""
    plain = re.sub(r"[-_](?:a?lora)$", "", name.strip().lower()).replace("_", "-")
    return _SAME.get(plain, plain)


# By the adapters that the profiles ask for (None: the base model), the names that they go by: as the servers of their
# time listed them, and as they were published. Sources: the repositories ``ibm-granite/granite-3.2-8b-lora-*`` and
# ``ibm-granite/granite-3.3-8b-rag-agent-lib``.
Names = Mapping[str | None, tuple[str, ...]]


def _listed_and_published(base: str, repository: str, **adapters: tuple[str, str]) -> Names:
    named: dict[str | None, tuple[str, ...]] = {
        key.replace("_", "-"): (listed, repository.format(own)) for key, (listed, own) in adapters.items()
    }
    return named | {None: (base,)}


GRANITE_3_2 = _listed_and_published(
    "ibm-granite/granite-3.2-8b-instruct",
    "ibm-granite/granite-3.2-8b-lora-{}",
    query_rewrite=("query_rewrite", "rag-query-rewrite"),
    answerability=("answerability", "rag-answerability-prediction"),
    uncertainty=("certainty", "uncertainty"),
    hallucination_detection=("hallucinations", "rag-hallucination-detection"),
    citations=("citations", "rag-citation-generation"),
)

GRANITE_3_3 = _listed_and_published(
    "ibm-granite/granite-3.3-8b-instruct",
    "{}_lora",
    query_rewrite=("query_rewrite", "query_rewrite"),
    context_relevance=("context_relevancy", "context_relevancy"),
    answerability=("answerability_prediction", "answerability_prediction"),
    uncertainty=("certainty", "certainty"),
    hallucination_detection=("hallucination_detection", "hallucination_detection"),
    citations=("citation_generation", "citation_generation"),
    answer_relevance=("answer_relevance_classifier", "answer_relevance_classifier"),
    answer_rewrite=("answer_relevance_rewriter", "answer_relevance_rewriter"),
)
