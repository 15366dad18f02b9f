"""``intrinsics audit``: everything about the answers of a file of JSON Lines."""

from __future__ import annotations

from intrinsics_core.cli import options
from intrinsics_core.cli.run import run

EPILOG = """
The same as `intrinsics run audit`.

An input row: `{"id": any, "messages": [...], "documents": [...]}`. The last message is an answer.

An output row says whether the documents answer the question, and gives a verdict and citations for each sentence,
certainty, answer relevance, and which of these contradict each other.

Example: `intrinsics audit --input answers.jsonl --output audited.jsonl`
"""


def audit(
    input: options.Input,
    output: options.Output,
    runtime: options.RuntimeConfig = None,
    profile: options.ProfileName = None,
    date: options.DateText = None,
    concurrency: options.Concurrency = None,
    on_error: options.OnError = "raise",
    resume: options.Resume = False,
    overwrite: options.Overwrite = False,
) -> None:
    """Run every check on each answer: answerability, hallucination, citations, certainty and relevance."""
    run(
        intrinsic="audit",
        input=input,
        output=output,
        runtime=runtime,
        profile=profile,
        date=date,
        concurrency=concurrency,
        on_error=on_error,
        resume=resume,
        overwrite=overwrite,
    )
