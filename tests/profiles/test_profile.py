"""What every profile does around its formats: retries, and errors that are always the library's own."""

from __future__ import annotations

from typing import Any

import pytest

from intrinsics_core import run
from intrinsics_core.intrinsics import answerability, context_relevance, hyde, self_consistency
from intrinsics_core.protocol.errors import MalformedReply, UnsupportedIntrinsic
from intrinsics_core.protocol.profile import Format, Profile
from intrinsics_core.protocol.requests import Generate, Generated
from intrinsics_core.protocol.results import Judgement
from intrinsics_core.running.flows import rag
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
    assert "a runtime with a language model" in str(caught.value)


@pytest.mark.parametrize(
    ("call", "runtime", "profile", "says"),
    [
        (hyde(ASKED), None, None, r"hyde: profile 'embedded' does not serve this intrinsic; expected a runtime with a"),
        (self_consistency(ASKED), None, None, r"self-consistency: .* this intrinsic \(it has no format 'candidate'\)"),
        (answerability(ASKED, ["Tea."]), None, "granite-3.3",
         "needs a language model, or an adapter, that the embedded runtime does not have"),
        (rag(ASKED), None, None, r"rag: the flow needs your retriever and your generator; expected .*Tools\(runtime"),
        (answerability(ASKED, ["Tea."]), {"kind": "server", "base_url": "http://127.0.0.1:9"}, "embedded",
         "the server runtime cannot answer what the profile asks of it"),
    ],
)  # fmt: skip
def test_what_no_runtime_of_that_profile_can_do_is_told_in_its_own_words(
    call: Any, runtime: Any, profile: str | None, says: str
) -> None:
    with pytest.raises(UnsupportedIntrinsic, match=says):
        run(call, runtime, profile=profile)


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


def test_a_reply_that_was_cut_off_is_told_as_such() -> None:
    for reply, says in (
        (Generated("", finish_reason="length"), "ended at the token limit"),
        (Generated("no"), "no JSON"),
    ):
        with pytest.raises(MalformedReply, match=says) as caught:
            run(answerability(ASKED, ["Tea."]), Scripted(lambda request, reply=reply: reply))
        assert str(caught.value).count("token limit") == (reply.finish_reason == "length")
