"""A row that takes long keeps no finished row from the disk, and a row can be given so much time and no more."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from intrinsics_core import BlockingRuntime, answerability, run_many
from intrinsics_core.cli import journal
from intrinsics_core.profiles.prompted import PROFILE
from intrinsics_core.protocol.errors import InvalidInput, RequestTimeout
from intrinsics_core.protocol.requests import Generate, Generated, Outcome, Request
from tests.cli.conftest import command, read
from tests.cli.test_resume import rows

REPLY = {"answerability": "answerable", "confidence": 1}


def question(document: str) -> Any:
    return answerability([{"role": "user", "content": "When was it lit?"}], [document])


class Held(BlockingRuntime):
    """Answers at once, but for what holds LONG, which waits until ``free`` is set."""

    profile = PROFILE

    def __init__(self) -> None:
        self.free = threading.Event()

    def handle(self, requests: Sequence[Request]) -> list[Outcome]:
        if any("LONG" in str(r.messages) for r in requests if isinstance(r, Generate)):
            assert self.free.wait(60)
        return [Generated(json.dumps(REPLY)) for _ in requests]


def test_short_rows_do_not_wait_for_a_long_one() -> None:
    engine, told = Held(), []

    def tell(index: int, result: Any) -> None:
        told.append(index)
        if len(told) == 9:  # all but the long one, which only they set free
            engine.free.set()

    calls = [question("LONG " * 5_000 if i == 2 else f"It was lit in {i}.") for i in range(10)]
    found = run_many(calls, engine, on_result=tell)
    assert told[-1] == 2 and sorted(told) == list(range(10))
    assert [result.label for result in found] == ["answerable"] * 10


def test_a_long_row_ends_in_a_typed_error_when_its_time_is_over() -> None:
    engine = Held()

    def tell(index: int, result: Any) -> None:
        if isinstance(result, RequestTimeout):
            engine.free.set()  # only the end of its time sets it free

    calls = [question("It was lit in 1871."), question("LONG " * 5_000), question("It was lit in 1872.")]
    found = run_many(calls, engine, row_timeout=0.05, on_result=tell)
    assert isinstance(found[1], RequestTimeout) and "0.05 s" in str(found[1])
    assert [found[0].label, found[2].label] == ["answerable"] * 2


def test_what_a_long_row_raises_while_it_is_told_reaches_the_caller() -> None:
    engine = Held()
    engine.free.set()

    def tell(index: int, result: Any) -> None:
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space"):
        run_many([question("LONG " * 5_000)], engine, on_result=tell)


def test_a_row_timeout_of_the_command_is_an_error_line(process: Any, write: Any, tmp_path: Path) -> None:
    config = json.dumps({"kind": "slow", "reply": REPLY, "first": 600})
    out = tmp_path / "out.jsonl"
    ran = process("run", "answerability", "-i", write(rows(4)[:3]), "-o", out, "--runtime", config,
                  "--row-timeout", "1", scripted=True)  # fmt: skip
    assert ran.returncode == 1
    first, *others = read(out)
    assert first["error"]["type"] == "RequestTimeout" and "1 s" in first["error"]["message"]
    assert ["result" in row for row in others] == [True, True]


# --- rows ahead of their turn ---------------------------------------------------------------------------------------


def line(number: int) -> bytes:
    return b'{"id": %d, "result": {}}\n' % number


def test_rows_ahead_of_their_turn_are_on_disk_and_taken_from_there(tmp_path: Path) -> None:
    out, about = tmp_path / "out.jsonl", {"intrinsic": "a"}
    kept = journal.fresh(out, about, overwrite=False)
    for number in (0, 3, 2):
        kept.put(number, line(number), failed=False)
    beside = journal.ahead_path(out)
    assert out.read_bytes() == line(0)
    assert beside.read_bytes() == b"3 " + line(3) + b"2 " + line(2)
    beside.write_bytes(beside.read_bytes() + b'4 {"id": 4, "resu')  # cut off by a loss of power
    kept.close()
    again = journal.resumed(out, about, ids=range(5))
    assert [again.has(number) for number in range(5)] == [True, False, True, True, False]
    again.put(1, line(1), failed=False)
    assert out.read_bytes() == b"".join(map(line, range(4)))
    again.put(4, line(4), failed=False)
    again.close()
    assert not beside.exists()


def test_a_new_run_takes_nothing_from_an_old_ones_side_file(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    kept = journal.fresh(out, {"intrinsic": "a"}, overwrite=False)
    kept.put(1, line(1), failed=False)
    kept.close()
    again = journal.fresh(out, {"intrinsic": "a"}, overwrite=True)
    assert not again.has(1) and not journal.ahead_path(out).read_bytes()
    again.close()


def test_resume_compares_the_ids_of_the_rows(invoke: Any, write: Any, tmp_path: Path) -> None:
    out, path = tmp_path / "out.jsonl", write(rows(4))
    invoke("run", "answerability", "-i", path, "-o", out)
    lines = out.read_bytes().splitlines(keepends=True)
    for changed in ([lines[1], lines[0], *lines[2:]], [*lines, lines[0]]):
        out.write_bytes(b"".join(changed))
        again = invoke("run", "answerability", "-i", path, "-o", out, "--resume")
        assert again.exit_code == 2 and "cannot be resumed: its row" in again.stderr
        assert out.read_bytes() == b"".join(changed)
    with pytest.raises(InvalidInput, match="its row 1 has id 0, but id 1 in the input"):
        out.write_bytes(line(0))
        journal.resumed(out, journal.note(out) or {}, ids=[1])


@pytest.mark.slow
def test_killed_and_resumed_a_run_has_the_same_bytes(process: Any, write: Any, tmp_path: Path) -> None:
    """The first row is still under way when the process is killed; the others are on disk."""
    many = rows(40)
    path, out, whole = write(many), tmp_path / "out.jsonl", tmp_path / "whole.jsonl"
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"kind": "slow", "reply": REPLY}))
    arguments = ["run", "answerability", "-i", str(path), "--runtime", str(config)]
    process(*arguments, "-o", whole, scripted=True)
    beside = journal.ahead_path(out)
    slow = json.dumps({"kind": "slow", "reply": REPLY, "first": 600})
    begun = [*command(True), *arguments[:-1], slow, "-o", str(out)]
    with subprocess.Popen(begun, stderr=subprocess.PIPE) as running:
        until = time.monotonic() + 60
        while (not beside.exists() or beside.read_bytes().count(b"\n") < 40) and time.monotonic() < until:
            time.sleep(0.01)
        running.send_signal(signal.SIGKILL)
    assert not out.read_bytes() and beside.read_bytes().count(b"\n") == 40
    note = journal.note_path(out)
    note.write_bytes(journal.note_path(whole).read_bytes())  # the same runtime but for the delay
    marked = beside.read_bytes().replace(b"answerable", b"ANSWERABLE", 1)
    beside.write_bytes(marked)
    assert process(*arguments, "-o", out, "--resume", scripted=True).returncode == 1
    assert out.read_bytes().replace(b"ANSWERABLE", b"answerable") == whole.read_bytes()
    assert out.read_bytes() != whole.read_bytes()  # a finished row was taken as it was
    assert not beside.exists()
