"""Ten context-relevance judgements beside one, against a server that takes 100 ms a reply: ``python -m
benchmarks.context_relevance_latency``. They are one wave, so ten should take about as long as one (aim: 1.3 times).

"bare" sends the same bodies with `asyncio.gather` over the `openai` client: what the client and the machine make
possible. Both take turns; "best" is the least disturbed of all rounds.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable
from typing import Any

from intrinsics_core import Call, arun, context_relevance
from intrinsics_core.profiles import profile
from intrinsics_core.runtimes.server import ServerRuntime
from intrinsics_core.runtimes.server.dialect import Dialect, body
from tests.loopback import running

REPLY = '{"context_relevance": "relevant", "confidence": 0.9}'
QUESTION = [{"role": "user", "content": "When was the lighthouse at Cape Arden built?"}]


def call(documents: int) -> Call[Any]:
    return context_relevance(QUESTION, [f"Passage {i}: the lighthouse has {i} rooms." for i in range(documents)])


def bodies(documents: int) -> list[dict[str, Any]]:
    task, form = call(documents).task, profile("prompted").formats["context-relevance"]
    return [body(request, "base", Dialect()) for i in range(documents) for request in form.render(task.only(i))]


async def measured(url: str, rounds: int) -> dict[tuple[str, int], list[float]]:
    """Seconds of each round by (side, judgements)."""
    import openai

    times: dict[tuple[str, int], list[float]] = {}
    async with ServerRuntime(url) as engine, openai.AsyncOpenAI(base_url=url, api_key="none") as client:

        async def one(said: dict[str, Any]) -> None:
            rest = {key: value for key, value in said.items() if key not in ("model", "messages")}
            await client.chat.completions.create(model=said["model"], messages=said["messages"], extra_body=rest)

        async def ours(documents: int) -> None:
            await arun(call(documents), engine)

        async def bare(documents: int) -> None:
            await asyncio.gather(*map(one, bodies(documents)))

        sides: tuple[Callable[[int], Awaitable[None]], ...] = (ours, bare)
        for round_ in range(-2, rounds):  # the first two open the connections
            for side in sides:
                for documents in (1, 10):
                    begun = time.perf_counter()
                    await side(documents)
                    if round_ >= 0:
                        times.setdefault((side.__name__, documents), []).append(time.perf_counter() - begun)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--delay", type=float, default=0.1, help="seconds the server takes")
    parser.add_argument("--rounds", type=int, default=20)
    args = parser.parse_args()
    with running(delay=args.delay, text=REPLY) as url:
        times = asyncio.run(measured(url, args.rounds))
    print("| | one, ms | ten, ms | ratio | best one, ms | best ten, ms | ratio |\n|---" + "|---:" * 6 + "|")
    for side in ("ours", "bare"):
        cells = []
        for summary in (statistics.median, min):
            one, ten = (summary(times[side, documents]) for documents in (1, 10))
            cells += [f"{one * 1e3:.0f}", f"{ten * 1e3:.0f}", f"{ten / one:.2f}"]
        print(f"| {side} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
