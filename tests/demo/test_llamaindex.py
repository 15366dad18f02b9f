"""The story told by LlamaIndex: the same as LangChain tells it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from typer.testing import CliRunner

pytest.importorskip("llama_index.rag_intrinsics", reason="this telling needs the LlamaIndex integration")
pytest.importorskip("bm25s", reason="the demo needs bm25s")

from llama_index.core.schema import NodeWithScore, TextNode

from intrinsics_core import as_runtime
from intrinsics_core.cli import app
from intrinsics_core.demo.llamaindex import BM25, answerer, nodes_of, play
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


def test_it_is_the_story_that_langchain_tells(turns: Sequence[Turn]) -> None:
    pytest.importorskip("langchain_rag_intrinsics", reason="the comparison needs the LangChain integration")
    from intrinsics_core.demo import langchain

    others = langchain.play(story(), story().questions, passages(), as_runtime(None))
    for ours, theirs in zip(turns, others, strict=True):
        assert replace(ours, seconds=0.0) == replace(theirs, seconds=0.0)


def test_what_nothing_was_found_for() -> None:
    (nothing,) = ask(Question("xyzzy plugh qwfp"))
    assert nothing.blocked and nothing.answer == story().refusal and nothing.retrieved == ()


def test_the_retriever_is_a_retriever() -> None:
    nodes = [TextNode(id_="f", text="red fox", metadata={"title": "Fox"}), TextNode(id_="o", text="owl",
             metadata={"title": ""})]  # fmt: skip
    (found,) = BM25(nodes, k=5).retrieve("a fox")
    assert found.node_id == "f" and found.score and found.score > 0
    assert BM25(nodes).retrieve("zebra") == []


def test_a_language_model_writes_the_answers_where_the_runtime_has_one() -> None:
    def script(request: Any) -> Any:
        assert request.intrinsic == "answer"
        return "Ada Brink, in 1911."

    engine = Scripted(script)
    nodes = [NodeWithScore(node=node) for node in nodes_of(passages()[:2])]
    response: Any = answerer(engine).synthesize("Who built it?", nodes)
    assert response.response == "Ada Brink, in 1911."
    ((request,),) = engine.waves
    assert passages()[0].text in request.messages[0].content and request.messages[1].content == "Who built it?"


def test_the_command() -> None:
    ran = CliRunner().invoke(app, ["demo", "--no-html", "--framework", "llamaindex"])
    assert ran.exit_code == 0, ran.output
    for part in ("tide mill", "unfaithful", "canned answer", "[1]", "certainty"):
        assert part in ran.stdout
