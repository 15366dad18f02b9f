"""``intrinsics serve``: the ``vllm serve`` command line for a base model and its adapters, printed or run."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from intrinsics_core.cli.run import one_line_errors
from intrinsics_core.errors import InvalidInput

EPILOG = """
Example: `intrinsics serve ibm-granite/granite-3.3-8b-instruct --adapter ./rag-agent-lib --start`

Then: `intrinsics run answerability --profile granite-3.3
--runtime '{"kind": "server", "base_url": "http://127.0.0.1:8000/v1"}' …`
"""


def serve(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="The base model: a folder or a hub repository.")],
    adapter: Annotated[
        list[str] | None,
        typer.Option(
            "--adapter",
            "-a",
            metavar="[NAME=]PATH",
            help="A LoRA adapter, or a folder of them. May be given more than once. "
            "Activated LoRA is refused: vLLM does not support it.",
        ),
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")] = 8000,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the base model on the server.", show_default="MODEL")
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option",
            metavar="--FLAG[=VALUE]",
            help="A further option of `vllm serve`, e.g. `--option=--max-model-len=8192`. May be given more than once.",
        ),
    ] = None,
    executable: Annotated[str, typer.Option(metavar="PATH", help="The `vllm` program.")] = "vllm",
    start: Annotated[
        bool, typer.Option("--start", help="Start it, wait until every adapter has answered, stop it on Ctrl-C.")
    ] = False,
    timeout: Annotated[float, typer.Option(metavar="SECONDS", min=1, help="How long to wait for it.")] = 1800,
) -> None:
    """Print the `vllm serve` command for a base model and its adapters, or start and supervise it."""
    from intrinsics_core.runtimes.server import launch as serving

    with one_line_errors():
        if model.startswith("-") or (name or "").startswith("-"):  # vLLM would take it for an option
            raise InvalidInput("MODEL or --name begins with a dash", expected="a folder or a hub repository")
        plan = serving.Plan(
            model, serving.read_adapters(adapter or []), host=host, port=port, name=name,
            options=option or [], executable=executable,
        )  # fmt: skip
        if not start:
            typer.echo(serving.shell(plan.command()))
            return
        try:
            with serving.stopping(), serving.started(plan) as server:
                server.wait_ready(timeout)
                served = ", ".join([plan.base_name, *(a.name for a in plan.adapters)])
                config = json.dumps({"kind": "server", "base_url": plan.base_url})
                typer.echo(f"ready: {served}\nruntime: {config}\nCtrl-C stops it", err=True)
                code = server.wait()
        except serving.Stopped:
            typer.echo("stopped", err=True)
            return
        typer.echo(f"intrinsics: vllm ended by itself with exit code {code}", err=True)
        raise typer.Exit(1)
