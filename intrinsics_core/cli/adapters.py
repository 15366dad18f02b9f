"""``intrinsics adapters``: which adapters are at a place, and what each fits."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from intrinsics_core.cli.run import one_line_errors

EPILOG = """
Exit codes: 0 every file can be used; 1 some cannot be used, and the line says why; 2 there are no adapters.

Example: `intrinsics adapters ./granitelib-rag#granite-4.1-3b`
"""
_COLUMNS = ("intrinsic", "base", "technology")


def adapters(
    place: Annotated[
        str,
        typer.Argument(
            metavar="PLACE",
            help="A folder, or owner/name[/folder]@commit on the hub. Append #base/technology to "
            "choose among its adapters.",
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object for each adapter.")] = False,
) -> None:
    """List the adapters in a folder or repository: intrinsic, base model, technology, and the profile to use."""
    from intrinsics_core.profiles.io_yaml.location import survey

    with one_line_errors():
        found = survey(place)
    if not as_json:
        widths = [max(len(str(row[key] or "-")) for row in found) + 2 for key in _COLUMNS]
    for row in found:
        typer.echo(json.dumps(row) if as_json else _line(row, widths))
    raise typer.Exit(int(any(row["wrong"] for row in found)))


def _line(row: dict[str, Any], widths: list[int]) -> str:
    columns = (str(row[key] or "-").ljust(width) for key, width in zip(_COLUMNS, widths, strict=True))
    return "".join(columns) + (f"cannot be used: {row['wrong']}" if row["wrong"] else
                               f"{row['profile']}  ({', '.join(row['runtimes'])})")  # fmt: skip
