"""``intrinsics serve``: the command it prints, and what it does with the process it starts.

Here a small program stands in for vLLM, so that starting, dying and hanging take no minute; `.ci/vllm.sh` starts the
real one the same way.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from intrinsics_core import InvalidInput, RequestTimeout, RuntimeUnavailable
from intrinsics_core.runtimes.server.launch import Plan, Server, read_adapter, read_adapters, shell, started

PATIENCE = 120.0  # seconds until something counts as hanging; nothing waits so long where all is well

STAND_IN = '''\
#!{python}
"""Answers completions like vLLM; "dies" and "hangs" are models with which it does."""
import json, os, signal, subprocess, sys, time
from http.server import BaseHTTPRequestHandler, HTTPServer

model, port = sys.argv[2], int(sys.argv[sys.argv.index("--port") + 1])
if model == "dies":
    sys.exit(7)
if model == "hangs":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
worker = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
with open(os.environ["PIDS"] + ".half", "w") as file:
    file.write(f"{{os.getpid()}} {{worker.pid}}")
os.replace(file.name, os.environ["PIDS"])
if model == "hangs":
    time.sleep(1000)
seen = []

class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        seen.append(body["model"])
        with open(os.environ["PIDS"] + ".seen", "w") as file:
            json.dump(seen, file)
        late = body["model"] == "late" and seen.count("late") < 3
        text = json.dumps({{}} if late else {{"choices": [{{"text": "x"}}]}}).encode()
        self.send_response(503 if late else 404 if body["model"] == "absent" else 200)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
    def log_message(self, *args):
        pass

HTTPServer(("127.0.0.1", port), Handler).serve_forever()
'''


@pytest.fixture
def vllm(tmp_path, monkeypatch) -> Path:
    path = tmp_path / "vllm"
    path.write_text(STAND_IN.format(python=sys.executable))
    path.chmod(0o755)
    monkeypatch.setenv("PIDS", str(tmp_path / "pids"))
    return path


@pytest.fixture
def port() -> int:
    """A free one below those that the system hands out, which another test could get before our server starts."""
    for number in range(20_000 + os.getpid() % 10_000, 32_000):
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", number))
            return number
    raise AssertionError("no port is free")


def adapter(folder: Path, name: str, **config) -> Path:
    (folder / name).mkdir(parents=True)
    (folder / name / "adapter_config.json").write_text(json.dumps({"r": 8, "peft_type": "LORA", **config}))
    return folder / name


def alive(pids: Path) -> list[int]:
    """Those of the processes that run: one that has ended may stand in the table until it is asked after."""

    def runs(pid: int) -> bool:
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except FileNotFoundError:
            return False

    return [pid for pid in map(int, pids.read_text().split()) if runs(pid)]


def waited(condition: Callable[[], object]) -> bool:
    """Whether it came to be, however long a busy machine takes; what never comes is told after a while."""
    until = time.monotonic() + PATIENCE
    while not condition() and time.monotonic() < until:
        time.sleep(0.01)
    return bool(condition())


def ended(pids: Path) -> bool:
    """Whether all the processes end: a signal that was sent takes its time to arrive."""
    return waited(lambda: not alive(pids))


def cli(*arguments, **options):
    command = [sys.executable, "-m", "intrinsics_core.cli", "serve", *map(str, arguments)]
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
    [(None, "holds no"), ("{", "cannot be read"), ("{}", "cannot be read"), ("[]", "cannot be read"),
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


# --- the process --------------------------------------------------------------------------------------------------


def test_ready_when_base_and_every_adapter_have_completed(tmp_path, vllm, port):
    names = ("late", "other")
    adapters = read_adapters([str(adapter(tmp_path, name)) for name in names])
    with started(Plan("base", adapters, port=port, executable=str(vllm))) as server:
        server.wait_ready(PATIENCE)
        seen = json.loads((tmp_path / "pids.seen").read_text())
        assert seen == ["base", "late", "late", "late", "other"]
        assert len(alive(tmp_path / "pids")) == 2
    assert ended(tmp_path / "pids")


@pytest.mark.parametrize(("model", "says"), [("dies", "exit code 7"), ("absent", "404")])
def test_a_server_that_cannot_serve_is_told_and_ended(tmp_path, vllm, port, model, says):
    plan = Plan(model, port=port, executable=str(vllm))
    with pytest.raises(RuntimeUnavailable, match=says), started(plan) as server:
        server.wait_ready(PATIENCE)
    assert server.process.returncode is not None
    if model != "dies":
        assert ended(tmp_path / "pids")


def test_a_server_that_never_gets_ready_is_told_and_ended(tmp_path, vllm, port):
    plan = Plan("hangs", port=port, executable=str(vllm))
    with pytest.raises(RequestTimeout, match=r"not ready after 0.1 s"), started(plan) as server:
        server.grace = 0.5  # it ignores SIGTERM
        assert waited((tmp_path / "pids").exists)
        server.wait_ready(0.1)
    assert server.process.returncode == -signal.SIGKILL
    assert ended(tmp_path / "pids")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_it_and_its_workers(tmp_path, vllm, port, number):
    command = [sys.executable, "-m", "intrinsics_core.cli", "serve", "base", "--port", str(port), "--start",
               "--executable", str(vllm)]  # fmt: skip
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ | {"PYTHONUNBUFFERED": "1"})
    try:
        assert process.stderr.readline() == "ready: base\n"
        config = json.loads(process.stderr.readline().removeprefix("runtime: "))
        body = json.dumps({"model": "base", "prompt": "x"}).encode()
        with urllib.request.urlopen(f"{config['base_url']}/completions", body) as response:
            assert json.load(response)["choices"]
        process.send_signal(number)
        assert process.wait(PATIENCE) == 0
        assert "stopped" in process.stderr.read()
        assert ended(tmp_path / "pids")
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def test_a_server_that_ends_by_itself_is_an_error(tmp_path, vllm, port):
    command = [sys.executable, "-m", "intrinsics_core.cli", "serve", "base", "--port", str(port), "--start",
               "--executable", str(vllm)]  # fmt: skip
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr.readline() == "ready: base\n"
    os.kill(int((tmp_path / "pids").read_text().split()[0]), signal.SIGKILL)
    assert process.wait(PATIENCE) == 1
    assert "ended by itself" in process.stderr.read()
    process.stderr.close()
    assert ended(tmp_path / "pids")


def test_vllm_is_not_installed():
    told = cli("base", "--start", "--executable", "/nowhere/vllm")
    assert told.returncode == 2
    assert "is not installed here" in told.stderr
    assert told.stderr.count("\n") == 1


def test_the_port_is_taken(vllm):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        told = cli("base", "--start", "--executable", vllm, "--port", taken.getsockname()[1])
    assert told.returncode == 2
    assert "taken" in told.stderr


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


class Odd:
    """A server that answers every completion with the same bytes, then perhaps goes on dripping."""

    def __init__(self, head: bytes, body: bytes, *, drips: bool = False) -> None:
        self.reply, self.drips = head + body, drips
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self) -> None:
        while True:
            try:
                there, _ = self.listening.accept()
            except OSError:
                return
            there.recv(65536)
            try:
                there.sendall(self.reply)
                while self.drips:
                    time.sleep(0.1)
                    there.sendall(b" ")
            except OSError:
                pass
            there.close()


def waiting(odd: Odd, seconds: float) -> None:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"], start_new_session=True) as process:
        try:
            Server(Plan("base", port=odd.port), process).wait_ready(seconds)
        finally:
            process.kill()
            odd.listening.close()


@pytest.mark.parametrize("where", ["head", "body"])
def test_a_server_that_drips_is_given_up_in_time(where):
    head = b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n"
    odd = Odd(head + (b"" if where == "head" else b"\r\n"), b"", drips=True)
    begun = time.monotonic()
    with pytest.raises(RequestTimeout):
        waiting(odd, 1.5)
    assert time.monotonic() - begun < 20  # the body alone would have taken a day


@pytest.mark.parametrize("body", [b"[]", b"1", b"null", b"{}", b'{"choices": []}', b"[" * 100_000, b"\xff"])
def test_a_reply_of_another_shape_is_no_readiness(body):
    odd = Odd(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(body), body)
    with pytest.raises(RequestTimeout):
        waiting(odd, 1)


def test_a_servers_words_do_not_command_the_terminal():
    body = b"\x1b]0;owned\x07\x1b[2Jnot here"
    odd = Odd(b"HTTP/1.1 404 Not Found\r\ncontent-length: %d\r\n\r\n" % len(body), body)
    with pytest.raises(RuntimeUnavailable, match="not here") as caught:
        waiting(odd, 5)
    assert "\x1b" not in str(caught.value)
    assert "\x07" not in str(caught.value)


@pytest.mark.skipif(sys.platform != "linux", reason="the parent-death signal is Linux's")
def test_the_engine_ends_with_a_supervisor_that_was_killed(tmp_path, vllm, port):
    command = [sys.executable, "-m", "intrinsics_core.cli", "serve", "base", "--port", str(port), "--start",
               "--executable", str(vllm)]  # fmt: skip
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr.readline() == "ready: base\n"
    engine, worker = map(int, (tmp_path / "pids").read_text().split())
    process.kill()
    process.wait()
    process.stderr.close()
    for _ in range(100):
        if engine not in alive(tmp_path / "pids"):
            break
        time.sleep(0.1)
    left = alive(tmp_path / "pids")
    os.kill(worker, signal.SIGKILL)  # vLLM's own workers watch their parent; the stand-in's does not
    assert engine not in left
