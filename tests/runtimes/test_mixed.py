"""The best of several runtimes: routes by the intrinsic that is called, and by the kind of request."""

from __future__ import annotations

import asyncio
import pickle
from typing import Any

import pytest

from intrinsics_core import (
    InvalidInput,
    UnsupportedIntrinsic,
    answerability,
    arun,
    as_runtime,
    fact_check,
    run,
    run_many,
)
from intrinsics_core.intrinsics import query_expansion, query_rewrite, uncertainty
from intrinsics_core.running.flows import rag
from intrinsics_core.runtimes.mixed import Mixed
from intrinsics_core.runtimes.tools import Tools
from tests.scripted import AsyncScripted, Scripted
from tests.tide_mill import ASKED, DOCUMENTS, answered

ANSWERED = answered("Ada Brink built it in 1911.")


def certain(share: float) -> Scripted:
    correct, confidence = ("yes", share) if share >= 0.5 else ("no", 1 - share)
    return Scripted(lambda request: {"correct": correct, "confidence": confidence})


def test_each_intrinsic_goes_its_way_and_in_its_own_words() -> None:
    judge = certain(0.95)
    runtime = Mixed({"uncertainty": judge, "*": as_runtime({"kind": "embedded"})})
    assert run(uncertainty(ASKED, DOCUMENTS), runtime).certainty == 0.95
    assert run(answerability(ASKED, DOCUMENTS), runtime).label == "answerable"
    assert [request.intrinsic for request in judge.requests] == ["uncertainty"]
    assert asyncio.run(arun(uncertainty(ASKED, DOCUMENTS), runtime)).certainty == 0.95


def test_the_parts_of_an_intrinsic_go_where_it_goes() -> None:
    judge = Scripted(lambda request: {"rewritten_question": "Who built it?", "query": "builder?", "question": "Who?"})
    runtime = Mixed({"query-expansion": judge, "*": as_runtime({"kind": "embedded"})})
    assert len(run(query_expansion(ASKED), runtime).queries) > 2
    assert {request.intrinsic for request in judge.requests} == {"query-expansion"}
    asked = len(judge.requests)
    run(query_rewrite(ASKED), runtime)
    assert len(judge.requests) == asked  # a rewrite by itself is not part of an expansion


def test_the_parts_of_a_flow_each_go_their_own_way() -> None:
    judge = certain(0.75)
    mixed = Mixed({"uncertainty": judge, "*": as_runtime({"kind": "embedded"})})
    tools = Tools(mixed, retrieve=lambda query: DOCUMENTS, generate=lambda messages, documents: "Ada Brink built it.")
    told = run(rag(ASKED, weigh=True), tools)
    assert told.answered and told.uncertainty.certainty == 0.75 and told.hallucination.label == "faithful"
    assert [request.intrinsic for request in judge.requests] == ["uncertainty"]


def test_what_has_no_route_is_named_and_costs_no_other() -> None:
    runtime = Mixed({"uncertainty": certain(0.35)})
    lost, found = run_many([answerability(ASKED, DOCUMENTS), uncertainty(ASKED, DOCUMENTS)], runtime)
    assert isinstance(lost, UnsupportedIntrinsic) and str(lost) == (
        "answerability: no route of the mixed runtime serves this intrinsic; "
        "expected a route 'answerability', or '*' for all others; got routes for uncertainty"
    )
    assert found.certainty == 0.35


def test_one_runtime_that_breaks_costs_the_others_nothing() -> None:
    def broken(request: Any) -> Any:
        raise ZeroDivisionError("by a bug")

    for judge in (Scripted(broken), AsyncScripted(broken)):
        runtime = Mixed({"uncertainty": judge, "*": as_runtime({"kind": "embedded"})})
        bad, good = run_many([uncertainty(ASKED, DOCUMENTS), answerability(ASKED, DOCUMENTS)], runtime)
        assert "ZeroDivisionError" in str(bad) and good.label == "answerable"


def test_one_config_for_python_and_the_command_line(tmp_path: Any) -> None:
    (tmp_path / "replies.json").write_text('{"uncertainty": [{"correct": "no", "confidence": 0.95}]}')
    routes = {
        "uncertainty": {"kind": "scripted", "replies": str(tmp_path / "replies.json")},
        "*": {"kind": "embedded", "profile": "embedded"},
    }
    runtime = as_runtime({"kind": "mixed", "routes": routes})
    assert run(uncertainty(ASKED, DOCUMENTS), runtime).certainty == 0.05
    assert run(fact_check(ANSWERED, DOCUMENTS), runtime).score > 0.5
    with pytest.raises(InvalidInput, match=r"runtime\.routes\.uncertainty: runtime\.kind is unknown"):
        as_runtime({"kind": "mixed", "routes": {"uncertainty": {"kind": "oracle"}}})
    with pytest.raises(InvalidInput, match=r"runtime\.routes"):
        as_runtime({"kind": "mixed", "routes": {}})


def test_all_one_way_is_that_ways_profile_and_it_travels() -> None:
    embedded = as_runtime({"kind": "embedded"})
    assert Mixed({"*": embedded}).profile is embedded.profile
    again = pickle.loads(pickle.dumps(Mixed({"uncertainty": embedded, "*": embedded})))  # noqa: S301  (our own)
    assert run(answerability(ASKED, DOCUMENTS), again).label == "answerable"


def test_profiles_travel_by_what_made_them() -> None:
    from intrinsics_core.profiles import Profile, profile

    for name in ("prompted", "granite-3.2", "granite-3.3", "embedded"):
        again = pickle.loads(pickle.dumps(profile(name)))  # noqa: S301  (our own)
        assert again.name == name and set(again.formats) == set(profile(name).formats)
    with pytest.raises(InvalidInput, match="'mine' cannot be sent"):
        pickle.dumps(Profile("mine", {}))
