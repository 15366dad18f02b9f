"""The data folder: gzipped or plain JSON Lines by name, read once."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any

from intrinsics_core.protocol.errors import InvalidInput

Row = dict[str, Any]


class MissingSet(InvalidInput):
    """A file that a set is read from is not in the folder."""


class DataFolder:
    """A folder with ``NAME.jsonl.gz`` or ``NAME.jsonl`` in it.

    Raises:
        InvalidInput: it is no folder.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if not self.path.is_dir():
            raise InvalidInput(
                f"there is no data folder {path}", expected="a folder of .jsonl.gz files, or one .jsonl file"
            )
        self._rows: dict[str, list[Row]] = {}
        self.kept: dict[str, Any] = {}  # what sets make of the rows and share, e.g. an index

    def rows(self, name: str) -> Sequence[Row]:
        """All rows of a file.

        Raises:
            MissingSet: there is no such file.
            InvalidInput: a line of it is no JSON object; file and line are named.
        """
        if name not in self._rows:
            for suffix in (".jsonl.gz", ".jsonl"):
                if (file := self.path / f"{name}{suffix}").is_file():
                    self._rows[name] = read_rows(file)
                    break
            else:
                raise MissingSet(
                    f"the file {name}.jsonl.gz is missing in {self.path}", expected=f"{name}.jsonl.gz or {name}.jsonl"
                )
        return self._rows[name]


def rows(folder: Path, name: str) -> list[Row]:
    """The rows of one file of a data folder, read anew: a list of the caller's own.

    Raises:
        InvalidInput: as :class:`DataFolder` and its ``rows`` do.
    """
    return list(DataFolder(folder).rows(name))


def read_rows(file: Path) -> list[Row]:
    """The rows of one file of JSON Lines, gzipped or not; blank lines are none.

    Raises:
        InvalidInput: a line is no JSON object.
    """
    found = []
    opened: Callable[..., IO[str]] = gzip.open if file.suffix == ".gz" else open
    with opened(file, "rt", encoding="utf-8-sig") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise InvalidInput(
                    f"{file.name}, line {number}: this is not JSON", expected="one JSON object per line"
                ) from error
            if not isinstance(row, dict):
                raise InvalidInput(
                    f"{file.name}, line {number}: this is not a JSON object", expected="one JSON object per line"
                )
            found.append(row)
    return found


def some(items: Sequence[Any], limit: int | None) -> list[Any]:
    """At most ``limit`` of the items, in their order; which ones is drawn, always the same.

    Not every nth: many files have a right answer and a wrong one in turn.
    """
    if limit is None or len(items) <= limit:
        return list(items)
    return [items[i] for i in sorted(random.Random(0).sample(range(len(items)), limit))]
