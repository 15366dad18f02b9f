import itertools
import random

import pytest

from intrinsics_core import InvalidInput, MalformedReply, RuntimeUnavailable, UnsupportedIntrinsic, reranking, run
from intrinsics_core.intrinsics.reranking import ALL_PAIRS
from intrinsics_core.profiles.asking import data_of
from intrinsics_core.protocol.profile import Format, Profile
from tests.scripted import Scripted

USER = [{"role": "user", "content": "Which is best?"}]


def passages(request):
    """The two passages of a comparison, as the model is shown them."""

    shown = data_of(request.messages[-1].content)["passages"]
    return shown["A"]["text"], shown["B"]["text"]


def by_number(request):
    """A perfect judge: the passage with the larger number is better."""
    a, b = passages(request)
    return {"preferred": "A" if int(a) > int(b) else "B", "confidence": 1}


def rank(count, script=by_number, seed=0, **options):
    order = list(range(count))
    random.Random(seed).shuffle(order)
    documents = [{"id": f"p{n}", "text": str(n)} for n in order]
    runtime = Scripted(script)
    return run(reranking(USER, documents, mode="pairwise", **options), runtime), runtime, documents


@pytest.mark.parametrize("both_orders", [False, True])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 5, 9, 10, 11, 21, 33, 66])
def test_every_document_once_with_a_true_rank(count, both_orders):
    for seed in range(3):
        result, runtime, documents = rank(count, seed=seed, both_orders=both_orders)
        ids = [r.document_id for r in result.ranking]
        assert sorted(ids) == sorted(d["id"] for d in documents)
        assert [r.rank for r in result.ranking] == list(range(1, count + 1))
        scores = [r.score for r in result.ranking]
        assert scores == sorted(scores, reverse=True)
        comparisons = sum(len(w) for w in runtime.waves)
        assert sum(r.wins for r in result.ranking) * (2 if both_orders else 1) == comparisons
        if count:
            assert ids[0] == f"p{count - 1}"  # a perfect judge's best document wins any tournament
        if count <= ALL_PAIRS:
            assert ids == [f"p{n}" for n in reversed(range(count))]
            assert comparisons == (count * (count - 1) // 2) * (2 if both_orders else 1)
            assert len(runtime.waves) == (1 if count > 1 else 0)
        else:
            assert len(runtime.waves) <= 5  # waves are what costs time on a server


def test_losers_keep_a_true_rank():
    result, runtime, _ = rank(33)
    place = {r.document_id: r.rank for r in result.ranking}
    beaten_in = {}
    for number, wave in enumerate(runtime.waves[:-1]):
        for request in wave:
            winner, loser = sorted(map(int, passages(request)), reverse=True)
            beaten_in[loser] = number
            assert place[f"p{winner}"] < place[f"p{loser}"]
    for (one, early), (other, late) in itertools.permutations(beaten_in.items(), 2):
        if early < late:
            assert place[f"p{one}"] > place[f"p{other}"]


def test_both_orders_cancel_position_bias():
    always_a = {"preferred": "A", "confidence": 1}
    biased, _, documents = rank(7, lambda request: always_a)
    fair, _, _ = rank(7, lambda request: always_a, both_orders=True)
    assert len({r.wins for r in biased.ranking}) == 7
    assert {r.wins for r in fair.ranking} == {3.0}
    assert [r.document_id for r in fair.ranking] == [d["id"] for d in documents]  # ties keep the retriever's order


def test_a_pointwise_scorer_simply_sorts():
    scores = [0.1, 0.9, 0.5, 0.9]
    profile = Profile("pointwise", {"pointwise": Format(lambda task: [], lambda task, replies: scores)})
    result = run(reranking(USER, ["a", "b", "c", "d"]), Scripted(by_number), profile=profile)
    assert [(r.document_id, r.score, r.wins) for r in result.ranking] == [
        ("1", 0.9, None), ("3", 0.9, None), ("2", 0.5, None), ("0", 0.1, None),
    ]  # fmt: skip


def test_failure_is_raised_unless_a_fallback_was_chosen():
    down = RuntimeUnavailable("refused")
    with pytest.raises(RuntimeUnavailable, match="reranking: refused"):
        rank(4, lambda request: RuntimeUnavailable("refused"))
    result, _, documents = rank(4, lambda request: down, on_error="fallback")
    assert [r.document_id for r in result.ranking] == [d["id"] for d in documents]
    assert "RuntimeUnavailable" in result.degraded
    assert "refused" in result.model_dump()["degraded"]
    with pytest.raises(MalformedReply) as caught:
        rank(4, lambda request: "C is best")
    assert caught.value.raw == "C is best"


@pytest.mark.parametrize("word", ["neither", "None", "Neither.", "both"])
def test_neither_is_half_a_win_for_each(word):
    """The weakest two of a perfect judge's five are alike to this one."""

    def judge(request):
        return {"preferred": word} if {"0", "1"} == set(passages(request)) else by_number(request)

    result, _, _ = rank(5, judge)
    assert {r.document_id: r.wins for r in result.ranking} == {"p4": 4, "p3": 3, "p2": 2, "p1": 0.5, "p0": 0.5}
    assert result.degraded is None


@pytest.mark.parametrize("failure", ["C is best", RuntimeUnavailable("cut off")])
def test_one_failed_comparison_costs_half_a_win_and_not_the_ranking(failure):
    def judge(request):
        return failure if {"2", "3"} == set(passages(request)) else by_number(request)

    result, _, _ = rank(5, judge)
    assert {r.document_id: r.wins for r in result.ranking} == {"p4": 4, "p3": 2.5, "p2": 2.5, "p1": 1, "p0": 0}
    assert result.degraded.startswith("1 of 10 comparisons failed and count as ties: ")
    both, _, _ = rank(5, judge, both_orders=True)
    assert both.ranking == result.ranking
    assert both.degraded.startswith("2 of 20 ")


def test_a_tournament_goes_on_after_a_failure():
    """Above ten: the failed pair is a tie, which the retriever's order decides."""

    def judge(request):
        return RuntimeUnavailable("cut off") if "0" in passages(request) else by_number(request)

    result, _, _ = rank(21, judge)
    assert len(result.ranking) == 21
    assert result.ranking[0].document_id == "p20"
    assert "count as ties" in result.degraded


def test_what_the_caller_has_to_mend_is_no_tie():
    def judge(request):
        return InvalidInput("the schema is refused") if {"2", "3"} == set(passages(request)) else by_number(request)

    with pytest.raises(InvalidInput, match="refused"):
        rank(5, judge)


def test_a_profile_without_comparisons_says_so_even_with_a_fallback():
    with pytest.raises(UnsupportedIntrinsic, match=r"'nothing'.*reranking|reranking.*'nothing'"):
        run(reranking(USER, ["a", "b"], on_error="fallback"), Scripted(by_number), profile=Profile("nothing", {}))


def test_a_ranking_says_how_it_was_made() -> None:
    def alike(request):
        return {"context_relevance": "relevant", "confidence": 0.9, "preferred": "A", "ranking": ["d0", "d1"]}

    user, two = [{"role": "user", "content": "Who?"}], ["one", "two"]
    for mode in ("listwise", "pairwise", "pointwise"):
        found = run(reranking(user, two, mode=mode), Scripted(alike))
        assert found.mode == mode
        assert "mode" not in found.model_dump()
    assert run(reranking(user, two)).mode == "pointwise"  # the embedded default
    down = Scripted(lambda request: RuntimeUnavailable("refused"))
    assert run(reranking(user, two, mode="pointwise", on_error="fallback"), down).mode is None
