"""Reranking by lists and one by one, as a language model does it: few calls, and no reply that costs the ranking."""

from __future__ import annotations

import random
from typing import Any

import pytest

from intrinsics_core import InvalidInput, MalformedReply, RuntimeUnavailable, UnsupportedIntrinsic, reranking, run
from intrinsics_core.embedded import profile as embedded
from intrinsics_core.profiles import prompted
from intrinsics_core.profiles.asking import data_of
from intrinsics_core.profiles.granite import granite_3_3
from intrinsics_core.protocol.profile import Profile
from intrinsics_core.protocol.requests import Generate
from intrinsics_core.protocol.results import Ranking
from tests.scripted import Scripted

USER = [{"role": "user", "content": "Which is best?"}]


def shown(request: Generate) -> list[dict[str, str]]:
    assert request.messages is not None
    found: list[dict[str, str]] = data_of(request.messages[-1].content)["documents"]
    return found


def by_number(request: Generate) -> Any:
    """A perfect judge: the document with the larger number is better."""
    best_first = sorted(shown(request), key=lambda document: -int(document["text"]))
    return {"ranking": [document["id"] for document in best_first]}


def rank(count: int, script: Any = by_number, **options: Any) -> tuple[Ranking, Scripted, list[dict[str, str]]]:
    order = list(range(count))
    random.Random(count).shuffle(order)
    documents = [{"id": f"p{n}", "text": str(n)} for n in order]
    runtime = Scripted(script)
    return run(reranking(USER, documents, **options), runtime), runtime, documents


@pytest.mark.parametrize("both_orders", [False, True])
@pytest.mark.parametrize(
    ("count", "calls"), [(0, 0), (1, 0), (2, 1), (10, 1), (20, 1), (21, 2), (30, 2), (31, 3), (50, 4), (66, 6)]
)
def test_every_document_once_in_few_calls(count: int, calls: int, both_orders: bool) -> None:
    result, runtime, documents = rank(count, both_orders=both_orders)
    ids = [row.document_id for row in result.ranking]
    assert sorted(ids) == sorted(document["id"] for document in documents)
    assert ids[:10] == [f"p{n}" for n in reversed(range(count))][:10]  # what overlaps is carried all the way up
    assert [row.rank for row in result.ranking] == list(range(1, count + 1))
    if count > 1:
        shares = [1 - place / (count - 1) for place in range(count)]
        assert [row.score for row in result.ranking] == pytest.approx(shares)
    assert len(runtime.requests) == calls * (1 + both_orders) and len(runtime.waves) == calls
    assert all(row.wins is None for row in result.ranking)
    assert (result.degraded, result.dropped, result.cut) == (None, 0, 0)
    assert set(result.model_dump()) <= {"ranking", "reason", "schema_version"}


def test_a_window_may_be_smaller() -> None:
    result, runtime, _ = rank(9, window=4)
    assert [len(shown(request)) for request in runtime.requests] == [4, 4, 4, 4]  # 5, 3, 1 and 0
    assert [row.document_id for row in result.ranking][:2] == ["p8", "p7"]
    assert len(rank(3, window=2)[1].requests) == 2


@pytest.mark.parametrize(
    ("named", "expected", "dropped"),
    [
        (["d2"], "cabd", 0),  # what is missing keeps its order after what is named
        (["d3", "d3", "d0", "d3"], "dabc", 2),
        (["d9", "d1", "x", None, -1, 2], "bcad", 4),
        ([3, "<d2>", "1", {"id": "d0"}], "dcba", 0),
    ],
)
def test_missing_and_repeated_ids(named: list[Any], expected: str, dropped: int) -> None:
    result = run(reranking(USER, [{"id": i, "text": i} for i in "abcd"]), Scripted([{"ranking": named}]))
    assert "".join(row.document_id for row in result.ranking) == expected
    assert result.dropped == dropped and result.degraded is None


@pytest.mark.parametrize(
    "reply", ["[3, 1, 2]", "```json\n[3, 1, 2]\n```", "Best first: ['d3', 'd1', 'd2', 'd9'].", ["d3", 1, 2]]
)
def test_a_list_without_the_object_around_it_is_read(reply: Any) -> None:
    runtime = Scripted([reply])
    result = run(reranking(USER, [{"id": i, "text": i} for i in "abcd"]), runtime)
    assert "".join(row.document_id for row in result.ranking) == "dbca"
    assert len(runtime.requests) == 1 and result.degraded is None
    assert result.dropped == ("d9" in str(reply))


@pytest.mark.parametrize("reply", ["As [1] says, nothing fits.", "[]", "[9, 7]", '{"order": [2, 1]}'])
def test_brackets_in_prose_are_no_list(reply: str) -> None:
    with pytest.raises(MalformedReply):
        run(reranking(USER, ["a", "b", "c"]), Scripted(lambda request: reply))


def test_repeated_ids_of_the_caller_are_told_apart_by_place() -> None:
    same = [{"id": "a", "text": "1"}, {"id": "a", "text": "3"}, {"text": "2"}]
    result = run(reranking(USER, same), Scripted(by_number))
    assert [(row.document_id, row.index) for row in result.ranking] == [("a", 1), ("2", 2), ("a", 0)]


@pytest.mark.parametrize("reply", ["no idea", {"ranking": []}, {"ranking": ["x"]}, {"ranking": "d0"}, {"best": ["d0"]}])
def test_a_malformed_list_costs_only_itself(reply: Any) -> None:
    calls = []

    def script(request: Generate) -> Any:
        calls.append(request)
        return reply if len(calls) in (3, 4) else by_number(request)  # the second of four, and when asked again

    result, _, _ = rank(50, script)
    assert len({row.index for row in result.ranking}) == 50
    assert result.degraded is not None and result.degraded.startswith("1 of 4 lists kept their order: MalformedReply")
    assert "degraded" in result.model_dump()
    with pytest.raises(MalformedReply):
        rank(50, lambda request: reply)


def test_malformed_lists_throughout_may_fall_back() -> None:
    result, _, documents = rank(30, lambda request: "no idea", on_error="fallback")
    assert [row.document_id for row in result.ranking] == [document["id"] for document in documents]
    assert result.degraded is not None and {row.score for row in result.ranking} == {None}


def test_a_runtime_that_is_down_is_asked_once() -> None:
    runtime = Scripted(lambda request: RuntimeUnavailable("refused"))
    with pytest.raises(RuntimeUnavailable, match="refused"):
        run(reranking(USER, [str(n) for n in range(50)]), runtime)
    assert len(runtime.waves) == 1


def test_both_orders_cancel_position_bias() -> None:
    result, _, documents = rank(5, lambda r: {"ranking": [d["id"] for d in shown(r)]}, both_orders=True)
    assert [row.document_id for row in result.ranking] == [document["id"] for document in documents]


def test_long_documents_are_cut_after_a_word_and_counted() -> None:
    texts = ["word " * 1000, "x" * 5000, "short"]
    runtime = Scripted(lambda request: {"ranking": ["d0"]})
    result = run(reranking(USER, texts, max_characters=102), runtime)
    told = [document["text"] for document in shown(runtime.requests[0])]
    assert told == [("word " * 20).rstrip() + " …", "x" * 102 + " …", "short"]
    assert result.cut == 2 and result.model_dump()["cut"] == 2
    whole = Scripted(lambda request: {"ranking": ["d0"]})
    assert run(reranking(USER, texts, max_characters=None), whole).cut == 0
    assert [document["text"] for document in shown(whole.requests[0])] == texts


def test_one_failed_comparison_is_a_tie() -> None:
    def script(request: Generate) -> Any:
        assert request.messages is not None
        passages = data_of(request.messages[-1].content)["passages"]
        a, b = (int(passages[name]["text"]) for name in "AB")
        return "C" if {a, b} == {0, 4} else {"preferred": "A" if a > b else "B", "confidence": 1}

    result, _, _ = rank(5, script, mode="pairwise")
    assert [row.document_id for row in result.ranking] == ["p4", "p3", "p2", "p1", "p0"]
    assert [row.wins for row in result.ranking] == [3.5, 3.0, 2.0, 1.0, 0.5]
    assert result.degraded is not None and "1 of 10 comparisons failed and count as ties" in result.degraded
    with pytest.raises(MalformedReply):
        rank(5, lambda request: "C", mode="pairwise")


def test_one_by_one_a_model_gives_probabilities() -> None:
    def script(request: Generate) -> Any:
        assert request.messages is not None
        number = int(data_of(request.messages[-1].content)["document"]["text"])
        return {"context_relevance": "relevant" if number > 1 else "irrelevant", "confidence": 0.9}

    result, runtime, _ = rank(4, script, mode="pointwise")
    assert len(runtime.waves) == 1 and len(runtime.requests) == 4
    scores = {row.document_id: row.score for row in result.ranking}
    alone = {f"p{n}": run(reranking(USER, [str(n)], mode="pointwise"), Scripted(script)).ranking[0].score
             for n in range(4)}  # fmt: skip
    assert scores == alone and scores["p3"] > 0.5 > scores["p0"]
    assert {row.document_id for row in result.ranking[:2]} == {"p2", "p3"}


def test_one_failed_judgement_keeps_its_place_where_that_was_chosen() -> None:
    def script(request: Generate) -> Any:
        assert request.messages is not None
        text = data_of(request.messages[-1].content)["document"]["text"]
        if text == "silent":
            return "hm"
        return {"context_relevance": "relevant", "confidence": float(text)}

    documents = [{"text": ".6", "score": 5}, {"text": "silent", "score": 4.5}, {"text": ".9"}, {"text": ".7"}]
    result = run(reranking(USER, documents, mode="pointwise", on_error="fallback"), Scripted(script))
    assert [row.index for row in result.ranking] == [2, 1, 3, 0]
    assert [row.rank for row in result.ranking] == [1, 2, 3, 4]
    alone = run(reranking(USER, documents[2:3], mode="pointwise"), Scripted(script)).ranking[0].score
    assert (result.ranking[0].score, result.ranking[1].score) == (alone, None)
    assert result.degraded is not None
    assert result.degraded.startswith("1 of 4 documents kept their place: MalformedReply")
    with pytest.raises(MalformedReply):
        run(reranking(USER, documents, mode="pointwise"), Scripted(script))
    none = run(reranking(USER, documents, mode="pointwise", on_error="fallback"), Scripted(lambda request: "hm"))
    assert [(row.index, row.score) for row in none.ranking] == [(0, 5.0), (1, 4.5), (2, None), (3, None)]
    assert none.degraded is not None and none.degraded.startswith("MalformedReply")


@pytest.mark.parametrize(("value", "field"), [
    (Ranking(ranking=()), "ranking"), (Ranking(ranking=(), degraded="down"), "degraded"), (["d0"], "value"),
])  # fmt: skip
def test_what_is_no_ranking_of_these_documents_is_not_written(value: Any, field: str) -> None:
    with pytest.raises(InvalidInput, match=field):
        prompted.PROFILE.write("listwise", reranking(USER, ["a", "b"]).task, value)


def test_each_profile_has_its_mode() -> None:
    def first(profile: Profile) -> Any:
        program = reranking(USER, ["a", "b"]).start(profile)
        return next(program)[0]

    assert first(prompted.PROFILE).constraint.schema["title"] == "listwise"
    assert "passage A" in first(granite_3_3.PROFILE).prompt
    assert type(first(embedded.PROFILE)).__name__ == "Embed"
    below = Profile("own", {}, base=prompted.PROFILE)
    assert first(below).constraint.schema["title"] == "listwise"
    with pytest.raises(UnsupportedIntrinsic, match="listwise"):
        run(reranking(USER, ["a", "b"], mode="listwise"), Scripted(by_number), profile=granite_3_3.PROFILE)


@pytest.mark.parametrize(
    ("options", "name"),
    [({"mode": "bubble"}, "mode"), ({"window": 1}, "window"), ({"window": True}, "window"), ({"window": 2.5}, "window"),
     ({"max_characters": 0}, "max_characters")],
)  # fmt: skip
def test_wrong_options_are_named_at_once(options: dict[str, Any], name: str) -> None:
    with pytest.raises(InvalidInput, match=name):
        reranking(USER, ["a"], **options)
