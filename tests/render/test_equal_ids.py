"""Chunks of one file often have the id of that file: each is shown with what was said about it."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from intrinsics_core import citations, context_relevance, reranking, run
from intrinsics_core.protocol.results import Citation, ContextRelevance, Judgement, RankedDocument, Ranking
from intrinsics_core.protocol.task import Document
from intrinsics_core.render import html, report, terminal
from intrinsics_core.render.trace import Turn

QUESTION = "What does parking cost and when does the garage open?"
TEXTS = ("Fog is common in May, and it rains in June.", "The garage opens at 6 am.", "Parking costs 5 euros a day.")
ASKED = [{"role": "user", "content": QUESTION}]
FILE, APART = ("guide.pdf",) * 3, ("a", "b", "c")


def told(turn: Turn) -> str:
    out = io.StringIO()
    Console(file=out, width=110).print(terminal.turn(turn))
    return out.getvalue()


def said(page: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", re.sub(r"<style.*?</style>", "", page, flags=re.S)))


@pytest.mark.parametrize("ids", [FILE, APART])
def test_each_chunk_has_its_own_label_score_and_rank(ids) -> None:
    documents = [{"id": i, "text": text} for i, text in zip(ids, TEXTS, strict=True)]
    relevance, ranking = run(context_relevance(ASKED, documents)), run(reranking(ASKED, documents))
    turn = Turn(question=QUESTION, answer="-", retrieved=reranking(ASKED, documents).task.documents,
                relevance=relevance, ranking=ranking)  # fmt: skip
    by_index = sorted(ranking.ranking, key=lambda row: row.index)
    rows = report.ranked(turn)["rows"]
    assert [row["place"] for row in rows] == [row.rank for row in by_index]
    assert [row["score"] for row in rows] == [f" {row.score:.2f}" for row in by_index]
    assert [row["label"] for row in rows] == report.labels(turn) == [j.label for j in relevance.judgements]
    shown = re.findall(r"(\d) +(\d) +\S+ +0\.\d\d +(.+?) *\n", told(turn))
    labels = report.labels(turn)
    assert shown == [(str(row.rank), str(row.index + 1), labels[row.index]) for row in ranking.ranking]


def test_a_chain_may_judge_the_documents_in_the_order_that_it_ranked_them() -> None:
    turn = Turn(
        question=QUESTION,
        answer="-",
        retrieved=tuple(Document(text, id=i) for i, text in zip(APART, TEXTS, strict=True)),
        ranking=Ranking(ranking=tuple(
            RankedDocument(document_id=i, index=at, rank=rank, score=1 - rank / 4)
            for rank, (i, at) in enumerate((("c", 2), ("b", 1), ("a", 0)), 1)
        )),
        relevance=ContextRelevance(judgements=tuple(
            Judgement(document_id=i, index=place, label=label, score=0.5)
            for place, (i, label) in enumerate((("c", "relevant"), ("b", "partially relevant"), ("a", "irrelevant")))
        )),
    )  # fmt: skip
    assert report.labels(turn) == ["irrelevant", "partially relevant", "relevant"]


def test_no_chunk_has_the_label_of_another_where_nothing_tells_them_apart() -> None:
    """The rows count another list, in which the id alone names a chunk."""
    chunks = (Document("Fog.", id="guide.pdf"), Document("Rain.", id="guide.pdf"), Document("The garage.", id="map"))
    judgements = (
        Judgement(document_id="map", index=0, label="relevant", score=0.9),
        Judgement(document_id="guide.pdf", index=1, label="irrelevant", score=0.1),
    )
    turn = Turn(question="?", answer="-", retrieved=chunks, relevance=ContextRelevance(judgements=judgements))
    assert report.labels(turn) == ["", "", "relevant"]


def test_only_the_chunks_that_were_kept_are_shown_as_kept() -> None:
    chunks = tuple(Document(text, id="guide.pdf") for text in TEXTS)
    turn = Turn(question="?", answer="-", retrieved=chunks, kept=chunks[2:])
    assert [row["kept"] for row in report.ranked(turn)["rows"]] == [False, False, True]
    shortened = (Document("Parking.", id="c"),)
    apart = tuple(Document(text, id=i) for i, text in zip(APART, TEXTS, strict=True))
    turn = Turn(question="?", answer="-", retrieved=apart, kept=shortened)
    assert [row["kept"] for row in report.ranked(turn)["rows"]] == [False, False, True]


def test_a_document_whose_judgement_failed_has_no_score() -> None:
    ranking = Ranking(ranking=(RankedDocument(document_id="a", index=0, rank=1, score=None),))
    turn = Turn(question="?", answer="-", retrieved=(Document("Fog.", id="a"),), ranking=ranking)
    assert [row["score"] for row in report.ranked(turn)["rows"]] == [""]


@pytest.mark.parametrize("ids", [("g", "g"), ("g", "h")])
def test_two_cited_chunks_have_a_number_a_quote_and_a_title_each(ids) -> None:
    answer = "Parking costs 5 euros. Garage opens at 6 a.m."
    parts = zip(ids, ("Prices", "Hours"), ("Parking costs 5 euros.", "Garage opens at 6 a.m."), strict=True)
    documents = [{"id": i, "title": title, "text": text} for i, title, text in parts]
    found = run(citations([*ASKED, {"role": "assistant", "content": answer}], documents))
    assert [c.document_index for c in found.citations] == [0, 1]
    given = tuple(Document(**document) for document in documents)
    turn = Turn(question=QUESTION, answer=answer, retrieved=given, citations=found)
    for shown in (told(turn), said(report.turn(turn)), said(html.response(answer, (), found.citations, given))):
        assert re.search(r"\[1\]\W* Prices .*costs 5 euros.*\[2\]\W* Hours .*6 a\.m\.", shown, flags=re.S), shown
    notebook = said(found._repr_html_())
    assert "[2]" in notebook and notebook.count("Parking costs 5 euros.") == 2


def test_one_passage_cited_twice_has_one_number() -> None:
    cited = [
        Citation(response_begin=begin, response_end=end, response_text="-", document_id="g", document_index=1,
                 document_begin=0, document_end=4, document_text="Fog.")
        for begin, end in ((0, 3), (4, 7))
    ]  # fmt: skip
    shown = said(html.response("Fog Fog", (), cited, [Document("Rain.", id="g"), Document("Fog.", id="g")]))
    assert shown.count("[1]") == 3 and "[2]" not in shown
