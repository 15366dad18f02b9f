"""Usage and set-up: exit code 2, one line on standard error, nothing touched, no key shown, never a traceback."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from intrinsics_core import INTRINSICS, __version__
from tests.cli.conftest import read

ROW = {"id": 1, "messages": [{"role": "user", "content": "Why?"}], "documents": ["Because."]}


def refused(ran: Any, *parts: str) -> None:
    assert ran.exit_code == 2, ran.output
    assert ran.stderr.startswith("intrinsics: ") and ran.stderr.count("\n") == 1
    assert not ran.stdout
    for part in parts:
        assert part in ran.stderr


def test_a_kind_alone_is_a_runtime(invoke: Any, write: Any, tmp_path: Path) -> None:
    ran = invoke("run", "reranking", "-i", write([ROW]), "-o", tmp_path / "out", "--runtime", "embedded")
    assert ran.exit_code == 0, ran.output


def test_unknown_intrinsic_lists_the_names(invoke: Any, write: Any, tmp_path: Path) -> None:
    refused(invoke("run", "reranked", "-i", write([ROW]), "-o", tmp_path / "out"), "'reranked'", *INTRINSICS)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("flags", "parts"),
    [
        (("--profile", "granite-9"), ("profile is unknown", "embedded", "prompted")),
        (("--runtime", '{"kind": "warp"}'), ("runtime.kind is unknown", "server", "embedded")),
        (("--runtime", '{"kind": "embedded", "api_key": "sk-secret"}'), ("unknown keys", "api_key")),
        (("--runtime", '{"kind": "embedded", "path": "/nowhere/at/all"}'), ("/nowhere/at/all",)),
        (("--runtime", '{"kind": "embedded", sk-secret'), ("--runtime is not JSON", "line 1, column 22")),
        (("--runtime", '["sk-secret"]'), ("not a JSON object",)),
        (("--runtime", "sk-secret"), ("--runtime is neither JSON nor a file that can be read", "No such file")),
        (("--runtime", "sk-secret" * 100), ("--runtime is neither JSON nor a file that can be read",)),
        (("--runtime", "sk-secret\0"), ("--runtime is neither JSON nor a file that can be read",)),
        (("--runtime", "/"), ("--runtime is neither JSON nor a file that can be read", "directory")),
        (("--runtime", "server"), ("config of kind 'server' lacks 'base_url'",)),
        (("--option", "both_orders"), ("key=value",)),
        (("--option", "both_orders=maybe"), ("both_orders", "expected true or false; got 'maybe'")),
        (("--option", "top_k=1"), ("names an unknown option", "both_orders")),
        (("--resume", "--overwrite"), ("cannot be used together",)),
    ],
)
def test_wrong_settings(
    flags: tuple[str, ...], parts: tuple[str, ...], invoke: Any, write: Any, tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    out.write_text("precious\n")
    more = () if "--overwrite" in flags else ("--overwrite",)
    ran = invoke("run", "reranking", "-i", write([ROW]), "-o", out, *flags, *more)
    refused(ran, *parts)
    assert "sk-secret" not in ran.output
    assert out.read_text() == "precious\n"


@pytest.mark.parametrize("option", ["top_k=0", "top_p=1.5", "top_k=many", "aggregate=median", "aggregate=none"])
def test_option_values_are_checked_before_the_first_row(option: str, invoke: Any, write: Any, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    refused(invoke("run", "fact-check", "-i", write([ROW]), "-o", out, "--option", option), option.split("=")[0])
    assert not out.exists()


def test_a_runtime_that_cannot_be_made_says_so_without_its_key(process: Any, write: Any, tmp_path: Path) -> None:
    config = json.dumps({"kind": "slow", "reply": "unset", "api_key": "sk-very-secret"})
    ran = process("run", "reranking", "-i", write([ROW]), "-o", tmp_path / "o", "--runtime", config, scripted=True)
    assert ran.returncode == 2
    assert ran.stderr == b"intrinsics: the runtime cannot be set up: TypeError: cannot log in with ***\n"


def test_files_that_are_not_there(invoke: Any, write: Any, tmp_path: Path) -> None:
    rows, out = write([ROW]), tmp_path / "out.jsonl"
    refused(invoke("run", "reranking", "-i", tmp_path / "none", "-o", out), "does not exist")
    refused(invoke("run", "reranking", "-i", tmp_path, "-o", out), "is a folder")
    refused(invoke("run", "reranking", "-i", rows, "-o", tmp_path), "is a folder")
    refused(invoke("run", "reranking", "-i", rows, "-o", tmp_path / "no" / "out"), "folder does not exist")
    refused(invoke("run", "reranking", "-i", rows, "-o", rows, "--overwrite"), "the same file")
    assert read(rows) == [ROW]


def test_existing_output(invoke: Any, write: Any, tmp_path: Path) -> None:
    rows, out = write([ROW]), tmp_path / "out.jsonl"
    out.write_text("precious\n")
    refused(invoke("run", "reranking", "-i", rows, "-o", out), "exists", "--overwrite")
    assert out.read_text() == "precious\n"
    assert invoke("run", "reranking", "-i", rows, "-o", out, "--overwrite").exit_code == 0
    assert len(read(out)) == 1


@pytest.mark.parametrize(
    "arguments",
    [(), ("run",), ("run", "reranking"), ("run", "reranking", "-i", "x"), ("fly",), ("run", "reranking", "--what")],
)
def test_usage(arguments: tuple[str, ...], invoke: Any) -> None:
    ran = invoke(*arguments)
    assert ran.exit_code == 2 and "Usage" in ran.output and "Traceback" not in ran.output


@pytest.mark.slow
def test_usage_of_a_process(process: Any) -> None:
    ran = process("fly")
    assert ran.returncode == 2 and b"Usage" in ran.stdout + ran.stderr and b"Traceback" not in ran.stderr


@pytest.mark.parametrize("flags", [("--concurrency", "0"), ("--concurrency", "x"), ("--on-error", "open")])
def test_usage_of_flags(flags: tuple[str, ...], invoke: Any, write: Any, tmp_path: Path) -> None:
    ran = invoke("run", "answerability", "-i", write([ROW]), "-o", tmp_path / "out", *flags)
    assert ran.exit_code == 2 and flags[0] in ran.stderr


def test_version_and_help(invoke: Any) -> None:
    assert invoke("--version").stdout == f"intrinsics {__version__}\n"
    told = re.sub(r"[\s│]+", "", invoke("run", "--help").stdout)  # however it is wrapped
    assert all(name in told for name in INTRINSICS) and "--resume" in told and "Exitcodes" in told


def test_starting_the_command_loads_no_model() -> None:
    code = (
        "import sys, intrinsics_core.cli as c\n"
        "heavy = {'onnxruntime', 'tokenizers', 'torch', 'langchain_core', 'matplotlib', 'bm25s'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60)
    assert ran.returncode == 0, ran.stderr


def test_a_fingerprint_holds_no_secret_and_tells_runtimes_apart() -> None:
    from intrinsics_core.cli import fingerprints, settings

    base = {"kind": "server", "base_url": "https://me:pw123456@host/v1?key=abcdefgh", "api_key": "k1", "max_tokens": 5,
            "headers": {"Authorization": "Bearer 1", "x": "y"}}  # fmt: skip
    same = base | {"base_url": "https://you:other@host/v1", "api_key": "k2",
                   "headers": {"Authorization": "Bearer 2", "x": "y"}}  # fmt: skip
    mark = fingerprints.runtime(base)
    assert mark == fingerprints.runtime(same) and mark["kind"] == "server"
    for change in ({"base_url": "https://host/v2"}, {"max_tokens": 6}, {"headers": {"x": "z"}}, {"model": "m"}):
        assert fingerprints.runtime(base | change) != mark
    assert fingerprints.runtime(None) == fingerprints.runtime({"kind": "embedded"})
    assert settings.secrets(base) >= {"me:pw123456", "pw123456", "Bearer 1", "abcdefgh"}
    assert settings.hide("at me:pw123456@host with Bearer 1", settings.secrets(base)) == "at ***@host with ***"


def test_a_fingerprint_reads_the_files_that_a_config_names(tmp_path: Path) -> None:
    from intrinsics_core.cli import fingerprints

    weights = tmp_path / "adapter" / "adapter_model.safetensors"
    replies = tmp_path / "replies.json"
    weights.parent.mkdir()
    for file, config in (
        (replies, {"kind": "scripted", "replies": str(replies)}),
        (weights, {"kind": "transformers", "model": "m", "adapters": {"citations": str(weights.parent)}}),
        (weights, {"kind": "mixed", "routes": {"*": {"kind": "encoders", "relevance": str(weights.parent)}}}),
    ):
        marks = []
        for end in (b"1", b"2", b"1"):
            file.write_bytes(b"x" * 300_000 + end)
            marks.append(fingerprints.runtime(config))
        assert marks[0] == marks[2] != marks[1]
    served = {"kind": "server", "base_url": "http://host", "model": str(weights.parent)}  # a name at the server
    before = fingerprints.runtime(served)
    weights.write_bytes(b"other")
    assert fingerprints.runtime(served) == before


def test_a_word_within_a_word_makes_no_secret() -> None:
    from intrinsics_core.cli import fingerprints, settings

    base = {"kind": "x", "tokenizer": "a", "author": "a", "tokenizerMode": "a", "keyboard": "a"}
    for key in set(base) - {"kind"}:
        assert fingerprints.runtime(base) != fingerprints.runtime(base | {key: "b"}), key
    for key in ("api_key", "apiKey", "X-Api-Key", "hf_token", "Authorization", "password", "key_id", "accessKeyId"):
        assert fingerprints.runtime(base | {key: "a-secret"}) == fingerprints.runtime(base), key
        assert settings.secrets({key: "a-secret"}) == {"a-secret"}, key


def test_a_profile_that_cannot_serve_the_intrinsic_is_told_before_the_output_is_touched(
    invoke: Any, write: Any, tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    out.write_text("precious\n")
    config = '{"kind": "server", "base_url": "http://127.0.0.1:9/v1"}'
    for intrinsic in ("context-relevance", "fact-check"):
        ran = invoke("run", intrinsic, "-i", write([ROW]), "-o", out, "--overwrite", "--runtime", config,
                     "--profile", "granite-3.2", "--on-error", "fallback")  # fmt: skip
        assert ran.exit_code == 2 and "granite-3.2" in ran.stderr and ran.stderr.count("\n") == 1
    assert out.read_text() == "precious\n"


# What not every one of them serves: published adapters and an encoder are for what they were trained for.
SERVED_BY = {
    "answer-relevance": ("embedded", "prompted"),
    "hyde": ("prompted",),
    "self-consistency": ("prompted",),
}


@pytest.mark.parametrize("intrinsic", INTRINSICS)
def test_profiles_that_serve_every_intrinsic_are_taken(intrinsic: str) -> None:
    from intrinsics_core.cli import settings
    from intrinsics_core.intrinsics import TABLE
    from intrinsics_core.profiles import profile

    for name in SERVED_BY.get(intrinsic, ("embedded", "prompted", "granite-3.3")):
        settings.check_served(TABLE[intrinsic], {}, profile(name))


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (("run", "reranking", "-i", "one.jsonl", "-i", "two.jsonl", "-o", "out"), "--input"),
        (("run", "reranking", "-i", "one.jsonl", "-o", "out", "--input", "two.jsonl"), "--input"),
        (("run", "reranking", "-i", "one.jsonl", "-o", "out", "--output=other"), "--output"),
        (("audit", "-i", "one.jsonl", "-o", "out", "-i", "two.jsonl"), "--input"),
        (("bench", "all", "--data", "one.jsonl", "--data", "two.jsonl", "-o", "out"), "--data"),
        (("calibrate", "answerability", "-i", "one.jsonl", "-i", "two.jsonl", "-o", "out"), "--input"),
    ],
)
def test_a_second_file_is_refused(
    command: tuple[str, ...], name: str, invoke: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for file in ("one.jsonl", "two.jsonl"):
        Path(file).write_text(json.dumps(ROW) + "\n", encoding="utf-8")
    ran = invoke(*command)
    assert ran.exit_code == 2 and f"{name} is given more than once" in ran.stderr
    assert not Path("out").exists()


@pytest.mark.parametrize(
    "flags",
    [
        ("--overwrite", "--overwrite"),  # a flag says the same twice
        ("--option", "both_orders=true", "--option", "mode=listwise"),  # may be given more than once
        ("--concurrency", "8", "--concurrency", "1"),  # a script's own value, and one put behind it
        ("--input", "in.jsonl", "--help"),  # who asks for help gets it
    ],
)
def test_what_may_be_given_more_than_once(
    flags: tuple[str, ...], invoke: Any, write: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = invoke("run", "reranking", "-i", write([ROW]), "-o", "out", *flags)
    assert "more than once; expected" not in ran.output


def test_audit_takes_what_run_audit_takes() -> None:
    from inspect import signature

    from intrinsics_core.cli import audit, run

    of_run = signature(run.run).parameters.keys() - {"intrinsic", "citations", "citations_as"}  # not for an audit
    assert signature(audit.audit).parameters.keys() - {"question", "answer", "document"} == of_run


def test_one_answer_is_audited_on_the_command_line(invoke, tmp_path):
    (guide := tmp_path / "guide.txt").write_text("Ada Brink built the tide mill in 1911.", encoding="utf-8")
    told = invoke("audit", "--question", "Who built it?", "--answer", "It burned in 1970 [3].", "--document", guide)
    assert told.exit_code == 0 and "not fully supported" in told.output and "no such document" in told.output
    assert invoke("audit", "--input", guide).exit_code == 2
    assert "--answer" in invoke("audit", "--question", "Who?", "--input", guide, "--output", "-").output
