"""``intrinsics audit``: everything about the answers of a file of JSON Lines."""

from __future__ import annotations

from inspect import signature
from typing import Any

from intrinsics_core.cli.run import run

EPILOG = """
The same as `intrinsics run audit`.

An input row: `{"id": any, "messages": [...], "documents": [...]}`. The last message is an answer.

An output row says whether the documents answer the question, and gives a verdict and citations for each sentence,
certainty, answer relevance, and which of these contradict each other.

Example: `intrinsics audit --input answers.jsonl --output audited.jsonl`
"""


def audit(**given: Any) -> None:
    """Run every check on each answer: answerability, hallucination, citations, certainty and relevance."""
    run(intrinsic="audit", **given)


_OF_RUN = signature(run, eval_str=True)
# The options of `run`, but for what an audit says itself: its name, and the form of citations that it does not write.
_SAME = [one for name, one in _OF_RUN.parameters.items() if name not in ("intrinsic", "citations", "citations_as")]
audit.__signature__ = _OF_RUN.replace(parameters=_SAME)  # type: ignore[attr-defined]
