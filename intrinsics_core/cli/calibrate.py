"""``intrinsics calibrate``: fit the scores of any runtime to labelled examples of one's own."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from intrinsics_core.calibration.loading import CALIBRATED
from intrinsics_core.cli import options, settings
from intrinsics_core.cli.run import one_line_errors, set_up
from intrinsics_core.intrinsics import TABLE
from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.protocol.names import find, unknown
from intrinsics_core.running.calibrate import calibrate as fit

EPILOG = f"""
INTRINSIC is one of {", ".join(CALIBRATED)}.

A row in: `{{"messages": [...], "documents": [...], "label": true}}`, at least ten, of both labels. The label says
whether what the intrinsic judges is so, e.g. for answerability that the documents answer the question.

What is written to --output goes into any runtime's config: `{{"kind": ..., "calibrations": {{"INTRINSIC": "FILE"}}}}`.

Example: `intrinsics calibrate answerability --input labelled.jsonl --output answerability.json --picture fit.svg`
"""


def calibrate(
    intrinsic: Annotated[str, typer.Argument(metavar="INTRINSIC", help="Which one: see the names below.")],
    input: Annotated[str, typer.Option("--input", "-i", metavar="FILE", help="Labelled examples, JSON Lines.")],
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="The calibration, JSON.")],
    runtime: options.RuntimeConfig = None,
    profile: options.ProfileName = None,
    objective: Annotated[
        Literal["weighted_f1", "f1", "accuracy"], typer.Option(help="What the threshold maximises.")
    ] = "weighted_f1",
    false_acceptance: Annotated[
        float | None,
        typer.Option(
            "--false-acceptance",
            metavar="R",
            min=0.0,
            max=1.0,
            help="Instead: the threshold that at most this share of the examples labelled false reaches.",
        ),
    ] = None,
    picture: Annotated[
        str | None,
        typer.Option("--picture", metavar="FILE", help="A reliability picture; needs matplotlib.", show_default="none"),
    ] = None,
    overwrite: options.Overwrite = False,
) -> None:
    """Fit the scores of a runtime to labelled examples, and choose a threshold."""
    with one_line_errors():
        if (known := find(intrinsic, CALIBRATED)) is None:
            raise unknown("INTRINSIC has no calibration", intrinsic, CALIBRATED)
        intrinsic = known
        for name, place in (("--output", output), ("--picture", picture)):
            _writable(name, place, overwrite=overwrite)
        config = settings.runtime_config(runtime)
        hidden = settings.secrets(config)
    with one_line_errors(hidden):
        engine, chosen = set_up(config, profile)
        with engine:
            fitted = fit(intrinsic, _examples(Path(input)), engine, profile=chosen, objective=objective,
                         false_acceptance=false_acceptance)  # fmt: skip
        Path(output).write_text(fitted.to_json() + "\n", encoding="utf-8")
        if picture is not None:
            from intrinsics_core.render.reliability import draw

            draw(fitted, f"{intrinsic}: {TABLE[intrinsic].judges}", Path(picture))
    before, after = fitted.before, fitted.after
    typer.echo(f"{fitted.examples} examples, {fitted.positives} of them true")
    typer.echo(f"{'':10}{'AUROC':>8}{'ECE':>8}{'Brier':>8}")
    for name, quality in (("before", before), ("after", after)):
        cells = (quality.auroc, quality.ece, quality.brier)
        typer.echo(f"{name:10}" + "".join(f"{'-' if cell is None else format(cell, '.3f'):>8}" for cell in cells))
    typer.echo(f"threshold {fitted.threshold:.4f} ({fitted.objective}: {fitted.objective_value:.3f})")
    typer.echo("measured on the same examples, so somewhat too good: hold some back to know")


def _writable(name: str, place: str | None, *, overwrite: bool) -> None:
    if place is None:
        return
    path = Path(place)
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise InvalidInput(f"{name} {place} cannot be written", expected="a file in a folder that exists")
    if path.exists() and not overwrite:
        raise InvalidInput(f"{place} exists", expected=f"--overwrite, or another {name}")


def _examples(path: Path) -> Iterator[Mapping[str, Any]]:
    """The rows of a file.

    Raises:
        InvalidInput: a line is no JSON object; the message has its number.
    """
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line.decode("utf-8-sig"))
            except (ValueError, RecursionError) as error:
                raise InvalidInput(f"--input line {number} is no JSON: {error}"[:200]) from None
            if not isinstance(row, dict):
                raise InvalidInput(f"--input line {number} is no JSON object", got=type(row).__name__)
            yield row
