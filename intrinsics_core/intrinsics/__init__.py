# ruff: noqa: I001  (imported in the order of a chain: the table, and all that is made of it, shows them so)
"""The intrinsics, one module each. Each function checks its input and returns a call for a driver."""

from intrinsics_core.intrinsics.calling import Documents, Messages, OnError, call
from intrinsics_core.intrinsics.query_rewrite import query_rewrite
from intrinsics_core.intrinsics.query_expansion import query_expansion
from intrinsics_core.intrinsics.context_relevance import context_relevance
from intrinsics_core.intrinsics.answerability import answerability
from intrinsics_core.intrinsics.reranking import reranking
from intrinsics_core.intrinsics.uncertainty import uncertainty
from intrinsics_core.intrinsics.hallucination_detection import hallucination_detection
from intrinsics_core.intrinsics.citations import citations
from intrinsics_core.intrinsics.fact_check import fact_check
from intrinsics_core.intrinsics.answer_relevance import answer_relevance
from intrinsics_core.intrinsics.evaluate import evaluate
from intrinsics_core.intrinsics.compare import compare
from intrinsics_core.intrinsics.hyde import hyde
from intrinsics_core.intrinsics.self_consistency import self_consistency
from intrinsics_core.intrinsics.audit import audit
from intrinsics_core.intrinsics.check_citations import check_citations
from intrinsics_core.intrinsics.revise import revise
from intrinsics_core.intrinsics.adapter import adapter
from intrinsics_core.intrinsics.table import INTRINSICS, TABLE, Record, register

__all__ = [
    "INTRINSICS",
    "TABLE",
    "Documents",
    "Messages",
    "OnError",
    "Record",
    "adapter",
    "answer_relevance",
    "answerability",
    "audit",
    "call",
    "check_citations",
    "citations",
    "compare",
    "context_relevance",
    "evaluate",
    "fact_check",
    "hallucination_detection",
    "hyde",
    "query_expansion",
    "query_rewrite",
    "register",
    "reranking",
    "revise",
    "self_consistency",
    "uncertainty",
]
