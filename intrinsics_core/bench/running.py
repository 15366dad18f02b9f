"""Cases through a runtime, each kept as a line as it ends, so that a run can stop and go on."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from intrinsics_core.bench import own
from intrinsics_core.bench.base import Case, Observed, Table
from intrinsics_core.bench.folder import DataFolder, MissingSet, read_rows, some
from intrinsics_core.protocol.call import Call, watched
from intrinsics_core.protocol.errors import (
    IntrinsicsError,
    InvalidInput,
    UnsupportedIntrinsic,
    as_intrinsics_error,
    within,
)
from intrinsics_core.protocol.names import unknown
from intrinsics_core.protocol.requests import Generated, Outcome, Program, Request
from intrinsics_core.running.execution import ProfileLike, run_many
from intrinsics_core.runtimes import Runtime

Put = Callable[[int, Mapping[str, Any], bool], None]  # (number, row, failed)


@dataclass(frozen=True)
class Seen:
    """What a run showed of one case: the observation, or the error; and what it asked of the runtime."""

    observed: Observed | None
    error: str | None = None
    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    @property
    def unserved(self) -> bool:
        """Whether the profile cannot do it at all: no failure of the runtime's."""
        return (self.error or "").startswith(UnsupportedIntrinsic.__name__)


def cases_of(
    table: Table,
    data: str | Path | DataFolder,
    *,
    limit: int | None = None,
    sets: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
) -> tuple[list[Case], dict[str, str]]:
    """The cases of a table on a data folder, or on one file of the user's own; and the sets that are missing, with why.

    Args:
        table: the table whose cases are wanted.
        data: the folder or the file; a folder that is open already keeps what other tables have read and indexed.
        limit: most cases a set, drawn, always the same.
        sets: those wanted; all that the folder has where left out.
        columns: for a file: by the name that the table knows, the column's own. A row without that column has no such
            value.

    Returns:
        The cases, and by name of each missing set the reason.

    Raises:
        InvalidInput: a set is unknown or asked for and missing, nothing is there at all, a row cannot be read, no table
            reads a column of that name, or no row has the column.
    """
    if not isinstance(data, DataFolder) and Path(data).is_file():
        return _own(table, Path(data), columns or {}, limit), {}
    if columns:
        raise InvalidInput("column names can be given for a single file only, not for a data folder")
    if unknown := [name for name in sets if name not in table.sets]:
        raise InvalidInput(f"{table.name} has no set {unknown[0]!r}", expected=f"some of {', '.join(table.sets)}")
    folder = data if isinstance(data, DataFolder) else DataFolder(data)
    found: list[Case] = []
    missing = {}
    for name in sets or table.sets:
        try:
            found += some(list(table.sets[name](folder)), limit)
        except MissingSet as error:
            if sets:
                raise
            missing[name] = error.message
    if not found:
        raise InvalidInput(f"no data for the table {table.name}: {'; '.join(missing.values())}")
    return found, missing


def _own(table: Table, file: Path, columns: Mapping[str, str], limit: int | None) -> list[Case]:
    if table.own is None:
        raise InvalidInput(
            f"{table.name} cannot read a single file, because it also needs an index",
            expected="a data folder",
            got=file.name,
        )
    rows = read_rows(file)
    _check_columns(table, rows, columns, file.name)
    found = []
    for number, row in enumerate(rows, start=1):
        with within(f"{file.name}, row {number}"):
            found.append(table.own(_named(row, columns)))
    if not found:
        raise InvalidInput(f"{file.name} has no rows", expected=f"rows with {', '.join(table.columns)}")
    return some(found, limit)


def _check_columns(table: Table, rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str], file: str) -> None:
    known = dict.fromkeys((*own.COLUMNS, *(name for names in table.columns for name in names.split(" or "))))
    for name, column in columns.items():
        if name not in known:
            raise unknown("no table reads a column of this name", name, known)
        if rows and not any(column in row for row in rows):
            there = dict.fromkeys(key for row in rows for key in row)
            raise unknown(f"no row of {file} has this column", column, there)


def _named(row: Mapping[str, Any], columns: Mapping[str, str]) -> dict[str, Any]:
    """The row under the names that a table knows. A row without a column that was named has no such value: what stands
    under the table's own name is another column.
    """
    others = {name: value for name, value in row.items() if name not in columns}
    return others | {name: row[column] for name, column in columns.items() if column in row}


def run_cases(
    cases: Sequence[Case],
    runtime: Runtime,
    put: Put,
    *,
    profile: ProfileLike = None,
    concurrency: int | None = None,
    skip: int = 0,
) -> None:
    """Run the cases from ``skip`` on; ``put`` is told ``(number, row, failed)`` as each ends, in the order they end.

    Args:
        cases: the cases, in order.
        runtime: what answers the requests.
        put: called with ``(number, row, failed)``.
        profile: a profile or its name; the runtime's own where left out.
        concurrency: how many cases run at the same time; the runtime's own bound where left out.
        skip: number of cases at the start that are left out.
    """
    costs: dict[int, Counter[str]] = {}

    def calls() -> Iterator[Call[Any] | IntrinsicsError]:
        for number in range(skip, len(cases)):
            costs[number] = Counter()
            try:
                call = cases[number].call()
            except IntrinsicsError as error:
                yield error
                continue
            yield replace(call, program=partial(_counted, call.program, costs[number]))

    def ready(index: int, outcome: Any) -> None:
        number = index + skip
        identity, cost = f"{cases[number].set}/{number}", {k: v for k, v in costs.pop(number).items() if v}
        if not isinstance(outcome, IntrinsicsError):
            try:
                put(
                    number, {"id": identity, "result": cases[number].observe(outcome).to_json() | {"cost": cost}}, False
                )
                return
            except Exception as error:
                outcome = as_intrinsics_error(error)
        failure = {"type": type(outcome).__name__, "message": str(outcome)[:500]}
        put(number, {"id": identity, "error": failure}, True)

    run_many(calls(), runtime, profile=profile, concurrency=concurrency, on_result=ready, keep=False)


def _counted(program: Any, cost: Counter[str], task: Any, profile: Any) -> Program[Any]:
    """The same program; what it asks for is counted."""

    def count(requests: Sequence[Request], outcomes: Sequence[Outcome]) -> None:
        cost["requests"] += len(requests)
        for outcome in outcomes:
            if isinstance(outcome, Generated):
                cost["prompt_tokens"] += outcome.usage.prompt_tokens
                cost["completion_tokens"] += outcome.usage.completion_tokens

    return watched(program(task, profile), count)


def encode(row: Mapping[str, Any]) -> bytes:
    """A row as a line of JSON."""
    return (json.dumps(row, ensure_ascii=False) + "\n").encode("utf-8", "replace")


def seen(lines: Iterable[Mapping[str, Any]]) -> list[Seen]:
    """What :func:`run_cases` put, read back."""
    found = []
    for row in lines:
        if "error" in row:
            found.append(Seen(None, f"{row['error']['type']}: {row['error']['message']}"))
        else:
            cost = row["result"].get("cost", {})
            found.append(Seen(Observed.from_json(row["result"]), **cost))
    return found
