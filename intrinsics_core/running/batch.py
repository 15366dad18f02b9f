"""Millions of rows: an intrinsic over a Ray dataset, with actors around :func:`intrinsics_core.run_many`.

    import ray
    from intrinsics_core.running.batch import map_rows

    rows = ray.data.read_parquet("conversations/")
    server = {"kind": "server", "base_url": ...}
    map_rows(rows, "answerability", server, actors=8, concurrency=256).write_parquet("verdicts/")

Ray reads, schedules, retries and writes; nothing of that is done again here. What is sent to its actors is names and
configs: closures, open connections and loaded models do not travel. How it scales, and what to set: docs/ray.md.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from intrinsics_core._support.redaction import hide, secrets
from intrinsics_core.intrinsics import TABLE
from intrinsics_core.intrinsics.options import record_of
from intrinsics_core.protocol.call import Call
from intrinsics_core.protocol.errors import IntrinsicsError, InvalidInput, RuntimeUnavailable, as_intrinsics_error
from intrinsics_core.protocol.results import Result
from intrinsics_core.protocol.task import today
from intrinsics_core.running.execution import run_many
from intrinsics_core.running.rows import EXPECTED, json_text
from intrinsics_core.runtimes import Config, as_runtime
from intrinsics_core.runtimes.configs import KINDS
from intrinsics_core.runtimes.extras import extra
from intrinsics_core.runtimes.limiter import counted

if TYPE_CHECKING:
    import pyarrow
    from ray.data import Dataset

ACTORS = 2
BATCH_ROWS = 256  # rows of a call: what is done again when an actor dies, and what waits for its slowest row
_ROUNDS = 8  # a batch has at least so many rows for each that is under way, lest the slowest row rule
CPUS = 0.5  # of an actor, in Ray's books: two on two cores then leave one for what reads and writes
_ROOM = 512 * 2**20  # bytes of a local cluster's object store: rows pass through, none stay
_MUST_HAVE = ("role", "content", "text")  # keys that are not left out where a column says null


class BatchJob:
    """What an actor is given. It is pickled, and shown nowhere: a config may hold a key.

    A plain class on purpose: Ray writes the fields of dataclasses and mappings into its own records.
    """

    def __init__(
        self,
        intrinsic: str,
        runtime: Config | Mapping[str, Any] | None,
        *,
        profile: str | None,
        options: Mapping[str, Any],
        on_error: str,
        date: str,
        concurrency: int | None,
        imports: Sequence[str] = (),
        **more: Any,
    ) -> None:
        self.intrinsic, self.runtime, self.profile, self.options = intrinsic, runtime, profile, options
        self.on_error, self.date, self.concurrency, self.imports = on_error, date, concurrency, imports
        self.more = more

    def __repr__(self) -> str:
        return f"BatchJob({self.intrinsic!r})"


class BatchActor:
    """Base of what runs in an actor: a runtime, set up once, and calls through it. Ray makes these, nobody else."""

    def __init__(self, job: BatchJob) -> None:
        for name in job.imports:
            import_module(name)
        self.job, self.hidden = job, secrets(_plain(job.runtime))
        try:
            self.runtime = as_runtime(job.runtime)
            self.profile = self.runtime.profile_of(job.profile)
        except Exception as error:  # Ray writes it to its logs: without the key, and without what led to it
            reason = error.message if isinstance(error, IntrinsicsError) else f"{type(error).__name__}: {error}"
            raise RuntimeUnavailable(hide(f"the runtime cannot be set up in an actor: {reason}", self.hidden)) from None
        if job.concurrency:
            self.runtime.concurrency = job.concurrency
        record = record_of(job.intrinsic)
        self.needs_documents = record.needs_documents
        self.build = partial(record.function, date=job.date, on_error=job.on_error, **job.options)

    def outcomes(self, calls: Sequence[Call[Any] | IntrinsicsError]) -> list[Result | IntrinsicsError]:
        """One result or error per call, in order."""
        return run_many(calls, self.runtime, profile=self.profile, concurrency=self.job.concurrency)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.job.intrinsic!r})"


class RowActor(BatchActor):
    """Arrow tables in, Arrow tables out: the columns that are kept, ``result`` and ``error``."""

    def __call__(self, table: pyarrow.Table) -> pyarrow.Table:
        import pyarrow as pa

        names = [name for name in ("messages", "documents") if name in table.column_names]
        columns = {name: table.column(name).to_pylist() for name in names}
        calls = [
            row_call({name: column[i] for name, column in columns.items()}, self.build, self.needs_documents)
            for i in range(table.num_rows)
        ]
        outcomes = self.outcomes(calls)
        failed = pa.struct([("type", pa.string()), ("message", pa.string()), ("raw", pa.string())])
        return pa.table(
            {name: table.column(name) for name in self._kept(table.column_names)}
            | {
                "result": pa.array([_result(one) for one in outcomes], pa.string()),
                "error": pa.array([_error(one, self.hidden) for one in outcomes], failed),
            }
        )

    def _kept(self, there: Sequence[str]) -> Sequence[str]:
        wanted: Sequence[str] | None = self.job.more["keep"]
        if wanted is None:
            return [name for name in ("id",) if name in there]
        if missing := [name for name in wanted if name not in there]:
            raise InvalidInput(f"keep names columns that are missing in the rows: {', '.join(missing)}",
                               expected=f"some of {', '.join(there)}")  # fmt: skip
        return wanted


def map_rows(
    dataset: Dataset,
    intrinsic: str | Callable[..., Call[Any]],
    runtime: Config | Mapping[str, Any] | None = None,
    *,
    profile: str | None = None,
    options: Mapping[str, Any] | None = None,
    on_error: str = "raise",
    date: str | None = None,
    actors: int | tuple[int, int] = ACTORS,
    concurrency: int | None = None,
    batch_size: int | None = None,
    cpus: float = CPUS,
    gpus: float = 0,
    keep: Sequence[str] | None = None,
    checkpoint: str | None = None,
    id_column: str = "id",
    imports: Sequence[str] = (),
) -> Dataset:
    """An intrinsic over the rows of a Ray dataset. Lazy, as datasets are: writing or reading the result runs it.

    A row holds ``messages`` and ``documents``, as lists of objects or as text that is JSON. Out come the columns that
    are kept, ``result`` (JSON text, null where the row failed) and ``error`` (``{type, message, raw}``, null where it
    did not): the same as the lines of ``intrinsics run``. Rows stay in order.
    If a row fails, the others still get their results.

    Args:
        dataset: whatever Ray reads: parquet, JSON Lines, tables.
        intrinsic: its name, or its function.
        runtime: a config; None: the embedded one. Not a runtime: each actor makes its own.
        profile: the name of a profile; the runtime's own where left out.
        options: further arguments of the intrinsic, by name.
        on_error: ``"raise"`` gives the row an ``error``, ``"fallback"`` a degraded result where the intrinsic has one.
        date: for prompts that carry one; the day of this call, the same for all rows.
        actors: how many, or at least and at most how many.
        concurrency: the most rows, and for servers requests, in flight **over all actors**: each gets its share. The
            runtime's own bound for each actor where left out.
        batch_size: rows of a call of an actor; 256, or more where the concurrency asks for it.
        cpus, gpus: what Ray sets aside for each actor. ``gpus=1`` for a model in process; tensor-parallel ones need as
            many as they spread over.
        keep: columns that are passed through; ``id``, where there is one.
        checkpoint: a folder that all nodes reach (or ``s3://…``): the ids of rows that were written are kept there, and
            the same program, started again, leaves them out. For rows that are read, mapped and written by Ray, with an
            ``id_column`` of unique values. A row with an ``error`` counts as done.
        id_column: name of the column with the ids.
        imports: modules to import in each actor first: what registers runtimes, profiles or intrinsics of your own.

    Returns:
        The dataset of results, not yet computed.

    Raises:
        InvalidInput: names the argument.
        RuntimeUnavailable: Ray is not installed.
    """
    imported_ray()
    for module in imports:
        import_module(module)
    name = _name_of(intrinsic)
    kept = None if keep is None else list(keep)
    if kept is not None and (taken := {"result", "error"} & set(kept)):
        raise InvalidInput(
            f"keep names {' and '.join(sorted(taken))}, which the output already uses", expected="other columns"
        )
    if checkpoint is not None and id_column not in (kept if kept is not None else ["id"]):
        raise InvalidInput("id_column must be one of the columns in keep", expected=f"keep=[{id_column!r}, …]")
    least, most = actors if isinstance(actors, tuple) else (actors, actors)
    share = shared(concurrency, most)
    rows = counted("batch_size", batch_size) if batch_size is not None else batch_rows(share)
    job = BatchJob(
        name, checked_config(runtime, cpus), profile=_profile_name(profile), options=dict(options or {}),
        on_error=record_of(name).chosen(on_error), date=date if date is not None else today(), concurrency=share,
        imports=tuple(imports), keep=kept,
    )  # fmt: skip
    # A block is what an actor takes at a time, and what is done again when it dies: a file's would be far too large.
    cut = dataset.repartition(target_num_rows_per_block=rows)
    mapped = spread(cut, RowActor, job, least=least, most=most, cpus=cpus, gpus=gpus, batch_size=rows)
    if checkpoint is not None:
        from ray.data.checkpoint import CheckpointConfig

        mapped.context.checkpoint_config = CheckpointConfig(
            id_column=id_column, checkpoint_path=checkpoint, delete_checkpoint_on_success=False
        )
    return mapped


def spread(
    dataset: Dataset,
    actor: type[BatchActor],
    job: BatchJob,
    *,
    least: int,
    most: int,
    cpus: float,
    gpus: float,
    batch_size: int | None,
) -> Dataset:
    """The dataset through a pool of actors, in order. An actor that dies is started again, and its batch with it.

    Args:
        dataset: the rows.
        actor: the class of the actors.
        job: what each actor is made from.
        least: least number of actors.
        most: largest number of actors.
        cpus: CPUs that Ray reserves for each actor.
        gpus: GPUs that Ray reserves for each actor.
        batch_size: rows in one call of an actor; None: Ray's own number.

    Returns:
        The dataset of results, not yet computed.
    """
    from ray.data import ActorPoolStrategy

    mapped = dataset.map_batches(
        actor,
        fn_constructor_args=(job,),
        compute=ActorPoolStrategy(min_size=least, max_size=most),
        batch_format="pyarrow",
        batch_size=batch_size,
        num_cpus=cpus,
        num_gpus=gpus or None,
        udf_modifying_row_count=False,
    )
    mapped.context.execution_options.preserve_order = True
    return mapped


@contextmanager
def cluster(address: str, *, actors: int) -> Iterator[Any]:
    """Ray, reached or started: ``"local"`` is a cluster of its own on this machine, which ends with the block;
    ``"auto"`` the one that runs here; else the address of one. A connection that is there already is used, and kept.

    Raises:
        InvalidInput: the address is that of Ray's client, for which files here are not files there.
        RuntimeUnavailable: Ray is not installed, or not to be reached there.
    """
    ray = imported_ray()
    if address.startswith("ray://"):
        raise InvalidInput("a Ray client cannot read this machine's files", expected="a node's address (`HOST:6379`), "
                           "given on a machine of the cluster; `ray job submit` runs a command there")  # fmt: skip
    if ray.is_initialized():
        yield ray
        return
    settings: dict[str, Any] = {"address": address}
    if address == "local":
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # what runs offline tells nobody
        settings |= {"include_dashboard": False, "object_store_memory": _ROOM + actors * 2**26}
    try:
        ray.init(**settings, log_to_driver=False, logging_level="ERROR")
    except Exception as error:
        message = f"Ray cannot be reached: {type(error).__name__}: {error}".splitlines()[0]
        raise RuntimeUnavailable(
            message, expected="local, auto or the address of a cluster", got=repr(address)
        ) from None
    try:
        yield ray
    finally:
        ray.shutdown()


def imported_ray() -> Any:
    """Ray with its data sets.

    Raises:
        RuntimeUnavailable: it is not installed.
    """
    with extra("ray", "Ray is not installed ({error})"):
        import ray
        import ray.data
    return ray


def shared(concurrency: int | None, actors: int) -> int | None:
    """Each actor's share of what may be in flight over all of them; never more than that together.

    Raises:
        InvalidInput: either is no count, or there is not one for each.
    """
    counted("actors", actors)
    if concurrency is None:
        return None
    if counted("concurrency", concurrency) < actors:
        raise InvalidInput("concurrency must be at least the number of actors",
                           expected=f"at least {actors}, or fewer actors", got=repr(concurrency))  # fmt: skip
    return concurrency // actors


def batch_rows(share: int | None) -> int:
    """Rows of a batch, by how many of them are under way at once."""
    return max(BATCH_ROWS, _ROUNDS * (share or 0))


def checked_config(runtime: Any, cpus: float) -> Config | Mapping[str, Any] | None:
    """The config as it is sent to actors: known to be one, and with an embedded encoder on the actor's own cores.

    Raises:
        InvalidInput: it is a runtime, or no config.
    """
    if runtime is not None and not isinstance(runtime, Config | Mapping):
        raise InvalidInput(
            "runtime must be a config, because each actor makes its own runtime from it",
            expected='{"kind": ...}',
            got=type(runtime).__name__,
        )
    plain = _plain(runtime) or {"kind": "embedded"}
    KINDS.parse(plain)
    if plain["kind"] == "embedded" and plain.get("threads") is None:
        plain["threads"] = max(1, int(cpus))  # or each of many actors takes every core for itself
    return plain


def row_call(row: Mapping[str, Any], build: Callable[..., Call[Any]], needs_documents: bool) -> Any:
    """The checked call of a row, or the error in its place. A wrong row does not stop the others.

    Args:
        row: one row of the dataset.
        build: makes the call from messages and documents.
        needs_documents: whether a row without ``documents`` is wrong.

    Returns:
        The call, or the error in its place.
    """
    try:
        for key in ("messages", "documents") if needs_documents else ("messages",):
            if row.get(key) is None:
                raise InvalidInput(f"the row has no {key!r}", expected=EXPECTED, got=f"columns {', '.join(row)}")
        return build(_column("messages", row["messages"]), _column("documents", row.get("documents") or ()))
    except Exception as error:
        return as_intrinsics_error(error)


def _column(name: str, value: Any) -> Any:
    """A cell as what an intrinsic takes. A table gives every object every key, with null where there was none."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise InvalidInput(f"{name} is text that is not JSON", expected="a list, or JSON text of one") from None
    if not isinstance(value, list | tuple):
        return value
    return [
        {key: field for key, field in one.items() if field is not None or key in _MUST_HAVE}
        if isinstance(one, dict)
        else one
        for one in value
    ]


def _result(outcome: Result | IntrinsicsError) -> str | None:
    if isinstance(outcome, IntrinsicsError):
        return None
    return json_text(outcome.model_dump(mode="json"))


def _error(outcome: Result | IntrinsicsError, hidden: set[str]) -> dict[str, str | None] | None:
    if not isinstance(outcome, IntrinsicsError):
        return None
    fields = {"type": type(outcome).__name__, "message": str(outcome), "raw": outcome.raw}
    return {name: text and hide(text, hidden).encode("utf-8", "replace").decode() for name, text in fields.items()}


def _plain(runtime: Any) -> dict[str, Any]:
    """A config as a mapping of its own."""
    return runtime.plain if isinstance(runtime, Config) else dict(runtime or {})


def _name_of(intrinsic: Any) -> str:
    for name, record in TABLE.items():
        if record.function is intrinsic:
            return name
    return record_of(intrinsic).name


def _profile_name(profile: Any) -> str | None:
    if profile is not None and not isinstance(profile, str):
        raise InvalidInput("profile must be a name, because each actor looks it up", expected="the name of a profile",
                           got=type(profile).__name__)  # fmt: skip
    return profile
