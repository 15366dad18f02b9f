"""What adapters and their folders are called, and which intrinsic that is."""

from __future__ import annotations

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


def technology_of(name: str) -> str | None:
    """``query_rewrite_alora`` is an aLoRA; None where the name does not say."""
    return next((t for t in ("lora", "alora") if name.endswith((f"-{t}", f"_{t}"))), None)


def intrinsic_of(name: str) -> str:
    """``query_rewrite`` and ``query-rewrite-lora`` are ``query-rewrite``."""
    plain = name.strip().lower().replace("_", "-")
    if technology := technology_of(plain):
        plain = plain.removesuffix(f"-{technology}")
    return _SAME.get(plain, plain)


# By the adapters that the profiles ask for (None: the base model), the names that they go by: as the servers of their
# time listed them, and as they were published. Sources: the repositories ``ibm-granite/granite-3.2-8b-lora-*`` and
# ``ibm-granite/granite-3.3-8b-rag-agent-lib``.
_LISTED_AND_PUBLISHED_3_2 = {
    "query-rewrite": ("query_rewrite", "rag-query-rewrite"),
    "answerability": ("answerability", "rag-answerability-prediction"),
    "uncertainty": ("certainty", "uncertainty"),
    "hallucination-detection": ("hallucinations", "rag-hallucination-detection"),
    "citations": ("citations", "rag-citation-generation"),
}
_LISTED_3_3 = {
    "query-rewrite": "query_rewrite",
    "context-relevance": "context_relevancy",
    "answerability": "answerability_prediction",
    "uncertainty": "certainty",
    "hallucination-detection": "hallucination_detection",
    "citations": "citation_generation",
    "answer-relevance": "answer_relevance_classifier",
    "answer-rewrite": "answer_relevance_rewriter",
}
Names = Mapping[str | None, tuple[str, ...]]
GRANITE_3_2: Names = {
    None: ("ibm-granite/granite-3.2-8b-instruct",),
    **{key: (name, f"ibm-granite/granite-3.2-8b-lora-{own}") for key, (name, own) in _LISTED_AND_PUBLISHED_3_2.items()},
}
GRANITE_3_3: Names = {
    None: ("ibm-granite/granite-3.3-8b-instruct",),
    **{key: (name, f"{name}_lora") for key, name in _LISTED_3_3.items()},
}
