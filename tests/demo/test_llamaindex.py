"""The story told by LlamaIndex: the same as LangChain tells it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

pytest.importorskip("llama_index.rag_intrinsics", reason="this telling needs the LlamaIndex integration")
pytest.importorskip("bm25s", reason="the demo needs bm25s")

from llama_index.core.schema import NodeWithScore, TextNode

from intrinsics_core import as_runtime
from intrinsics_core.demo.llamaindex import NodeRetriever, answerer, nodes_of, play
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


def test_the_retriever_is_a_retriever() -> None:
    nodes = [TextNode(id_="f", text="red fox", metadata={"title": "Fox"}), TextNode(id_="o", text="owl",
             metadata={"title": ""})]  # fmt: skip
    (found,) = NodeRetriever(nodes, k=5).retrieve("a fox")
    assert found.node_id == "f" and found.score and found.score > 0
    assert NodeRetriever(nodes).retrieve("zebra") == []


def test_a_language_model_writes_the_answers_where_the_runtime_has_one() -> None:
    engine = answering()
    nodes = [NodeWithScore(node=node) for node in nodes_of(passages()[:2])]
    response: Any = answerer(engine).synthesize("Who built it?", nodes)
    assert response.response == "Ada Brink, in 1911."
    ((request,),) = engine.waves
    assert passages()[0].text in request.messages[0].content and request.messages[1].content == "Who built it?"
