"""``intrinsics bench``: the papers' tables for any runtime, on a folder of data or a file of one's own."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from intrinsics_core._support import whole_files
from intrinsics_core.bench import NAMES, table
from intrinsics_core.bench.base import Case, Table
from intrinsics_core.bench.folder import DataFolder, read_rows
from intrinsics_core.bench.picture import draw
from intrinsics_core.bench.reporting import Report, markdown, report
from intrinsics_core.bench.running import Seen, cases_of, encode, run_cases, seen
from intrinsics_core.cli import fingerprints, journal, options, outputs, settings
from intrinsics_core.cli.run import one_line_errors, progress, set_up, stopping, survey
from intrinsics_core.protocol.errors import InvalidInput, RuntimeUnavailable
from intrinsics_core.runtimes.configs import KINDS

LIMIT = 100  # cases of a set where none is named; 25 of each take three minutes of two cores for all tables

EPILOG = f"""
TABLE is one of {", ".join(NAMES)}, or `all`.

The files in --output are, for each table, `TABLE.jsonl` (the outcome of each case, from which `--resume` continues),
`TABLE.json`, `TABLE.md` and `TABLE.svg`. Values have 95% bootstrap intervals over cases. Simple
baselines are shown too.

DATA is a folder of the sets that docs/bench.md names, or one .jsonl file of your own: `question` (or `messages`),
`answer`, `documents`, `label`; `--column label=is_ok` maps a column with another name.

Exit codes: 0 every case ended, or needs a language model that the runtime does not have; 1 some cases failed (they are
counted); 2 usage or set-up; 130 interrupted.

Example: `intrinsics bench answerability --data data/ --output tables/ --limit 100`
"""


def bench(
    name: Annotated[str, typer.Argument(metavar="TABLE", help="Name of the table, or `all`.", show_default=False)],
    data: Annotated[
        str,
        typer.Option(
            metavar="FOLDER|FILE",
            envvar="RAG_INTRINSICS_DATA",
            help="Folder of data sets, or one file of your own rows.",
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder in which the tables are written.")
    ],
    runtime: options.RuntimeConfig = None,
    profile: options.ProfileName = None,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="JSON|FILE", help="Config of a second runtime, run on the same cases for paired differences."
        ),
    ] = None,
    limit: Annotated[int, typer.Option(metavar="N", min=1, help="Largest number of cases from each set.")] = LIMIT,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME", help="Use only this set. May be given more than once.")
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=COLUMN",
            help="For a file of your own: the name of the column in it. May be given more than once.",
        ),
    ] = None,
    concurrency: options.Concurrency = None,
    picture: Annotated[bool, typer.Option(help="Draw a picture of each table (needs matplotlib).")] = True,
    resume: options.Resume = False,
    overwrite: options.Overwrite = False,
) -> None:
    """Measure a runtime on the tables of the papers."""
    failed = False
    with one_line_errors():
        if resume and overwrite:
            raise InvalidInput("--resume and --overwrite cannot be used together")
        if name == "all" and set_:
            raise InvalidInput("--set can be used with one table only", expected="one TABLE")
        wanted = [table(one) for one in (NAMES if name == "all" else (name,))]
        columns = _columns(column or ())
        configs = [settings.runtime_config(text) for text in (runtime, against)]
        if Path(output).is_file():
            raise InvalidInput(f"--output {output} is a file", expected="a folder")
        output.mkdir(parents=True, exist_ok=True)
    hidden = set().union(*(settings.secrets(config) for config in configs))
    with one_line_errors(hidden):
        for config in configs:
            if config is not None:
                KINDS.parse(config)  # a mistake in the second is not told after hours of the first
        # One folder for all tables: several read the same pool, and index it.
        rows = Path(data) if Path(data).is_file() else DataFolder(data)
        cases_for = cache(lambda name: cases_of(table(name), rows, limit=limit, sets=set_ or (), columns=columns))
        if name == "all" and isinstance(rows, Path):
            wanted = _fillable(wanted, cases_for)
        read = {"--data": data, "--runtime": runtime, "--against": against}
        for one in wanted:
            ours = journal.note_path(output / f"{one.name}.jsonl").exists()  # a run's: --resume and --overwrite decide
            for ending in (".json", ".md", *([".svg"] if picture else ())):
                place = {"--output": output / f"{one.name}{ending}"}
                outputs.check(place, reads=read, overwrite=overwrite or ours)
        cases_for(wanted[0].name)  # what is wrong with the data is told before a model is loaded
        how = (Path(data), columns, output, concurrency, resume, overwrite, hidden)
        runs = [_BenchRun(configs[0], profile, ".jsonl", *how)]
        if against is not None:
            runs.append(_BenchRun(configs[1], None, ".against.jsonl", *how))
        shown: dict[str, list[_Shown]] = {one.name: [] for one in wanted}
        without_measures: list[str] = []
        for each in runs:
            with each:  # one runtime after the other: two models need not fit beside each other
                for one in wanted:
                    cases, missing = cases_for(one.name)
                    shown[one.name].append(each.through(one.name, cases))
                    if each is runs[-1]:
                        filled = _compared(one, cases, missing, *shown[one.name])
                        _write(filled, output, picture)
                        without_measures += [] if filled.lines or not _judged(shown[one.name]) else [one.name]
        if without_measures:
            raise InvalidInput(f"no measure of {', '.join(without_measures)} can be computed from these rows",
                               expected="rows of both labels")  # fmt: skip
        failed = any(case.error is not None and not case.unserved for ours, *_ in shown.values() for case in ours.seen)
    raise typer.Exit(1 if failed else 0)


class _Shown(NamedTuple):
    """What a runtime of that kind, asked by that profile, showed of a table's cases."""

    seen: list[Seen]
    kind: str
    profile: str


@dataclass
class _BenchRun:
    """All tables' cases through one runtime, which is made once and closed in the end."""

    config: dict[str, Any] | None
    profile: str | None
    ending: str
    data: Path
    columns: dict[str, str]
    output: Path
    concurrency: int | None
    resume: bool
    overwrite: bool
    hidden: set[str]

    def __enter__(self) -> None:
        self.engine, self.chosen = set_up(self.config, self.profile)
        if self.concurrency:
            self.engine.concurrency = self.concurrency

    def __exit__(self, *error: object) -> None:
        self.engine.close()

    def through(self, name: str, cases: list[Case]) -> _Shown:
        """One table's."""
        target = self.output / f"{name}{self.ending}"
        digest, columns = _digest(self.data, cases), self.columns or None
        described = fingerprints.of_run(
            f"bench {name}", self.profile, self.chosen, self.config, digest, columns=columns
        )
        fresh = partial(journal.fresh, overwrite=self.overwrite)
        kept = (journal.resumed if self.resume else fresh)(target, described)

        def put(number: int, row: Any, failed: bool) -> None:
            line = settings.hide(encode(row).decode("utf-8"), self.hidden).encode("utf-8")
            kept.put(number, line, failed=failed)
            advance()

        with closing(kept), progress(len(cases), kept.rows, name) as advance, stopping(kept, resumable=True):
            run_cases(cases, self.engine, put, profile=self.chosen, concurrency=self.concurrency, skip=kept.rows)
        return _Shown(seen(read_rows(target)), (self.config or {}).get("kind", "embedded"), self.chosen.name)


def _fillable(wanted: list[Table], cases_for: Callable[[str], Any]) -> list[Table]:
    """The tables that the rows of a user's own file can fill; the others are named, with why.

    Raises:
        InvalidInput: there is none; of the last one.
    """
    found, why = [], []
    for one in wanted:
        try:
            cases_for(one.name)
            found.append(one)
        except InvalidInput as error:
            why.append(error)
            typer.echo(f"{one.name} is left out: {error}", err=True)
    if not found:
        raise why[-1]
    return found


def _judged(runs: list[_Shown]) -> bool:
    return any(case.observed is not None for case in runs[0].seen)


def _compared(
    one: Table, cases: list[Case], missing: dict[str, str], ours: _Shown, theirs: _Shown | None = None
) -> Report:
    other = None
    if theirs is not None:
        other = (theirs.kind if theirs.kind != ours.kind else f"{theirs.kind}, the other", theirs.seen)
    return report(one, cases, ours.seen, runtime=ours.kind, profile=ours.profile, missing=missing, other=other)


def _write(filled: Report, output: Path, picture: bool) -> None:
    """The report in its forms; the Markdown on standard output too."""
    text = markdown(filled)
    whole_files.write(output / f"{filled.table}.json", json.dumps(filled.to_json(), indent=2) + "\n")
    whole_files.write(output / f"{filled.table}.md", text)
    typer.echo(text)
    if picture:
        try:
            draw(filled, output / f"{filled.table}.svg")
        except RuntimeUnavailable as error:
            typer.echo(f"no picture: {error}", err=True)


def _columns(pairs: Sequence[str]) -> dict[str, str]:
    """The columns' own names, by the name that a table knows."""
    found: dict[str, str] = {}
    for pair in pairs:
        name, equals, column = pair.partition("=")
        if not (name and equals and column):
            raise InvalidInput("--column is not of the form NAME=COLUMN", got=repr(pair))
        if name in found:
            raise InvalidInput(f"--column names a column for {name!r} twice", expected="one column for each name")
        found[name] = column
    return found


def _digest(data: Path, cases: list[Case]) -> str:
    """What tells one set of cases from another: the bytes of a user's own file, or the name and size of each file of a
    folder, which may be large; and how many cases of each set.
    """
    if data.is_file():
        files: Any = survey(data)
    else:
        files = [[f.name, f.stat().st_size] for f in sorted(data.iterdir()) if f.suffix in (".gz", ".jsonl")]
    counts = [[name, sum(case.set == name for case in cases)] for name in dict.fromkeys(case.set for case in cases)]
    return f"sha256:{hashlib.sha256(json.dumps([files, counts]).encode()).hexdigest()}"
