"""Rows per second of `map_rows` with one and two actors, beside `run_many`: ``python -m benchmarks.ray_rows``.

Rows are answerability on the embedded default, with one thread each, and rows whose runtime answers at once, which
show what Ray adds. Starting Ray is not counted; starting the actors is, and told apart by a run of a single row.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from intrinsics_core import answerability, as_runtime, run_many
from intrinsics_core.running import batch
from intrinsics_core.runtimes import Config

KINDS = ("tests.ray.kinds",)


HEAD = "| runtime | rows | by | seconds | of them to start | rows/s after the start |\n|---|---:|---|---:|---:|---:|"


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


def measure(ray: Any, name: str, runtime: Config | dict[str, Any], count: int) -> None:
    rows = [row(number) for number in range(count)]

    def spread(some: list[dict[str, Any]], actors: int) -> Any:
        data = ray.data.from_items(some, override_num_blocks=max(1, len(some) // 256))
        return batch.map_rows(data, answerability, runtime, actors=actors, imports=KINDS).materialize()

    with as_runtime(runtime) as engine:
        run_many([call(row(count))], engine)  # loads what is loaded
        alone = seconds(lambda: run_many(list(map(call, rows)), engine))
    print(f"| {name} | {count} | `run_many` | {alone:.1f} | | {count / alone:.0f} |", flush=True)
    for actors in (1, 2):
        start = seconds(lambda actors=actors: spread(rows[:1], actors))  # type: ignore[misc]
        whole = seconds(lambda actors=actors: spread(rows, actors))  # type: ignore[misc]
        rate = count / max(whole - start, 1e-9)
        print(f"| {name} | {count} | {actors} actors | {whole:.1f} | {start:.1f} | {rate:.0f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--rows", type=int, default=2000, help="of the embedded default; ten times as many of the other"
    )
    args = parser.parse_args()
    from tests.ray.kinds import config

    with batch.cluster("local", actors=2) as ray, tempfile.TemporaryDirectory() as folder:
        ray.data.DataContext.get_current().enable_progress_bars = False
        print(HEAD)
        measure(ray, "embedded, one thread", {"kind": "embedded", "threads": 1}, args.rows)
        measure(ray, "answers at once", config(Path(folder)), 10 * args.rows)


if __name__ == "__main__":
    main()
