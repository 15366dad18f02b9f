"""Rows per second of `map_rows` with one and two actors, beside `run_many`: ``python -m benchmarks.ray_rows``.

Rows lie in Parquet files of 1,000. They are answerability on the embedded default, with one thread each, and rows whose
runtime answers at once, which show what Ray adds. Starting Ray is not counted. Starting the actors is, and told apart
by a run of a single row. Memory is that of the largest actor, at half time and at its highest.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from intrinsics_core import answerability, as_runtime, run_many
from intrinsics_core.running import batch
from intrinsics_core.runtimes import Config

KINDS = ("tests.ray.kinds",)
PAGE = os.sysconf("SC_PAGE_SIZE")


HEAD = (
    "| runtime | rows | by | seconds | of them to start | rows/s after the start | MB at half time, at most |\n"
    "|---|---:|---|---:|---:|---:|---:|"
)


def row(number: int) -> dict[str, Any]:
    question = {"role": "user", "content": f"Who built bridge {number}?"}
    documents = [{"text": f"Ada Brink built bridge {number} in 1911."}, {"text": f"Bridge {number} is painted green."}]
    return {"id": number, "messages": [question], "documents": documents}


def call(of: dict[str, Any]) -> Any:
    return answerability(of["messages"], of["documents"])


def seconds(work: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


class Memory:
    """The resident memory of the largest Ray actor in MB, seen once a second."""

    def __enter__(self) -> Memory:
        self.seen: list[float] = []
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(1.0):
            self.seen.append(max(map(_resident, Path("/proc").glob("[0-9]*")), default=0.0))

    def __str__(self) -> str:
        return f"{self.seen[len(self.seen) // 2]:.0f}, {max(self.seen):.0f}" if self.seen else ""


def _resident(process: Path) -> float:
    try:
        if not (process / "cmdline").read_bytes().startswith(b"ray::MapWorker"):
            return 0.0
        return int((process / "statm").read_text().split()[1]) * PAGE / 1e6
    except (OSError, IndexError):  # it has ended
        return 0.0


def measure(ray: Any, name: str, runtime: Config | dict[str, Any], count: int, folder: Path) -> None:
    rows = [row(number) for number in range(count)]
    for part, some in (("one", rows[:1]), ("all", rows)):
        data = ray.data.from_items(some, override_num_blocks=max(1, len(some) // 1000))
        data.write_parquet(str(folder / name / part))

    def spread(part: str, actors: int) -> Any:
        data = ray.data.read_parquet(str(folder / name / part))
        return batch.map_rows(data, answerability, runtime, actors=actors, imports=KINDS).materialize()

    with as_runtime(runtime) as engine:
        run_many([call(row(count))], engine)  # loads what is loaded
        alone = seconds(lambda: run_many(list(map(call, rows)), engine))
    print(f"| {name} | {count} | `run_many` | {alone:.1f} | | {count / alone:.0f} | |", flush=True)
    for actors in (1, 2):
        start = seconds(lambda actors=actors: spread("one", actors))  # type: ignore[misc]
        with Memory() as memory:
            whole = seconds(lambda actors=actors: spread("all", actors))  # type: ignore[misc]
        rate = count / max(whole - start, 1e-9)
        print(f"| {name} | {count} | {actors} actors | {whole:.1f} | {start:.1f} | {rate:.0f} | {memory} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000, help="of either runtime")
    args = parser.parse_args()
    from tests.ray.kinds import config

    with batch.cluster("local", actors=2) as ray, tempfile.TemporaryDirectory() as folder:
        ray.data.DataContext.get_current().enable_progress_bars = False
        print(HEAD)
        measure(ray, "embedded, one thread", {"kind": "embedded", "threads": 1}, args.rows, Path(folder))
        measure(ray, "answers at once", config(Path(folder)), args.rows, Path(folder))


if __name__ == "__main__":
    main()
