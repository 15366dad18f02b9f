"""``intrinsics check``: what a runtime can do of what the intrinsics need, and what to change."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated, Any

import typer

from intrinsics_core.cli import settings
from intrinsics_core.cli.run import one_line_errors, set_up
from intrinsics_core.cli.trials import tried
from intrinsics_core.protocol.profile import Profile
from intrinsics_core.runtimes.base import Runtime
from intrinsics_core.runtimes.server import ServerRuntime
from intrinsics_core.runtimes.server.examination import Finding, examine

EPILOG = """
Exit codes: 0 all works; 1 something is degraded: scores or constraints are worse than they could be; 2 something that
is needed is refused. Of a PLACE: 1 some files cannot be used, and the line says why; 2 there are no adapters.

Adapters: `intrinsics check ./granitelib-rag#granite-4.1-3b`
Example: `intrinsics check --runtime '{"kind": "server", "base_url": "http://localhost:8000/v1"}'`
"""
_CODES = {"works": 0, "degraded": 1, "refused": 2}
_COLUMNS = ("intrinsic", "base", "technology")  # of an adapter


def check(
    place: Annotated[
        str | None,
        typer.Argument(
            metavar="[PLACE]",
            help="A folder, or owner/name[/folder]@commit on the hub, of which the adapters are listed instead. Append "
            "#base/technology to choose among them.",
        ),
    ] = None,
    runtime: Annotated[
        str | None,
        typer.Option("--runtime", "-r", metavar="JSON|FILE", help="Runtime config, or a file that contains it."),
    ] = None,
    profile: Annotated[
        str | None, typer.Option("--profile", "-p", metavar="NAME", help="Profile whose adapters are checked.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object for each finding.")] = False,
) -> None:
    """Check that a runtime supports what the intrinsics need, and that each adapter answers."""
    if place is not None:
        raise typer.Exit(list_adapters(place, as_json))
    with one_line_errors():
        config = settings.runtime_config(runtime)
        hidden = settings.secrets(config)
    worst = 0
    with one_line_errors(hidden):
        engine, chosen = set_up(config, profile)
        with engine:
            for finding in _findings(engine, chosen):
                worst = max(worst, _CODES[finding.state])
                typer.echo(settings.hide(json.dumps(asdict(finding)) if as_json else _line(finding), hidden))
    raise typer.Exit(worst)


def list_adapters(place: str, as_json: bool) -> int:
    """Print the adapters at a place: intrinsic, base model, technology, profile. 1 where some file cannot be used."""
    from intrinsics_core.profiles.io_yaml.location import survey

    with one_line_errors():
        found = survey(place)
    widths = [max(len(str(row[key] or "-")) for row in found) + 2 for key in _COLUMNS]
    for row in found:
        typer.echo(json.dumps(row) if as_json else _row_of(row, widths))
    return int(any(row["wrong"] for row in found))


def _row_of(row: dict[str, Any], widths: list[int]) -> str:
    columns = (str(row[key] or "-").ljust(width) for key, width in zip(_COLUMNS, widths, strict=True))
    return "".join(columns) + (f"cannot be used: {row['wrong']}" if row["wrong"] else
                               f"{row['profile']}  ({', '.join(row['runtimes'])})")  # fmt: skip


def _findings(engine: Runtime, profile: Profile) -> Iterator[Finding]:
    if isinstance(engine, ServerRuntime):
        for finding in examine(engine, profile):
            yield finding
            if finding.subject == "models" and finding.state == "refused":
                return  # nobody is there to be asked
    yield from tried(engine, profile)


def _line(finding: Finding) -> str:
    change = f"\n{'':30}→ {finding.change}" if finding.change and finding.state != "works" else ""
    return f"{finding.state:<10}{finding.subject:<20}{finding.seen}{change}"
