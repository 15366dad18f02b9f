"""``intrinsics vllm``: the ``vllm serve`` command line for a base model and its adapters, printed, or become."""

from __future__ import annotations

import os
import shutil
import sys
from typing import Annotated

import typer

from intrinsics_core.cli.run import one_line_errors
from intrinsics_core.protocol.errors import InvalidInput, RuntimeUnavailable

EPILOG = """
Example: `intrinsics vllm ibm-granite/granite-3.3-8b-instruct --adapter ./rag-agent-lib --exec`

Then: `intrinsics run answerability --profile granite-3.3
--runtime '{"kind": "server", "base_url": "http://127.0.0.1:8000/v1"}' …`
"""


def vllm(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="The base model: a folder or a hub repository.")],
    adapter: Annotated[
        list[str] | None,
        typer.Option(
            "--adapter",
            "-a",
            metavar="[NAME=]PATH",
            help="A LoRA adapter, or a folder of them. May be given more than once. "
            "Activated LoRA adapters are refused because vLLM does not support them.",
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
    executable: Annotated[str, typer.Option(metavar="PATH", help="Path of the `vllm` program.")] = "vllm",
    become: Annotated[bool, typer.Option("--exec", help="Run the command in place of this process.")] = False,
) -> None:
    """Print the `vllm serve` command for a base model and its adapters, or run it."""
    from intrinsics_core.runtimes.server import launch

    with one_line_errors():
        if model.startswith("-") or (name or "").startswith("-"):  # vLLM would take it for an option
            raise InvalidInput("MODEL or --name begins with a dash", expected="a folder or a hub repository")
        plan = launch.Plan(
            model, launch.read_adapters(adapter or []), host=host, port=port, name=name,
            options=option or [], executable=executable,
        )  # fmt: skip
        if not become:
            typer.echo(launch.shell(plan.command()))
            return
        if shutil.which(executable) is None:
            raise RuntimeUnavailable(
                f"{executable!r} is not installed here",
                expected="vLLM: `pip install vllm` in an environment of its own, then --executable PATH/bin/vllm",
            )
        sys.stdout.flush()
        sys.stderr.flush()
        os.execvp(executable, plan.command())
