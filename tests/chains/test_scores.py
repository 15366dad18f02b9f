"""The retriever's score, and verdicts on documents as flat keys."""

from __future__ import annotations

import pytest

from intrinsics_core.chains.scores import JUDGED_FOR, RETRIEVED, at_least, finite, marked, own_score, verdict_on
from intrinsics_core.chains.scores import retrievers_score as score_of
from intrinsics_core.protocol.results import ContextRelevance, Judgement, RankedDocument, Ranking

MILL, FOG = "Who built the mill?", "When is fog common?"


def test_a_score_of_ours_is_not_the_retrievers() -> None:
    metadata = {"page": 3, "tags": ["old"]}
    once = marked(metadata, {"context_relevance": "relevant", "context_relevance_score": 0.9}, 0.7, MILL)
    assert once[RETRIEVED] == 0.7 and once[JUDGED_FOR] == MILL and metadata == {"page": 3, "tags": ["old"]}
    assert once["tags"] is not metadata["tags"]
    twice = marked(once, {"reranking_rank": 1, "reranking_score": 0.8}, 0.9, MILL)
    assert twice["context_relevance"] == "relevant"
    assert score_of(0.8, twice, MILL) == 0.7 and score_of(0.8, twice) == 0.7
    assert score_of(0.8, twice, FOG) is None  # given for another question
    assert score_of(0.6, twice, FOG) == 0.6  # a retriever has scored it anew
    again = marked(twice, {"reranking_rank": 2}, 0.8, FOG)
    assert "reranking_score" not in again and RETRIEVED not in again and again["context_relevance_score"] == 0.9


@pytest.mark.parametrize("value", [None, True, "0.4", float("nan"), 10**400])
def test_what_is_no_score(value: object) -> None:
    assert finite(value) is None and score_of(value, {}) is None


def test_what_the_user_calls_so_stays() -> None:
    assert marked({RETRIEVED: "mine"}, {"context_relevance": "relevant"}, None, MILL)[RETRIEVED] == "mine"


def test_a_fallback_has_no_score_of_its_own() -> None:
    row = RankedDocument(document_id="0", index=0, rank=1, score=0.4)
    fallen, ranked = Ranking(ranking=(row,), degraded="TimeoutError"), Ranking(ranking=(row,), mode="pointwise")
    assert own_score(row, fallen, 12.5) == 12.5 and own_score(row, ranked, 12.5) == 0.4
    assert verdict_on("reranking", row, fallen)["reranking_degraded"] == "TimeoutError"
    assert verdict_on("reranking", row, ranked) == {"reranking_rank": 1, "reranking_score": 0.4}
    judged = Judgement(document_id="0", index=0, label="relevant", score=0.9)
    failed = Judgement(document_id="1", index=1, label="relevant", score=None, failure="late")
    result = ContextRelevance(judgements=(judged, failed), degraded="1 of 2 failed")
    assert verdict_on("context-relevance", judged, result) == {
        "context_relevance": "relevant",
        "context_relevance_score": 0.9,
    }
    assert verdict_on("context-relevance", failed, result)["context_relevance_degraded"] == "late"
    assert own_score(failed, result, 0.3) == 0.3
    of_the_first = judged.model_copy(update={"failure": "the second judge failed"})  # whose verdict stands
    assert own_score(of_the_first, result, 0.3) == 0.9
    assert verdict_on("context-relevance", of_the_first, result)["context_relevance_degraded"] == of_the_first.failure


def test_a_least_score_counts_among_probabilities_alone() -> None:
    best, worst = (RankedDocument(document_id=str(i), index=i, rank=i + 1, score=0.9 - i / 2) for i in range(2))
    rows = (best, worst)
    assert at_least(Ranking(ranking=rows, mode="pointwise"), 0.5) == ([best], None)
    assert at_least(Ranking(ranking=rows, mode="listwise"), None) == ([*rows], None)
    for ranking in (Ranking(ranking=rows, mode="listwise"), Ranking(ranking=rows, degraded="TimeoutError")):
        found, warning = at_least(ranking, 0.5)
        assert found == rows and warning and "score_threshold was not applied" in warning
