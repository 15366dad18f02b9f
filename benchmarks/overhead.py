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


Work = Callable[[], Any]


def measure(
    description: str | None,
    texts: Sequence[tuple[str | None, str | None]],
    noop: str,
    rows: Sequence[tuple[str, str, Work, Work]],
    awaited: tuple[str, Callable[[], Awaitable[Any]], Callable[[], Awaitable[Any]]],
) -> None:
    """Read the command line and print the table.

    Args:
        description: of the command, for its help.
        texts: id and text of each passage, for the calls of the core.
        noop: what the framework's component that does nothing is called.
        rows: name; the call of the core, ``"rank"`` or ``"judge"`` (of five passages); the no-op's work, and ours.
        awaited: name, the no-op's and our work, of a ranking that is awaited.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--cpu", action="store_true", help="CPU time instead of the clock on the wall")
    asked = parser.parse_args()
    clock = time.process_time if asked.cpu else time.perf_counter
    messages = [{"role": "user", "content": QUESTION}]
    documents = [{"id": identity, "text": text} for identity, text in texts]
    runtime = Constant()
    core: dict[str, Work] = {
        "rank": lambda: run(reranking(messages, documents), runtime),
        "judge": lambda: run(answerability(messages, documents[:5]), runtime),
    }
    print(f"| | the core | {noop} | ours | beyond both |\n|---|--:|--:|--:|--:|")
    for name, kind, *works in rows:
        show(name, [median_ms(work, asked.calls, clock) for work in (core[kind], *works)])

    async def asynchronously() -> None:
        name, *works = awaited
        ranked = (lambda: arun(reranking(messages, documents), runtime), *works)
        show(name, [await amedian_ms(work, asked.calls, clock) for work in ranked])

    asyncio.run(asynchronously())
