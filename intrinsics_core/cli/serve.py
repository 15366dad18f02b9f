"""``intrinsics serve``: verdicts over HTTP and MCP, for programs that are not written in Python."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from intrinsics_core.cli import settings
from intrinsics_core.cli.options import NamedRuntimes
from intrinsics_core.cli.run import one_line_errors
from intrinsics_core.runtimes.extras import extra

EPILOG = """
Without --runtime, the embedded default is served. A request names its runtime as `model` or `runtime`. The first
runtime answers requests that name none.

Pages: `/docs` for the requests with examples, `/mcp` for MCP clients, `/metrics` for Prometheus. On SIGTERM the
service answers the requests it has, then stops.

Example: `intrinsics serve --runtime fast='{"kind": "embedded", "reader": false}' --runtime careful=server.json`

Then: `curl localhost:8010/v1/rerank -d '{"query": "Who built it?", "documents": ["Fog.", "Ada built it."]}'`
"""


@contextmanager
def named_runtimes(texts: list[str] | None) -> Iterator[dict[str, Any]]:
    """The configs of ``--runtime`` by name. What goes wrong with them is one line, without their keys."""
    with one_line_errors():
        configs = settings.named_configs(texts or [])
        hidden = settings.secrets(configs)
    with one_line_errors(hidden):
        yield configs


def serve(
    runtime: NamedRuntimes = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on. An address that other machines can reach requires --token-file.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on. 0 chooses a free port.")] = 8010,
    token_file: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="A file with the token that requests must send: `Authorization: Bearer TOKEN`."
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="A host name by which clients reach this machine. May be given more than once."
        ),
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ORIGIN",
            help="Origin of web pages that may send requests, e.g. `https://app.example`. None by default.",
        ),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Number of processes. Each loads its own models.")] = 1,
    max_body: Annotated[int, typer.Option(metavar="BYTES", min=1, help="Largest request body in bytes.")] = 8 * 2**20,
    max_documents: Annotated[
        int, typer.Option(metavar="N", min=1, help="Largest number of documents in a request.")
    ] = 1_000,
    max_tokens: Annotated[
        int, typer.Option(metavar="N", min=1, help="Largest number of tokens in the texts of a request.")
    ] = 200_000,
    timeout: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.001, help="Time limit for a request, in seconds.")
    ] = 60.0,
    access_log: Annotated[
        bool,
        typer.Option("--access-log", help="Write a line for each request to standard output."),
    ] = False,
    max_waiting: Annotated[
        int, typer.Option(metavar="N", min=1, help="Largest number of requests that wait for a runtime.")
    ] = 256,
) -> None:
    """Serve the intrinsics over HTTP and MCP."""
    with named_runtimes(runtime) as configs:
        with extra("serve"):
            from intrinsics_core.service import process
        limits = {"body": max_body, "documents": max_documents, "tokens": max_tokens, "seconds": timeout,
                  "waiting": max_waiting}  # fmt: skip
        started = process.Settings(
            configs, host=host, port=port, token_file=token_file, hosts=allow_host or [], origins=allow_origin or [],
            limits=limits, workers=workers, access_log=access_log,
        )  # fmt: skip
        process.run(
            started, lambda url: typer.echo(f"{', '.join(configs)} ready at {url}, requests at {url}/docs", err=True)
        )
