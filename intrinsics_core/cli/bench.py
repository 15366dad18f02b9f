"""``intrinsics bench``: the papers' tables for any runtime, on a folder of data or a file of one's own."""

from __future__ import annotations

import hashlib
import json
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from intrinsics_core.cli import journal, settings
from intrinsics_core.cli.run import one_line_errors, progress, set_up, stopping
from intrinsics_core.errors import InvalidInput, RuntimeUnavailable
from intrinsics_core.evaluation.tables import NAMES, table
from intrinsics_core.evaluation.tables.base import Case, Table
from intrinsics_core.evaluation.tables.folder import DataFolder, read_rows
from intrinsics_core.evaluation.tables.picture import draw
from intrinsics_core.evaluation.tables.reporting import Report, markdown, report
from intrinsics_core.evaluation.tables.running import Seen, cases_of, encode, run_cases, seen

LIMIT = 100  # cases of a set where none is named; 25 of each take three minutes of two cores for all tables

EPILOG = f"""
TABLE is one of {", ".join(NAMES)}, or `all`.

Written into --output, by table: `TABLE.jsonl` (what was seen of each case; `--resume` goes on from it), `TABLE.json`,
`TABLE.md` and `TABLE.svg`. Values stand with 95% bootstrap intervals over cases, and beside the plainest methods.

DATA is a folder of the sets that docs/bench.md names, or one .jsonl file of your own: `question` (or `messages`),
`answer`, `documents`, `label`; `--column label=is_ok` names a column that is called otherwise.

Exit codes: 0 every case ended, or is of a set that takes a language model where there is none; 1 some failed (they are
counted); 2 usage or set-up; 130 interrupted.

Example: `intrinsics bench answerability --data data/ --output tables/ --limit 100`
"""


def bench(
    name: Annotated[str, typer.Argument(metavar="TABLE", help="Which one, or `all`.", show_default=False)],
    data: Annotated[str, typer.Option(metavar="FOLDER|FILE", envvar="RAG_INTRINSICS_DATA", help="Where the rows are.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where the tables are written.")],
    runtime: Annotated[
        str | None, typer.Option(metavar="JSON|FILE", help="Runtime config.", show_default="embedded")
    ] = None,
    profile: Annotated[
        str | None, typer.Option(metavar="NAME", help="Profile.", show_default="the runtime's own")
    ] = None,
    against: Annotated[
        str | None, typer.Option(metavar="JSON|FILE", help="Another runtime on the same cases, for paired differences.")
    ] = None,
    limit: Annotated[int, typer.Option(metavar="N", min=1, help="Most cases of a set.")] = LIMIT,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME", help="Only this set. May be given more than once.")
    ] = None,
    column: Annotated[
        list[str] | None, typer.Option(metavar="NAME=COLUMN", help="For a file of your own: what a column is called.")
    ] = None,
    concurrency: Annotated[int | None, typer.Option(metavar="N", min=1, help="Cases under way at once.")] = None,
    picture: Annotated[bool, typer.Option(help="Draw a picture of each table (needs matplotlib).")] = True,
    resume: Annotated[bool, typer.Option("--resume", help="Continue an interrupted run of the same settings.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace existing tables.")] = False,
) -> None:
    """Fill in the papers' tables for a runtime."""
    failed = 0
    with one_line_errors():
        if resume and overwrite:
            raise InvalidInput("--resume and --overwrite exclude each other")
        if name == "all" and set_:
            raise InvalidInput("--set names a set of one table", expected="one TABLE")
        wanted = [table(one) for one in (NAMES if name == "all" else (name,))]
        columns = dict(_column(pair) for pair in column or ())
        configs = [settings.runtime_config(text) for text in (runtime, against)]
        if Path(output).is_file():
            raise InvalidInput(f"--output {output} is a file", expected="a folder")
        output.mkdir(parents=True, exist_ok=True)
    hidden = set().union(*(settings.secrets(config) for config in configs))
    with one_line_errors(hidden):
        # One folder for all tables: several read the same pool, and index it.
        rows = Path(data) if Path(data).is_file() else DataFolder(data)
        for one in wanted:
            cases, missing = cases_of(one, rows, limit=limit, sets=set_ or (), columns=columns)
            run_of = _Bench(one, cases, Path(data), output, concurrency, resume, overwrite, hidden)
            ours, mark, chosen = run_of.through(configs[0], profile, f"{one.name}.jsonl")
            other = None
            if against is not None:
                theirs, their_mark, _ = run_of.through(configs[1], None, f"{one.name}.against.jsonl")
                other = (their_mark if their_mark != mark else f"{their_mark}, the other", theirs)
            filled = report(one, cases, ours, runtime=mark, profile=chosen, missing=missing, other=other)
            _write(filled, output, picture)
            failed += sum(case.error is not None and not case.unserved for case in ours)
    raise typer.Exit(1 if failed else 0)


class _Bench:
    """One table's cases, run through one runtime after the other."""

    def __init__(
        self, table: Table, cases: list[Case], data: Path, output: Path, concurrency: int | None, resume: bool,
        overwrite: bool, hidden: set[str],
    ) -> None:  # fmt: skip
        self.table, self.cases, self.data, self.output, self.concurrency = table, cases, data, output, concurrency
        self.resume, self.overwrite, self.hidden = resume, overwrite, hidden

    def through(self, config: dict[str, Any] | None, profile: str | None, file: str) -> tuple[list[Seen], str, str]:
        """What the runtime showed, its kind, and the profile's name."""
        target = self.output / file
        with ExitStack() as stack:
            engine, chosen = set_up(config, profile)
            stack.enter_context(engine)
            if self.concurrency:
                engine.concurrency = self.concurrency
            described = {
                "version": 1,
                "intrinsic": f"bench {self.table.name}",
                "profile": settings.profile_mark(profile, chosen),
                "runtime": settings.fingerprint(config),
                "input": _digest(self.data, self.cases),
            }
            if self.resume:
                kept = journal.resumed(target, described)
            else:
                kept = journal.fresh(target, described, overwrite=self.overwrite)
            stack.callback(kept.close)
            with progress(len(self.cases), kept.rows, self.table.name) as advance, stopping(kept, resumable=True):

                def put(number: int, row: Any, failed: bool) -> None:
                    line = settings.hide(encode(row).decode("utf-8"), self.hidden).encode("utf-8")
                    kept.put(number, line, failed=failed)
                    advance()

                run_cases(self.cases, engine, put, profile=chosen, concurrency=self.concurrency, skip=kept.rows)
            return seen(read_rows(target)), (config or {}).get("kind", "embedded"), chosen.name


def _write(filled: Report, output: Path, picture: bool) -> None:
    """The report in its forms; the Markdown on standard output too."""
    text = markdown(filled)
    (output / f"{filled.table}.json").write_text(json.dumps(filled.to_json(), indent=2) + "\n", encoding="utf-8")
    (output / f"{filled.table}.md").write_text(text, encoding="utf-8")
    typer.echo(text)
    if picture:
        try:
            draw(filled, output / f"{filled.table}.svg")
        except RuntimeUnavailable as error:
            typer.echo(f"no picture: {error}", err=True)


def _column(pair: str) -> tuple[str, str]:
    name, equals, column = pair.partition("=")
    if not (name and equals and column):
        raise InvalidInput("--column is not of the form NAME=COLUMN", got=repr(pair))
    return name, column


def _digest(data: Path, cases: list[Case]) -> str:
    """What tells one set of cases from another: the files by name and size, and how many cases of each set."""
    files = [data] if data.is_file() else sorted(data.iterdir())
    told = [[file.name, file.stat().st_size] for file in files if file.suffix in (".gz", ".jsonl")]
    counts = [[name, sum(case.set == name for case in cases)] for name in dict.fromkeys(case.set for case in cases)]
    return f"sha256:{hashlib.sha256(json.dumps([told, counts]).encode()).hexdigest()}"
