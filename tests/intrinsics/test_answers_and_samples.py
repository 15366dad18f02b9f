"""Answer relevance, HyDE and self-consistency as a user's program sees them."""

from __future__ import annotations

from typing import Any

import pytest

from intrinsics_core import (
    InvalidInput,
    MalformedReply,
    RuntimeUnavailable,
    UnsupportedIntrinsic,
    answer_relevance,
    hyde,
    run,
    self_consistency,
)
from intrinsics_core.encoders.profile import encoders_profile
from intrinsics_core.protocol.requests import Generate, Score, Scored
from intrinsics_core.runtimes.base import BlockingRuntime
from intrinsics_core.runtimes.scripted import Scripted

ASK = [{"role": "user", "content": "When was the lighthouse of Brink finished?"}]


def answered(text: str) -> list[dict[str, str]]:
    return [*ASK, {"role": "assistant", "content": text}]


def relevance(label: str, confidence: float = 1.0) -> dict[str, Any]:
    return {"answer_relevance": label, "confidence": confidence}


# --- answer relevance -----------------------------------------------------------------------------------------------


def test_a_relevant_answer_is_not_rewritten() -> None:
    runtime = Scripted([relevance("relevant", 0.9)])
    found = run(answer_relevance(answered("In 1911.")), runtime)
    assert found.model_dump(exclude={"schema_version"}) == {
        "label": "relevant",
        "score": pytest.approx(0.925),
        "rewrite": None,
    }
    assert len(runtime.requests) == 1


def test_another_one_is_unless_the_caller_wants_none() -> None:
    found = run(
        answer_relevance(answered("Towers.")), Scripted([relevance("irrelevant"), {"rewritten_answer": "In 1911."}])
    )
    assert (found.label, found.score, found.rewrite) == ("irrelevant", 0.0, "In 1911.")
    assert (
        run(answer_relevance(answered("Towers."), rewrite=False), Scripted([relevance("irrelevant")])).rewrite is None
    )


def test_a_rewrite_that_fails_does_not_cost_the_verdict() -> None:
    replies = [relevance("irrelevant"), "?", "?"]
    with pytest.raises(MalformedReply):
        run(answer_relevance(answered("Towers.")), Scripted(replies))
    found = run(answer_relevance(answered("Towers."), on_error="fallback"), Scripted(replies))
    assert (found.label, found.rewrite) == ("irrelevant", None) and "no rewrite" in (found.degraded or "")
    down = run(answer_relevance(answered("Towers."), on_error="fallback"), Scripted([]))
    assert (down.label, down.score) == (None, None) and "RuntimeUnavailable" in (down.degraded or "")


def test_the_encoder_judges_what_a_passage_could_be() -> None:
    right = run(answer_relevance(answered("The lighthouse of Brink was finished in 1911 by Ada Brink.")))
    wrong = run(answer_relevance(answered("Dogs and bicycles travel free before nine on all trains.")))
    assert (right.label, wrong.label) == ("relevant", "irrelevant") and right.rewrite is wrong.rewrite is None
    refused = run(answer_relevance(answered("I don't know when it was finished.")))
    assert (refused.label, refused.score) == ("irrelevant", 0.0)


@pytest.mark.parametrize("text", ["Yes.", "👍", "Yes, there is.", "No, it was not."])
def test_of_a_yes_or_a_no_alone_an_encoder_cannot_tell_and_says_so(text: str) -> None:
    found = run(answer_relevance(answered(text)))
    assert (found.label, found.score) == (None, None) and "too short" in (found.reason or "")


def test_a_cross_encoder_reads_question_and_answer() -> None:
    class Reads(BlockingRuntime):
        profile = encoders_profile(["relevance"])

        def handle(self, requests: Any) -> list[Any]:
            assert [request.pairs for request in requests] == [((ASK[0]["content"], "1911."),)]
            return [Scored(((2.0,),), ("yes",)) for request in requests if isinstance(request, Score)]

    assert run(answer_relevance(answered("1911.")), Reads()).score == pytest.approx(0.881, abs=1e-3)


def test_there_must_be_a_question() -> None:
    with pytest.raises(InvalidInput, match="no user turn"):
        answer_relevance([{"role": "assistant", "content": "In 1911."}])


# --- HyDE -----------------------------------------------------------------------------------------------------------


def test_a_passage_is_written_or_the_question_stands_in() -> None:
    assert run(hyde(ASK), Scripted([{"passage": " It was finished in 1911. "}])).passage == "It was finished in 1911."
    with pytest.raises(UnsupportedIntrinsic, match="hyde"):
        run(hyde(ASK))
    for runtime, why in ((None, "UnsupportedIntrinsic"), (Scripted([]), "RuntimeUnavailable")):
        found = run(hyde(ASK, on_error="fallback"), runtime)
        assert found.passage == ASK[0]["content"] and why in (found.degraded or "")


# --- self-consistency -----------------------------------------------------------------------------------------------


def answers(*texts: str) -> list[dict[str, str]]:
    return [{"reasoning": f"{number}", "answer": text} for number, text in enumerate(texts)]


def test_samples_differ_by_seed_alone_and_equal_ones_need_no_vote() -> None:
    runtime = Scripted(answers("1911.", " 1911", "1911"))
    found = run(self_consistency(ASK, samples=3), runtime)
    assert (found.answer, found.share) == ("1911.", 1.0)
    assert all(isinstance(r, Generate) and r.temperature > 0 for r in runtime.requests)
    assert [r.seed for r in runtime.requests] == [0, 1, 2] and len(runtime.waves) == 1  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (".5", "5", False),
        ("'.5'", "5.", False),
        ("5 Mb", "5 MB", False),
        ("5mW.", "5MW", False),
        ("-5", "5", False),
        ("5.", "5", True),
        ("“5 MB”!", "**5  MB**.", True),
        ("In 1911 BY Ada", "in 1911 BY ada", True),
        ("５ Metres", "5 metres", True),
        ("3RD of May", "3RD Of may", True),
        ("so ...", "So …", True),
        ("5'", '5"', False),
        ("5’", "5”", False),
        ("C*", "C", False),
        ("5'", "5'.", True),
        ("'1911'", '"1911".', True),
        ("**“In 1911.”**", "in 1911", True),
        ("„1911“", "«1911»!", True),
    ],
)
def test_the_same_but_for_case_space_and_marks_around_it(one: str, other: str, same: bool) -> None:
    vote = {"groups": [["a0"], ["a1"]]}
    found = run(self_consistency(ASK, samples=2), Scripted([*answers(one, other), *([] if same else [vote])]))
    assert found.share == (1.0 if same else 0.5)


def test_the_largest_group_wins_the_first_of_equals() -> None:
    drawn = answers("In 1911.", "1954", "1911", "It was 1954.", "2001")
    found = run(self_consistency(ASK), Scripted([*drawn, {"groups": [["a1", "a3"], ["a0", "a2"], ["a4"]]}]))
    assert (found.answer, found.share) == ("In 1911.", 0.4)
    assert [sample.agrees for sample in found.samples] == [True, False, True, False, False]


def test_what_the_vote_leaves_out_stands_alone() -> None:
    found = run(self_consistency(ASK, samples=3), Scripted([*answers("a", "b", "c"), {"groups": [["a1", "a2"]]}]))
    assert (found.answer, found.share) == ("b", pytest.approx(2 / 3))


DRAWN = ("Tom Reed", "Ada Brink", "In 1911", "1911 it was")


@pytest.mark.parametrize(
    "groups",
    [
        [["a0"], ["a1"], ["a2", "a3"]],
        [["a2", "a3"]],
        [["A0"], ["A1"], ["A2", "A3"]],
        [["<a0>"], ["<a1>"], ["<A2>", "a3"]],
        [["a0"], ["a1"], ["a3", "a2", "a3"], []],
    ],
)
def test_the_vote_names_answers_by_ids(groups: Any) -> None:
    runtime = Scripted([*answers(*DRAWN), {"groups": groups}])
    found = run(self_consistency(ASK, samples=4), runtime)
    assert (found.answer, found.share) == ("In 1911", 0.5) and len(runtime.requests) == 5


@pytest.mark.parametrize(
    "groups",
    [
        [],
        [[]],
        [["a1"], ["a2"], ["a3", "a4"]],  # numbered from 1
        [["a0"], ["a1"], ["a2", "a3"], ["a9"]],
        [["a0"], ["a1"], ["a2", "x"]],
        [["a0", "a1"], ["a1", "a2"]],  # a1 says the same as both
        [["Tom Reed"], ["Ada Brink"], ["In 1911", "1911 it was"]],
        [[0], [1], [2, 3]],  # may be answers themselves
        [[-1], [True], [None], [{"id": "a0"}]],
    ],
)
def test_a_vote_on_answers_that_nobody_gave_is_asked_again(groups: Any) -> None:
    runtime = Scripted([*answers(*DRAWN), {"groups": groups}, {"groups": [["a0"], ["a1"], ["a2", "a3"]]}])
    found = run(self_consistency(ASK, samples=4), runtime)
    assert (found.answer, found.share) == ("In 1911", 0.5) and len(runtime.requests) == 6
    with pytest.raises(MalformedReply, match="each once"):
        run(self_consistency(ASK, samples=4), Scripted([*answers(*DRAWN), {"groups": groups}, {"groups": groups}]))


def test_a_sample_that_fails_is_left_out() -> None:
    script = iter([*answers("1911"), RuntimeUnavailable("down"), *answers("1911")])
    found = run(self_consistency(ASK, samples=3), Scripted(lambda request: next(script)))
    assert (found.answer, found.share, len(found.samples), found.missing) == ("1911", 1.0, 2, 1)
    assert (found.degraded or "").startswith("1 of 3 samples failed")
    none = run(self_consistency(ASK, on_error="fallback"), Scripted([]))
    assert (none.answer, none.share, none.samples) == (None, None, ()) and none.degraded


@pytest.mark.parametrize("samples", [0, 101, True, 2.5, "3"])
def test_how_many_is_checked_at_once(samples: Any) -> None:
    with pytest.raises(InvalidInput, match="samples"):
        self_consistency(ASK, samples=samples)


def test_an_encoder_cannot_sample() -> None:
    with pytest.raises(UnsupportedIntrinsic):
        run(self_consistency(ASK))
