"""Verdicts in a framework's metadata."""

from __future__ import annotations

from intrinsics_core.protocol.results import ContextRelevance, Judgement
from intrinsics_core.protocol.verdicts import unfaithful_places, verdict_in, verdicts_in, with_verdicts

SENTENCES = [{"begin": 0, "end": 9, "label": "faithful"}, {"begin": 10, "end": 20, "label": "unfaithful"}]


def test_verdicts_stand_beside_those_that_are_there() -> None:
    before = {"page": 3, "rag_intrinsics": {"citations": {"citations": []}}}
    after = with_verdicts(before, {"hallucination-detection": {"sentences": SENTENCES}})
    assert after["page"] == 3 and set(verdicts_in(after)) == {"citations", "hallucination-detection"}
    assert set(verdicts_in(before)) == {"citations"}  # a copy
    assert unfaithful_places(verdict_in(after, "hallucination-detection")) == {(10, 20)}
    assert unfaithful_places(verdict_in(after, "audit")) == set()


def test_what_is_not_ours_is_no_verdict() -> None:
    for metadata in ({}, {"rag_intrinsics": "mine"}, {"rag_intrinsics": {"audit": "mine"}}):
        assert verdict_in(metadata, "audit") == {}
    assert with_verdicts({"rag_intrinsics": "mine"}, {"audit": {}}) == {"rag_intrinsics": {"audit": {}}}


def test_which_judged_documents_are_kept() -> None:
    scores = {"relevant": 0.9, "partially relevant": 0.4, "irrelevant": 0.1}
    rows = [Judgement(document_id=name, index=i, label=name, score=s) for i, (name, s) in enumerate(scores.items())]
    fallen = Judgement(document_id="3", index=3, label="relevant", score=None)
    result = ContextRelevance(judgements=(*rows, fallen))
    assert [row.index for row in result.kept(("relevant", "partially relevant"))] == [0, 1, 3]
    assert [row.index for row in result.kept(("relevant", "partially relevant"), 0.5)] == [0, 3]
