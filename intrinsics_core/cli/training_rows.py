"""What ``intrinsics train --rows`` writes: rows for ``intrinsics train``, from open sets."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import typer

from intrinsics_core.cli.run import one_line_errors


def write_rows(intrinsic: str, data: Path, out: Path, sets: Sequence[str], limit: int | None) -> None:
    """Make training rows from the open data sets in a folder: those of ``sets``, or all; ``limit`` rows of each."""
    from intrinsics_core.training.rows_from import build

    with one_line_errors():
        rows, dropped = build(intrinsic, str(data), sets=tuple(sets), limit=limit)
        with out.open("x", encoding="utf-8") as lines:
            lines.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    for why in dropped[:5]:
        typer.echo(f"left out: {why}", err=True)
    typer.echo(f"{out}: {len(rows)} rows, {len(dropped)} left out")
