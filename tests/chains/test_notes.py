"""Verdicts in a framework's metadata."""

from __future__ import annotations

from typing import Any

import pytest

from intrinsics_core.chains.notes import (
    digest,
    heading,
    known_detection,
    signed,
    verdict_in,
    verdicts_in,
    with_verdicts,
)
from intrinsics_core.chains.policy import UNRETRIEVED, claims_nothing
from intrinsics_core.protocol.results import ContextRelevance, HallucinationDetection, Judgement

SENTENCES = [{"begin": 0, "end": 9, "label": "faithful"}, {"begin": 10, "end": 20, "label": "unfaithful"}]


def test_verdicts_stand_beside_those_that_are_there() -> None:
    before = {"page": 3, "rag_intrinsics": {"citations": {"citations": []}}}
    after = with_verdicts(before, {"hallucination-detection": {"sentences": SENTENCES}})
    assert after["page"] == 3 and set(verdicts_in(after)) == {"citations", "hallucination-detection"}
    assert set(verdicts_in(before)) == {"citations"}  # a copy
    assert verdict_in(after, "hallucination-detection") == {"sentences": SENTENCES} and not verdict_in(after, "audit")


def test_what_is_not_ours_is_no_verdict() -> None:
    for metadata in ({}, {"rag_intrinsics": "mine"}, {"rag_intrinsics": {"audit": "mine"}}):
        assert verdict_in(metadata, "audit") == {}
    assert with_verdicts({"rag_intrinsics": "mine"}, {"audit": {}}) == {"rag_intrinsics": {"audit": {}}}


def test_a_digest_is_of_the_answer_and_of_what_is_read_of_the_documents() -> None:
    mill, fog = {"text": "Ada built it.", "title": "Mill"}, {"text": "Fog is common."}
    same = digest("She did.", [mill, fog])
    assert same == digest("She did.", [{**fog, "title": None, "score": 0.5}, mill, mill])
    for answer, documents in [
        ("He did.", [mill, fog]),
        ("She did.", [mill]),
        ("She did.", [{**mill, "title": ""}, fog]),
    ]:
        assert digest(answer, documents) != same


def test_verdicts_are_used_for_the_text_and_the_documents_that_they_were_made_for() -> None:
    said, documents = "She did.", [{"text": "Ada built it."}]
    found = HallucinationDetection(label="unfaithful", score=0.1, sentences=())
    metadata = signed({}, {"hallucination-detection": found.model_dump(mode="json")}, said, documents)
    assert known_detection(metadata, said, documents) == found
    assert known_detection(metadata, f"{said} He too.", documents) is None
    assert known_detection(metadata, said, [*documents, {"text": "Fog is common."}]) is None


def test_what_claims_nothing() -> None:
    nothing = HallucinationDetection(label="NA", score=None, sentences=())
    partly = nothing.model_copy(update={"missing": 1, "degraded": "1 of 2 sentences were not judged"})
    assert claims_nothing(nothing) and not claims_nothing(partly) and not claims_nothing(UNRETRIEVED)


def test_which_judged_documents_are_kept() -> None:
    scores = {"relevant": 0.9, "partially relevant": 0.4, "irrelevant": 0.1}
    rows = [Judgement(document_id=name, index=i, label=name, score=s) for i, (name, s) in enumerate(scores.items())]
    fallen = Judgement(document_id="3", index=3, label="relevant", score=None)
    result = ContextRelevance(judgements=(*rows, fallen))
    assert [row.index for row in result.kept(("relevant", "partially relevant"))] == [0, 1, 3]
    assert [row.index for row in result.kept(("relevant", "partially relevant"), 0.5)] == [0, 3]


@pytest.mark.parametrize(
    ("metadata", "shown"),
    [({}, None), ({"title": "The mill", "year": 1911, "page": None}, "The mill\nyear: 1911"),
     ({"year": 0}, "year: 0"), ({"title": 7}, "title: 7")],
)  # fmt: skip
def test_a_title_and_the_fields_that_are_named_stand_above_a_text(metadata: dict[str, Any], shown: str | None) -> None:
    assert heading(metadata, ("title", "year", "page")) == shown
