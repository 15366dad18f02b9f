"""The story told by Haystack, with Haystack's own retriever."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

pytest.importorskip("haystack", reason="this telling needs Haystack")
pytest.importorskip(
    "haystack_integrations.components.rankers.rag_intrinsics", reason="this telling needs the Haystack integration"
)

from haystack import Document

from intrinsics_core import as_runtime
from intrinsics_core.demo.haystack import Answerer, pipeline, play
from intrinsics_core.demo.story import passages, story
from intrinsics_core.render.trace import Turn
from tests.demo.telling import TellingTests, answering


class TestTelling(TellingTests):
    play = staticmethod(play)
    framework = "haystack"

    def test_its_answers_are_those_of_the_other_tellings(self, turns: Sequence[Turn]) -> None:
        pytest.importorskip("langchain_rag_intrinsics", reason="the comparison needs the LangChain integration")
        pytest.importorskip("bm25s", reason="the comparison needs bm25s")
        from intrinsics_core.demo import langchain

        others = langchain.play(story(), story().questions, passages(), as_runtime(None))
        assert [_said(t) for t in turns] == [_said(t) for t in others]


def _said(turn: Turn) -> Any:
    assert turn.rewrite
    return turn.answer, turn.rewrite.query, turn.rewrite.retrieval_query, turn.blocked, [f.text for f in turn.flagged]


def test_a_language_model_writes_the_answers_where_the_runtime_has_one() -> None:
    engine = answering()
    found = [Document(id=d.id or "", content=d.text, meta={"title": d.title}) for d in passages()[:2]]
    answer = Answerer(engine).run(query="Who built it?", documents=found, invented="And more.")
    assert answer["replies"][0].text == "Ada Brink, in 1911. And more."
    ((request,),) = engine.waves
    assert passages()[0].text in request.messages[0].content  # type: ignore[union-attr,index]
    assert type(pipeline(passages()[:2], engine).get_component("answerer")) is Answerer
