"""``intrinsics serve``: verdicts over HTTP and MCP, for programs that are not written in Python."""

from __future__ import annotations

from typing import Annotated

import typer

from intrinsics_core.cli import settings
from intrinsics_core.cli.options import NamedRuntimes
from intrinsics_core.cli.run import one_line_errors

EPILOG = """
Without --runtime it is the embedded default. A request picks a runtime by its name, as `model` or `runtime`; the first
one answers those that name none.

Pages: `/docs` for the requests with examples, `/mcp` for MCP clients, `/metrics` for Prometheus. SIGTERM answers what
was asked, then ends.

Example: `intrinsics serve --runtime fast='{"kind": "embedded", "reader": false}' --runtime careful=server.json`

Then: `curl localhost:8010/v1/rerank -d '{"query": "Who built it?", "documents": ["Fog.", "Ada built it."]}'`
"""


def serve(
    runtime: NamedRuntimes = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on. Another than this machine's own needs a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0: any that is free.")] = 8010,
    token_file: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="A file with the token that requests bring: `Authorization: Bearer TOKEN`."),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A name that clients call this machine by. May be given more than once."),
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(metavar="ORIGIN", help="A page that may ask, e.g. `https://app.example`. None by default."),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes, each with models of its own.")] = 1,
    max_body: Annotated[int, typer.Option(metavar="BYTES", min=1, help="Largest body of a request.")] = 8 * 2**20,
    max_documents: Annotated[int, typer.Option(metavar="N", min=1, help="Most documents of a request.")] = 1_000,
    max_tokens: Annotated[int, typer.Option(metavar="N", min=1, help="Most tokens of a request's texts.")] = 200_000,
    timeout: Annotated[float, typer.Option(metavar="SECONDS", min=0.001, help="Longest time of a request.")] = 60.0,
    max_waiting: Annotated[int, typer.Option(metavar="N", min=1, help="Most requests that wait for a runtime.")] = 256,
) -> None:
    """Serve rankings, gates, flags, citations and checks over HTTP and MCP."""
    with one_line_errors():
        configs = settings.named_configs(runtime or [])
        hidden = settings.secrets(configs)
    with one_line_errors(hidden):
        with settings.extra("serve"):
            from intrinsics_core.service import process
        limits = {"body": max_body, "documents": max_documents, "tokens": max_tokens, "seconds": timeout,
                  "waiting": max_waiting}  # fmt: skip
        started = process.Settings(
            configs, host=host, port=port, token_file=token_file, hosts=allow_host or [], origins=allow_origin or [],
            limits=limits, workers=workers,
        )  # fmt: skip
        process.run(started, lambda url: typer.echo(f"{', '.join(configs)} at {url}, {url}/docs", err=True))
