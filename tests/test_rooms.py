"""The architecture, held: no room imports from a room above it, and no imports run in a circle.

The graph is drawn from the source. Imports in functions, under TYPE_CHECKING and by name (``import_module``, tables of
module names) count like all others: what hides a circle does not break it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import intrinsics_core

PACKAGE = "intrinsics_core"
ROOT = Path(intrinsics_core.__file__).parent

# Lowest first; the longest name that fits a module is its room. What a profile *is* (profiles.base) lies below the
# intrinsics, which ask through it; how each family says it (profiles) lies above, since it knows what is asked.
ROOMS = (
    "cancelling",
    "forks",
    "errors",
    "hiding",
    "text",
    "conversation",
    "requests",
    "results",
    "telemetry",
    "hub",
    "replies",
    "evaluation",
    "program",
    "profiles.base",
    "intrinsics",
    "embedded",
    "profiles",
    "flows",
    "runtimes",
    "drivers",
    "batch",
    "streaming",
    "calibrate",
    "evaluation.tables",
    "render",
    "",  # the package itself: what users import, also what is below
    "demo",
    "cli",
    "testing",
)


def modules() -> dict[str, Path]:
    """Module name within the package -> its file; the package itself is ``""``."""
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def room(module: str) -> str:
    return max((name for name in ROOMS if module == name or module.startswith(f"{name}.") or not name), key=len)


def imported(tree: ast.AST) -> Iterator[str]:
    """Dotted names that a source imports, or spells as a text of its own (``"a.b"``, ``"a.b:C"``)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from re.findall(rf"^{PACKAGE}(?:\.\w+)+(?=:|$)", node.value)


def edges(source: str, of: str = "?") -> set[str]:
    """Modules of the package that this source imports."""
    found = set()
    for name in imported(ast.parse(source)):
        if name != PACKAGE and not name.startswith(f"{PACKAGE}."):
            continue
        parts = name.split(".")[1:]
        while parts and ".".join(parts) not in MODULES:
            parts.pop()  # a name within a module
        found.add(".".join(parts))
    return found - {of}


GRAPH = {module: edges(path.read_text(encoding="utf-8"), module) for module, path in MODULES.items()}


def circle(graph: dict[str, set[str]]) -> list[str]:
    """Modules that import each other in a ring, the first one again at its end; empty where there is none."""
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> list[str]:
        if module in path:
            return [*path[path.index(module) :], module]
        if module in done:
            return []
        for other in sorted(graph.get(module, ())):
            if found := visit(other, (*path, module)):
                return found
        done.add(module)
        return []

    return next((found for module in sorted(graph) if (found := visit(module, ()))), [])


def test_no_room_knows_a_room_above_it() -> None:
    wrong = [
        f"{module} ({room(module)}) imports {other} ({room(other)})"
        for module, others in GRAPH.items()
        for other in sorted(others)
        if ROOMS.index(room(other)) > ROOMS.index(room(module))
    ]
    assert not wrong, "\n".join(wrong)


def test_no_imports_run_in_a_circle() -> None:
    assert not circle(GRAPH), " -> ".join(circle(GRAPH))


def test_every_room_is_there_and_every_module_has_one() -> None:
    assert {room(module) for module in MODULES} == set(ROOMS)
    assert [module for module in MODULES if module and room(module) == ""] == []


def test_no_two_modules_of_one_name_in_a_room() -> None:
    names = [(room(module), module.rpartition(".")[2]) for module in MODULES]
    assert {name for name in names if names.count(name) > 1} == set()


def test_no_two_classes_of_one_name() -> None:
    found: dict[str, list[str]] = {}
    for module, path in MODULES.items():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name.strip("_"), []).append(module)
    assert {name: where for name, where in found.items() if len(where) > 1} == {}


def test_hidden_imports_count() -> None:
    source = """
def late():
    from intrinsics_core.cli import main
    import_module("intrinsics_core.drivers")
TABLE = {"kind": "intrinsics_core.runtimes.embedded:EmbeddedRuntime"}
"intrinsics_core.flows is only spoken of here"
"""
    assert edges(source) == {"cli", "drivers", "runtimes.embedded"}
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"a"}}) == ["a", "b", "c", "a"]
    assert circle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []
