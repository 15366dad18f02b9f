"""How much of its prompts the server finds in its prefix cache: requests in our order beside the same ones shuffled.

    RAG_INTRINSICS_VLLM_URL=http://127.0.0.1:8329/v1 python -m benchmarks.server_prefix_cache

Four intrinsics on each of several long conversations: query rewrite, context relevance (one judgement per passage),
answerability and uncertainty, with the granite-3.3 adapters. vLLM keeps a cache per adapter, and a real one holds only
so much: start the server with few blocks (``--option=--num-gpu-blocks-override=300``) to see an order matter. Hits and
queries are counted by the server (``/metrics``). "ours" is `arun_many` on the calls as they come; "shuffled" sends the
same requests in random order, as many at once.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import re
import urllib.request
from collections.abc import Sequence

from intrinsics_core import Call, answerability, arun_many, context_relevance, query_rewrite, uncertainty
from intrinsics_core.protocol.requests import Outcome, Request
from intrinsics_core.runtimes.server import ServerRuntime

CONCURRENCY = 8
PROFILE = "granite-3.3"


def calls(salt: str, contexts: int, turns: int, passages: int) -> list[Call]:  # type: ignore[type-arg]
    made: list[Call] = []  # type: ignore[type-arg]
    for c in range(contexts):
        conversation = [
            {
                "role": "user" if t % 2 == 0 else "assistant",
                "content": f"{salt} {c}.{t}: " + "the harbour of Arden " * 6,
            }
            for t in range(turns * 2 + 1)
        ]
        documents = [f"{salt} {c}, passage {p}: the harbour has {p} basins." for p in range(passages)]
        made += [
            query_rewrite(conversation),
            context_relevance(conversation, documents),
            answerability(conversation, documents),
            uncertainty(conversation, documents),
        ]
    return made


class Recorder(ServerRuntime):
    def __init__(self, url: str) -> None:
        super().__init__(url, timeout=600, concurrency=CONCURRENCY)
        self.asked: list[Request] = []

    async def ahandle(self, requests: Sequence[Request]) -> list[Outcome]:
        self.asked += requests
        return await super().ahandle(requests)


def counters(url: str) -> tuple[float, float]:
    """(queries, hits) in tokens, since the server started."""
    with urllib.request.urlopen(url.removesuffix("/v1") + "/metrics") as response:
        text = response.read().decode()
    return tuple(  # type: ignore[return-value]
        sum(float(v) for v in re.findall(rf"^vllm:prefix_cache_{name}_total(?:\{{.*\}})? (\S+)$", text, re.MULTILINE))
        for name in ("queries", "hits")
    )


async def ours(url: str, rows: Sequence[Call]) -> list[Request]:  # type: ignore[type-arg]
    async with Recorder(url) as engine:
        await arun_many(rows, engine, profile=PROFILE, concurrency=CONCURRENCY)
        return engine.asked


async def shuffled(url: str, requests: list[Request]) -> None:
    async with ServerRuntime(url, timeout=600, concurrency=CONCURRENCY) as engine:
        await asyncio.gather(*(engine.ahandle([request]) for request in requests))


def resalted(requests: Sequence[Request], old: str, new: str) -> list[Request]:
    """The same requests with another salt, so that they find nothing of the others in the cache."""
    from dataclasses import replace

    return [replace(request, prompt=request.prompt.replace(old, new)) for request in requests]  # type: ignore


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--contexts", type=int, default=12)
    parser.add_argument("--turns", type=int, default=8)
    parser.add_argument("--passages", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    url = os.environ.get("RAG_INTRINSICS_VLLM_URL")
    if not url:
        parser.exit(2, "RAG_INTRINSICS_VLLM_URL is unset: a loopback server has no prefix cache to measure\n")
    rng = random.Random(0)
    rates: dict[str, list[float]] = {"ours": [], "shuffled": []}
    for i in range(args.rounds):
        before = counters(url)
        asked = asyncio.run(ours(url, calls(f"kept{i}", args.contexts, args.turns, args.passages)))
        between = counters(url)
        again = resalted(asked, f"kept{i}", f"lost{i}")
        rng.shuffle(again)
        asyncio.run(shuffled(url, again))
        after = counters(url)
        for name, (one, two) in {"ours": (before, between), "shuffled": (between, after)}.items():
            rates[name].append((two[1] - one[1]) / (two[0] - one[0]))
    print("| order | prefix-cache hit rate (of prompt tokens) |\n|---|---:|")
    for name, values in rates.items():
        print(f"| {name} | {sum(values) / len(values):.1%} |")


if __name__ == "__main__":
    main()
