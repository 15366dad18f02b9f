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
    row_timeout: options.RowTimeout = None,
    on_error: options.OnError = "raise",
    option: options.Options = None,
    resume: options.Resume = False,
    overwrite: options.Overwrite = False,
    ray: options.Ray = None,
    actors: options.Actors = None,
    gpus: options.Gpus = None,
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
        row_timeout=row_timeout,
        on_error=on_error,
        option=option,
        resume=resume,
        overwrite=overwrite,
        ray=ray,
        actors=actors,
        gpus=gpus,
    )
