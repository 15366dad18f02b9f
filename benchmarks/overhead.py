"""What the three overhead benchmarks share: a judge that answers at once, the calls of the core, and the table."""

import argparse
import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from intrinsics_core import BlockingRuntime, Format, Profile, answerability, arun, reranking, run
from intrinsics_core.protocol.requests import Embed, Embedded, Outcome, Request
from intrinsics_core.protocol.results import Answerability
from intrinsics_core.protocol.task import Task

QUESTION = "Who built the tide mill at Port Ellery?"
MESSAGES = [{"role": "user", "content": QUESTION}]
PASSAGES = 50
TEXT = "Passage {0} tells of the harbour, of its cranes and of the fog that comes from March to May. " * 4


def _one(name: str) -> Callable[[Task], list[Embed]]:
    return lambda task: [Embed(name, (task.query,))]


CONSTANT = Profile(
    "constant",
    {
        "pointwise": Format(_one("reranking"), lambda task, replies: [0.5] * len(task.documents)),
        "answerability": Format(
            _one("answerability"), lambda task, replies: Answerability(label="answerable", probability=0.5)
        ),
    },
)


class Constant(BlockingRuntime):
    """Answers at once; the profile's scores do not depend on the answer."""

    profile = CONSTANT

    def handle(self, requests: Sequence[Request]) -> list[Outcome]:
        return [Embedded(()) for _ in requests]


Clock = Callable[[], float]


Work = Callable[[], Any]


def table(
    description: str | None,
    nothing: str,
    rows: Sequence[tuple[str, Work, Work, Work]],
    awaited: tuple[str, Work, Work, Work],
) -> None:
    """Print the table, by the options of the command line.

    Args:
        nothing: what the framework's component is called that does nothing.
        rows: a name, then what is timed: the core, the component that does nothing, ours.
        awaited: the same of what is awaited.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--cpu", action="store_true", help="CPU time instead of the clock on the wall")
    asked = parser.parse_args()
    clock = time.process_time if asked.cpu else time.perf_counter
    print(f"| | the core | {nothing} | ours | beyond both |\n|---|--:|--:|--:|--:|")
    for name, *works in rows:
        show(name, [median_ms(work, asked.calls, clock) for work in works])

    async def asynchronously() -> None:
        name, *works = awaited
        show(name, [await amedian_ms(work, asked.calls, clock) for work in works])

    asyncio.run(asynchronously())


def of_the_core(runtime: Constant, documents: Sequence[Any]) -> tuple[Work, Work, Work]:
    """Calls of the core: a ranking of all documents, a gate over the first five, and the ranking to be awaited."""
    return (
        lambda: run(reranking(MESSAGES, documents), runtime),
        lambda: run(answerability(MESSAGES, documents[:5]), runtime),
        lambda: arun(reranking(MESSAGES, documents), runtime),
    )


def median_ms(work: Callable[[], Any], calls: int, clock: Clock = time.perf_counter) -> float:
    times = []
    for number in range(calls + 5):
        started = clock()
        work()
        if number >= 5:
            times.append(clock() - started)
    return statistics.median(times) * 1000


async def amedian_ms(work: Callable[[], Awaitable[Any]], calls: int, clock: Clock = time.perf_counter) -> float:
    times = []
    for number in range(calls + 5):
        started = clock()
        await work()
        if number >= 5:
            times.append(clock() - started)
    return statistics.median(times) * 1000


def show(name: str, times: Sequence[float]) -> None:
    core, noop, ours = times
    print(f"| {name} | {core:.2f} | {noop:.2f} | {ours:.2f} | {ours - core - noop:+.2f} |")
