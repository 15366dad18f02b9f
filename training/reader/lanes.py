"""Chunks of the mixture as token ids, made ahead by worker processes; the same ones whatever the number of processes.

The mixture has as many places (*lanes*) as the settings say, each with counters of its own. Chunks are taken from the
lanes in turn, so the order of the pairs depends on the seed and on the number of lanes, and not on who was faster.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from random import Random

from training.reader.limits import MAX_TOKENS
from training.reader.mixture import Stream, chunk
from training.reader.model import Encoding
from training.reader.pairs import TASKS, Unit

Counters = dict[str, int]


@dataclass(frozen=True, slots=True)
class Row:
    """A pair as the model reads it: its place in `TASKS`, its label, token ids, and where the query begins in them."""

    task: int
    label: float
    ids: Sequence[int]
    query: int


Rows = list[Row]
"""The rows of one unit: they stay in one batch."""


def rows(units: Sequence[Unit], encode: Encoding, longest: int = MAX_TOKENS) -> list[Rows]:
    """Units as token ids, without those that have a row of more than ``longest`` tokens.

    They are left out and not cut: what a label rests on may stand at the end.
    """
    flat = iter(encode([(pair.text, pair.query) for unit in units for pair in unit]))
    made = [[Row(TASKS.index(p.task), p.label, *next(flat)) for p in unit] for unit in units]
    return [unit for unit in made if all(len(row.ids) <= longest for row in unit)]


def batches(units: Sequence[Rows], tokens: int, rng: Random) -> Iterator[list[Rows]]:
    """Units of like length together, about ``tokens`` tokens a batch with its padding, in random order."""

    def length(unit: Rows) -> int:
        return max(len(row.ids) for row in unit)

    made, now, count = list[list[Rows]](), list[Rows](), 0
    for unit in sorted(units, key=lambda u: length(u) + 2 * rng.random()):
        now.append(unit)
        count += len(unit)
        if max(map(length, now[-2:])) * count >= tokens:
            made.append(now)
            now, count = [], 0
    if now:
        made.append(now)
    rng.shuffle(made)
    return iter(made)


_mixture: tuple[dict[str, Stream], Encoding, int] | None = None  # of a worker, which is forked with it


def _made(lane: int, lanes: int, at: Counters, pairs: int) -> tuple[list[Rows], Counters]:
    assert _mixture is not None
    found, encode, longest = _mixture
    moved = dict(at)
    return rows(chunk(found, moved, pairs, lane, lanes), encode, longest), moved


class Lanes:
    """Chunks of about ``pairs`` pairs without end, from each lane in turn.

    Args:
        found: the streams.
        encode: pairs to token ids.
        at: the counters of each lane. They are those of what was taken: what was made ahead is made again after a
            pause.
        pairs: of a chunk.
        processes: that make chunks ahead; 0: none, each chunk is made when it is asked for. They are forked here, so
            before any use of a GPU.
        taken: chunks taken before.
        longest: tokens of a row.
    """

    def __init__(
        self,
        found: dict[str, Stream],
        encode: Encoding,
        at: Sequence[Counters],
        pairs: int,
        processes: int = 0,
        taken: int = 0,
        longest: int = MAX_TOKENS,
    ) -> None:
        global _mixture
        _mixture = found, encode, longest
        self.at, self.pairs, self.taken = list(at), pairs, taken
        self._pool = None
        if processes:
            self._pool = ProcessPoolExecutor(processes, multiprocessing.get_context("fork"))
        self._ahead: dict[int, Future[tuple[list[Rows], Counters]]] = {}
        for lane in range(len(self.at)):
            self._ask(lane)

    def _ask(self, lane: int) -> None:
        if self._pool is not None:
            self._ahead[lane] = self._pool.submit(_made, lane, len(self.at), self.at[lane], self.pairs)

    def __next__(self) -> list[Rows]:
        """The next chunk; empty where the streams have nothing."""
        lane = self.taken % len(self.at)
        if self._pool is None:
            units, self.at[lane] = _made(lane, len(self.at), self.at[lane], self.pairs)
        else:
            units, self.at[lane] = self._ahead[lane].result()
            self._ask(lane)
        self.taken += 1
        return units

    def close(self) -> None:
        """Stop the processes."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
