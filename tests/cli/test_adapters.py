"""``intrinsics check PLACE``: what lies at a place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.profiles import adapters


def rows(ran: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in ran.stdout.splitlines()]


def test_a_library_is_listed_with_what_each_adapter_fits(invoke: Any, tmp_path: Path) -> None:
    for inside in ("granite-4.1-3b/lora", "granite-4.1-3b/alora", "gpt-oss-20b/lora"):
        adapters.write(tmp_path, inside=inside, requirement_check=adapters.FILES["requirement_check"])
    ran = invoke("check", tmp_path, "--json")
    assert ran.exit_code == 0
    assert [(row["base"], row["technology"]) for row in rows(ran)] == [
        ("openai/gpt-oss-20b", "lora"), ("ibm-granite/granite-4.1-3b", "alora"), ("ibm-granite/granite-4.1-3b", "lora"),
    ]  # fmt: skip
    assert {row["intrinsic"] for row in rows(ran)} == {"requirement-check"}
    assert rows(ran)[1]["runtimes"] == ["transformers"]
    assert rows(ran)[1]["arguments"] == ["requirement"]
    # What the line says can be used as it stands.
    for row in rows(ran):
        named = invoke("check", row["profile"].removeprefix("granite-4:"), "--json")
        assert [found["source"] for found in rows(named)] == [row["source"]]
    lines = invoke("check", f"{tmp_path}#granite-4.1-3b/lora").stdout.splitlines()
    assert len(lines) == 1
    assert lines[0].split()[:3] == ["requirement-check", "ibm-granite/granite-4.1-3b", "lora"]


def test_switch_is_listed_as_such(invoke: Any, tmp_path: Path) -> None:
    adapters.write(tmp_path / "io_configs", citations=adapters.FILES["citations"])
    (row,) = rows(invoke("check", tmp_path, "--json"))
    assert (row["intrinsic"], row["technology"]) == ("citations", "switch")
    assert "Granite Switch" in row["runtimes"][0]


def test_a_file_that_cannot_be_used_is_a_line_and_nothing_is_an_error(invoke: Any, tmp_path: Path) -> None:
    adapters.write(tmp_path, good=adapters.FILES["citations"], bad="transformations: [{type: shuffle}]")
    ran = invoke("check", tmp_path)
    assert ran.exit_code == 1
    assert "transformations[0].type is an unknown transformation" in ran.stdout
    (tmp_path / "empty").mkdir()
    ran = invoke("check", tmp_path / "empty")
    assert ran.exit_code == 2
    assert ran.stderr.startswith("intrinsics: ")


def test_an_adapter_of_any_name_runs_over_rows(invoke, write, tmp_path):
    place = adapters.write(tmp_path / "adapters")
    replies = tmp_path / "replies.json"
    replies.write_text('{"requirement-check": ["{\\"score\\": \\"yes\\"}", "{\\"score\\": \\"no\\"}"]}')
    rows = write([{"id": i, "messages": [{"role": "user", "content": "?"}, {"role": "assistant", "content": "!"}]}
                  for i in "ab"])  # fmt: skip
    given = ("--input", rows, "--output", tmp_path / "out.jsonl", "--overwrite", "--profile", f"io.yaml:{place}",
             "--runtime", json.dumps({"kind": "scripted", "replies": str(replies)}))  # fmt: skip
    asked = ("--option", 'arguments={"requirement": "Be brief."}')
    ran = invoke("run", "adapter:requirement_check", *given, *asked)
    assert ran.exit_code == 0, ran.stderr
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [line["result"]["value"] for line in lines] == [
        {"requirement_check": {"score": score}} for score in (1.0, 0.0)
    ]
    for name, option, told in (
        ("adapter:requirement_chek", asked, "did you mean 'requirement-check'?"),
        ("adapter:requirement-check", ("--option", 'arguments={"requirment": "x"}'), "did you mean 'requirement'?"),
        ("adapter:requirement-check", ("--option", 'argument={"requirement": "x"}'), "did you mean 'arguments'?"),
        ("requirement-check", asked, "adapter:NAME"),
    ):
        ran = invoke("run", name, *given, *option)
        assert ran.exit_code == 2 and told in ran.stderr, ran.stderr
