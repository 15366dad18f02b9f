"""A result that is printed fits on a line; its repr leaves out what says nothing."""

from __future__ import annotations

from intrinsics_core import audit, reranking, run
from intrinsics_core.protocol.results import Answerability

QUESTION = {"role": "user", "content": "Who built it?"}
ANSWER = {"role": "assistant", "content": "Ada Brink built it. It is made of glass."}


def test_a_whole_audit_is_one_short_line() -> None:
    printed = str(run(audit([QUESTION, ANSWER], ["Ada Brink built the tide mill in 1911."])))
    assert printed.startswith("Audit(answerability='answerable', sentences=<2>, label='unfaithful', score=0.")
    assert len(printed) < 160 and "\n" not in printed


def test_what_failed_is_still_said() -> None:
    printed = str(Answerability(label="unanswerable", probability=None, degraded="the server is away " * 20))
    assert printed.startswith("Answerability(degraded='the server is away the server")
    assert printed.endswith("…', label='unanswerable', probability=None)")


def test_a_repr_holds_all_that_is_not_the_default() -> None:
    ranking = run(reranking([QUESTION], ["Ada Brink built it.", "Fog is common in May."]))
    first, second = ranking.ranking
    assert repr(ranking) == f"Ranking(ranking=({first!r}, {second!r}))"
    assert repr(first) == f"RankedDocument(document_id='0', index=0, rank=1, score={first.score!r})"
