"""Options that several commands take, in the same words."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

Input = Annotated[
    str, typer.Option("--input", "-i", metavar="FILE", help="Input rows as JSON Lines. `-` means standard input.")
]
Output = Annotated[
    str, typer.Option("--output", "-o", metavar="FILE", help="Output rows as JSON Lines. `-` means standard output.")
]
RuntimeConfig = Annotated[
    str | None,
    typer.Option(
        metavar="JSON|FILE",
        help='Runtime config, e.g. `{"kind": "embedded"}`, or a file that contains it.',
        show_default="embedded",
    ),
]
NamedRuntimes = Annotated[
    list[str] | None,
    typer.Option(
        "--runtime",
        metavar="[NAME=]JSON|FILE",
        help="A runtime's config, or a file that contains it. May be given more than once, each time with a name.",
        show_default="embedded",
    ),
]
ProfileName = Annotated[
    str | None, typer.Option(metavar="NAME", help="Name of the profile.", show_default="the runtime's own")
]
DateText = Annotated[
    str | None,
    typer.Option(metavar="TEXT", help="Date for prompts that contain one, e.g. `April 1, 2025`.", show_default="today"),
]
Concurrency = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="Number of rows or cases processed at the same time.",
        show_default="the runtime's own",
    ),
]
RowTimeout = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        min=0.001,
        help="Time limit for a row. A row that exceeds it becomes an error line of type `RequestTimeout`.",
        show_default="any time",
    ),
]
OnError = Annotated[
    Literal["raise", "fallback"],
    typer.Option(
        help="What is written for a row that fails: `raise` writes an error line; `fallback` writes a degraded result "
        "if the intrinsic has one."
    ),
]
Options = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="KEY=VALUE",
        help="An option of the intrinsic, e.g. `top_k=3`. May be given more than once.",
    ),
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Continue an interrupted run that had the same settings and input.")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace existing output files.")]
Ray = Annotated[
    str | None,
    typer.Option(
        "--ray",
        metavar="local|auto|ADDRESS",
        help="Distribute the rows over actors of a Ray cluster: `local` starts one, `auto` uses "
        "the one that runs here, "
        "and an address names one. `--concurrency` then limits all actors together.",
    ),
]
Actors = Annotated[int | None, typer.Option(metavar="N", min=1, help="With --ray: number of actors.", show_default="2")]
Gpus = Annotated[
    float | None, typer.Option(metavar="N", min=0, help="With --ray: GPUs for each actor.", show_default="none")
]
