"""The command line: ``intrinsics run`` over JSON Lines, ``intrinsics demo`` to see a whole chain at work,
``intrinsics serve`` and ``intrinsics mcp`` for other programs, ``intrinsics vllm`` for the adapters on vLLM,
``intrinsics check`` for what is at hand."""

from __future__ import annotations

import os
import sys
from typing import Any

from intrinsics_core.cli.exits import INTERRUPTED


def main() -> None:
    """The command, once this package is imported: `intrinsics_command` comes before."""
    _fill_closed_streams()
    try:
        # Within: Ctrl-C while imports go on is no crash.
        from intrinsics_core.cli.commands import app

        app()
    except KeyboardInterrupt:
        print("intrinsics: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)


def _fill_closed_streams() -> None:
    """Where standard input, output or error is closed, the next file opened would take its number, and its text."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115  (for as long as the process lives: there is nobody to tell)


def __getattr__(name: str) -> Any:
    if name == "app":
        from intrinsics_core.cli.commands import app

        return app
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
