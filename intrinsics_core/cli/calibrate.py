"""``intrinsics calibrate``: fit the scores of any runtime to labelled examples, and watch what was promised."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from intrinsics_core._support import whole_files
from intrinsics_core.calibration.loading import CALIBRATED
from intrinsics_core.calibration.promises import Comparison, percent
from intrinsics_core.cli import fingerprints, journal, options, outputs, settings
from intrinsics_core.cli.run import cost, one_line_errors, progress, set_up, stopping, survey
from intrinsics_core.intrinsics import TABLE
from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.protocol.names import find, unknown
from intrinsics_core.protocol.requests import Usage
from intrinsics_core.running.calibrate import calibrate as fit
from intrinsics_core.running.calibrate import compare_with_promise
from intrinsics_core.running.rows import numbered

if TYPE_CHECKING:
    from intrinsics_core.calibration.fitting import Calibration
    from intrinsics_core.protocol.results import Result

EPILOG = f"""
INTRINSIC is one of {", ".join(CALIBRATED)}.

An input row is `{{"messages": [...], "documents": [...], "label": true}}`. At least ten rows are needed, with both
labels among them. The label is true if what the intrinsic judges is the case, e.g. for answerability if the documents
answer the question.

Name the output file in the config of any runtime: `{{"kind": ..., "calibrations": {{"INTRINSIC": "FILE"}}}}`.

--watch FILE compares new labelled rows with the promise in the calibration of such a config. It writes nothing.

The scores are kept in OUTPUT.scores.jsonl until the calibration is written: --resume goes on from there.

Exit codes: 0 done, or the promise holds; 1 the new rows contradict the promise; 2 usage or set-up; 130 interrupted.

Examples:

`intrinsics calibrate answerability --input labelled.jsonl --output answerability.json --at-most 0.05`

`intrinsics calibrate answerability --runtime runtime.json --watch new.jsonl`
"""


def calibrate(
    intrinsic: Annotated[
        str, typer.Argument(metavar="INTRINSIC", help="Name of the intrinsic; the names are listed below.")
    ],
    input: Annotated[
        str | None,
        typer.Option("--input", "-i", metavar="FILE", help="Labelled examples as JSON Lines.", show_default="required"),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="File in which the calibration is written as JSON.",
            show_default="required",
        ),
    ] = None,
    runtime: options.RuntimeConfig = None,
    profile: options.ProfileName = None,
    objective: Annotated[
        Literal["weighted_f1", "f1", "accuracy"], typer.Option(help="Measure that the threshold maximises.")
    ] = "weighted_f1",
    false_acceptance: Annotated[
        float | None,
        typer.Option(
            metavar="R",
            min=0.0,
            max=1.0,
            help="Choose instead the threshold that at most this share of the examples labelled false reaches.",
        ),
    ] = None,
    at_most: Annotated[
        float | None,
        typer.Option(
            metavar="R",
            help="Choose instead a threshold with a promise: at most this share of new rows labelled false reaches it.",
        ),
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(metavar="C", help="Confidence of the promise of --at-most.", show_default="0.9"),
    ] = None,
    watch: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Fit no calibration. Compare these new labelled rows with the promise in the "
            "calibration of --runtime.",
            show_default="none",
        ),
    ] = None,
    picture: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="File in which a reliability diagram is drawn. Needs matplotlib.",
            show_default="none",
        ),
    ] = None,
    resume: options.Resume = False,
    overwrite: options.Overwrite = False,
) -> None:
    """Fit a runtime's scores to labelled examples, choose a threshold, or check a promised threshold on new rows."""
    with one_line_errors():
        if (known := find(intrinsic, CALIBRATED)) is None:
            raise unknown("INTRINSIC has no calibration", intrinsic, CALIBRATED)
        intrinsic = known
        given = {"--input": input, "--output": output, "--at-most": at_most, "--confidence": confidence,
                 "--false-acceptance": false_acceptance, "--picture": picture}  # fmt: skip
        if watch is not None and (beside := [name for name, value in given.items() if value is not None]):
            raise InvalidInput("--watch fits no calibration", expected="no " + ", no ".join(beside))
        if watch is None and (input is None or output is None):
            raise InvalidInput("--input and --output are missing", expected="both of them, or --watch")
        read = {"--input": input, "--runtime": runtime}
        outputs.check({"--output": output, "--picture": picture}, reads=read, overwrite=overwrite)
        config = settings.runtime_config(runtime)
        hidden = settings.secrets(config)
    spent = Usage()
    with one_line_errors(hidden):
        engine, chosen = set_up(config, profile)
        with engine:
            if watch is not None:
                found = compare_with_promise(intrinsic, _examples("--watch", watch), engine, profile=chosen)
                _tell_comparison(found)
                raise typer.Exit(0 if found.holds else 1)
            assert input is not None and output is not None
            examples = list(_examples("--input", input))
            digest, total = survey(Path(input))
            described = fingerprints.of_run(f"calibrate {intrinsic}", profile, chosen, config, digest)
            scores = Path(f"{output}.scores.jsonl")
            old = scores.exists()
            kept = journal.resumed(scores, described) if resume else journal.fresh(scores, described, overwrite=old)
            scored = [json.loads(line)["result"] for line in scores.read_bytes().splitlines()[: kept.rows]]
            try:
                with closing(kept), progress(total, kept.rows) as advance, stopping(kept, resumable=True):

                    def put(number: int, score: float, result: Result) -> None:
                        nonlocal spent
                        spent += result.usage or Usage()
                        kept.put(number, json.dumps({"result": score}).encode() + b"\n", failed=False)
                        advance()

                    fitted = fit(intrinsic, examples, engine, profile=chosen, objective=objective,
                                 false_acceptance=false_acceptance, at_most=at_most, confidence=confidence,
                                 file=input, known=scored, on_score=put)  # fmt: skip
            finally:
                if not kept.rows:
                    _forget(scores)
        whole_files.write(Path(output), fitted.to_json() + "\n")
        _forget(scores)
        if picture is not None:
            from intrinsics_core.render.reliability import draw

            draw(fitted, f"{intrinsic}: {TABLE[intrinsic].judges}", Path(picture))
    _tell_fit(fitted, spent)


def _forget(scores: Path) -> None:
    for file in (scores, journal.note_path(scores)):
        file.unlink(missing_ok=True)


def _tell_fit(fitted: Calibration, spent: Usage) -> None:
    before, after = fitted.before, fitted.after
    typer.echo(f"{fitted.examples} examples, {fitted.positives} of them true{cost(spent)}")
    typer.echo(f"{'':10}{'AUROC':>8}{'ECE':>8}{'Brier':>8}")
    for name, quality in (("before", before), ("after", after)):
        cells = (quality.auroc, quality.ece, quality.brier)
        typer.echo(f"{name:10}" + "".join(f"{'-' if cell is None else format(cell, '.3f'):>8}" for cell in cells))
    if fitted.promise is not None:
        typer.echo(f"promise: {fitted.promise}")
    typer.echo(f"threshold: {fitted.threshold:.4f}. {_reached(fitted)}")
    typer.echo(
        "These numbers are measured on the examples that were fitted, so they are somewhat "
        "too good. Hold some examples back to measure the true ones."
    )


def _reached(fitted: Calibration) -> str:
    """What the threshold was chosen for, and what it gives there, as a sentence."""
    name, value = fitted.objective, fitted.objective_value
    if not name.startswith("false acceptance"):
        return f"The labels that it gives have the largest {name.replace('_', ' ')} on the examples: {value:.3f}."
    reached = f"{value:.1%} of the examples labelled true reach it"
    if fitted.promise is not None:
        return f"{reached}."
    share = float(name.rsplit(" ", 1)[1])
    return f"At most {share:.1%} of the examples labelled false reach it, and {reached}."


def _tell_comparison(found: Comparison) -> None:
    promise, (low, high) = found.promise, found.interval
    data = promise.data
    made = "" if data is None else f", made with {data.rows} rows" + (f" of {data.file}" if data.file else "")
    typer.echo(f"promise: {promise}{made}")
    share = found.errors / found.examples
    typer.echo(f"new: {found.errors} of {found.examples} negative examples reach it: {share:.1%} "
               f"({percent(promise.confidence)} interval {low:.1%} to {high:.1%})")  # fmt: skip
    if found.positives:
        typer.echo(f"{found.kept} of {found.positives} true examples reach it: {found.kept / found.positives:.1%}")
    if found.holds:
        typer.echo(f"the promise holds: the new rows do not contradict it (p = {found.p_value:.3f})")
    else:
        typer.echo(f"the promise is broken: as many errors have p = {found.p_value:.3g} at the promised rate")


def _examples(name: str, place: str) -> Iterator[Mapping[str, Any]]:
    """The rows of the file that an option names.

    Raises:
        InvalidInput: a line is not a JSON object; the message has its number.
    """
    if not Path(place).exists():
        raise InvalidInput(f"{name} {place} does not exist", expected="a .jsonl file of labelled examples")
    with Path(place).open("rb") as lines:
        for number, line in numbered(lines):
            try:
                row = json.loads(line.decode("utf-8-sig"))
            except (ValueError, RecursionError) as error:
                raise InvalidInput(f"{name} line {number} is not JSON: {error}"[:200]) from None
            if not isinstance(row, dict):
                raise InvalidInput(f"{name} line {number} is not a JSON object", got=type(row).__name__)
            yield row
