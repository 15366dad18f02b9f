"""`intrinsics demo`, as a person runs it: the real chain, the real encoder, the real report."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

pytest.importorskip("langchain_rag_intrinsics", reason="the demo needs the LangChain integration")
pytest.importorskip("bm25s", reason="the demo needs bm25s")

from intrinsics_core import as_runtime
from intrinsics_core.cli import app
from intrinsics_core.demo.langchain import BM25, play
from intrinsics_core.demo.story import Question, passages, story
from intrinsics_core.render.trace import Turn
from tests.render.test_html import harmless


def ask(*questions: Question) -> Sequence[Turn]:
    return list(play(story(), questions or story().questions, passages(), as_runtime(None)))


@pytest.fixture(scope="module")
def turns() -> Sequence[Turn]:
    return ask()


def test_a_question_that_leans_on_the_history_is_rewritten(turns: Sequence[Turn]) -> None:
    first, second = turns[0].rewrite, turns[1].rewrite
    assert first and second
    assert not first.changed
    assert second.changed and "tide mill" in second.query and second.original == "Does it still grind flour?"
    # Without the rewrite the retriever has only the words of the question itself.
    assert turns[1].retrieved[0].id == "mill-today" or turns[1].kept[0].id == "mill-today"


def test_answers_quote_the_passages_they_cite(turns: Sequence[Turn]) -> None:
    texts = {d.id: d.text for d in passages()}
    answered = [t for t in turns if not t.blocked]
    assert len(answered) == 3
    for t in answered:
        assert t.citations and t.citations.citations
        for c in t.citations.citations:
            assert t.answer[c.response_begin : c.response_end] == c.response_text
            assert texts[c.document_id][c.document_begin : c.document_end] == c.document_text
    assert "Ada Brink" in turns[0].answer and "flour" in turns[1].answer and "seventy-five minutes" in turns[2].answer


def test_the_invented_sentence_alone_is_flagged_and_explained(turns: Sequence[Turn]) -> None:
    told = [q for q in story().questions if q.invented]
    assert [t.question for t in turns if t.flagged] == [q.ask for q in told]
    (flag,) = turns[2].flagged
    assert flag.text == told[0].invented and flag.label == "unfaithful" and flag.explanation
    assert turns[2].answer[flag.begin : flag.end] == told[0].invented


def test_what_the_passages_do_not_answer_gets_the_canned_answer(turns: Sequence[Turn]) -> None:
    last = turns[-1]
    assert last.blocked and last.answer == story().refusal
    assert last.citations is None and last.hallucination is None
    assert [t.gate.label for t in turns if t.gate] == ["answerable"] * 3 + ["unanswerable"]


def test_reranking_changes_the_order_and_loses_nothing(turns: Sequence[Turn]) -> None:
    orders = [([d.id for d in t.retrieved], [r.document_id for r in t.ranking.ranking]) for t in turns if t.ranking]
    assert all(sorted(map(str, before)) == sorted(after) for before, after in orders)
    assert any(before != after for before, after in orders)
    for t in turns:
        assert t.relevance and t.blocked == (not t.kept)
        assert {d.id for d in t.kept} <= {j.document_id for j in t.relevance.judgements if j.label != "irrelevant"}


def test_own_questions_and_what_nothing_was_found_for() -> None:
    (nothing,) = ask(Question("xyzzy plugh qwfp"))
    assert nothing.blocked and nothing.answer == story().refusal and nothing.retrieved == ()
    (own,) = ask(Question("How many pupils does the island school have?"))
    assert "twenty-three pupils" in own.answer and not own.flagged


def test_the_retriever_is_a_retriever() -> None:
    from langchain_core.documents import Document

    documents = [
        Document("red fox", id="f", metadata={"title": "Fox"}),
        Document("owl", id="o", metadata={"title": ""}),
    ]
    found = BM25(documents=documents, k=5).invoke("a fox")
    assert [d.id for d in found] == ["f"] and found[0].metadata["bm25"] > 0
    assert "bm25" not in documents[0].metadata
    assert BM25(documents=documents).invoke("zebra") == []


def test_the_command_prints_the_story_and_writes_a_page(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    ran = CliRunner().invoke(app, ["demo", "--html", str(page)])
    assert ran.exit_code == 0, ran.output
    for part in ("tide mill", "unfaithful", "canned answer", "[1]", "No language model is at work", "certainty"):
        assert part in ran.stdout
    told = harmless(page.read_text(encoding="utf-8"))
    assert "woollen blanket" in told.said and "unanswerable" in told.said and "stopped here" in told.said
    assert ("class", "bad") in told.attributes  # the flagged sentence is marked


def test_own_questions_as_a_process_without_a_report(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "intrinsics_core.cli", "demo", "--no-html", "-q", "[bold]Who counts puffins?[/bold]"],
        cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", timeout=120,
        env=os.environ | {"PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert "[bold]Who counts puffins?[/bold]" in ran.stdout and ran.stderr == ""
    assert list(tmp_path.iterdir()) == []


def test_a_missing_package_is_one_line_with_the_command_that_mends_it(tmp_path: Path) -> None:
    code = "import sys; sys.modules['bm25s'] = None; from intrinsics_core.cli import main; main()"
    ran = subprocess.run(
        [sys.executable, "-c", code, "demo", "--no-html"], capture_output=True, text=True, timeout=120, cwd=tmp_path
    )
    assert ran.returncode == 2
    assert ran.stderr.startswith("intrinsics: the demo needs bm25s, which is not installed: pip install")
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
    from tests.scripted import Scripted

    def script(request: Any) -> Any:
        if request.intrinsic == "answer":
            return "Ada Brink, in 1911."
        raise RuntimeError("only the answer is wanted")

    from intrinsics_core.demo.langchain import answerer

    engine = Scripted(script)
    from langchain_core.documents import Document

    given = {"question": "Who built it?", "documents": [Document("Ada.", id="a", metadata={"title": "Mill"})]}
    assert answerer(engine).invoke(given) == "Ada Brink, in 1911."
    ((request,),) = engine.waves
    assert "Mill\nAda." in request.messages[0].content and request.messages[1].content == "Who built it?"
