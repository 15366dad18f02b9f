"""``intrinsics audit``: everything about the answers of a file of JSON Lines."""

from __future__ import annotations

import sys
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any

import typer

from intrinsics_core.cli.run import one_line_errors, run, set_up
from intrinsics_core.cli.settings import runtime_config, secrets
from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.render.text import clean

EPILOG = """
The same as `intrinsics run audit`.

An input row: `{"id": any, "messages": [...], "documents": [...]}`. The last message is an answer.

An output row says whether the documents answer the question, and gives a verdict and citations for each sentence,
certainty, answer relevance, and which of these contradict each other.

Example: `intrinsics audit --input answers.jsonl --output audited.jsonl`

One answer on the command line, told in words:
`intrinsics audit --question "Who built it?" --answer "Ada built it." --document guide.txt`
"""

_Question = Annotated[str | None, typer.Option(metavar="TEXT", help="Of one answer: the question.")]
_Answer = Annotated[str | None, typer.Option(metavar="TEXT", help="One answer to judge, in place of --input.")]
_Document = Annotated[
    list[str] | None,
    typer.Option(metavar="FILE", help="Of one answer: a text file, or `-`. May be given more than once."),
]


def audit(
    question: str | None = None, answer: str | None = None, document: list[str] | None = None, **given: Any
) -> None:
    """Run every check on each answer: answerability, hallucination, citations, certainty and relevance."""
    if answer is not None:
        _one(answer, question, document or [], given)
        return
    with one_line_errors():
        if missing := next((name for name in ("input", "output") if given[name] is None), None):
            raise InvalidInput(f"--{missing} is missing", expected="--input and --output, or --answer and --document")
        if question is not None or document:
            raise InvalidInput("--question and --document are of one answer", expected="--answer TEXT, too")
    run(intrinsic="audit", **given)


def _one(answer: str, question: str | None, documents: list[str], given: dict[str, Any]) -> None:
    """Judge one answer, and tell the verdicts in words."""
    from intrinsics_core.intrinsics import audit as judging
    from intrinsics_core.running.execution import run as judged
    from intrinsics_core.running.plain import exchange
    from intrinsics_core.service import short_results

    with one_line_errors():
        if given["input"] is not None or given["output"] is not None:
            raise InvalidInput("--answer cannot be used with --input or --output", expected="one of them")
        texts = [{"id": name, "text": _read(name)} for name in documents]
        config = runtime_config(given["runtime"])
    with one_line_errors(secrets(config)):
        engine, profile = set_up(config, given["profile"])
        with engine:
            call = judging(exchange(answer, question), texts, on_error=given["on_error"], date=given["date"])
            typer.echo(clean(short_results.audit(judged(call, engine, profile=profile))))


def _read(name: str) -> str:
    return sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8")


_OF_RUN = signature(run, eval_str=True)
# The options of `run`, but for what an audit says itself: its name, and the form of citations that it does not write.
_SAME = [one for name, one in _OF_RUN.parameters.items() if name not in ("intrinsic", "citations", "citations_as")]
_OPTIONAL = {"input": str | None, "output": str | None}  # the option stays, and may be left out
_SAME = [
    one.replace(annotation=Annotated[_OPTIONAL[one.name], one.annotation.__metadata__[0]], default=None)
    if one.name in _OPTIONAL
    else one
    for one in _SAME
]
_OWN = [
    Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, annotation=kind, default=None)
    for name, kind in (("question", _Question), ("answer", _Answer), ("document", _Document))
]
audit.__signature__ = _OF_RUN.replace(parameters=[*_SAME, *_OWN])  # type: ignore[attr-defined]
