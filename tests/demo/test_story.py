"""What ships with the demo: passages and questions of our own, well-formed and enough."""

from __future__ import annotations

from intrinsics_core import Document
from intrinsics_core.demo.story import passages, story


def test_the_passages() -> None:
    found = passages()
    assert len(found) >= 30 and all(isinstance(d, Document) for d in found)
    assert len({d.id for d in found}) == len({d.title for d in found}) == len(found)
    assert all(d.title and 100 < len(d.text) < 600 and d.text.endswith(".") for d in found)


def test_the_questions() -> None:
    told = story()
    assert len(told.questions) >= 3 and told.refusal
    (invented,) = [q.invented for q in told.questions if q.invented]
    assert all(invented not in d.text for d in passages())
