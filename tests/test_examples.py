"""Each program in examples/ runs and prints what its first line promises."""

from __future__ import annotations

import ast
import json
import runpy
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import typer

from intrinsics_core import IntrinsicsError
from intrinsics_core.cli import app
from tests.loopback import Loopback, Reply, completion

EXAMPLES = Path(__file__).parent.parent / "examples"
NEEDS = {
    "langchain_chain": "langchain_rag_intrinsics",
    "llamaindex_engine": "llama_index",
    "haystack_pipeline": "haystack",
    "files": "llama_index",
    "traces": "opentelemetry",
    "own_server": "openai",
}
PRINTED = {
    "audit": ["answerable unfaithful", "faithful | Ada Brink built", "unfaithful | She painted"],
    "rerank": ["1 ", "Ada Brink built the tide mill"],
    "gate": ["answerable | How much", "unanswerable | Is there a first class?"],
    "rewrite": ["mill"],
    "cite": ["[^", "closed"],
    "stream": ["faithful | Ada Brink built", "unfaithful | It is made of glass."],
    "calibrate": ["expected calibration error", "answerable"],
    "langchain_chain": ["'faithful', 'unfaithful'", "The documents do not say."],
    "llamaindex_engine": ["answerable"],
    "haystack_pipeline": ["Ada Brink built it in 1911 [1].", "The documents do not say."],
    "files": ["in 1911.[1]", "[1] mill.md", "[2] ferry.html"],
}


def test_every_example_is_run() -> None:
    elsewhere = {"traces", "own_server", "streamlit_page"}  # tests of their own, below
    assert {file.stem for file in EXAMPLES.glob("*.py")} == set(PRINTED) | elsewhere


def test_the_calibration_of_the_example_is_worth_it() -> None:
    shown = runpy.run_path(str(EXAMPLES / "calibrate.py"))
    rows = [json.dumps(example) for example in shown["examples"]]
    assert shown["fitted"].after.ece < shown["fitted"].before.ece and len(set(rows)) == len(rows)


@pytest.mark.parametrize("name", sorted(PRINTED))
def test_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    if name in NEEDS and find_spec(NEEDS[name]) is None:
        pytest.skip(f"{NEEDS[name]} is not installed here")
    runpy.run_path(str(EXAMPLES / f"{name}.py"))
    printed = capsys.readouterr().out
    for part in PRINTED[name]:
        assert part in printed, printed


def test_traces_reach_an_exporter() -> None:
    pytest.importorskip("opentelemetry.sdk", reason="opentelemetry-sdk is not installed")
    program = [sys.executable, str(EXAMPLES / "traces.py")]  # a process has one tracer provider
    printed = subprocess.run(program, capture_output=True, text=True, check=True, cwd=EXAMPLES.parent).stdout
    reranked, judged, whole = printed.splitlines()
    assert reranked.startswith("  evaluate reranking") and whole.startswith("answer")
    assert judged.startswith("  evaluate hallucination-detection faithful 0.")


@pytest.mark.parametrize("judge", ["default", "server"])
def test_an_answer_of_an_openai_compatible_server(
    judge: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("openai", reason="openai is not installed")
    said = "Ada Brink built the mill in 1911. She painted it gold."
    with Loopback(lambda received: Reply(completion(said))) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("JUDGE", judge)
        if judge == "server":  # which says no verdict here: a judge's reply that cannot be read is an error, no verdict
            with pytest.raises(IntrinsicsError):
                runpy.run_path(str(EXAMPLES / "own_server.py"))
            return
        runpy.run_path(str(EXAMPLES / "own_server.py"))
        assert "Ada Brink built" in server.bodies()[0]["messages"][0]["content"]
    assert capsys.readouterr().out.splitlines() == [
        "faithful | Ada Brink built the mill in 1911.",
        "unfaithful | She painted it gold.",
    ]


def test_a_page_of_twenty_lines() -> None:
    file = EXAMPLES / "streamlit_page.py"
    ast.parse(file.read_text(encoding="utf-8"))
    testing = pytest.importorskip("streamlit.testing.v1", reason="streamlit is not installed")
    page = testing.AppTest.from_file(str(file), default_timeout=60).run()
    page.button[0].click().run()
    assert not page.exception and len(page.success) == len(page.error) == 1


def test_what_the_dockerfile_starts_is_a_command_of_ours() -> None:
    [line] = [line for line in (EXAMPLES.parent / "Dockerfile").read_text().splitlines() if line.startswith("CMD ")]
    name, *arguments = json.loads(line.removeprefix("CMD "))
    assert name == "intrinsics"
    started = typer.main.get_command(app)
    with started.make_context(name, arguments, resilient_parsing=True) as context:
        _, command, rest = started.resolve_command(context, arguments)
        assert not command.make_context("serve", rest).args
