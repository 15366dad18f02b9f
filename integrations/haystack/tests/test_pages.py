"""Every snippet of the pages about Haystack runs and prints what it says; the registries' files name what is there."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest
import yaml

from tests.interpreter import examples_of, printed_by

ROOT = Path(__file__).parents[3]
OURS = ROOT / "integrations" / "haystack"


def test_the_page_runs() -> None:
    assert examples_of(ROOT / "docs" / "haystack.md", flags=0) > 40


def test_the_integration_page_runs_and_has_what_the_registry_asks_for() -> None:
    _, front, text = (OURS / "integration-page.md").read_text(encoding="utf-8").split("---\n", 2)
    facts = yaml.safe_load(front)
    asked = {"layout", "name", "description", "authors", "pypi", "repo", "type", "report_issue", "version", "toc"}
    assert asked <= set(facts) and facts["layout"] == "integration"
    for snippet in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        printed = printed_by(snippet, "integration-page.md")
        assert printed == [line[2:] for line in snippet.splitlines() if line.startswith("# ")]


def test_the_api_reference_has_every_module() -> None:
    config = yaml.safe_load((OURS / "pydoc" / "config_docusaurus.yml").read_text(encoding="utf-8"))
    [loader] = config["loaders"]
    ours = re.compile(r"^class (RagIntrinsics|ChatGeneratorRuntime)", re.MULTILINE)
    files = [path for path in (OURS / "haystack_integrations").rglob("*.py") if ours.search(path.read_text())]
    public = {".".join(path.relative_to(OURS).with_suffix("").parts) for path in files}
    assert set(loader["modules"]) == public
    for name in loader["modules"]:
        assert import_module(name).__doc__


@pytest.mark.parametrize("table", ["### Programs", "### Beside peers"])
def test_the_programs_in_the_table_are_there(table: str) -> None:
    text = (ROOT / "benchmarks/results/programs.md").read_text(encoding="utf-8").split("\n## Haystack\n")[1]
    rows = [line for line in text.split(table)[1].split("\n### ")[0].splitlines() if line.startswith("| ")][1:]
    tests = "".join(path.read_text() for path in (OURS / "tests" / "programs").glob("*.py"))
    assert rows
    for name in re.findall(r"`(test_\w+)`", "\n".join(rows)):
        assert f"def {name}(" in tests, name
