"""Which files a command may write."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from pathlib import Path

from intrinsics_core.protocol.errors import InvalidInput


def check(outputs: Mapping[str, str | Path | None], *, reads: Mapping[str, str | None], overwrite: bool) -> None:
    """Find out before the work whether the outputs may be written.

    Args:
        outputs: the file of each option, or None.
        reads: the files that the command reads, by option; a value that is no file does not count.
        overwrite: whether files that exist may be replaced.

    Raises:
        InvalidInput: one cannot be written, exists, is the file of another output or is read by this command.
    """
    given = {name: Path(place) for name, place in outputs.items() if place is not None}
    for name, path in given.items():
        if path.is_dir() or not path.absolute().parent.is_dir():
            raise InvalidInput(f"{name} {path} cannot be written", expected="a file in a folder that exists")
        not_read(name, path, reads)
        if path.exists() and not overwrite:
            raise InvalidInput(f"{path} exists", expected=f"--overwrite, or another {name}")
    for (name, path), (other, second) in combinations(given.items(), 2):
        if path.resolve() == second.resolve():
            raise InvalidInput(f"{name} and {other} are the same file", expected="two files")


def not_read(name: str, path: Path, reads: Mapping[str, str | None]) -> None:
    """Refuse an output that the command reads.

    Raises:
        InvalidInput: it does; the message names the option.
    """
    for option, place in reads.items():
        if place is not None and _is_same(path, place):
            raise InvalidInput(f"{option} and {name} are the same file", expected="two files")


def _is_same(path: Path, place: str) -> bool:
    try:
        return path.samefile(place)
    except (OSError, ValueError):  # one is no file; a config in JSON is no name of one
        return False
