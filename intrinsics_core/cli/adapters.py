"""What ``intrinsics check PLACE`` prints: which adapters are at a place, and what each fits."""

from __future__ import annotations

import json
from typing import Any

import typer

from intrinsics_core.cli.run import one_line_errors

_COLUMNS = ("intrinsic", "base", "technology")


def list_adapters(place: str, as_json: bool) -> int:
    """Print the adapters at a place: intrinsic, base model, technology, profile. 1 where some file cannot be used."""
    from intrinsics_core.profiles.io_yaml.location import survey

    with one_line_errors():
        found = survey(place)
    if not as_json:
        widths = [max(len(str(row[key] or "-")) for row in found) + 2 for key in _COLUMNS]
    for row in found:
        typer.echo(json.dumps(row) if as_json else _line(row, widths))
    return int(any(row["wrong"] for row in found))


def _line(row: dict[str, Any], widths: list[int]) -> str:
    columns = (str(row[key] or "-").ljust(width) for key, width in zip(_COLUMNS, widths, strict=True))
    return "".join(columns) + (f"cannot be used: {row['wrong']}" if row["wrong"] else
                               f"{row['profile']}  ({', '.join(row['runtimes'])})")  # fmt: skip
