"""The size of each room of the core, as `tests/test_rooms.py` holds it: `python -m benchmarks.rooms`.

Prints lines (with comments), lines of code (without comments, docstrings and blank lines) and compiled patterns.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
CORE = ROOT / "intrinsics_core"
LOOSE = "(loose)"  # the modules that lie in no folder
_DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
_COMPILING = ("re.compile", "regex.compile")


class Size(NamedTuple):
    lines: int = 0
    code: int = 0
    patterns: int = 0


def code_lines(source: str, tree: ast.Module | None = None) -> int:
    """Lines of a source that hold code: no comments, docstrings or blank lines."""
    lines = enumerate(source.splitlines(), start=1)
    held = {number for number, line in lines if line.strip() and not line.lstrip().startswith("#")}
    for node in ast.walk(tree or ast.parse(source)):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            held -= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return len(held)


def patterns(tree: ast.Module) -> int:
    """Calls of ``re.compile`` and ``regex.compile`` in a source."""
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return sum(isinstance(call, ast.Attribute) and ast.unparse(call) in _COMPILING for call in calls)


@cache
def rooms() -> dict[str, Size]:
    """The size of each folder of the core, and of the modules beside them."""
    found: dict[str, Size] = {}
    for path in sorted(CORE.rglob("*.py")):
        room = path.relative_to(CORE).parts[0] if path.parent != CORE else LOOSE
        source = path.read_text(encoding="utf-8")
        tree = ast.parse(source)
        size = Size(len(source.splitlines()), code_lines(source, tree), patterns(tree))
        found[room] = Size(*map(sum, zip(found.get(room, Size()), size, strict=True)))
    return found


def lines_of_tests(*folders: str) -> int:
    """Lines of the tests in these folders of `tests`."""
    files = [path for folder in folders for path in (ROOT / "tests" / folder).rglob("*.py")]
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)


class Adapter(NamedTuple):
    lines: int
    tests: int


def adapters() -> dict[str, Adapter]:
    """The lines of each framework's adapter, and of its tests."""
    found = {}
    for folder in sorted(path for path in (ROOT / "integrations").iterdir() if (path / "pyproject.toml").exists()):
        lines, tests = 0, 0
        for path in folder.rglob("*.py"):
            count = len(path.read_text(encoding="utf-8").splitlines())
            if "tests" in path.relative_to(folder).parts:
                tests += count
            else:
                lines += count
        found[folder.name] = Adapter(lines, tests)
    return found


if __name__ == "__main__":
    sizes = rooms()
    sizes["core"] = Size(*map(sum, zip(*sizes.values(), strict=True)))
    print(f"{'room':14}{'lines':>8}{'code':>8}{'patterns':>10}")
    for name, size in sizes.items():
        print(f"{name:14}{size.lines:8}{size.code:8}{size.patterns:10}")
    print(f"tests/embedded, tests/text: {lines_of_tests('embedded', 'text')} lines")
    for name, adapter in adapters().items():
        print(f"{name:14}{adapter.lines:8}, tests {adapter.tests}")
