"""How the command-line tests start the command: in this process, or as a real one."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from intrinsics_core.cli import app

SCRIPTED = Path(__file__).with_name("scripted_command.py")

Rows = Callable[..., Path]


@pytest.fixture
def invoke() -> Callable[..., Any]:
    """``invoke("run", ...)`` in this process."""
    return lambda *arguments: CliRunner().invoke(app, [str(a) for a in arguments])


@pytest.fixture
def process() -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """``process("run", ...)`` as a process of its own, with bytes for standard input."""

    def start(*arguments: Any, stdin: bytes = b"", scripted: bool = False) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run([*command(scripted), *map(str, arguments)], input=stdin, capture_output=True, timeout=120)

    return start


def command(scripted: bool = False) -> list[str]:
    """``scripted``: with the test's own runtime kind "scripted", for failures that a real one has seldom."""
    return [sys.executable, str(SCRIPTED)] if scripted else [sys.executable, "-m", "intrinsics_core.cli"]


@pytest.fixture
def write(tmp_path: Path) -> Rows:
    """Write JSON Lines; bytes are taken as they are."""

    def file(rows: Sequence[Any], name: str = "in.jsonl") -> Path:
        path = tmp_path / name
        lines = [row if isinstance(row, bytes) else json.dumps(row, ensure_ascii=False).encode() for row in rows]
        path.write_bytes(b"".join(line + b"\n" for line in lines))
        return path

    return file


def read(path: Path | str) -> list[dict[str, Any]]:
    data = path.read_bytes() if isinstance(path, Path) else path.encode()
    assert not data or data.endswith(b"\n")
    return [json.loads(line, parse_constant=pytest.fail) for line in data.decode("utf-8").split("\n")[:-1]]
