"""What programs print and what pages show: in a fresh interpreter, in this one, and as examples of a page."""

from __future__ import annotations

import contextlib
import doctest
import io
import subprocess
import sys
from pathlib import Path


def output_of(code: str) -> str:
    """What a program prints. One that fails, or takes two minutes, fails the test."""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    return found.stdout.strip()


def printed_by(code: str, name: str) -> list[str]:
    """The lines that a program of our own prints, run in this interpreter."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, name, "exec"), {})
    return printed.getvalue().splitlines()


def examples_of(page: Path, flags: int = doctest.ELLIPSIS) -> int:
    """How many examples (``>>>``) a page has; each says what comes of it."""
    found = doctest.testfile(str(page), module_relative=False, optionflags=flags)
    assert found.failed == 0
    return found.attempted
