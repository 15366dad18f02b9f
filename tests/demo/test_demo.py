"""`intrinsics demo`, as a person runs it: the real chain, the real encoder, the real report."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

pytest.importorskip("langchain_rag_intrinsics", reason="the demo needs the LangChain integration")

from intrinsics_core.cli import app
from intrinsics_core.demo.langchain import play, searching
from tests.demo.telling import SHOWN, TellingTests, answering
from tests.render.test_html import harmless


class TestTelling(TellingTests):
    play = staticmethod(play)
    framework = "langchain"


def test_the_passages_are_searched_by_meaning() -> None:
    from langchain_core.documents import Document

    documents = [
        Document("An owl calls.", id="o"),
        Document("A vixen is a female fox.", id="f", metadata={"title": "Fox"}),
    ]
    found = searching(documents, k=2).invoke("foxes")
    assert [d.id for d in found] == ["f", "o"]
    assert found[0].metadata["title"] == "Fox" and found[0].metadata["score"] > found[1].metadata["score"]
    assert "score" not in documents[1].metadata


def test_the_command_prints_the_story_and_writes_a_page(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    ran = CliRunner().invoke(app, ["demo", "--html", str(page)])
    assert ran.exit_code == 0, ran.output
    for part in (*SHOWN, "No language model is at work"):
        assert part in ran.stdout
    told = harmless(page.read_text(encoding="utf-8"))
    assert "woollen blanket" in told.said and "unanswerable" in told.said and "stopped here" in told.said
    assert ("class", "bad") in told.attributes  # the flagged sentence is marked


@pytest.mark.slow
def test_own_questions_as_a_process_without_a_report(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "intrinsics_core.cli", "demo", "-q", "[bold]Who counts puffins?[/bold]"],
        cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", timeout=120,
        env=os.environ | {"PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert "[bold]Who counts puffins?[/bold]" in ran.stdout and ran.stderr == ""
    assert list(tmp_path.iterdir()) == []


def test_own_questions_without_a_report(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    ran = CliRunner().invoke(app, ["demo", "-q", "[bold]Who counts puffins?[/bold]"])
    assert ran.exit_code == 0, ran.output
    assert "[bold]Who counts puffins?[/bold]" in ran.stdout and ran.stderr == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_missing_package_is_one_line_with_the_command_that_mends_it(tmp_path: Path) -> None:
    code = "import sys; sys.modules['langchain_rag_intrinsics'] = None; from intrinsics_core.cli import main; main()"
    ran = subprocess.run(
        [sys.executable, "-c", code, "demo"], capture_output=True, text=True, timeout=120, cwd=tmp_path
    )
    assert ran.returncode == 2
    assert ran.stderr.startswith(
        "intrinsics: the demo needs langchain_rag_intrinsics, which is not installed: pip install"
    )
    assert ran.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("flags", "part"),
    [
        (("--runtime", "{"), "not JSON"),
        (("--runtime", '{"kind": "warp"}'), "runtime.kind"),
        (("--html", "no/x"), "no/x"),
    ],
)
def test_wrong_settings(flags: tuple[str, ...], part: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    ran = CliRunner().invoke(app, ["demo", *flags])
    assert ran.exit_code == 2 and part in ran.stderr and ran.stderr.count("\n") == 1


def test_a_language_model_writes_the_answers_where_the_runtime_has_one() -> None:
    from langchain_core.documents import Document

    from intrinsics_core.demo.langchain import answerer

    engine = answering()
    given = {"question": "Who built it?", "documents": [Document("Ada.", id="a", metadata={"title": "Mill"})]}
    assert answerer(engine).invoke(given) == "Ada Brink, in 1911."
    ((request,),) = engine.waves
    assert "Mill\nAda." in request.messages[0].content and request.messages[1].content == "Who built it?"
