"""Rows per second of 200 conversations through answerability, as a ratio to a bare asyncio loop over the `openai`
client that sends the same bodies: ``python -m benchmarks.server_throughput``.

The server is the one at RAG_INTRINSICS_VLLM_URL (``.ci/vllm.sh`` starts such a one; the profile is then granite-3.3,
with its adapter), else a loopback server that answers at once, where every microsecond of ours shows (prompted). Both
sides send the same 200 bodies, once before it counts, so that the server's work is the same for both, then in turns;
the medians over the rounds are printed. Our side renders the prompts and reads the verdicts, too. Aim: at least 0.95.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import time
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from intrinsics_core import Call, IntrinsicsError, answerability, arun_many
from intrinsics_core.profiles import profile as named
from intrinsics_core.runtimes.server import ServerRuntime
from intrinsics_core.runtimes.server.dialect import Dialect, body
from tests.loopback import running

ROWS = 200
SUBJECTS = ("lighthouse", "bridge", "mill", "harbour", "observatory", "canal", "theatre", "quarry")
VERDICT = '{"answerability": "answerable", "confidence": 0.9}'


def calls() -> list[Call[Any]]:
    """Conversations of different lengths."""
    made = []
    for i in range(ROWS):
        subject = SUBJECTS[i % len(SUBJECTS)]
        turns = [{"role": "user", "content": f"{i}: tell me about the {subject}."},
                 {"role": "assistant", "content": f"The {subject} stands in Arden." + " It is well kept." * (i % 5)},
                 {"role": "user", "content": f"Who built the {subject}?"}]  # fmt: skip
        passages = [f"{i}-{j}: " + f"The {subject} was begun in {1700 + i + j}. " * (2 + i % 4) for j in range(3)]
        made.append(answerability(turns, passages))
    return made


async def ours(url: str, profile: str, concurrency: int) -> float:
    """Seconds for all rows, connections and the list of models made before."""
    rows = calls()
    async with ServerRuntime(url, timeout=600, concurrency=concurrency) as engine:
        await arun_many(calls()[:concurrency], engine, profile=profile)
        begun = time.perf_counter()
        results = await arun_many(rows, engine, profile=profile, concurrency=concurrency)
        seconds = time.perf_counter() - begun
    failed = [result for result in results if isinstance(result, IntrinsicsError)]
    assert not failed, failed[0]
    return seconds


def bodies(rows: Sequence[Call[Any]], profile: str, model: str) -> list[dict[str, Any]]:
    return [
        body(request, model, Dialect())
        for row in rows
        for request in named(profile).formats["answerability"].render(row.task)
    ]


async def bare(url: str, profile: str, concurrency: int, model: str) -> float:
    """Seconds for the same bodies, rendered before."""
    import openai

    client, places = openai.AsyncOpenAI(base_url=url, api_key="none", timeout=600), asyncio.Semaphore(concurrency)

    async def one(said: dict[str, Any]) -> None:
        rest = {key: value for key, value in said.items() if key not in ("model", "prompt", "messages")}
        async with places:
            if "prompt" in said:
                await client.completions.create(model=said["model"], prompt=said["prompt"], extra_body=rest)
            else:
                await client.chat.completions.create(model=said["model"], messages=said["messages"], extra_body=rest)

    async with client:
        await asyncio.gather(*map(one, bodies(calls()[:concurrency], profile, model)))
        wave = bodies(calls(), profile, model)
        begun = time.perf_counter()
        await asyncio.gather(*map(one, wave))
        return time.perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--concurrency", type=int, nargs="*", default=[1, 8, 32])
    args = parser.parse_args()
    with ExitStack() as stack:
        if url := os.environ.get("RAG_INTRINSICS_VLLM_URL"):
            server, profile, model = "vLLM", "granite-3.3", "answerability_prediction"
        else:
            url = stack.enter_context(running(text=VERDICT))
            server, profile, model = "loopback", "prompted", "base"
        print(f"| server | concurrency | rows/s | bare rows/s | ratio |\n|---|{'---:|' * 4}")
        for concurrency in args.concurrency:
            times: dict[str, list[float]] = {"ours": [], "bare": []}
            asyncio.run(ours(url, profile, concurrency))
            for i in range(args.rounds):
                for side in sorted(times, reverse=bool(i % 2)):  # they change places every round
                    if side == "ours":
                        times[side].append(asyncio.run(ours(url, profile, concurrency)))
                    else:
                        times[side].append(asyncio.run(bare(url, profile, concurrency, model)))
            mine, theirs = (ROWS / statistics.median(times[side]) for side in ("ours", "bare"))
            print(f"| {server} | {concurrency} | {mine:.1f} | {theirs:.1f} | {mine / theirs:.2f} |", flush=True)


if __name__ == "__main__":
    main()
