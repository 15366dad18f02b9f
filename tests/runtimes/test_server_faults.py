"""A fifth of all requests goes wrong on the wire, in every way a server can: no row is lost, doubled or mixed up."""

from __future__ import annotations

import asyncio
import gc
import os
import re
from collections import Counter

import pytest

from intrinsics_core import RequestTimeout, RuntimeUnavailable, answerability, arun_many
from intrinsics_core.protocol.errors import IntrinsicsError
from intrinsics_core.protocol.results import Answerability
from intrinsics_core.runtimes.server import ServerRuntime
from tests.loopback import CUT, CUT_BODY, HANG, Loopback, Received, Reply, completion, failure, listing

CONCURRENCY, RETRIES = 32, 2
FEW, MANY = 350, 2_000  # in the few, each kind of fault lasts in one row

# what goes wrong -> the reply, and the error of a row where it goes wrong every time
FAULTS: dict[str, tuple[Reply, type[IntrinsicsError]]] = {
    "429": (Reply(failure("slow down", "RateLimitError", code=429), status=429), RuntimeUnavailable),
    "500": (Reply(b"<html>Internal Server Error</html>", status=500), RuntimeUnavailable),
    "hang": (Reply(fault=HANG), RequestTimeout),
    "cut": (Reply(fault=CUT), RuntimeUnavailable),
    "cut body": (Reply(completion("x" * 1000), fault=CUT_BODY), RuntimeUnavailable),
    "truncated JSON": (Reply(b'{"choices": [{"message": {"content": "{\\"answ'), RuntimeUnavailable),
    "wrong JSON": (Reply({"status": "ok", "choices": "none"}), RuntimeUnavailable),
}
KINDS = list(FAULTS)


def fault_of(row: int) -> str | None:
    """Every fifth row meets a fault; the kinds take turns."""
    return KINDS[row // 5 % len(KINDS)] if row % 5 == 0 else None


def lasting(row: int) -> bool:
    """Every tenth faulty row meets it on every try."""
    return row % 50 == 0


def confidence(row: int) -> float:
    """Tells the rows' replies apart."""
    return 0.5 + row % 487 / 1000


def sockets() -> int:
    gc.collect()
    names = []
    for fd in os.listdir("/proc/self/fd"):
        try:
            names.append(os.readlink(f"/proc/self/fd/{fd}"))
        except OSError:  # the one that listed the folder
            continue
    return sum(name.startswith("socket:") for name in names)


class Faulty:
    def __init__(self) -> None:
        self.tries: Counter[int] = Counter()

    def __call__(self, received: Received) -> Reply:
        if received.path.endswith("/models"):
            return Reply(listing("base"))
        match = re.search(r"question (\d+)\?", received.body["messages"][-1]["content"])
        assert match
        row = int(match[1])
        self.tries[row] += 1
        kind = fault_of(row)
        if kind and (lasting(row) or self.tries[row] == 1):
            return FAULTS[kind][0]
        return Reply(completion(f'{{"answerability": "answerable", "confidence": {confidence(row)}}}'))


@pytest.mark.parametrize("rows", [FEW, pytest.param(MANY, marks=pytest.mark.slow)])
def test_every_row_ends_in_a_result_or_a_typed_error(rows: int) -> None:
    faulty, told = Faulty(), Counter[int]()
    calls = [answerability([{"role": "user", "content": f"question {i}?"}], ["A passage."]) for i in range(rows)]

    async def ask() -> tuple[list[Answerability | IntrinsicsError], set[str], int, int]:
        before = sockets()
        runtime = ServerRuntime(server.url, timeout=4.0, max_retries=RETRIES, concurrency=CONCURRENCY)
        results = await arun_many(calls, runtime, on_result=lambda index, _result: told.update([index]))
        tasks = {repr(task) for task in asyncio.all_tasks() if task is not asyncio.current_task()}
        await runtime.aclose()
        async with asyncio.timeout(120):  # the server's half of a connection closes when it sees ours closed
            while server.connections:  # noqa: ASYNC110  (the server has a loop of its own)
                await asyncio.sleep(0.01)
        return results, tasks, before, sockets()

    with Loopback(faulty) as server:
        results, tasks, before, after = asyncio.run(ask())
        peak, connections = server.peak, server.connections

    assert len(results) == rows
    assert told == Counter(range(rows))
    for row, result in enumerate(results):
        kind = fault_of(row)
        if kind and lasting(row):
            assert type(result) is FAULTS[kind][1], (row, kind, result)
            assert result.intrinsic == "answerability"
        else:
            assert isinstance(result, Answerability), (row, kind, result)
            assert abs(result.probability - confidence(row)) < 1e-9
    assert max(faulty.tries.values()) == RETRIES + 1
    assert all(faulty.tries[row] == RETRIES + 1 for row in range(0, rows, 50))
    assert 1 < peak <= CONCURRENCY
    assert not tasks
    assert (connections, after) == (0, before)
