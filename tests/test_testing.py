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

from intrinsics_core import hallucination_detection, run
from intrinsics_core.protocol.errors import MalformedReply
from intrinsics_core.testing.counting import counts
from intrinsics_core.testing.suite import Gated, Outcome, judge, notes, standing, summary

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
            (tmp_path / name).parent.mkdir(exist_ok=True)
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
    values = [line.split()[0] for line in done.stdout.splitlines() if ": holds" in line]
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


def judged(
    documents: Any,
    answer: str | None,
    *,
    answerable: bool | None = None,
    question: str = "What does the entry to the museum cost?",
) -> Outcome:
    """One question of which the user's chain makes this."""
    asked = {"role": "user", "content": question}
    case = Gated("entry", (asked,), None, None, answerable)
    (outcome,) = judge([case], chain=lambda messages: {"documents": documents, "answer": answer})
    return outcome


ENTRY = "The entry to the museum costs four euros."


@pytest.mark.parametrize(
    ("documents", "answer", "why"),
    [
        ([], "The entry costs nine euros.", "nothing retrieved"),
        ([], "It is free of charge on Mondays.", "nothing retrieved"),
        ([" "], "The entry costs four euros.", "the documents have no text"),
        ([ENTRY], "", "nothing said"),
        ([ENTRY], " \n", "nothing said"),
        ([ENTRY], "<think>Four euros, I read.</think>", "nothing said"),
    ],
)
def test_a_lost_retrieval_and_a_lost_answer_count_0(documents: list[str], answer: str, why: str) -> None:
    outcome = judged(documents, answer)
    assert (outcome.values["faithfulness"], outcome.reasons["faithfulness"]) == (0, why)
    assert outcome.error is None


@pytest.mark.parametrize(
    ("documents", "answer", "answerable", "why"),
    [
        ([], "I don't know.", None, "no claim"),
        ([], "I'm sorry, the documents do not say what the entry costs.", None, "no claim"),
        ([""], "Hello! How can I help?", None, "no claim"),
        ([ENTRY], "I could not find any information about this.", None, "no claim"),
        ([ENTRY], "", False, "nothing said"),  # no answer is wanted
        ([ENTRY], None, True, "no answer"),
    ],
)
def test_an_answer_that_claims_nothing_is_left_out(
    documents: list[str], answer: str | None, answerable: bool | None, why: str
) -> None:
    outcome = judged(documents, answer, answerable=answerable)
    assert "faithfulness" not in outcome.values and outcome.reasons["faithfulness"] == why
    assert outcome.error is None


@pytest.mark.parametrize("documents", [["Der Eintritt in das Museum kostet vier Euro."], []])
def test_an_answer_without_a_probability_is_left_out_with_the_reason(documents: list[str]) -> None:
    """A calibration on examples of one's own gives it one."""
    question = "Was kostet der Eintritt in das Museum am Sonntag?"
    outcome = judged(documents, "Das weiß ich leider nicht, dazu steht nichts in den Unterlagen.", question=question)
    assert "faithfulness" not in outcome.values and "looks like German" in outcome.reasons["faithfulness"]


def test_an_answer_of_which_the_judge_left_a_sentence_out_is_an_error() -> None:
    turns = [{"role": "user", "content": "What does it cost?"}, {"role": "assistant", "content": "Four euros."}]
    whole = run(hallucination_detection(turns, [ENTRY]))
    cut = whole.model_copy(update={"label": "NA", "score": None, "missing": 1})
    (error,) = counts([(turns, cut)], None)
    assert isinstance(error, MalformedReply)


@pytest.mark.parametrize("documents", [ENTRY, [ENTRY], (ENTRY,), iter([ENTRY]), [{"text": ENTRY, "id": "prices"}]])
def test_the_documents_of_a_chain_are_a_list_or_one_text(documents: Any) -> None:
    assert judged(documents, ENTRY).values["faithfulness"] > 0.8


@pytest.mark.parametrize("documents", [None, 5, {"text": ENTRY}])
def test_documents_of_a_chain_that_are_no_list_are_named(documents: Any) -> None:
    assert "intrinsics_chain: documents is not a list" in (judged(documents, ENTRY).error or "")


def test_the_line_says_how_many_cases_count_0_and_how_many_are_left_out() -> None:
    outcomes = [
        Outcome({"faithfulness": 0.9}),
        Outcome({"faithfulness": 0}, reasons={"faithfulness": "nothing retrieved"}),
        Outcome({"faithfulness": 0}, reasons={"faithfulness": "nothing retrieved"}),
        Outcome(reasons={"faithfulness": "no claim"}),
    ]
    told = notes("faithfulness", outcomes)
    assert told == ("2 cases count 0: nothing retrieved", "1 case is left out: no claim")
    line = standing("faithfulness", [0.9, 0, 0], 0.5, told)
    assert str(line).endswith("of 3 cases, bound 0.5: holds; " + "; ".join(told))
    assert "- faithfulness: 1 case is left out: no claim" in summary("cases.jsonl", [line], {})


LOSING = """
import pytest

@pytest.fixture(scope="session")
def intrinsics_chain():
    def chain(messages):
        built = "built" in messages[-1]["content"]
        found = ["Ada Brink built the tide mill in 1911."] if built else []
        return {"documents": found, "answer": "Ada Brink built it."}
    return chain
"""


@pytest.mark.slow
def test_a_build_that_lost_its_retrieval_fails(team: Run) -> None:
    asked = ["Who built the tide mill?", *(f"Who ran the mill in 19{year}?" for year in range(12, 21))]
    cases = [{"question": question} for question in asked]
    bound = ("--intrinsics-min", "faithfulness=0.5")
    done = team({"cases.jsonl": cases, "conftest.py": LOSING}, "--intrinsics", "cases.jsonl", *bound)
    assert done.returncode == 1
    assert "of 10 cases, bound 0.5: FAILS; 9 cases count 0: nothing retrieved" in done.stdout


@pytest.mark.slow
def test_a_case_of_which_nothing_is_judged_does_not_pass(team: Run) -> None:
    misspelt = {"id": "typo", "question": "Who built it?", "documents": [MILL], "anwser": LIE, "answereable": True}
    done = team({"cases.jsonl": [*GOOD, misspelt]}, "--intrinsics", "cases.jsonl")
    assert done.returncode == 1
    assert "1 failed" in done.stdout and "case typo has nothing to judge" in done.stdout


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

@pytest.mark.intrinsics(faithfulness=0.6)
@pytest.mark.parametrize("found", [[MILL], []])
def test_retrieval(intrinsics, found):
    intrinsics.faithfulness("Ada Brink built the tide mill.", found, question="Who built the tide mill?")

@pytest.mark.intrinsics(faithfulness=0.55)
class TestOfAClass:
    @pytest.mark.intrinsics(answerability=0.1)
    @pytest.mark.parametrize("answer", ["Ada Brink built the tide mill.", "Karl Holm flew gold submarines to Norway."])
    def test_bounds_of_its_class_hold_too(self, intrinsics, answer):
        intrinsics.answerability("Who built the tide mill?", [MILL], expected=True)
        intrinsics.faithfulness(answer, [MILL], question="Who built the tide mill?")

    @pytest.mark.intrinsics(faithfulness=0)
    def test_the_closest_bound_counts(self, intrinsics):
        intrinsics.faithfulness("Karl Holm flew gold submarines to Norway.", [MILL])

@pytest.mark.intrinsics(0.9)
def test_a_bound_without_a_metric(intrinsics):
    intrinsics.faithfulness("Ada Brink built the tide mill.", [MILL])
"""


def test_the_marker_and_the_fixture_in_tests_of_ones_own(team: Run) -> None:
    done = team({"test_ours.py": TESTS}, "--strict-markers")
    assert done.returncode == 1
    assert "5 passed" in done.stdout and "5 failed" in done.stdout
    assert "faithfulness 0.000 [0.000, 0.000] of 1 cases, bound 0.6: FAILS" in done.stdout
    assert "bound 0.5: FAILS" in done.stdout and "bound 0.55: FAILS" in done.stdout
    assert (
        "the marker gives no bound that counts; expected intrinsics(faithfulness=0.5, answerability=0.9)" in done.stdout
    )
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


def test_files_of_one_name_are_told_apart_and_may_begin_with_a_mark(team: Run) -> None:
    cases = "\ufeff" + json.dumps(GOOD[0])
    given = ("--intrinsics", "new/cases.jsonl", "--intrinsics", "old/cases.jsonl")
    done = team({"new/cases.jsonl": cases, "old/cases.jsonl": cases}, *given)
    assert "intrinsics: new/cases.jsonl" in done.stdout and "intrinsics: old/cases.jsonl" in done.stdout


def test_a_bound_without_cases_is_refused(team: Run) -> None:
    done = team({"test_ours.py": "def test(): pass"}, "--intrinsics-min", "faithfulness=0.9")
    assert done.returncode == 4 and "expected --intrinsics too" in done.stderr


def test_a_project_that_does_not_use_it_loads_no_judge() -> None:
    heavy = "{'numpy', 'nltk', 'onnxruntime', 'openai'}"
    code = f"import sys, intrinsics_core.testing.plugin; sys.exit(not {heavy}.isdisjoint(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=120).returncode == 0
