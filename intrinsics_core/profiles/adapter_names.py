"""What adapters and their folders are called, and which intrinsic that is."""

from __future__ import annotations

import re

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
