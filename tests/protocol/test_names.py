"""A name that means nothing is an error, which says the nearest name; hyphens and underscores are the same."""

from __future__ import annotations

import re
from typing import Any

import pytest

from intrinsics_core import InvalidInput, UnsupportedIntrinsic, adapter, as_runtime, audit, evaluate, fact_check, run
from intrinsics_core.bench import table
from intrinsics_core.intrinsics.audit import audit_of
from intrinsics_core.intrinsics.options import from_json, from_texts, record_of
from intrinsics_core.profiles import io_yaml
from intrinsics_core.profiles.io_yaml import parse
from intrinsics_core.protocol.profile import Format, Profile
from intrinsics_core.protocol.requests import Generate
from intrinsics_core.runtimes import Scripted, check
from intrinsics_core.runtimes.mixed import Mixed
from intrinsics_core.runtimes.server.runtime import ServerRuntime
from tests.tide_mill import answered

ANSWERED = answered("Ada Brink built it in 1911.")
DOCUMENTS = ["Ada Brink built the tide mill in 1911."]
SERVER = {"kind": "server", "base_url": "http://127.0.0.1:1/v1"}
CONCISE = parse({"instruction": "Requirement: {requirement}"}, "concise-check", "here")


def mine() -> Profile:
    return io_yaml.from_specs({"concise-check": CONCISE})


def said(error: pytest.ExceptionInfo[BaseException]) -> str | None:
    """The name that an error takes to be meant."""
    found = re.search(r"did you mean '([^']+)'\?", str(error.value))
    return found[1] if found else None


def test_a_route_spelled_with_an_underscore_is_taken() -> None:
    judge = Scripted(lambda request: {"correct": "yes", "confidence": 0.95})
    other = Scripted(lambda request: {"correct": "no", "confidence": 0.85})
    runtime = Mixed({"fact_check": judge, "*": other})
    assert list(runtime.routes) == ["fact-check", "*"]
    with pytest.raises(Exception):  # noqa: B017  (what the reply is does not matter here: who was asked does)
        run(fact_check(ANSWERED, DOCUMENTS), runtime)
    assert judge.requests and not other.requests


def test_an_adapter_spelled_with_an_underscore_is_asked() -> None:
    from intrinsics_core.runtimes.adapters import choose, key_of

    request = Generate("query-rewrite", prompt="?", adapter="query-rewrite")
    runtime = ServerRuntime("http://127.0.0.1:1/v1", adapters={"query_rewrite": "citations"})
    assert runtime.adapters[key_of(runtime.adapters, request) or ""] == "citations"
    assert choose({"query_rewrite": "folder"}, request) == "query_rewrite"


@pytest.mark.parametrize(
    ("config", "meant"),
    [
        ({"kind": "mixed", "routes": {"fact_chek": {"kind": "embedded"}}}, "fact-check"),
        ({"kind": "mixed", "routes": {"*": {"kind": "embeded"}}}, "embedded"),
        ({"kind": "mixed", "routes": {"fact-check": {}, "fact_check": {}}}, None),
        (SERVER | {"adapters": {"query_rewite": "a"}}, "query-rewrite"),
        (SERVER | {"adapters": {"nonsense": "a"}}, None),
        (SERVER | {"adapters": {"citations": "a", "no_such_thing": "b"}, "profile": "granite-3.3"}, None),
        ({"kind": "transformers", "model": "m", "adapters": {"anserability": "a"}}, "answerability"),
        (SERVER | {"profile": "granit-3.3"}, "granite-3.3"),
        (SERVER | {"calibrations": {"fact_chek": "a.json"}}, "fact-check"),
        ({"kind": "embedded", "treads": 2}, "threads"),
        ("embeded", "embedded"),
    ],
)
def test_what_a_config_names_and_does_not_exist(config: Any, meant: str | None) -> None:
    with pytest.raises(InvalidInput) as told:
        check(config)  # a component does this when it is built
    assert said(told) == meant
    with pytest.raises(InvalidInput) as made:
        as_runtime(config)
    assert said(made) == meant


def test_adapters_of_your_own_are_known() -> None:
    check(SERVER | {"adapters": {"requirement_check": "a", "certainty": "b", "answerability_lora": "c"}})
    own = Profile("own-family", {"limerick": Format(lambda task: [Generate("limerick", prompt="?")], lambda t, r: r)})
    routed = Scripted([])
    routed.profile = own
    assert "limerick" in Mixed({"limerick": routed, "*": Scripted([])}).routes
    with pytest.raises(InvalidInput, match="limerik"):
        Mixed({"limerik": routed})


def test_a_folder_of_an_adapter_names_it(tmp_path: Any) -> None:
    (tmp_path / "tone-check").mkdir()
    check(SERVER | {"adapters": {"tone_check": str(tmp_path / "tone-check")}})


def test_metrics_and_parts() -> None:
    assert evaluate(ANSWERED, metrics="instruction_following").task.options["metrics"] == ("instruction-following",)
    with pytest.raises(InvalidInput) as told:
        evaluate(ANSWERED, DOCUMENTS, metrics=["faithfullness"])
    assert said(told) == "faithfulness"
    with pytest.raises(InvalidInput) as told:
        audit_of(["hallucination"], ANSWERED, DOCUMENTS)
    assert said(told) == "hallucination-detection"
    assert audit_of(["answer_relevance"], ANSWERED, DOCUMENTS).task.intrinsic == audit(ANSWERED, []).task.intrinsic


def test_names_of_intrinsics_tables_and_options() -> None:
    assert record_of("fact_check").name == "fact-check" and table("fact_check").name == "fact-check"
    with pytest.raises(InvalidInput) as told:
        record_of("hallucination")
    assert said(told) == "hallucination-detection"
    with pytest.raises(InvalidInput) as told:
        table("fact-chek")
    assert said(told) == "fact-check"
    with pytest.raises(InvalidInput) as told:
        from_texts(record_of("fact-check"), ["combin=min"], called="--option")
    assert said(told) == "combine"


def test_a_list_of_names_in_json_is_checked_and_kept() -> None:
    given = {"metrics": ["faithfulness", "coherence"]}
    assert from_json(record_of("evaluate"), given, called="options") == given


def test_an_adapter_is_asked_by_either_spelling() -> None:
    for name in ("concise-check", "concise_check"):
        found = run(adapter(name, ANSWERED, arguments={"requirement": "Be brief."}), Scripted(["yes"]), profile=mine())
        assert found.value == "yes"
        assert run(adapter(name, ANSWERED, arguments={"requirement": "x"}, as_json=True), Scripted(["no"]),
                   profile=mine()).value == "no"  # fmt: skip


def test_what_an_adapter_is_not_given_or_does_not_take() -> None:
    with pytest.raises(InvalidInput, match="arguments is not a mapping"):
        adapter("concise-check", ANSWERED, arguments="Be brief.")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match=r"'requirement'.*not text"):
        adapter("concise-check", ANSWERED, arguments={"requirement": 1})  # type: ignore[dict-item]
    with pytest.raises(InvalidInput, match="not the name of an adapter"):
        adapter("", ANSWERED)
    with pytest.raises(InvalidInput) as told:
        run(adapter("concise-check", ANSWERED, arguments={"requirment": "Be brief."}), Scripted([]), profile=mine())
    assert said(told) == "requirement"
    with pytest.raises(UnsupportedIntrinsic) as told:
        run(adapter("concise-chek", ANSWERED), Scripted([]), profile=mine())
    assert said(told) == "concise-check"
    with pytest.raises(InvalidInput) as told:
        from_texts(record_of("adapter:concise_check"), ['argument={"requirement": "x"}'], called="--option")
    assert said(told) == "arguments"
