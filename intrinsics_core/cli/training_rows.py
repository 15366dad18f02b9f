"""``intrinsics training-rows``: rows for ``intrinsics train``, from open sets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from intrinsics_core.cli.run import one_line_errors

EPILOG = """
DATA is a folder of the sets that docs/bench.md names. Rows of a wrong format, and rows whose snippets do not occur
verbatim in their sources, are left out and counted. Without --set, only sets are used whose licence allows weights to
be published.

Exit codes: 0 rows were written, 2 usage or set-up.

Example: `intrinsics training-rows answerability --data data/ --output rows.jsonl --limit 2000`
"""


def training_rows(
    intrinsic: Annotated[
        str, typer.Argument(metavar="INTRINSIC", help="Name of the intrinsic to be trained.", show_default=False)
    ],
    data: Annotated[str, typer.Option(metavar="FOLDER", envvar="RAG_INTRINSICS_DATA", help="Folder of the data sets.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Output file for JSON Lines. It must not exist yet.")
    ],
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME", help="Use only this data set. May be given more than once."),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Largest number of rows from each set, evenly spaced.")
    ] = None,
) -> None:
    """Make training rows from open data sets."""
    from intrinsics_core.training.rows_from import build

    with one_line_errors():
        rows, dropped = build(intrinsic, data, sets=tuple(set_ or ()), limit=limit)
        with output.open("x", encoding="utf-8") as lines:
            lines.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    for why in dropped[:5]:
        typer.echo(f"left out: {why}", err=True)
    typer.echo(f"{output}: {len(rows)} rows, {len(dropped)} left out")
