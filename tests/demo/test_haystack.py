"""The story told by Haystack, with Haystack's own retriever."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from typer.testing import CliRunner

pytest.importorskip("haystack", reason="this telling needs Haystack")
pytest.importorskip(
    "haystack_integrations.components.rankers.rag_intrinsics", reason="this telling needs the Haystack integration"
)

from haystack import Document

from intrinsics_core import as_runtime
from intrinsics_core.cli import app
from intrinsics_core.demo.haystack import Generating, pipeline, play
from intrinsics_core.demo.story import Question, passages, story
from intrinsics_core.render.trace import Turn
from tests.scripted import Scripted


def ask(*questions: Question) -> Sequence[Turn]:
    return list(play(story(), questions or story().questions, passages(), as_runtime(None)))


@pytest.fixture(scope="module")
def turns() -> Sequence[Turn]:
    return ask()


def test_it_rewrites_gates_and_flags(turns: Sequence[Turn]) -> None:
    assert [t.blocked for t in turns] == [False, False, False, True]
    assert turns[-1].answer == story().refusal and turns[-1].citations is None
    assert turns[1].rewrite and turns[1].rewrite.changed and "tide mill" in turns[1].rewrite.query
    assert [[f.text for f in t.flagged] for t in turns] == [[], [], [story().questions[2].invented], []]


def test_answers_quote_the_passages_they_cite(turns: Sequence[Turn]) -> None:
    texts = {d.id: d.text for d in passages()}
    for t in turns[:3]:
        assert t.citations and t.citations.citations and t.certainty and t.fact_check
        for c in t.citations.citations:
            assert t.answer[c.response_begin : c.response_end] == c.response_text
            assert texts[c.document_id][c.document_begin : c.document_end] == c.document_text
    assert "Ada Brink" in turns[0].answer and "flour" in turns[1].answer and "seventy-five minutes" in turns[2].answer


def test_every_step_is_told(turns: Sequence[Turn]) -> None:
    for t in turns:
        assert t.ranking and t.relevance and t.gate
        assert sorted(r.document_id for r in t.ranking.ranking) == sorted(str(d.id) for d in t.retrieved)
        assert {d.id for d in t.kept} <= {j.document_id for j in t.relevance.judgements}
        assert t.blocked == (not t.kept)


def test_its_answers_are_those_of_the_other_tellings(turns: Sequence[Turn]) -> None:
    pytest.importorskip("langchain_rag_intrinsics", reason="the comparison needs the LangChain integration")
    pytest.importorskip("bm25s", reason="the comparison needs bm25s")
    from intrinsics_core.demo import langchain

    others = langchain.play(story(), story().questions, passages(), as_runtime(None))
    assert [_said(t) for t in turns] == [_said(t) for t in others]


def _said(turn: Turn) -> Any:
    assert turn.rewrite
    return turn.answer, turn.rewrite.query, turn.rewrite.question, turn.blocked, [f.text for f in turn.flagged]


def test_what_nothing_was_found_for() -> None:
    (nothing,) = ask(Question("xyzzy plugh qwfp"))
    assert nothing.blocked and nothing.answer == story().refusal and nothing.retrieved == ()
    assert nothing.gate is None


def test_a_language_model_writes_the_answers_where_the_runtime_has_one() -> None:
    def script(request: Any) -> Any:
        assert request.intrinsic == "answer"
        return "Ada Brink, in 1911."

    engine = Scripted(script)
    found = [Document(id=d.id or "", content=d.text, meta={"title": d.title}) for d in passages()[:2]]
    answer = Generating(engine).run(query="Who built it?", documents=found, invented="And more.")
    assert answer["replies"][0].text == "Ada Brink, in 1911. And more."
    ((request,),) = engine.waves
    assert passages()[0].text in request.messages[0].content  # type: ignore[union-attr,index]
    assert type(pipeline(passages()[:2], engine).get_component("answerer")) is Generating


def test_the_command() -> None:
    ran = CliRunner().invoke(app, ["demo", "--no-html", "--framework", "haystack"])
    assert ran.exit_code == 0, ran.output
    for part in ("tide mill", "unfaithful", "canned answer", "[1]", "certainty"):
        assert part in ran.stdout
