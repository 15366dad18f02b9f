"""What every profile does around its formats: retries, and errors that are always the library's own."""

from __future__ import annotations

from typing import Any

import pytest

from intrinsics_core import run
from intrinsics_core.intrinsics import answerability, context_relevance
from intrinsics_core.protocol.errors import MalformedReply, UnsupportedIntrinsic
from intrinsics_core.protocol.profile import Format, Profile
from intrinsics_core.protocol.requests import Generate
from intrinsics_core.protocol.results import Judgement
from tests.scripted import Scripted

ASKED = [{"role": "user", "content": "Is tea hot?"}]


def test_a_value_that_no_result_holds_is_a_malformed_reply() -> None:
    chosen = Format(
        lambda task: [Generate(task.intrinsic, prompt="?")],
        lambda task, replies: Judgement(document_id="0", index=0, label="relevant", score=2.0),
    )
    runtime = Scripted(lambda request: "anything")
    with pytest.raises(MalformedReply, match="context-relevance: the reply does not fit the result") as caught:
        run(context_relevance(ASKED, ["Tea."]), runtime, profile=Profile("mine", {"context-relevance": chosen}))
    assert caught.value.raw == "anything" and len(runtime.waves) == 2  # asked once more before giving up


def test_a_profile_says_what_it_can_do() -> None:
    with pytest.raises(UnsupportedIntrinsic, match="'mine' does not serve this intrinsic") as caught:
        run(answerability(ASKED, ["Tea."]), Scripted(lambda request: ""), profile=Profile("mine", {}))
    assert caught.value.got == "answerability"


@pytest.mark.parametrize(
    ("asked", "again"),
    [
        ({}, {"temperature": 0.3, "seed": 1}),
        ({"seed": 42}, {"temperature": 0.3, "seed": 43}),
        ({"temperature": 0.7, "seed": 42}, {"temperature": 0.7, "seed": 43}),
        ({"temperature": 0.7}, {"temperature": 0.7, "seed": None}),
    ],
)
def test_a_repeat_is_drawn_anew(asked: dict[str, Any], again: dict[str, Any]) -> None:
    """Said again word for word at temperature 0, the same reply would come again."""

    def parse(task: Any, replies: Any) -> Any:
        raise MalformedReply("nonsense")

    runtime = Scripted(lambda request: "anything")
    chosen = Format(lambda task: [Generate(task.intrinsic, prompt="?", **asked)], parse)
    with pytest.raises(MalformedReply):
        run(answerability(ASKED, ["Tea."]), runtime, profile=Profile("mine", {"answerability": chosen}))
    (first,), (second,) = runtime.waves
    assert isinstance(first, Generate) and isinstance(second, Generate)
    assert (first.temperature, first.seed) == (asked.get("temperature", 0.0), asked.get("seed"))
    assert {"temperature": second.temperature, "seed": second.seed} == again and second.attempt == 1
