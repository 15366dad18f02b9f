# ruff: noqa: I001  (imported in the order of a chain: the table, and all that is made of it, shows them so)
"""The intrinsics, one module each. Each function checks its input and returns a call for a driver."""

from intrinsics_core.intrinsics.query_rewrite import query_rewrite
from intrinsics_core.intrinsics.query_expansion import query_expansion
from intrinsics_core.intrinsics.context_relevance import context_relevance
from intrinsics_core.intrinsics.answerability import answerability
from intrinsics_core.intrinsics.reranking import reranking
from intrinsics_core.intrinsics.uncertainty import uncertainty
from intrinsics_core.intrinsics.hallucination_detection import hallucination_detection
from intrinsics_core.intrinsics.citations import citations
from intrinsics_core.intrinsics.fact_check import fact_check
from intrinsics_core.intrinsics.audit import audit
from intrinsics_core.intrinsics.revise import revise
from intrinsics_core.intrinsics.adapter import adapter
from intrinsics_core.intrinsics.table import INTRINSICS, TABLE, Record, register

__all__ = [
    "INTRINSICS",
    "TABLE",
    "Record",
    "adapter",
    "answerability",
    "audit",
    "citations",
    "context_relevance",
    "fact_check",
    "hallucination_detection",
    "query_expansion",
    "query_rewrite",
    "register",
    "reranking",
    "revise",
    "uncertainty",
]
