"""``intrinsics run``: one intrinsic over JSON Lines."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Any, BinaryIO, NoReturn, cast

import typer

from intrinsics_core.cli import cited, fingerprints, journal, on_ray, options, outputs, settings
from intrinsics_core.cli.exits import INTERRUPTED, READER_GONE, USAGE
from intrinsics_core.intrinsics import INTRINSICS
from intrinsics_core.intrinsics.options import from_texts, record_of
from intrinsics_core.protocol.call import Call
from intrinsics_core.protocol.errors import IntrinsicsError, InvalidInput, RuntimeUnavailable
from intrinsics_core.protocol.profile import Profile
from intrinsics_core.protocol.requests import Usage
from intrinsics_core.protocol.results import Result
from intrinsics_core.protocol.task import Task, today
from intrinsics_core.render.citations import Mode, Style
from intrinsics_core.render.text import clean
from intrinsics_core.running import batch, rows
from intrinsics_core.running.execution import run_many
from intrinsics_core.runtimes import Runtime, as_runtime

_AHEAD = 4096  # results kept in memory for an earlier row that has not ended

_NAMES = ", ".join(INTRINSICS)
EPILOG = f"""
INTRINSIC is one of {_NAMES};
or `adapter:NAME`, any adapter that the profile serves: `intrinsics run adapter:requirement-check
--profile io.yaml:FOLDER --option 'arguments={{"requirement": "Answer in one sentence."}}'`.

An input row: `{{"id": any, "messages": [{{"role", "content"}}],
"documents": [{{"id", "text", "title"?, "metadata"?}}]}}`

An output row: `{{"id", "result": {{...}}}}` or `{{"id", "error": {{"type", "message", "raw"?}}}}`, in input order.
Blank lines are skipped, and other keys of a row are ignored.

Exit codes: 0 every row is a result, 1 some rows are error lines, 2 usage or set-up, 130 interrupted.

Example: `intrinsics run answerability --input questions.jsonl --output verdicts.jsonl`
"""


def run(
    intrinsic: Annotated[
        str,
        typer.Argument(
            metavar="INTRINSIC", help="Name of the intrinsic; the names are listed below.", show_default=False
        ),
    ],
    input: options.Input,
    output: options.Output,
    runtime: options.RuntimeConfig = None,
    profile: options.ProfileName = None,
    date: options.DateText = None,
    concurrency: options.Concurrency = None,
    row_timeout: options.RowTimeout = None,
    on_error: options.OnError = "raise",
    option: options.Options = None,
    citations: Annotated[
        Mode | None,
        typer.Option(
            metavar="MODE",
            help="For `citations` and `evaluate`: write the text with its citations, under the key `cited`. MODE is "
            "`postfix`, `postfix-snippet`, `inline` or `inline-snippet`.",
        ),
    ] = None,
    citations_as: Annotated[
        Style,
        typer.Option(
            "--citations-as", metavar="STYLE", help="Form of the citations: `text`, `markdown` (footnotes) or `json`."
        ),
    ] = "text",
    resume: options.Resume = False,
    overwrite: options.Overwrite = False,
    ray: options.Ray = None,
    actors: options.Actors = None,
    gpus: options.Gpus = None,
) -> None:
    """Run one intrinsic over JSON Lines, offline by default."""
    with ExitStack() as stack:
        with one_line_errors():
            record = record_of(intrinsic, called="INTRINSIC")
            intrinsic = record.name
            if resume and overwrite:
                raise InvalidInput("--resume and --overwrite cannot be used together")
            if ray is None and (actors, gpus) != (None, None):
                raise InvalidInput("--actors and --gpus require --ray", expected="--ray local|auto|ADDRESS")
            if ray and row_timeout is not None:
                raise InvalidInput("--row-timeout cannot be used with --ray")
            chosen_options = from_texts(record, option or [], called="--option")
            show = cited.shower(intrinsic, citations, citations_as) if citations else None
            source, target = _source(input, resume=resume, ray=ray), _target(output, resume=resume, overwrite=overwrite)
            if target:
                outputs.not_read("--output", target, {"--input": input, "--runtime": runtime})
            if source and target and (note := journal.note_path(target)).exists() and source.samefile(note):
                raise InvalidInput(
                    f"--input is {note.name}, which is the note of the run that writes --output", expected="two files"
                )
            config = settings.runtime_config(runtime)
            hidden = settings.secrets(config)
        with one_line_errors(hidden):
            engine, chosen = set_up(config, profile)
            stack.enter_context(engine)
            workers = actors or batch.ACTORS
            share = batch.shared(concurrency, workers) if ray else None
            if concurrency:
                engine.concurrency = concurrency  # a row may ask for many things at once: the bound is on requests
            digest, total = survey(source) if source else ("standard input", None)
            recorded = journal.note(target) if target and resume else None
            day = date or (recorded or {}).get("date") or today()  # a run that goes on tomorrow keeps its day
            settings.check_served(record, chosen_options, chosen)
            pool = stack.enter_context(batch.cluster(ray, actors=workers)) if ray else None
            described = fingerprints.of_run(
                intrinsic, profile, chosen, config, digest, date=day, on_error=on_error, options=chosen_options,
                citations=[citations, citations_as] if citations else None,
            )  # fmt: skip
            lines = stack.enter_context(source.open("rb") if source else nullcontext(_stdin(input)))
            kept = _journal(output, target, described, source=source, resume=resume, overwrite=overwrite)
            stack.callback(kept.close)
        if pool and source:
            job = batch.BatchJob(
                intrinsic, batch.checked_config(config, batch.CPUS), profile=profile, options=chosen_options,
                on_error=on_error, date=day, concurrency=share,
                citations=(citations, citations_as) if citations else None,
            )  # fmt: skip
            with progress(total, kept.rows) as advance, stopping(kept, resumable=bool(target)):
                on_ray.run_lines(source, job, kept, ray=pool, actors=workers, gpus=gpus or 0, total=total or 0,
                                 hidden=hidden, advance=advance)  # fmt: skip
            _end(kept, target, output)
        spent = _work(
            lines=lines,
            needs_documents=record.needs_documents,
            build=partial(record.function, date=day, on_error=on_error, **chosen_options),
            engine=engine,
            profile=chosen,
            concurrency=concurrency,
            row_timeout=row_timeout,
            show=show,
            kept=kept,
            total=total,
            output=output,
            resumable=bool(source and target),
            hidden=hidden,
        )
    _end(kept, target, output, spent)


def _end(kept: journal.Journal, target: Path | None, output: str, spent: Usage | None = None) -> NoReturn:
    if target is not None:
        counted = f"{kept.rows} rows, {kept.failed} of them error lines" if kept.rows else "the input has no rows"
        typer.echo(f"{counted}{cost(spent)}: {output}", err=True)
    raise typer.Exit(1 if kept.failed else 0)


def cost(spent: Usage | None) -> str:
    """What requests cost, where the runtime counts tokens."""
    if not spent or not spent.prompt_tokens:
        return ""
    return (f"; {spent.requests} requests, {spent.prompt_tokens} tokens in, {spent.completion_tokens} out, "
            f"{spent.seconds / spent.requests:.2f} s each")  # fmt: skip


def _work(
    *,
    lines: BinaryIO,
    needs_documents: bool,
    build: rows.Build,
    engine: Runtime,
    profile: Profile,
    concurrency: int | None,
    row_timeout: float | None = None,
    kept: journal.Journal,
    total: int | None,
    output: str,
    hidden: set[str],
    resumable: bool = False,
    show: cited.Show | None = None,
) -> Usage:
    """Every row through the runtime into the journal, but those that it has. Returns what these cost.

    Holds in memory the rows under way, and up to `_AHEAD` results that wait for a slower row before them. With more of
    them no further row is taken until those under way have ended.
    """
    done = kept.rows
    ids: dict[int, Any] = {}
    tasks: dict[int, Task] = {}  # of rows under way, where their texts are shown again
    read = enumerate(rows.read(lines, build, skip=done, needs_documents=needs_documents), start=done)
    numbered = (item for item in read if not kept.has(item[0]))
    asked: dict[int, int] = {}  # numbers of the rows under way, by their place in this round
    begun = 0  # rows of this round
    spent = Usage()

    def calls() -> Iterator[Call[Any] | IntrinsicsError]:
        nonlocal begun
        while kept.waiting < _AHEAD and (item := next(numbered, None)) is not None:
            number, row = item
            asked[begun], begun = number, begun + 1
            ids[number] = row.id
            if show and isinstance(row.call, Call):
                tasks[number] = row.call.task
            yield row.call

    with progress(total, done, shown=sys.stderr.isatty() and not (output == "-" and sys.stdout.isatty())) as advance:

        def ready(index: int, outcome: Any) -> None:
            nonlocal spent
            number = asked.pop(index)
            spent += getattr(outcome, "usage", None) or Usage()
            task = tasks.pop(number, None)
            shown = show(outcome, task) if show and task and isinstance(outcome, Result) else None
            line = rows.encode(ids.pop(number), outcome, partial(settings.hide, hidden=hidden), shown)
            kept.put(number, line, failed=isinstance(outcome, IntrinsicsError))
            advance()

        with stopping(kept, resumable=resumable):
            while True:  # until there was no row left to begin with
                begun = 0
                run_many(calls(), engine, profile=profile, concurrency=concurrency, on_result=ready, keep=False,
                         row_timeout=row_timeout)  # fmt: skip
                if not begun:
                    break
    return spent


@contextmanager
def stopping(kept: journal.Journal, *, resumable: bool) -> Iterator[None]:
    """What ends a run before its last row is one line, and the exit code that says so."""
    try:
        yield
    except KeyboardInterrupt:
        kept.close()
        hint = "; the same command with --resume goes on from there" if resumable else ""
        stop(f"interrupted after {kept.rows} rows{hint}", INTERRUPTED)
    except BrokenPipeError:
        # What is still buffered has no reader either: let the interpreter flush it to nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(READER_GONE) from None
    except OSError as error:
        stop(f"stopped after {kept.rows} rows: {error.strerror or error}", USAGE)
    except RuntimeUnavailable as error:
        stop(f"stopped after {kept.rows} rows: {error}", USAGE)


def set_up(config: dict[str, Any] | None, profile: str | None) -> tuple[Runtime, Profile]:
    try:
        engine = as_runtime(config)
        return engine, engine.profile_of(profile)
    except (IntrinsicsError, OSError):
        raise
    except Exception as error:  # a runtime may need a package that is not there, or reject a value in its own way
        raise InvalidInput(f"the runtime cannot be set up: {type(error).__name__}: {error}") from error


def _source(name: str, *, resume: bool, ray: str | None) -> Path | None:
    """The input file, or None for a stream that can be read once only."""
    path = Path(name)
    if name != "-" and not path.exists():
        raise InvalidInput(f"--input {name} does not exist")
    if name != "-" and path.is_dir():
        raise InvalidInput(f"--input {name} is a folder", expected="a file of JSON Lines")
    if name != "-" and path.is_file():
        return path
    if resume:
        raise InvalidInput("--resume needs a file as --input, because a stream cannot be read again")
    if ray:
        raise InvalidInput("--ray needs a file as --input, because it is read in pieces")
    return None


def _stdin(name: str) -> BinaryIO:
    if name == "-" and sys.stdin is None:
        raise InvalidInput("--input is standard input, which is closed", expected="a file, or a stream to read")
    return sys.stdin.buffer if name == "-" else cast("BinaryIO", Path(name).open("rb"))


def _target(name: str, *, resume: bool, overwrite: bool) -> Path | None:
    """The output file, or None for a stream (`-`, a device, a pipe)."""
    path = Path(name)
    if name != "-" and path.is_dir():
        raise InvalidInput(f"--output {name} is a folder", expected="a file")
    if name == "-" or (path.exists() and not path.is_file()):
        if resume:
            raise InvalidInput("--resume needs a file as --output, because a stream keeps no rows")
        return None
    if not path.absolute().parent.is_dir():
        raise InvalidInput(f"--output {name}: its folder does not exist")
    if path.exists() and not (resume or overwrite):
        raise InvalidInput(f"{name} exists", expected="--overwrite or --resume, or another --output")
    return path


def _journal(
    output: str, target: Path | None, described: dict[str, Any], *, source: Path | None, resume: bool, overwrite: bool
) -> journal.Journal:
    if target is None:
        if output == "-" and sys.stdout is None:
            raise InvalidInput("--output is standard output, which is closed", expected="a file")
        if output == "-":
            return journal.Journal(sys.stdout.buffer, owned=False)
        return journal.Journal(cast("BinaryIO", open(output, "wb")))  # the journal closes it
    if resume and source:
        with source.open("rb") as lines:
            return journal.resumed(target, described, rows.ids(lines))
    return journal.fresh(target, described, overwrite=overwrite)


def survey(path: Path) -> tuple[str, int]:
    """(digest, number of rows) of an input file, in one pass."""
    digest, count = hashlib.sha256(), 0
    with path.open("rb") as lines:
        for line in lines:
            digest.update(line)
            count += bool(line.strip())
    return f"sha256:{digest.hexdigest()}", count


@contextmanager
def progress(total: int | None, done: int, name: str = "rows", *, shown: bool | None = None) -> Iterator[Any]:
    """A bar on standard error, by default where that is a terminal; gives the function that advances it."""
    if not (sys.stderr.isatty() if shown is None else shown):
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        bar = bars.add_task(name, total=total, completed=done)
        yield lambda: bars.advance(bar)


@contextmanager
def one_line_errors(
    hidden: set[str] | None = None, stopped: str = "interrupted before the first row"
) -> Iterator[None]:
    """What is wrong with the set-up is one line on standard error and exit code 2."""
    try:
        yield
    except KeyboardInterrupt:
        stop(stopped, INTERRUPTED)
    except (IntrinsicsError, OSError) as error:
        stop(settings.hide(str(error), hidden or set()), USAGE)


def stop(message: str, code: int) -> NoReturn:
    # Much of a message may be a server's or a file's words: a terminal obeys control characters.
    with suppress(OSError):  # standard error may be closed
        typer.echo(f"intrinsics: {clean(message)}", err=True)
    raise typer.Exit(code)
