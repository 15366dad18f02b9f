"""``intrinsics run --ray``: the lines of a file through actors, into the same journal and to the same bytes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from intrinsics_core._support.redaction import hide
from intrinsics_core.cli import cited, journal
from intrinsics_core.protocol.call import Call
from intrinsics_core.protocol.errors import IntrinsicsError, RuntimeUnavailable
from intrinsics_core.protocol.results import Result
from intrinsics_core.running import batch, rows

if TYPE_CHECKING:
    import pyarrow

_PIECE = 8 * 2**20  # bytes, beyond which a piece takes no further row
_PIECES_EACH = 4  # an actor gets at least so many of a small file, so that none waits for the last


class LineActor(batch.BatchActor):
    """Lines of a file in, lines of the output out."""

    def __init__(self, job: batch.BatchJob) -> None:
        super().__init__(job)
        citations = job.more["citations"]
        self.show = cited.shower(job.intrinsic, *citations) if citations else None

    def __call__(self, table: pyarrow.Table) -> pyarrow.Table:
        import pyarrow as pa

        read = [
            rows.parse(line, number, self.build, needs_documents=self.needs_documents)
            for line, number in zip(table.column("line").to_pylist(), table.column("number").to_pylist(), strict=True)
        ]
        outcomes = self.outcomes([row.call for row in read])
        return pa.table(
            {
                "row": table.column("row"),
                "line": pa.array([self._line(*both) for both in zip(read, outcomes, strict=True)], pa.binary()),
                "failed": pa.array([isinstance(one, IntrinsicsError) for one in outcomes], pa.bool_()),
            }
        )

    def _line(self, row: rows.Row, outcome: Result | IntrinsicsError) -> bytes:
        shown = None
        if self.show and isinstance(row.call, Call) and isinstance(outcome, Result):
            shown = self.show(outcome, row.call.task)
        return rows.encode(row.id, outcome, partial(hide, hidden=self.hidden), shown)


def run_lines(
    source: Path,
    job: batch.BatchJob,
    kept: journal.Journal,
    *,
    ray: Any,
    actors: int,
    gpus: float,
    total: int,
    hidden: set[str],
    advance: Callable[[], None],
) -> None:
    """Every row of the file that the journal does not have yet.

    Raises:
        RuntimeUnavailable: Ray gave up, or rows did not come back.
        OSError: the output cannot be written.
    """
    most = max(1, min(batch.batch_rows(job.concurrency), -(-(total - kept.rows) // (actors * _PIECES_EACH))))
    found = list(pieces(source, rows_each=most, skip=kept.rows))
    if not found:
        return
    # Standard error is for the command's own words; what Ray does is in its logs.
    ray.data.DataContext.get_current().enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    wanted = kept.rows + sum(piece["rows"] for piece in found)
    # Where this process is, the file is: other nodes get its lines, and need not see it.
    here = {"ray.io/node-id": ray.get_runtime_context().get_node_id()}
    dataset = ray.data.from_items(found, override_num_blocks=len(found)).map_batches(
        partial(read_piece, path=str(source.absolute())),
        batch_size=None,
        batch_format="pyarrow",
        num_cpus=0,  # actors may hold every core there is: reading must not wait for one
        label_selector=here,
    )
    answered = batch.spread(dataset, LineActor, job, least=min(actors, len(found)), most=min(actors, len(found)),
                            cpus=batch.CPUS, gpus=gpus, batch_size=None)  # fmt: skip
    for table in _answers(answered.iter_batches(batch_size=None, batch_format="pyarrow"), hidden):
        columns = (table.column(name).to_pylist() for name in ("row", "line", "failed"))
        for number, line, failed in zip(*columns, strict=True):
            kept.put(number, line, failed=failed)
            advance()
    if kept.rows != wanted:
        raise RuntimeUnavailable("Ray returned fewer rows than it was given", expected=str(wanted), got=str(kept.rows))


def pieces(path: Path, *, rows_each: int, skip: int = 0) -> Iterator[dict[str, int]]:
    """Where a file of JSON Lines is cut: where each piece begins, its size in bytes, and what rows it has.

    Args:
        rows_each: most rows of a piece.
        skip: leave out this many rows from the start.
    """
    begin = size = held = row = 0
    first = (1, 0)  # line and row
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            blank = not (line.removeprefix(rows.BOM) if number == 1 else line).strip()
            if not blank and row < skip:
                row, begin, first = row + 1, begin + len(line), (number + 1, row + 1)
                continue
            if not held and blank:
                begin, first = begin + len(line), (number + 1, row)
                continue
            size += len(line)
            if not blank:
                row, held = row + 1, held + 1
            if held == rows_each or size >= _PIECE:
                yield {"begin": begin, "size": size, "line": first[0], "row": first[1], "rows": held}
                begin, size, held, first = begin + size, 0, 0, (number + 1, row)
    if held:
        yield {"begin": begin, "size": size, "line": first[0], "row": first[1], "rows": held}


def read_piece(cut: pyarrow.Table, *, path: str) -> Iterator[pyarrow.Table]:
    """The rows of pieces: each its ``line``, its ``number`` among lines, from 1, and ``row`` among rows, from 0."""
    import pyarrow as pa

    for piece in cut.to_pylist():
        with open(path, "rb") as file:
            file.seek(piece["begin"])
            whole = file.read(piece["size"])
        found = list(rows.numbered(_lines(whole), piece["line"]))
        yield pa.table(
            {
                "row": pa.array(range(piece["row"], piece["row"] + len(found)), pa.int64()),
                "number": pa.array([number for number, _ in found], pa.int64()),
                "line": pa.array([line for _, line in found], pa.large_binary()),
            }
        )


def _lines(whole: bytes) -> Iterator[bytes]:
    """As a binary file gives them: `bytes.splitlines` would split at a carriage return too."""
    begin = 0
    while begin < len(whole):
        end = whole.find(b"\n", begin) + 1 or len(whole)
        yield whole[begin:end]
        begin = end


def _answers(tables: Iterable[Any], hidden: set[str]) -> Iterator[Any]:
    """What Ray gives, and its failure as one of ours."""
    try:
        yield from tables
    except Exception as error:
        # Ray puts the trace of the actor before what was raised there, which comes last.
        said = [line.strip() for line in str(error).splitlines() if line.strip()] or [""]
        raise RuntimeUnavailable(f"Ray failed: {type(error).__name__}: {hide(said[-1], hidden)}") from None
