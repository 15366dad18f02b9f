"""Docstrings of the public names: arguments, results and errors are documented, and examples run."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest

import intrinsics_core
from intrinsics_core.intrinsics import TABLE
from intrinsics_core.protocol import errors

# What the packages export, and modules whose names docs and plugins import one by one.
MODULES = [
    "intrinsics_core",
    *(
        f"intrinsics_core.{name}"
        for name in ("bench", "bench.intervals", "bench.reporting", "bench.running", "calibration.fitting",
                     "calibration.promises", "intrinsics", "profiles", "profiles.io_yaml", "protocol.apply_calibration",
                     "protocol.call", "protocol.names", "protocol.task", "chains.transcript", "render.citations",
                     "render.html", "render.reliability", "render.report", "render.terminal", "render.text",
                     "running.batch", "running.calibrate", "running.flows", "running.rows", "running.schemas",
                     "running.streaming", "runtimes", "runtimes.scripted", "testing.plugin", "testing.suite",
                     "training")
    ),
]  # fmt: skip
if find_spec("fastapi"):  # the extra `serve`
    MODULES.append("intrinsics_core.service.app")
ERRORS = {name for name, kind in vars(errors).items() if inspect.isclass(kind) and issubclass(kind, Exception)}


def public() -> Iterator[tuple[str, Any]]:
    """Every public function and every public method of a public class, once."""
    seen = set[int]()
    for module in map(importlib.import_module, MODULES):
        own = [name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
        for name in getattr(module, "__all__", [name for name in own if not name.startswith("_")]):
            value = getattr(module, name, None)
            members = [(name, value)] if inspect.isfunction(value) else []
            if inspect.isclass(value) and value.__module__.startswith("intrinsics_core"):
                members = [
                    (f"{name}.{key}", getattr(member, "__func__", member))
                    for key, member in vars(value).items()
                    if not key.startswith("_") and inspect.isfunction(getattr(member, "__func__", member))
                ]
            for path, function in members:
                if id(function) not in seen and function.__module__.startswith("intrinsics_core"):
                    seen.add(id(function))
                    yield f"{module.__name__}.{path}", function


PUBLIC = dict(public())


def raised(function: Any) -> set[str]:
    """The library's errors that the function itself raises and does not catch."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    caught = {
        node for each in ast.walk(tree) if isinstance(each, ast.Try) for part in each.body for node in ast.walk(part)
    }
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Raise) and node not in caught]
    calls = (node.exc for node in found if isinstance(node.exc, ast.Call))
    return {call.func.id for call in calls if isinstance(call.func, ast.Name)} & ERRORS


def lacking(function: Any) -> list[str]:
    """What the docstring of a function leaves out."""
    doc = inspect.getdoc(function) or ""
    signature = inspect.signature(inspect.unwrap(function))
    given = [name for name in signature.parameters if name not in ("self", "cls")]
    found = [f"Raises: {name}" for name in sorted(raised(inspect.unwrap(function))) if name not in doc]
    if len(given) < 3:
        return found
    arguments = doc.partition("Args:\n")[2]
    found += [f"Args: {name}" for name in given if not re.search(rf"^\s+(\w+, )*\*{{0,2}}{name}[,:]", arguments, re.M)]
    if signature.return_annotation not in (None, "None") and not re.search(r"^(Returns|Yields):", doc, re.M):
        found.append("Returns")
    return found


@pytest.mark.parametrize("name", PUBLIC)
def test_arguments_results_and_errors_are_documented(name: str) -> None:
    assert lacking(PUBLIC[name]) == []


@pytest.mark.parametrize("name", [*TABLE, "adapter", "compare"])
def test_the_example_of_each_intrinsic_runs(name: str) -> None:
    function = TABLE[name].function if name in TABLE else getattr(intrinsics_core, name)
    (example,) = doctest.DocTestFinder(recurse=False).find(inspect.unwrap(function), name, globs={})
    assert example.examples, "the docstring has no example"
    result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE).run(example)
    assert result.failed == 0
