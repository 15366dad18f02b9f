"""The pytest plugin as a team uses it: a repository with labelled cases, in a pytest of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

MILL = "The tide mill was built in 1911 by Ada Brink. It ground flour until 1958."
GOOD: list[dict[str, Any]] = [
    {
        "id": "builder",
        "question": "Who built the tide mill?",
        "documents": [MILL],
        "answer": "Ada Brink built the tide mill in 1911.",
        "answerable": True,
    },
    {
        "id": "until",
        "question": "Until when did the tide mill grind flour?",
        "documents": [MILL],
        "answer": "The tide mill ground flour until 1958.",
        "answerable": True,
    },
    {"id": "king", "question": "Which Norwegian king owned a submarine?", "documents": [MILL], "answerable": False},
]
LIE = "Karl Holm painted submarines gold in Norway."
LIES = [{**case, "answer": LIE} if "answer" in case else case for case in GOOD]

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def team(tmp_path: Path) -> Run:
    """Write files and run pytest among them: ``team({"cases.jsonl": ...}, "--intrinsics", "cases.jsonl")``."""

    def start(files: dict[str, Any], *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        for name, content in files.items():
            lines = content if isinstance(content, str) else "".join(json.dumps(row) + "\n" for row in content)
            (tmp_path / name).write_text(lines, encoding="utf-8")
        plugin = ("-p", "intrinsics_core.testing.plugin")  # alone: what else is installed here only takes time
        alone = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *plugin, "-rA", *arguments],
            cwd=tmp_path, env=os.environ | alone | environment, capture_output=True, text=True, timeout=300,
        )  # fmt: skip

    return start


def test_pytest_finds_the_plugin_by_itself() -> None:
    from importlib.metadata import entry_points

    assert "intrinsics_core.testing.plugin" in {entry.value for entry in entry_points(group="pytest11")}


@pytest.mark.slow
def test_a_build_that_holds_its_bounds(team: Run, tmp_path: Path) -> None:
    bounds = ("--intrinsics-min", "faithfulness=0.5", "--intrinsics-min", "answerability=0.9")
    done = team({"cases.jsonl": GOOD}, "--intrinsics", "cases.jsonl", *bounds, "--junitxml=j.xml",
                GITHUB_STEP_SUMMARY=str(tmp_path / "s.md"))  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5 passed" in done.stdout
    assert "answerability 1.000 [1.000, 1.000] of 3 cases, bound 0.9: holds" in done.stdout
    found = ElementTree.parse(tmp_path / "j.xml").iter("testcase")
    properties = {case.get("name"): {p.get("name"): p.get("value") for p in case.iter("property")} for case in found}
    assert properties["case[builder]"]["faithfulness label"] == "faithful"
    assert float(properties["faithfulness"]["low"] or 0) > 0.5
    assert "| answerability | 1.000 | 1.000 .. 1.000 | 3 | 0.9 | holds |" in (tmp_path / "s.md").read_text("utf-8")


@pytest.mark.slow
def test_a_build_that_got_worse_fails_with_the_number(team: Run) -> None:
    done = team({"cases.jsonl": LIES}, "--intrinsics", "cases.jsonl", "--intrinsics-min", "faithfulness=0.8")
    assert done.returncode == 1
    assert "3 passed" in done.stdout and "1 failed" in done.stdout
    assert "of 2 cases, bound 0.8: FAILS" in done.stdout
    assert "Traceback" not in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("dist", ["load", "each"])
def test_the_values_are_told_where_several_processes_found_them(team: Run, tmp_path: Path, dist: str) -> None:
    pytest.importorskip("xdist")
    bounds = ("--intrinsics-min", "faithfulness=0.5", "--intrinsics-min", "answerability=0.9")
    done = team({"cases.jsonl": GOOD}, "--intrinsics", "cases.jsonl", *bounds, "-p", "xdist", "-n", "2", "--dist", dist,
                GITHUB_STEP_SUMMARY=str(tmp_path / "s.md"))  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    values = [line.split()[0] for line in done.stdout.splitlines() if line.endswith(": holds")]
    assert values == ["faithfulness", "answerability"]
    written = (tmp_path / "s.md").read_text("utf-8")
    assert written.count("### Intrinsics: cases.jsonl") == 1
    assert written.index("| faithfulness |") < written.index("| answerability |")


@pytest.mark.slow
def test_a_case_that_failed_in_another_process_is_named(team: Run, tmp_path: Path) -> None:
    pytest.importorskip("xdist")
    done = team({"cases.jsonl": GOOD, "conftest.py": CHAIN}, "--intrinsics", "cases.jsonl", "-p", "xdist", "-n", "2",
                GITHUB_STEP_SUMMARY=str(tmp_path / "s.md"))  # fmt: skip
    assert done.returncode == 1
    written = (tmp_path / "s.md").read_text("utf-8")
    assert written.count('- case "king" failed') == 1 and "| answerability |" in written


CHAIN = """
import pytest

@pytest.fixture(scope="session")
def intrinsics_chain():
    def chain(messages):
        if "submarine" in messages[-1]["content"]:
            raise RuntimeError("the index is gone")
        return {"documents": ["Ada Brink built the tide mill in 1911."], "answer": "Ada Brink built it in 1911."}
    return chain
"""


@pytest.mark.slow
def test_a_chain_of_ones_own_and_one_case_that_it_cannot_do(team: Run) -> None:
    done = team({"cases.jsonl": GOOD, "conftest.py": CHAIN}, "--intrinsics", "cases.jsonl")
    assert done.returncode == 1
    assert "case[king]" in done.stdout and "RuntimeError: the index is gone" in done.stdout
    assert "1 failed" in done.stdout and "4 passed" in done.stdout


TESTS = """
import pytest

MILL = "The tide mill was built in 1911 by Ada Brink."

@pytest.mark.intrinsics(faithfulness=0.5)
@pytest.mark.parametrize("answer", ["Ada Brink built the tide mill.", "Karl Holm flew gold submarines to Norway."])
def test_answers(intrinsics, answer):
    intrinsics.faithfulness(answer, [MILL], question="Who built the tide mill?")

@pytest.mark.intrinsics(answerability=1)
def test_gate(intrinsics):
    assert intrinsics.answerability("Who built the tide mill?", [MILL], expected=True).answerable

@pytest.mark.intrinsics(faithfulness=0.1)
def test_judges_nothing():
    pass
"""


def test_the_marker_and_the_fixture_in_tests_of_ones_own(team: Run) -> None:
    done = team({"test_ours.py": TESTS}, "--strict-markers")
    assert done.returncode == 1
    assert "2 passed" in done.stdout and "2 failed" in done.stdout
    assert "bound 0.5: FAILS" in done.stdout
    assert "judged nothing with the fixture" in done.stdout


@pytest.mark.parametrize(
    ("cases", "arguments", "told"),
    [
        (GOOD, ("--intrinsics-min", "faith=1"), "a bound cannot be read"),
        ([GOOD[0], GOOD[0]], (), "row 2: the id 'builder' occurs twice"),
        ([{"documents": []}], (), "row 1: the row has no 'question'"),
        ("[1]\n", (), "line 1: this is not a JSON object"),
    ],
)
def test_what_is_wrong_is_said_before_any_test(team: Run, cases: Any, arguments: tuple[str, ...], told: str) -> None:
    done = team({"cases.jsonl": cases}, "--intrinsics", "cases.jsonl", *arguments)
    assert done.returncode == 4
    assert told in done.stderr and "Traceback" not in done.stderr


def test_a_project_that_does_not_use_it_loads_no_judge() -> None:
    heavy = "{'numpy', 'nltk', 'onnxruntime', 'openai'}"
    code = f"import sys, intrinsics_core.testing.plugin; sys.exit(not {heavy}.isdisjoint(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=120).returncode == 0
