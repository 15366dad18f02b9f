"""The service beside the library in process: throughput, added latency, memory; and whether load or nonsense harms it.

    python -m benchmarks.service                     the numbers; some ten minutes on two idle cores
    python -m benchmarks.service --soak 10           ten minutes of 32 clients, 5% of what they send broken
    python -m benchmarks.service --malformed 1000    that many requests that no client should send

Both sides take turns in one run, on texts that neither has seen. CPU time is the serving process's own; of wall time
the clients' CPU time is taken out, over the cores that there are.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import random
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx

from intrinsics_core import as_runtime, audit, reranking, run, run_many
from tests.service.malformed import is_refused, malformed
from tests.service.running import in_process

WORDS = ["mill", "tide", "flour", "river", "stone", "wheel", "built", "year", "town", "water", "grain", "harbour"]
CORES = len(os.sched_getaffinity(0))
_TICKS = os.sysconf("SC_CLK_TCK")


def text(draw: random.Random, words: int) -> str:
    """A text that no cache has: its first word is a number."""
    return f"{draw.randrange(10**9)} " + " ".join(draw.choices(WORDS, k=words)) + "."


def rerank_body(draw: random.Random) -> dict[str, Any]:
    return {"query": text(draw, 6), "documents": [text(draw, 40) for _ in range(20)]}


def audit_body(draw: random.Random) -> dict[str, Any]:
    answer = " ".join(text(draw, 12) for _ in range(4))
    turns = [{"role": "user", "content": text(draw, 6)}, {"role": "assistant", "content": answer}]
    return {"messages": turns, "documents": [text(draw, 60) for _ in range(5)]}


KINDS: dict[str, tuple[str, Any, Any]] = {
    "rerank of 20": ("/v1/rerank", rerank_body, lambda b: reranking([{"role": "user", "content": b["query"]}],
                                                                    b["documents"])),
    "audit": ("/v1/intrinsics/audit", audit_body, lambda b: audit(b["messages"], b["documents"])),
}  # fmt: skip


def cpu_of(pid: int) -> float:
    """Seconds of CPU that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def rss_of(pid: int) -> float:
    """MiB of memory that a process holds."""
    line = next(one for one in Path(f"/proc/{pid}/status").read_text().splitlines() if one.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


async def sent(url: str, path: str, bodies: Iterable[dict[str, Any]], clients: int) -> None:
    """All bodies, by so many clients at once."""
    queue = iter(bodies)
    async with httpx.AsyncClient(base_url=url, timeout=600, trust_env=False,
                                 limits=httpx.Limits(max_connections=clients)) as http:  # fmt: skip

        async def client() -> None:
            for body in queue:
                (await http.post(path, json=body)).raise_for_status()

        await asyncio.gather(*(client() for _ in range(clients)))


def throughput(url: str, pid: int, rounds: int) -> None:
    runtime = as_runtime(None)
    print("| | clients | requests | CPU s each: service, run_many | ratio | wall s each, clients' CPU out | ratio |")
    print("|---|---|---|---|---|---|---|")
    for name, (path, make, call) in KINDS.items():
        for clients in (8, 32):
            seen: dict[str, list[float]] = {"http": [], "own": []}
            wall: dict[str, list[float]] = {"http": [], "own": []}
            for turn in range(rounds):
                draw = random.Random(f"{name} {clients} {turn}")
                bodies = [make(draw) for _ in range(clients)]
                begun, used, mine = time.perf_counter(), cpu_of(pid), time.process_time()
                asyncio.run(sent(url, path, bodies, clients))
                wall["http"].append(time.perf_counter() - begun - (time.process_time() - mine) / CORES)
                seen["http"].append(cpu_of(pid) - used)
                bodies = [make(draw) for _ in range(clients)]
                begun, mine = time.perf_counter(), time.process_time()
                run_many([call(body) for body in bodies], runtime, concurrency=clients)
                wall["own"].append(time.perf_counter() - begun)
                seen["own"].append(time.process_time() - mine)
            count = clients * rounds
            http_cpu, own_cpu = sum(seen["http"]) / count, sum(seen["own"]) / count
            http_wall, own_wall = sum(wall["http"]) / count, sum(wall["own"]) / count
            print(f"| {name} | {clients} | {count} | {http_cpu:.3f}, {own_cpu:.3f} | {own_cpu / http_cpu:.2f} | "
                  f"{http_wall:.3f}, {own_wall:.3f} | {own_wall / http_wall:.2f} |", flush=True)  # fmt: skip


def latency(url: str, pid: int, count: int = 300) -> None:
    """One client, a request that both sides have in their caches: what is left is the service itself."""
    runtime = as_runtime(None)
    body = rerank_body(random.Random("one"))
    call = KINDS["rerank of 20"][2]
    with httpx.Client(base_url=url, timeout=600, trust_env=False) as http:
        for _ in range(20):
            http.post("/v1/rerank", json=body)
            run(call(body), runtime)
        used, served = cpu_of(pid), []
        for _ in range(count):
            begun = time.perf_counter()
            http.post("/v1/rerank", json=body)
            served.append(time.perf_counter() - begun)
        cpu = (cpu_of(pid) - used) / count
        mine, own = time.process_time(), []
        for _ in range(count):
            begun = time.perf_counter()
            run(call(body), runtime)
            own.append(time.perf_counter() - begun)
        mine = (time.process_time() - mine) / count
    print(f"\none client, rerank of 20 known passages: CPU {1e3 * cpu:.2f} ms of the service, {1e3 * mine:.2f} ms in "
          f"process: {1e3 * (cpu - mine):.2f} ms added; wall (median) {1e3 * statistics.median(served):.1f} and "
          f"{1e3 * statistics.median(own):.1f} ms", flush=True)  # fmt: skip


ALONE = """
import random, sys
sys.path.insert(0, ".")
from benchmarks.service import KINDS, rss_of
from intrinsics_core import run
import os
for path, make, call in KINDS.values():
    run(call(make(random.Random("m"))))
print(rss_of(os.getpid()))
"""


def memory(pid: int) -> None:
    alone = [
        float(subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, check=True).stdout)
        for _ in range(2)
    ]
    one = statistics.mean(alone)
    print(f"\nmemory: the service {rss_of(pid):.0f} MiB; a process that judges by itself {one:.0f} MiB, ten of them "
          f"{10 * one:.0f} MiB", flush=True)  # fmt: skip


# Without its cache of vectors, which fills up to its 64 MiB: what grows then is a leak.
UNCACHED = ("--runtime", '{"kind": "embedded", "cache_size": 0}')


async def soaked(minutes: float, clients: int = 32) -> None:
    """Whether anything leaks, and whether every request is answered or refused with a type, also around a kill."""
    until = time.monotonic() + 60 * minutes
    tally: Counter[str] = Counter()
    with in_process(*UNCACHED) as (url, process):
        port, now = int(url.rsplit(":", 1)[1]), process
        async with httpx.AsyncClient(base_url=url, timeout=120, trust_env=False) as http:

            async def client(number: int) -> None:
                draw = random.Random(number)
                while time.monotonic() < until:
                    if draw.random() < 0.05:
                        method, path, headers, content = malformed(draw.randrange(10**6))
                        answer = await once(http, method, path, headers=headers, content=content)
                        fine = answer is not None and is_refused(answer.status_code, answer.content)
                        tally["broken: refused" if fine else "broken: NOT refused"] += 1
                        continue
                    body = {"query": text(draw, 6), "documents": [text(draw, 15) for _ in range(3)]}
                    answer = await once(http, "POST", "/v1/rerank", json=body)
                    if answer is None:
                        tally["whole: no answer"] += 1
                    elif answer.status_code == 200:
                        tally["whole: answered"] += 1
                    else:
                        tally[f"whole: {answer.status_code} {answer.json().get('title')}"] += 1

            async def watch() -> None:
                begun = time.monotonic()
                while time.monotonic() < until:
                    gc.collect()
                    print(f"{time.monotonic() - begun:5.0f} s: {rss_of(now.pid):.0f} MiB, {sum(tally.values())} "
                          "requests", flush=True)  # fmt: skip
                    await asyncio.sleep(30)

            await asyncio.gather(watch(), *(client(i) for i in range(clients)))
            print(f"at the end: {rss_of(now.pid):.0f} MiB")
            for name, count in sorted(tally.items()):
                print(f"{name}: {count}")
            now.kill()
            now.wait()
        print("killed; started again:", end=" ")
        with ThreadPoolExecutor() as beside:  # it begins before the service does, which takes seconds
            retrying = beside.submit(asyncio.run, again(url))
            with in_process(*UNCACHED, port=port):
                print(retrying.result())


async def once(http: httpx.AsyncClient, method: str, path: str, **more: Any) -> httpx.Response | None:
    try:
        return await http.request(method, path, **more)
    except httpx.TransportError:
        return None


async def again(url: str, tries: int = 200) -> str:
    """What a client with retries sees of a service that is gone and comes back."""
    async with httpx.AsyncClient(base_url=url, timeout=60, trust_env=False) as http:
        for number in range(tries):
            answer = await once(http, "POST", "/v1/rerank", json={"query": "Who?", "documents": ["Ada."]})
            if answer is not None and answer.status_code == 200:
                return f"answered at try {number + 1}"
            await asyncio.sleep(0.5)
    return "NEVER answered"


def malformed_all(url: str, count: int) -> None:
    tally: Counter[str] = Counter()
    with httpx.Client(base_url=url, timeout=120, trust_env=False) as http:
        for seed in range(count):
            method, path, headers, content = malformed(seed)
            answer = http.request(method, path, headers=headers, content=content)
            refused = is_refused(answer.status_code, answer.content)
            tally[f"{answer.status_code}{'' if refused else ' NOT refused'}"] += 1
        alive = http.get("/health").status_code
    print(f"{count} malformed requests: {dict(sorted(tally.items()))}; afterwards /health says {alive}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=2, help="turns of each side; a turn is a request per client")
    parser.add_argument("--latency", action="store_true", help="latency and memory alone")
    parser.add_argument("--soak", type=float, metavar="MINUTES")
    parser.add_argument("--malformed", type=int, metavar="N")
    arguments = parser.parse_args()
    if arguments.soak:
        asyncio.run(soaked(arguments.soak))
        return
    with in_process("--timeout", "600") as (url, process):
        if arguments.malformed:
            malformed_all(url, arguments.malformed)
            return
        as_runtime(None).warm_up()
        with httpx.Client(base_url=url, timeout=600, trust_env=False) as http:
            for path, make, _ in KINDS.values():
                http.post(path, json=make(random.Random("warm"))).raise_for_status()
        if not arguments.latency:
            throughput(url, process.pid, arguments.rounds)
        latency(url, process.pid)
        memory(process.pid)


if __name__ == "__main__":
    main()
