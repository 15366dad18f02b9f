"""What the story comes to, whichever framework tells it: subclass ``TellingTests`` and set ``play``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, ClassVar

import pytest
from typer.testing import CliRunner

from intrinsics_core import as_runtime
from intrinsics_core.cli import app
from intrinsics_core.demo.story import KEPT, Question, passages, story
from intrinsics_core.render.trace import Turn
from tests.scripted import Scripted

SHOWN = ("tide mill", "unfaithful", "canned answer", "[1]", "certainty")  # parts of what the command prints

Play = Callable[..., Iterable[Turn]]


def ask(play: Play, *questions: Question) -> Sequence[Turn]:
    return list(play(story(), questions or story().questions, passages(), as_runtime(None)))


_told = cache(ask)  # the whole story, once for all tests


class TellingTests:
    """Each test is one claim of the story."""

    play: ClassVar[Play]
    framework: ClassVar[str]

    @pytest.fixture
    def turns(self) -> Sequence[Turn]:
        return _told(type(self).play)

    def test_a_question_that_leans_on_the_history_is_rewritten(self, turns: Sequence[Turn]) -> None:
        first, second = turns[0].rewrite, turns[1].rewrite
        assert first and second
        assert not first.changed
        assert second.changed and "tide mill" in second.query and second.original == "Does it still grind flour?"
        # Without the rewrite the retriever has only the words of the question itself.
        assert turns[1].retrieved[0].id == "mill-today" or turns[1].kept[0].id == "mill-today"

    def test_scores_fall_with_the_rank(self, turns: Sequence[Turn]) -> None:
        """The ranks 1 to 4 of a question were shown with .50, .16, .09, .21."""
        for t in turns:
            assert t.ranking
            scores = [row.score or 0.0 for row in t.ranking.ranking]
            assert len(scores) > 3 and scores == sorted(scores, reverse=True)

    def test_answers_quote_the_passages_they_cite(self, turns: Sequence[Turn]) -> None:
        texts = {d.id: d.text for d in passages()}
        assert [t.blocked for t in turns] == [False, False, False, False, True]
        for t in turns[:4]:
            assert t.citations and t.citations.citations and t.certainty and t.fact_check
            for c in t.citations.citations:
                assert t.answer[c.response_begin : c.response_end] == c.response_text
                assert texts[c.document_id][c.document_begin : c.document_end] == c.document_text
        assert "Ada Brink" in turns[0].answer and "flour" in turns[1].answer
        assert "seventy-five minutes" in turns[2].answer

    def test_the_invented_sentence_alone_is_flagged_and_explained(self, turns: Sequence[Turn]) -> None:
        told = [q for q in story().questions if q.invented]
        assert [t.question for t in turns if t.flagged] == [q.ask for q in told]
        assert [[f.text for f in t.flagged] for t in turns] == [[], [], [told[0].invented], [], []]
        (flag,) = turns[2].flagged
        assert flag.label == "unfaithful" and flag.explanation
        assert turns[2].answer[flag.begin : flag.end] == told[0].invented

    def test_what_the_passages_do_not_answer_gets_the_canned_answer(self, turns: Sequence[Turn]) -> None:
        last = turns[-1]
        assert last.blocked and last.answer == story().refusal
        assert last.citations is None and last.hallucination is None
        assert [t.gate.label for t in turns if t.gate] == ["answerable"] * 4 + ["unanswerable"]

    def test_reranking_lifts_the_passage_that_answers(self, turns: Sequence[Turn]) -> None:
        lifted = turns[3]
        assert lifted.ranking and lifted.ranking.ranking[0].document_id == "mill-today"
        assert [document.id for document in lifted.retrieved].index("mill-today") >= 2
        assert "small generator" in lifted.answer

    def test_reranking_changes_the_order_and_loses_nothing(self, turns: Sequence[Turn]) -> None:
        assert all(t.ranking and t.relevance and t.gate for t in turns)
        orders = [([d.id for d in t.retrieved], [r.document_id for r in t.ranking.ranking]) for t in turns if t.ranking]
        assert all(sorted(map(str, before)) == sorted(after) for before, after in orders)
        assert any(before != after for before, after in orders)
        for t in turns:
            assert t.relevance and t.ranking and t.blocked == (not t.kept)
            fit = {j.document_id for j in t.relevance.judgements if j.label != "irrelevant"}
            # Where the filter leaves nothing and the gate still sees an answer, the best ones are kept.
            assert {d.id for d in t.kept} <= (fit or {r.document_id for r in t.ranking.ranking[:KEPT]})

    def test_own_questions_and_what_nothing_was_found_for(self) -> None:
        (nothing,) = ask(type(self).play, Question("Which planet has the most moons?"))
        assert nothing.blocked and nothing.answer == story().refusal
        (own,) = ask(type(self).play, Question("How many pupils does the island school have?"))
        assert "twenty-three pupils" in own.answer and not own.flagged

    def test_the_command(self) -> None:
        ran = CliRunner().invoke(app, ["demo", "--framework", self.framework])
        assert ran.exit_code == 0, ran.output
        assert [part for part in SHOWN if part not in ran.stdout] == []


def answering() -> Scripted:
    """A runtime with a language model, of which only the answer is wanted."""

    def script(request: Any) -> Any:
        assert request.intrinsic == "answer"
        return "Ada Brink, in 1911."

    return Scripted(script)
