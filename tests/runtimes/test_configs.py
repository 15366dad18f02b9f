"""Runtime configs: one union, errors that name the field, and keys that nothing shows."""

from __future__ import annotations

import re

import pytest

from intrinsics_core import InvalidInput, as_runtime
from intrinsics_core.runtimes.configs import KINDS, ServerConfig, key_apart, with_key

SERVER = {"kind": "server", "base_url": "http://127.0.0.1:9"}
EMBEDDED = {"kind": "embedded"}
KEY = "sk-config-0123456789"


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ({"kind": "warp"}, r"runtime\.kind is unknown; expected one of embedded, .*got 'warp'"),
        ({}, "runtime has no 'kind'; expected .*one of embedded, server"),
        ({"base_url": "http://localhost:8000/v1"}, "runtime has no 'kind'"),
        ({"kind": "server"}, "lacks 'base_url'"),
        ({"kind": "server", "base_url": "ftp://x"}, r"runtime\.base_url is not an address"),
        (SERVER | {"timeout": 0}, r"runtime\.timeout"),
        (SERVER | {"timeout": True}, r"runtime\.timeout is not a number"),
        (SERVER | {"timeout": float("inf")}, r"runtime\.timeout"),
        (SERVER | {"max_retries": -1}, r"runtime\.max_retries"),
        (SERVER | {"concurrency": 0}, r"runtime\.concurrency"),
        (SERVER | {"concurrency": 2.0}, r"runtime\.concurrency is not a whole number"),
        (SERVER | {"constraints": "xgrammar"}, r"runtime\.constraints"),
        (SERVER | {"adapters": {"answerability": ""}}, r"runtime\.adapters"),
        (SERVER | {"model": ""}, r"runtime\.model"),
        (SERVER | {"api_key": "two words"}, r"runtime\.api_key cannot be sent"),
        (SERVER | {"profile": 3}, r"runtime\.profile"),
        (SERVER | {"profile": "granite-9"}, "profile is unknown"),
        ({"kind": "embedded", "threads": 0}, r"runtime\.threads"),
        ({"kind": "transformers", "model": "m", "dtype": "int3"}, r"runtime\.dtype"),
        ({"kind": "embedded", "treads": 2}, "unknown keys.*'treads'"),
        (
            EMBEDDED | {"thresholds": {"answerbility": {}}},
            r"thresholds\.answerbility is unknown \(did you mean 'answerab",
        ),
        (
            EMBEDDED | {"thresholds": {"answerability": 0.6}},
            r"thresholds\.answerability is not a mapping; expected {'answerable': a number",
        ),
        (
            EMBEDDED | {"thresholds": {"answerability": {"answerble": 0.6}}},
            r"thresholds\.answerability\.answerble .*did you mean 'answerable'.*expected one of answerable;",
        ),
        (EMBEDDED | {"thresholds": {"answerability": {"answerable": 2}}}, "answerable is out of range"),
    ],
)
def test_errors_name_the_field(config: dict[str, object], says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        as_runtime(config)


def test_a_chat_model_that_no_framework_has_registered_is_told_how_it_is_wrapped() -> None:
    for wrapper in ("langchain_rag_intrinsics has ChatModelRuntime(model)", "LLMRuntime", "ChatGeneratorRuntime"):
        with pytest.raises(InvalidInput, match=f"neither a runtime nor a config.*{re.escape(wrapper)}.*got Model"):
            as_runtime(type("Model", (), {})())


@pytest.mark.parametrize("wrong", [{"base_url": f"http://{KEY}@host"}, {"api_key": f"{KEY} "[::-1] + " x"}, {KEY: 1}])
def test_no_error_shows_a_value(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidInput) as caught:
        as_runtime(SERVER | wrong)
    shown = str(caught.value)
    assert KEY not in shown or KEY in wrong  # the name of a key is shown, what it holds is not
    assert KEY[::-1] not in shown


def test_a_config_object_shows_no_key_and_makes_what_its_mapping_makes() -> None:
    config = KINDS.parse(SERVER | {"api_key": KEY, "timeout": 5})
    assert isinstance(config, ServerConfig) and config.base_url == "http://127.0.0.1:9/v1"
    for text in (repr(config), str(config), repr(config.model_dump()), config.model_dump_json()):
        assert KEY not in text
    assert as_runtime(config).config.timeout == as_runtime(SERVER | {"timeout": 5}).config.timeout == 5.0
    assert KINDS.parse(config) is config


def test_a_profile_by_name_in_a_config() -> None:
    assert as_runtime(SERVER | {"profile": "granite-3.3"}).profile.name == "granite-3.3"


def test_a_key_apart_and_together_again() -> None:
    given = {"runtime": SERVER | {"api_key": KEY}, "k": 3}
    assert key_apart(given) == {"runtime": SERVER, "api_key": KEY, "k": 3}
    assert given["runtime"]["api_key"] == KEY  # the caller's own is left alone
    apart = key_apart({"runtime": KINDS.parse(SERVER | {"api_key": KEY})})
    assert apart["api_key"].get_secret_value() == KEY and "api_key" not in apart["runtime"]
    with pytest.raises(InvalidInput, match="api_key"):
        with_key(None, apart["api_key"])


def test_the_union_is_a_schema() -> None:
    kinds = KINDS.union.json_schema()["discriminator"]["mapping"]
    assert set(kinds) >= {"embedded", "encoders", "server", "transformers", "vllm", "scripted", "mixed", "cascade"}


def test_classes_of_runtimes_are_handed_out_by_name() -> None:
    """What docs and model cards import: ``from intrinsics_core.runtimes import TransformersRuntime``."""
    from intrinsics_core import runtimes
    from intrinsics_core.runtimes import Scripted, TransformersRuntime, VllmRuntime

    assert {Scripted.__name__, TransformersRuntime.__name__, VllmRuntime.__name__} == {
        "Scripted", "TransformersRuntime", "VllmRuntime",
    }  # fmt: skip
    with pytest.raises(AttributeError, match="NoSuchRuntime"):
        runtimes.NoSuchRuntime  # noqa: B018  (asking for it is the test)
