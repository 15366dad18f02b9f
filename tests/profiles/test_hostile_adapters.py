"""Folders of adapters that somebody else wrote, to keep a process busy, to read other files, to fail wordless."""

from __future__ import annotations

import json
import os
from pathlib import Path

import jsonschema
import pytest

from intrinsics_core import InvalidInput, MalformedReply, run
from intrinsics_core.intrinsics import adapter
from intrinsics_core.profiles import io_yaml
from intrinsics_core.profiles.io_yaml import schemas, yaml_loader
from intrinsics_core.protocol.requests import Generated
from tests.scripted import Scripted
from tests.steps import LINEAR, growth, steps

MESSAGES = [{"role": "user", "content": "Is it so?"}]


def folder(tmp_path: Path, text: str) -> Path:
    (tmp_path / "check").mkdir()
    (tmp_path / "check" / "io.yaml").write_text(text)
    return tmp_path


def refused(tmp_path: Path, text: str) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        io_yaml.profile(folder(tmp_path, text))
    return caught.value


def judged(tmp_path: Path, schema: dict, reply: str, transformations: str = "[]"):
    text = f"response_format: {json.dumps(schema)}\ntransformations: {transformations}\n"
    profile = io_yaml.profile(folder(tmp_path, text))
    return run(adapter("check", MESSAGES), Scripted(lambda request: Generated(reply)), profile=profile)


# --- the file -----------------------------------------------------------------------------------------------------


def test_merge_keys_are_refused_and_cost_nothing(tmp_path):
    lines = ["a0: &a0 {k: v}"]
    lines += [f"a{i}: &a{i} {{<<: [{', '.join([f'*a{i - 1}'] * 9)}]}}" for i in range(1, 9)]  # 460 bytes, 30 s
    text, said = "\n".join(lines), []
    spent = steps(lambda: said.append(str(refused(tmp_path, text))))
    assert spent < 100 * len(text)  # nothing is multiplied
    assert "cannot be read: line" in said[0]


def test_aliases_are_refused_and_values_counted_before_anything_is_made_of_them():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 30)]
    with pytest.raises(ValueError, match="an alias"):
        yaml_loader.load("\n".join(lines))
    with pytest.raises(ValueError, match="an alias"):
        yaml_loader.load("a: &a [*a]")
    with pytest.raises(ValueError, match="too many"):
        yaml_loader.load("[" + "0, " * 500_000 + "0]")
    with pytest.raises(ValueError, match="levels"):
        yaml_loader.load("[" * 900 + "]" * 900)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("190:20:30", "190:20:30"), ("2024-01-01", "2024-01-01"), ("010", 10), ("1_000", "1_000"), ("0x1F", "0x1F"),
        ("12", 12), ("-3", -3), ("1.5", 1.5), ("1e3", 1000.0), ("yes", "yes"), ("true", True), ("null", None),
        ("~", None), ("", None), ("=", "="), ("'12'", "12"), (".5", 0.5), (".inf", float("inf")),
    ],
)  # fmt: skip
def test_what_plain_words_and_numbers_are(text, value):
    found = yaml_loader.load(f"k: {text}")["k"]
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    "text", ["k: " + "9" * 5_000, "k: !!int 190:20:30", "k: !!python/object:os.system x", "{a: 1, a: 2}", "? [a]\n: b",
             "k: !!timestamp 2024-99-99", "k: !!binary '@'", "a: b: c", "\x00"],
)  # fmt: skip
def test_what_no_reader_should_take(text):
    with pytest.raises(ValueError) as caught:
        yaml_loader.load(text)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    "text",
    [
        "parameters: {temperature: .nan}", "parameters: {temperature: -1}", "parameters: {max_tokens: -5}",
        "parameters: {max_completion_tokens: 0}", "parameters: {top_p: .inf}", "parameters: {seed: 2024-01-01}",
        "response_format: {$schema: 5, type: 7}", "response_format: {$schema: [], type: object}",
        "response_format: '" + '{"items":' * 900 + "{}" + "}" * 900 + "'",
        "response_format: '" + "[" * 100_000 + "'", "instruction: 2024-01-01\nmodel: [1]",
    ],
)  # fmt: skip
def test_odd_values_are_typed_errors(tmp_path, text):
    assert "io.yaml" in str(refused(tmp_path, text)) or "cannot be read" in str(refused(tmp_path / "x", text))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes on this system")
def test_pipes_devices_and_links_to_elsewhere_are_refused(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("password: [hunter2")
    adapters = tmp_path / "adapters"
    for name in ("pipe", "device", "link", "inner", "plain"):
        (adapters / name).mkdir(parents=True)
    os.mkfifo(adapters / "pipe" / "io.yaml")
    (adapters / "device" / "io.yaml").symlink_to("/dev/zero")
    (adapters / "link" / "io.yaml").symlink_to(secret)
    (adapters / "plain" / "io.yaml").write_text("model: a")
    (adapters / "inner" / "io.yaml").symlink_to(adapters / "plain" / "io.yaml")
    for name in ("pipe", "device", "link"):
        with pytest.raises(InvalidInput) as caught:
            io_yaml.load(adapters / name / "io.yaml", name)
        assert "hunter2" not in str(caught.value)
        assert "cannot be read" in str(caught.value)
    assert io_yaml.load(adapters / "inner" / "io.yaml", "inner", root=adapters).model == "a"  # within the folder


def test_the_hubs_cache_links_to_its_own_blobs(tmp_path):
    blobs, snapshot = tmp_path / "blobs", tmp_path / "snapshots" / "abc" / "check"
    blobs.mkdir()
    snapshot.mkdir(parents=True)
    (blobs / "1").write_text("model: a")
    (snapshot / "io.yaml").symlink_to(blobs / "1")
    assert io_yaml.load(snapshot / "io.yaml", "check", root=snapshot.parent).model == "a"


def test_errors_show_nothing_of_the_file(tmp_path):
    said = str(refused(tmp_path, "a: [1\nsecret-of-mine: {"))
    assert "secret-of-mine" not in said
    assert "line" in said


# --- the schema on a reply ----------------------------------------------------------------------------------------


def test_a_pattern_has_a_time_limit(tmp_path):
    with pytest.raises(MalformedReply):  # without one it would not end
        judged(tmp_path, {"type": "string", "pattern": "^(a+)+$"}, '"' + "a" * 60 + '!"')


def test_patterns_of_property_names_are_refused(tmp_path):
    """The validator's own engine has no time limit for them, wherever it compares names."""
    for schema in ({"patternProperties": {"^(a|a)*$": {}}}, {"items": {"patternProperties": {"^a": {}}}}):
        with pytest.raises(InvalidInput, match="response_format names properties by patterns"):
            io_yaml.parse({"response_format": schema}, "mine", "mine")


def test_doubled_references_are_counted(tmp_path):
    parts = {f"p{i}": {"allOf": [{"$ref": f"#/$defs/p{i + 1}"}] * 2} for i in range(40)}
    schema = {"type": "object", "$defs": {**parts, "p40": {}}, "$ref": "#/$defs/p0"}
    with pytest.raises(MalformedReply, match="refers to itself"):
        judged(tmp_path, schema, "{}")


def test_unique_items_are_looked_at_once_each(tmp_path):
    schema = {"type": "array", "uniqueItems": True}
    own = schemas.validator(schema)
    assert growth(lambda n: lambda: schemas.first_error(own, [{"a": i} for i in range(n)]), 200) < LINEAR
    judged(tmp_path, schema, json.dumps([{"a": i} for i in range(200)]))


def test_explode_after_explode_is_bounded(tmp_path):
    row = {name: list(range(60)) for name in "abcde"}
    rules = "[" + ", ".join(f"{{type: explode, input_path: [], target_field: {name}}}" for name in "abcde") + "]"
    with pytest.raises(MalformedReply, match="explode"):
        judged(tmp_path, {"type": "array"}, json.dumps([row]), rules)


@pytest.mark.parametrize(
    ("schema", "value", "fits"),
    [
        ({"pattern": "^a+$"}, "aaa", True), ({"pattern": "^a+$"}, "ab", False), ({"pattern": "^a"}, 5, True),
        ({"properties": {"x": {}}, "additionalProperties": False}, {"x": 1}, True),
        ({"additionalProperties": False}, {"x": 1}, False),
        ({"uniqueItems": True}, [1, 2, "1", True, {"a": 1}, [1]], True), ({"uniqueItems": True}, [1, 1.0], False),
        ({"uniqueItems": True}, [{"a": 1, "b": 2}, {"b": 2, "a": 1}], False), ({"uniqueItems": True}, [True, 1], True),
        ({"uniqueItems": False}, [1, 1], True),
        ({"$defs": {"n": {"type": "integer"}}, "items": {"$ref": "#/$defs/n"}}, [1, 2], True),
        ({"$defs": {"n": {"type": "integer"}}, "items": {"$ref": "#/$defs/n"}}, [1, "2"], False),
    ],
)  # fmt: skip
def test_within_the_limits_a_schema_means_what_it_always_did(schema, value, fits):
    own = schemas.validator(schema)
    assert (schemas.first_error(own, value) is None) == fits
    assert jsonschema.Draft202012Validator(schema).is_valid(value) == fits
