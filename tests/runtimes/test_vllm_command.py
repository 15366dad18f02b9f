"""``intrinsics vllm``: the command it prints, and that it becomes it."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from intrinsics_core import InvalidInput
from intrinsics_core.runtimes.server.launch import Plan, read_adapter, read_adapters, shell

PATIENCE = 120.0  # seconds until something counts as hanging; nothing waits so long where all is well


def adapter(folder: Path, name: str, **config) -> Path:
    (folder / name).mkdir(parents=True)
    (folder / name / "adapter_config.json").write_text(json.dumps({"r": 8, "peft_type": "LORA", **config}))
    return folder / name


def cli(*arguments, **options):
    command = [sys.executable, "-m", "intrinsics_core.cli", "vllm", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, **options)


# --- the command --------------------------------------------------------------------------------------------------


def test_the_command_has_the_names_the_rank_and_a_slot_to_spare(tmp_path):
    one, two = adapter(tmp_path, "answerability_lora", r=32), adapter(tmp_path, "b", r=4, rank_pattern={"q_proj": 40})
    plan = Plan("org/base", read_adapters([f"gate={one}", str(two)]), port=9, name="base", options=["--seed=1"])
    command = plan.command()
    assert command[:3] == ["vllm", "serve", "org/base"]
    for option, value in (("--port", "9"), ("--served-model-name", "base"), ("--max-loras", "3"),
                          ("--max-lora-rank", "64")):  # fmt: skip
        assert command[command.index(option) + 1] == value
    at = command.index("--lora-modules")
    assert command[at + 1 : at + 3] == [f"gate={one}", f"b={two}"]
    assert command[-1] == "--seed=1"


def test_no_adapters_no_lora():
    assert not any("lora" in argument for argument in Plan("org/base").command())


def test_the_printed_command_is_what_a_shell_reads_back(tmp_path):
    odd = adapter(tmp_path / "a folder; rm -rf $HOME 'x'", "b")
    printed = cli("my base", "--adapter", f"b={odd}", '--option=--structured-outputs-config={"backend": "xgrammar"}')
    assert printed.returncode == 0
    words = shlex.split(printed.stdout.replace("\\\n", " "))
    assert words[2] == "my base"
    assert f"b={odd}" in words
    assert words[-1] == '--structured-outputs-config={"backend": "xgrammar"}'
    assert shlex.split(shell(words).replace("\\\n", " ")) == words


def test_a_folder_of_adapters_is_all_of_them(tmp_path):
    for name in ("b", "a"):
        adapter(tmp_path, name)
    (tmp_path / "notes").mkdir()
    assert [found.name for found in read_adapters([str(tmp_path)])] == ["a", "b"]


def test_an_adapter_of_the_hub_is_taken_as_it_is():
    found = read_adapter("ibm-granite/granite-3.2-8b-lora-uncertainty")
    assert (found.name, found.path, found.rank) == (
        "granite-3.2-8b-lora-uncertainty", "ibm-granite/granite-3.2-8b-lora-uncertainty", None)  # fmt: skip


@pytest.mark.parametrize("config", [{"alora_invocation_tokens": [1, 2]}, {"peft_type": "ALORA"}])
def test_activated_lora_is_refused_and_why(tmp_path, config):
    path = adapter(tmp_path, "gate", **config)
    with pytest.raises(InvalidInput, match="Activated LoRA"):
        read_adapter(str(path))
    printed = cli("base", "--adapter", path)
    assert (printed.returncode, printed.stdout) == (2, "")
    assert printed.stderr.count("\n") == 1
    assert "transformers" in printed.stderr


@pytest.mark.parametrize(
    ("content", "says"),
    [(None, "contains no"), ("{", "cannot be read"), ("{}", "cannot be read"), ("[]", "cannot be read"),
     ('{"r": 9999}', "ranks up to"), ('{"r": "8"}', "ranks up to"), ('{"r": 0}', "ranks up to")],
)  # fmt: skip
def test_a_folder_that_is_no_adapter_is_named(tmp_path, content, says):
    (tmp_path / "gate").mkdir()
    if content:
        (tmp_path / "gate" / "adapter_config.json").write_text(content)
    with pytest.raises(InvalidInput, match=says):
        read_adapter(str(tmp_path / "gate"))


@pytest.mark.parametrize("spec", ["./nothing", "/nothing", "nothing", "a=", "=b", "two words=x/y"])
def test_a_spec_that_leads_nowhere(spec):
    with pytest.raises(InvalidInput):
        read_adapter(spec)


def test_two_adapters_of_one_name(tmp_path):
    adapter(tmp_path / "x", "gate"), adapter(tmp_path / "y", "gate")
    with pytest.raises(InvalidInput, match="two adapters"):
        read_adapters([str(tmp_path / "x" / "gate"), str(tmp_path / "y" / "gate")])


# --- the program --------------------------------------------------------------------------------------------------


def test_it_becomes_the_program(tmp_path):
    """No process stands between who started the command and vLLM: signals and exit codes are its own."""
    stand_in = tmp_path / "vllm"
    stand_in.write_text(f"#!{sys.executable}\nimport os, sys\nprint(os.getpid(), *sys.argv[1:])\nsys.exit(7)\n")
    stand_in.chmod(0o755)
    command = [sys.executable, "-m", "intrinsics_core.cli", "vllm", "base", "--exec", "--executable", str(stand_in)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        pid, *arguments = process.stdout.read().split()
        assert process.wait(PATIENCE) == 7
    assert int(pid) == process.pid
    assert arguments[:2] == ["serve", "base"]


def test_vllm_is_not_installed():
    told = cli("base", "--exec", "--executable", "/nowhere/vllm")
    assert told.returncode == 2
    assert "is not installed here" in told.stderr
    assert told.stderr.count("\n") == 1


# --- hostile and unlucky ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["--tokenizer", "-x", ".hidden", "a b", "a;b", "ä", "", "a/b"])
def test_an_adapter_is_not_called_like_an_option(tmp_path, name):
    place = adapter(tmp_path, "fine")
    if name:
        with pytest.raises(InvalidInput, match="NAME=PATH"):
            read_adapter(f"{name}={place}")
    if name.startswith("-"):
        adapter(tmp_path / "all", name)
        with pytest.raises(InvalidInput, match="NAME=PATH"):
            read_adapters([str(tmp_path / "all")])


def test_a_model_is_not_called_like_an_option():
    told = cli("--", "--tokenizer=x")
    assert (told.returncode, told.stdout) == (2, "")
    assert "begins with a dash" in told.stderr


def test_an_adapter_whose_weights_are_a_pickle_is_refused(tmp_path):
    place = adapter(tmp_path, "a")
    (place / "adapter_model.bin").write_bytes(b"\x80")
    with pytest.raises(InvalidInput, match="safetensors"):
        read_adapter(str(place))
    (place / "adapter_model.safetensors").write_bytes(b"")
    assert read_adapter(str(place)).name == "a"
