"""The output of a run: rows in input order, each flushed as it is ready, and a note beside the file of what run it is.

A row that is ready before an earlier one is written to ``OUTPUT.run.ahead`` until its turn comes: its number, a space
and its line. ``--resume`` takes it from there. The file is gone when the run has ended.

The note (``OUTPUT.run.json``) is what ``--resume`` compares. It holds digests and names, never a key, and stays after
the run, so that resuming a finished run is harmless.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from intrinsics_core._support.whole_files import drafted
from intrinsics_core.protocol.errors import InvalidInput

_NOTE = ".run.json"
_AHEAD = ".run.ahead"
_NO_ROW = object()


class Journal:
    """Takes lines by row number in any order and writes them in order.

    Attributes:
        rows: rows in the output.
        failed: how many of them are error lines.
    """

    def __init__(
        self, stream: BinaryIO, *, rows: int = 0, failed: int = 0, owned: bool = True, ahead: Path | None = None
    ) -> None:
        self.rows, self.failed = rows, failed
        self._stream, self._owned = stream, owned
        self._waiting: dict[int, tuple[bytes, bool]] = {}
        self._lock, self._closed = threading.Lock(), False
        self._ahead, self._beside = ahead, None if ahead is None else ahead.open("ab", buffering=0)
        self._written_beside = 0

    @property
    def waiting(self) -> int:
        """Rows that are ready and wait for an earlier one."""
        return len(self._waiting)

    def has(self, number: int) -> bool:
        """Whether a row is there already, in the output or ahead of its turn."""
        return number < self.rows or number in self._waiting

    def take_up(self, rows: Mapping[int, bytes]) -> None:
        """Rows that an interrupted run had finished ahead of their turn."""
        for number, line in sorted(rows.items()):
            if number >= self.rows:
                self.put(number, line, failed="error" in json.loads(line))

    def put(self, number: int, line: bytes, *, failed: bool) -> None:
        """Row ``number``, from 0, is ready."""
        with self._lock:
            if self._closed:  # interrupted: what comes late is done again by --resume
                return
            self._waiting[number] = line, failed
            if number > self.rows and self._beside:
                self._beside.write(b"%d " % number + line)
                self._beside.flush()
                self._written_beside += 1
            while self.rows in self._waiting:
                line, failed = self._waiting.pop(self.rows)
                self._stream.write(line)
                self._stream.flush()
                self.rows += 1
                self.failed += failed
            if self._written_beside and self._beside and not self._waiting:
                self._beside.truncate(0)
                self._written_beside = 0

    def close(self) -> None:
        with self._lock:
            if self._closed:
                return
            self._closed = True
            if self._beside and self._ahead:
                with suppress(OSError):
                    self._beside.close()
                    if not self._waiting:
                        self._ahead.unlink(missing_ok=True)
            if self._owned:
                with suppress(OSError):  # each row was flushed: what fails now was told then
                    self._stream.close()


def fresh(path: Path, run: Mapping[str, Any], *, overwrite: bool) -> Journal:
    """Begin an output file.

    Raises:
        InvalidInput: it exists and may not be overwritten.
        OSError: it cannot be written.
    """
    there = note_path(path)
    if there.exists() and "intrinsic" not in (note(path) or {}):
        raise InvalidInput(
            f"{there} exists, is not the note of a run, and would be overwritten", expected="another --output"
        )
    try:
        stream = path.open("ab" if overwrite else "xb")
    except FileExistsError:
        raise InvalidInput(f"{path} exists", expected="--overwrite or --resume, or another --output") from None
    try:
        _lock(stream, path)
        _begin(stream, there, run)
    except BaseException:
        stream.close()
        if not overwrite:
            path.unlink(missing_ok=True)  # it was made here, and nothing is in it
        raise
    ahead_path(path).unlink(missing_ok=True)
    return Journal(stream, ahead=ahead_path(path))


def _lock(stream: BinaryIO, path: Path) -> None:
    """Be the only one who writes the file; the lock ends with the stream, however the process does.

    Raises:
        InvalidInput: somebody else is at it.
    """
    try:
        import fcntl
    except ImportError:  # not on Windows
        return
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InvalidInput(f"{path} is being written by another run", expected="another --output") from None
    except OSError:
        return  # a file system without locks


def _begin(stream: BinaryIO, note: Path, run: Mapping[str, Any]) -> None:
    """Empty the output and put the new note beside it. Wherever this stops, no note stands beside another run's rows,
    and where the note cannot be written the old rows are all there.
    """
    with drafted(note) as draft:
        draft.write_text(json.dumps(run, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        note.unlink(missing_ok=True)
        stream.truncate(0)


def resumed(path: Path, run: Mapping[str, Any], ids: Iterable[Any] | None = None) -> Journal:
    """Go on with an output file, after its last whole row. Where there is none yet, begin it.

    Args:
        ids: of the rows of the input, in order: those of the output must be the same.

    Raises:
        InvalidInput: it is the output of another run, or of none.
    """
    if not path.exists():
        return fresh(path, run, overwrite=False)
    noted = note(path)
    if noted is None:
        if path.stat().st_size == 0:
            return fresh(path, run, overwrite=True)
        raise InvalidInput(
            f"{path} cannot be resumed, because the note of its run, {note_path(path).name}, is missing beside it",
            expected="--overwrite, or another --output",
        )
    if different := [name for name in dict.fromkeys((*run, *noted)) if noted.get(name) != run.get(name)]:
        differences = "; ".join(_difference(name, noted.get(name), run.get(name)) for name in different)
        raise InvalidInput(
            f"{path} cannot be resumed, because it was started with {differences}",
            expected="the same settings, --overwrite, or another --output",
        )
    stream = path.open("r+b")
    try:
        _lock(stream, path)
        rows, failed, end = _whole_rows(path, ids)
        stream.truncate(end)
        stream.seek(end)
    except BaseException:
        stream.close()
        raise
    there = ahead_path(path)
    finished = _finished_ahead(there)
    with suppress(OSError):
        there.unlink()
    kept = Journal(stream, rows=rows, failed=failed, ahead=there)
    kept.take_up(finished)
    return kept


def note(path: Path) -> dict[str, Any] | None:
    """What run an output file is of, or None where that is not known."""
    try:
        noted = json.loads(note_path(path).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    return noted if isinstance(noted, dict) else None


def note_path(path: Path) -> Path:
    return path.with_name(path.name + _NOTE)


def ahead_path(path: Path) -> Path:
    return path.with_name(path.name + _AHEAD)


def _finished_ahead(path: Path) -> dict[int, bytes]:
    """The whole rows of a side file, by number. What is no such line was cut short, and is done again."""
    found: dict[int, bytes] = {}
    if not path.is_file():
        return found
    with path.open("rb") as lines:
        for line in lines:
            number, _, rest = line.partition(b" ")
            try:
                row = json.loads(rest) if number.isdigit() and line.endswith(b"\n") else None
            except (ValueError, RecursionError):
                continue
            if isinstance(row, dict) and ("error" in row or "result" in row):
                found[int(number)] = rest
    return found


def _difference(name: str, before: Any, now: Any) -> str:
    if isinstance(now, str) and isinstance(before, str) and name != "input":
        return f"{name.replace('_', '-')} {before!r}, not {now!r}"
    return f"other {name}"


def _whole_rows(path: Path, ids: Iterable[Any] | None) -> tuple[int, int, int]:
    """(rows, error rows, bytes up to the end of the last whole row)."""
    rows = failed = end = 0
    wanted = None if ids is None else iter(ids)
    with path.open("rb") as lines:
        for line in lines:
            if not line.endswith(b"\n"):
                break  # cut short by the interruption
            try:
                row = json.loads(line)
                failed += "error" in row
                whole = "error" in row or "result" in row
            except (ValueError, TypeError, RecursionError):
                whole = False
            if not whole:
                raise InvalidInput(
                    f"{path} cannot be resumed: its line {rows + 1} is not a row of a run",
                    expected="--overwrite, or another --output",
                )
            if wanted is not None and (own := next(wanted, _NO_ROW)) != row.get("id"):
                what = "more rows than its input" if own is _NO_ROW else f"id {own!r} in the input"
                raise InvalidInput(
                    f"{path} cannot be resumed: its row {rows + 1} has id {row.get('id')!r}, but {what}",
                    expected="the rows of the input in their order, --overwrite, or another --output",
                )
            rows, end = rows + 1, end + len(line)
    return rows, failed, end
