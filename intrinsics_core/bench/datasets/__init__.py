"""Public data sets, a function each: the file's rows in a shape that sets of a kind share.

Tables, rows to train on, and the scripts that fit the shipped heads all read a set here. What they leave out, how they
split it, and what they make of a row stays with them. A new set is one function in one file, under :func:`claim_set`.

Licences stand where something is fitted or trained; the data folder's README has all of them.
"""

from intrinsics_core.bench.datasets.claims import scifact_pages
from intrinsics_core.bench.datasets.questions import QUESTIONS, recorded_answers, wikipedia
from intrinsics_core.bench.datasets.records import (
    CLAIMS,
    ClaimRow,
    Document,
    Page,
    PassageRow,
    QuestionRow,
    RecordedAnswer,
    RewriteRow,
    SetsOf,
    claim_set,
    joined,
    whole,
)
from intrinsics_core.bench.datasets.rewrites import REWRITES

__all__ = [
    "CLAIMS",
    "QUESTIONS",
    "REWRITES",
    "ClaimRow",
    "Document",
    "Page",
    "PassageRow",
    "QuestionRow",
    "RecordedAnswer",
    "RewriteRow",
    "SetsOf",
    "claim_set",
    "joined",
    "recorded_answers",
    "scifact_pages",
    "whole",
    "wikipedia",
]
