"""`--resume`: an interrupted run goes on to the same bytes that it would have written; any other run is refused."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from intrinsics_core.cli import journal
from tests.cli.conftest import command, read
from tests.profiles.adapters import FILES

TOPICS = ["ferry", "lighthouse", "museum", "bakery", "harbour"]


def rows(count: int) -> list[Any]:
    made: list[Any] = []
    for i in range(count):
        topic = TOPICS[i % len(TOPICS)]
        documents = [f"The {topic} opens at {i} o'clock.", "It rains."]
        made.append({"id": i, "messages": [{"role": "user", "content": f"When does the {topic} open?"}],
                     "documents": documents})  # fmt: skip
    made[3:3] = [b"broken", b""]
    return made


def test_goes_on_to_the_same_bytes(invoke: Any, write: Any, tmp_path: Path) -> None:
    path, whole, out = write(rows(12)), tmp_path / "whole.jsonl", tmp_path / "out.jsonl"
    assert invoke("run", "answerability", "-i", path, "-o", whole).exit_code == 1
    lines = whole.read_bytes().splitlines(keepends=True)
    for kept in (
        b"",
        b"".join(lines[:1]),
        b"".join(lines[:5]) + lines[5][:-1],
        b"".join(lines[:12]) + b"{",
        b"".join(lines),
    ):
        invoke("run", "answerability", "-i", path, "-o", out, "--overwrite")
        out.write_bytes(kept)
        assert (
            invoke("run", "answerability", "-i", path, "-o", out, "--resume").exit_code == 1
        )  # an error line is there
        assert out.read_bytes() == whole.read_bytes()


def test_rows_already_written_are_not_run_again(process: Any, write: Any, tmp_path: Path) -> None:
    out, config = tmp_path / "out.jsonl", tmp_path / "config.json"
    config.write_text(json.dumps({"kind": "slow", "reply": {"answerable": "nonsense"}, "api_key": "first-key"}))
    arguments = ("run", "answerability", "-i", write(rows(4)), "-o", out, "--runtime", config)
    process(*arguments, scripted=True)
    marked = out.read_bytes().replace(b"nonsense", b"NONSENSE").splitlines(keepends=True)[:2]
    out.write_bytes(b"".join(marked))
    # The same server under a new key is the same runtime.
    config.write_text(config.read_text().replace("first-key", "second-key"))
    assert process(*arguments, "--resume", scripted=True).returncode == 1
    told = out.read_bytes().splitlines(keepends=True)
    assert told[:2] == marked and len(told) == 5
    assert b"NONSENSE" not in told[4] and b"nonsense" in told[4]


def test_begins_where_there_is_nothing_yet(invoke: Any, write: Any, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    assert invoke("run", "answerability", "-i", write(rows(4)[:2]), "-o", out, "--resume").exit_code == 0
    assert len(read(out)) == 2


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"intrinsic": "reranking"}, "intrinsic 'answerability', not 'reranking'"),
        ({"flags": ("--profile", "prompted")}, "profile 'embedded', not 'prompted'"),
        ({"flags": ("--date", "April 1, 2025")}, "date"),
        ({"flags": ("--on-error", "fallback")}, "on-error 'raise', not 'fallback'"),
        ({"flags": ("--runtime", '{"kind": "embedded", "threads": 1}')}, "other runtime"),
        ({"input": 5}, "other input"),
    ],
)
def test_refuses_any_other_run(change: Any, named: str, invoke: Any, write: Any, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    invoke("run", "answerability", "-i", write(rows(4)), "-o", out)
    before = out.read_bytes()
    path = write(rows(change["input"]), "other.jsonl") if "input" in change else tmp_path / "in.jsonl"
    again = invoke("run", change.get("intrinsic", "answerability"), "-i", path, "-o", out, "--resume",
                   *change.get("flags", ()))  # fmt: skip
    assert again.exit_code == 2 and "cannot be resumed" in again.stderr and named in again.stderr
    assert out.read_bytes() == before


def test_refuses_other_options(invoke: Any, write: Any, tmp_path: Path) -> None:
    out, path = tmp_path / "out.jsonl", write(rows(4))
    invoke("run", "reranking", "-i", path, "-o", out)
    again = invoke("run", "reranking", "-i", path, "-o", out, "--resume", "--option", "both_orders=true")
    assert again.exit_code == 2 and "other options" in again.stderr


def test_a_run_goes_on_with_the_date_it_began_with(invoke: Any, write: Any, tmp_path: Path) -> None:
    out, path = tmp_path / "out.jsonl", write(rows(4))
    invoke("run", "answerability", "-i", path, "-o", out)
    note = tmp_path / "out.jsonl.run.json"
    begun = json.loads(note.read_text())
    note.write_text(json.dumps(begun | {"date": "April 1, 2025"}))  # as if begun another day
    assert invoke("run", "answerability", "-i", path, "-o", out, "--resume").exit_code == 1
    assert invoke("run", "answerability", "-i", path, "-o", out, "--resume", "--date", begun["date"]).exit_code == 2


def test_refuses_what_is_no_output_of_a_run(invoke: Any, write: Any, tmp_path: Path) -> None:
    out, path = tmp_path / "out.jsonl", write(rows(4))
    out.write_text('{"id": 1, "result": {}}\n')
    ran = invoke("run", "answerability", "-i", path, "-o", out, "--resume")
    assert ran.exit_code == 2 and "out.jsonl.run.json" in ran.stderr
    invoke("run", "answerability", "-i", path, "-o", out, "--overwrite")
    out.write_text("a diary\n")
    ran = invoke("run", "answerability", "-i", path, "-o", out, "--resume")
    assert ran.exit_code == 2 and "line 1 is not a row" in ran.stderr
    assert out.read_text() == "a diary\n"


@pytest.mark.slow
def test_streams_cannot_be_resumed(process: Any, write: Any, tmp_path: Path) -> None:
    path = write(rows(4))
    ran = process("run", "answerability", "-i", path, "-o", "-", "--resume")
    assert ran.returncode == 2 and b"--resume needs a file as --output" in ran.stderr and not ran.stdout
    out = tmp_path / "out.jsonl"
    ran = process("run", "answerability", "-i", "-", "-o", out, "--resume", stdin=path.read_bytes())
    assert ran.returncode == 2 and b"--resume needs a file as --input" in ran.stderr and not out.exists()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["embedded", "scripted"])
def test_control_c_leaves_an_output_that_can_be_resumed(kind: str, process: Any, write: Any, tmp_path: Path) -> None:
    """Once in an in-process runtime, once in one that works on a background loop."""
    scripted = kind == "scripted"
    count = 600 if scripted else 3000  # far more than are done when it is interrupted
    path, out = write(rows(count)), tmp_path / "out.jsonl"
    config = json.dumps({"kind": "slow", "delay": 0.1, "reply": {"answerable": "x"}} if scripted else {"kind": kind})
    arguments = [*command(scripted), "run", "answerability", "-i", str(path), "-o", str(out), "--runtime", config,
                 "--concurrency", "2"]  # fmt: skip

    def heeding() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell's background jobs, and so this run, may ignore it

    with subprocess.Popen(arguments, stderr=subprocess.PIPE, preexec_fn=heeding) as running:
        until = time.monotonic() + 120
        while (not out.exists() or out.stat().st_size < 2000) and time.monotonic() < until:
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        assert running.wait(120) == 130
        assert running.stderr
        told = running.stderr.read().decode()
    written = read(out)
    assert 0 < len(written) < count + 1, "it was interrupted in the middle"
    assert told.startswith(f"intrinsics: interrupted after {len(written)} rows") and told.count("\n") == 1
    if scripted:
        rest = [*arguments[len(command(True)) : -1], "200", "--resume"]
        assert process(*rest, scripted=True).returncode == 1
        assert [row["id"] for row in read(out)] == [0, 1, 2, None, *range(3, count)]
    else:  # that many rows would take long: what was written is what an uninterrupted run writes
        head = tmp_path / "head.jsonl"
        process("run", "answerability", "-i", write(rows(20), "few.jsonl"), "-o", head)
        assert out.read_bytes().startswith(head.read_bytes()[: out.stat().st_size])


@pytest.mark.parametrize(
    ("scripted", "config"),
    [pytest.param(False, {"kind": "embedded"}, marks=pytest.mark.slow), (True, {"kind": "slow", "reply": {}})],
)
def test_a_full_disk_is_one_line(scripted: bool, config: Any, write: Any) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full on this system")
    ran = subprocess.run(
        [*command(scripted), "run", "answerability", "-i", str(write(rows(9))), "-o", "/dev/full", "--runtime",
         json.dumps(config)],
        capture_output=True, timeout=120,
    )  # fmt: skip
    assert ran.returncode == 2
    assert ran.stderr == b"intrinsics: stopped after 0 rows: No space left on device\n"


def test_a_profile_of_other_adapters_is_another_run(
    invoke: Any, write: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both are called granite-4; nothing listens at the address, so every row is an error line."""
    places = [tmp_path / name for name in ("a", "b")]
    for place in places:
        (place / "answerability").mkdir(parents=True)
        (place / "answerability" / "io.yaml").write_text(FILES["answerability"])
    config = '{"kind": "server", "base_url": "http://127.0.0.1:9/v1", "model": "m", "max_retries": 0}'
    path, out = write(rows(2)), tmp_path / "out.jsonl"
    arguments = ("run", "answerability", "-i", path, "-o", out, "--runtime", config)
    assert invoke(*arguments, "--profile", f"granite-4:{places[0]}").exit_code == 1
    again = invoke(*arguments, "--profile", f"granite-4:{places[1]}", "--resume")
    assert again.exit_code == 2 and "profile" in again.stderr
    for place, code in ((places[1], 2), (places[0], 1)):
        monkeypatch.setenv("RAG_INTRINSICS_ADAPTERS", str(place))
        assert invoke(*arguments, "--profile", "granite-4", "--resume").exit_code == code


def test_another_calibration_in_the_same_file_is_another_run(invoke: Any, write: Any, tmp_path: Path) -> None:
    from intrinsics_core.calibration.fitting import calibrate

    fitted, out, path = tmp_path / "fitted.json", tmp_path / "out.jsonl", write(rows(2)[:2])
    text = calibrate([i / 12 for i in range(12)], [0, 0, 0, 1, 0, 0, 1, 1, 0, 1, 1, 1]).to_json()
    fitted.write_text(text)
    config = json.dumps({"kind": "embedded", "calibrations": {"answerability": str(fitted)}})
    arguments = ("run", "answerability", "-i", path, "-o", out, "--runtime", config)
    assert invoke(*arguments).exit_code == 0
    assert invoke(*arguments, "--resume").exit_code == 0
    fitted.write_text(text + "\n")
    again = invoke(*arguments, "--resume")
    assert again.exit_code == 2 and "other runtime" in again.stderr


def test_overwriting_that_fails_leaves_the_old_rows_and_never_a_note_beside_others_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out.jsonl"
    first = journal.fresh(out, {"intrinsic": "a", "run": 1}, overwrite=False)
    first.put(0, b'{"id": 0, "result": {}}\n', failed=False)
    first.close()
    (tmp_path / "out.jsonl.run.json.part").mkdir()  # the new note cannot be written
    with pytest.raises(OSError):
        journal.fresh(out, {"intrinsic": "a", "run": 2}, overwrite=True)
    assert out.read_bytes() and journal.note(out) == {"intrinsic": "a", "run": 1}
    (tmp_path / "out.jsonl.run.json.part").rmdir()

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", stop)  # interrupted at the last step
    with pytest.raises(KeyboardInterrupt):
        journal.fresh(out, {"intrinsic": "a", "run": 2}, overwrite=True)
    assert journal.note(out) is None and not out.read_bytes()
    monkeypatch.undo()
    journal.resumed(out, {"intrinsic": "a", "run": 2}).close()
    assert journal.note(out) == {"intrinsic": "a", "run": 2}
