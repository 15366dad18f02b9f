"""Two runs at one file, files in the way, a full disk, closed streams, Ctrl-C at the wrong moment."""

from __future__ import annotations

import errno
import json
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

from intrinsics_core import InvalidInput
from intrinsics_core.cli import journal
from tests.cli.conftest import command, read

ROWS = [{"id": i, "messages": [{"role": "user", "content": f"Who is {i}?"}], "documents": ["Ada."]} for i in range(4)]
SLOW = json.dumps({"kind": "slow", "reply": {"answerability": "answerable", "confidence": 0.9}, "delay": 1})


def heeding() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell's background jobs, and so this run, may ignore it


def started(*arguments, **options) -> subprocess.Popen:
    return subprocess.Popen(
        [*command(scripted=True), *map(str, arguments)], stderr=subprocess.PIPE, preexec_fn=heeding, **options
    )


@pytest.mark.parametrize(
    "second",
    [pytest.param([], marks=pytest.mark.slow), ["--overwrite"], pytest.param(["--resume"], marks=pytest.mark.slow)],
)
def test_two_writers_are_not_let_at_one_output(tmp_path, write, second):
    source, target = write(ROWS * 30), tmp_path / "out.jsonl"
    arguments = ["run", "answerability", "-i", source, "-o", target, "--runtime", SLOW, "--concurrency", "1"]
    first = started(*arguments)
    for _ in range(200):
        if target.exists() and target.stat().st_size:
            break
        time.sleep(0.05)
    other = started(*arguments, *second)
    _, said = other.communicate(timeout=60)
    assert other.returncode == 2
    assert b"another run" in said or b"exists" in said
    assert said.count(b"\n") == 1
    assert first.poll() is None
    first.send_signal(signal.SIGINT)
    assert first.wait(60) == 130
    first.stderr.close()
    assert [row["id"] for row in read(target)][:4] == [0, 1, 2, 3][: len(read(target))]


def test_a_file_that_is_no_note_is_not_replaced(tmp_path, write, invoke):
    source, target = write(ROWS[:1]), tmp_path / "out.jsonl"
    mine = tmp_path / "out.jsonl.run.json"
    for text in ("my own notes", '{"mine": true}', "[]"):
        mine.write_text(text)
        for flags in ([], ["--overwrite"]):
            ended = invoke("run", "answerability", "-i", source, "-o", target, *flags)
            assert ended.exit_code == 2
            assert mine.read_text() == text
            assert not target.exists()


def test_the_note_is_never_the_input(tmp_path, write, invoke):
    source = write(ROWS[:1], "out.jsonl.run.json")
    before = source.read_bytes()
    ended = invoke("run", "answerability", "-i", source, "-o", tmp_path / "out.jsonl", "--overwrite")
    assert ended.exit_code == 2
    assert source.read_bytes() == before


def test_a_full_disk_leaves_nothing_behind(tmp_path, monkeypatch):
    def full(*args, **more):
        Path.open(args[0], "w").close()
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="No space"):
        journal.fresh(tmp_path / "out.jsonl", {"intrinsic": "answerability"}, overwrite=False)
    assert list(tmp_path.iterdir()) == []


def test_a_lock_ends_with_its_journal(tmp_path):
    run = {"intrinsic": "answerability"}
    first = journal.fresh(tmp_path / "out.jsonl", run, overwrite=False)
    with pytest.raises(InvalidInput, match="another run"):
        journal.resumed(tmp_path / "out.jsonl", run)
    first.close()
    journal.resumed(tmp_path / "out.jsonl", run).close()


@pytest.mark.skipif(sys.platform == "win32", reason="streams are closed by a shell")
@pytest.mark.parametrize(
    ("closed", "arguments", "code", "says"),
    [
        ("<&-", "-i - -o {out}", 2, "standard input, which is closed"),
        (">&-", "-i {in} -o -", 2, "standard output, which is closed"),
        pytest.param("2>&-", "-i {in} -o {out}", 0, "", marks=pytest.mark.slow),
        pytest.param("<&- >&- 2>&-", "-i {in} -o {out}", 0, "", marks=pytest.mark.slow),
    ],
)
def test_closed_streams(tmp_path, write, closed, arguments, code, says):
    source, target = write(ROWS), tmp_path / "out.jsonl"
    line = arguments.format(**{"in": source, "out": target})
    shell = f"{sys.executable} -m intrinsics_core.cli run answerability {line} {closed}"
    ended = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, timeout=120)
    assert ended.returncode == code, ended.stderr
    assert says in ended.stderr
    assert ended.stderr.count("\n") <= 1
    if code == 0:
        assert len(read(target)) == len(ROWS)


PRESSED = """
import os, signal, sys
class Interrupting:  # as if the key was pressed while a module is looked for
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
"""


def pressed(during: str, then: str, preexec=heeding) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", PRESSED + then, during]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, preexec_fn=preexec)


COMMAND = "from intrinsics_command import main; sys.argv[1:] = [sys.argv[1], '--version']; main()"


@pytest.mark.parametrize(
    "during",
    [
        "intrinsics_core",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("typer", "intrinsics_core.protocol.call", "pydantic", "pydantic_core._pydantic_core")
        ),
    ],
)
def test_ctrl_c_during_imports_is_no_crash(during):
    ended = pressed(during, COMMAND)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "intrinsics: interrupted\n")


def test_ctrl_c_while_the_commands_module_is_run_is_no_crash():
    ended = pressed("typer", "from intrinsics_core import cli; cli.main()")
    assert (ended.returncode, ended.stderr) == (130, "intrinsics: interrupted\n")


def test_a_key_that_is_ignored_stays_ignored():
    ended = pressed("typer", COMMAND, lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    assert "intrinsics: interrupted" not in ended.stderr


def test_the_command_begins_there():
    project = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))
    assert project["project"]["scripts"] == {"intrinsics": "intrinsics_command:main"}
    code = "import sys, intrinsics_command; print([name for name in sys.modules if name.startswith('intrinsics_core')])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"


def test_no_resuming_is_offered_where_none_is_possible(write):
    run = started("run", "answerability", "-i", write(ROWS * 30), "-o", "-", "--runtime", SLOW, "--concurrency", "1",
                  stdout=subprocess.PIPE)  # fmt: skip
    assert run.stdout.readline()
    run.send_signal(signal.SIGINT)
    _, said = run.communicate(timeout=60)
    assert run.returncode == 130
    assert b"interrupted after" in said and b"--resume" not in said


def test_words_of_others_do_not_command_the_terminal(tmp_path, invoke):
    ended = invoke("run", "answer\x1b[2Jability", "-i", tmp_path / "none", "-o", tmp_path / "out")
    assert ended.exit_code == 2
    assert "\x1b" not in ended.stderr
