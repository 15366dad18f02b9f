"""The commands of ``intrinsics``."""

from __future__ import annotations

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


app.command("run", epilog=run.EPILOG)(run.run)
app.command("bench", epilog=bench.EPILOG)(bench.bench)
app.command("audit", epilog=audit.EPILOG)(audit.audit)
app.command("calibrate", epilog=calibrate.EPILOG)(calibrate.calibrate)
app.command("demo")(demo.demo)
app.command("serve", epilog=serve.EPILOG)(serve.serve)
app.command("mcp", epilog=mcp.EPILOG)(mcp.mcp)
app.command("vllm", epilog=vllm.EPILOG)(vllm.vllm)
app.command("check", epilog=check.EPILOG)(check.check)
app.command("train", epilog=train.EPILOG)(train.train)
app.command("training-rows", epilog=training_rows.EPILOG)(training_rows.training_rows)
app.command("adapters", epilog=adapters.EPILOG)(adapters.adapters)
