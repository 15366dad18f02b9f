"""The story told by LlamaIndex: the same as LangChain tells it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

pytest.importorskip("llama_index.rag_intrinsics", reason="this telling needs the LlamaIndex integration")

from llama_index.core.schema import NodeWithScore, TextNode

from intrinsics_core import as_runtime
from intrinsics_core.demo.llamaindex import answerer, nodes_of, play, searching
from intrinsics_core.demo.story import passages, story
from intrinsics_core.render.trace import Turn
from tests.demo.telling import TellingTests, answering


class TestTelling(TellingTests):
    play = staticmethod(play)
    framework = "llamaindex"

    def test_it_is_the_story_that_langchain_tells(self, turns: Sequence[Turn]) -> None:
        pytest.importorskip("langchain_rag_intrinsics", reason="the comparison needs the LangChain integration")
        from intrinsics_core.demo import langchain

        others = langchain.play(story(), story().questions, passages(), as_runtime(None))
        for ours, theirs in zip(turns, others, strict=True):
            # The frameworks search in their own ways, so lists and scores may differ; what is told does not.
            assert told(ours) == told(theirs)


def told(turn: Turn) -> Any:
    return turn.question, turn.answer, turn.blocked, turn.rewrite, turn.citations, [s.text for s in turn.flagged]


def test_the_passages_are_searched_by_meaning() -> None:
    nodes = [TextNode(id_="o", text="An owl calls."), TextNode(id_="f", text="A vixen is a female fox.")]
    found = searching(nodes, k=2).retrieve("foxes")
    assert [n.node_id for n in found] == ["f", "o"]
    assert 1 > (found[0].score or 0) > (found[1].score or 0) > 0


def test_a_language_model_writes_the_answers_where_the_runtime_has_one() -> None:
    engine = answering()
    nodes = [NodeWithScore(node=node) for node in nodes_of(passages()[:2])]
    response: Any = answerer(engine).synthesize("Who built it?", nodes)
    assert response.response == "Ada Brink, in 1911."
    ((request,),) = engine.waves
    assert passages()[0].text in request.messages[0].content and request.messages[1].content == "Who built it?"
