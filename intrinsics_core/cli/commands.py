"""The commands of ``intrinsics``."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from intrinsics_core import __version__
from intrinsics_core.cli.one_file import OneFile

# Each is a function of its name in a module of its name; `EPILOG` is what its help ends with.
_NAMES = ("run", "bench", "audit", "calibrate", "demo", "serve", "mcp", "vllm", "check", "train")


class _Commands(dict[str, Any]):
    """The commands by name. Each is imported when it is looked up: to import all takes half as long again."""

    def __getitem__(self, name: str) -> Any:
        if super().__getitem__(name) is None:
            module = import_module(f"{__package__}.{name.replace('-', '_')}")
            alone = typer.Typer(add_completion=False, rich_markup_mode="markdown")
            command = alone.command(name, cls=OneFile, epilog=getattr(module, "EPILOG", None))
            command(getattr(module, name.replace("-", "_")))
            self[name] = typer.main.get_command(alone)
        return super().__getitem__(name)

    def get(self, name: str, otherwise: Any = None) -> Any:
        return self[name] if name in self else otherwise  # noqa: SIM401  (not the raw value)


class _Group(TyperGroup):
    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands = _Commands((name, None) for name in _NAMES)


app = typer.Typer(
    name="intrinsics",
    cls=_Group,
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
