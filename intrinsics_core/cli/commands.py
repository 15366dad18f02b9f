"""The commands of ``intrinsics``."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from intrinsics_core import __version__
from intrinsics_core.cli import (
    adapters,
    audit,
    bench,
    calibrate,
    check,
    demo,
    mcp,
    run,
    serve,
    train,
    training_rows,
    vllm,
)
from intrinsics_core.cli.one_file import OneFile

app = typer.Typer(
    name="intrinsics",
    help="Check and improve a RAG chain: rewrite queries, rerank passages, check answers and add citations.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"intrinsics {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


command = partial(app.command, cls=OneFile)
command("run", epilog=run.EPILOG)(run.run)
command("bench", epilog=bench.EPILOG)(bench.bench)
command("audit", epilog=audit.EPILOG)(audit.audit)
command("calibrate", epilog=calibrate.EPILOG)(calibrate.calibrate)
command("demo")(demo.demo)
command("serve", epilog=serve.EPILOG)(serve.serve)
command("mcp", epilog=mcp.EPILOG)(mcp.mcp)
command("vllm", epilog=vllm.EPILOG)(vllm.vllm)
command("check", epilog=check.EPILOG)(check.check)
command("train", epilog=train.EPILOG)(train.train)
command("training-rows", epilog=training_rows.EPILOG)(training_rows.training_rows)
command("adapters", epilog=adapters.EPILOG)(adapters.adapters)
