"""Which rows are held out: whole groups, the same ones on every machine."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence

from intrinsics_core.training.examples import Example


def split(rows: Sequence[Example], share: float, seed: int) -> tuple[list[Example], list[Example]]:
    """(rows to train on, rows held out), each in order.

    Groups are held whole, in an order drawn from the seed and their names, until the share of the rows is reached. One
    group is always left to train on: of a single group nothing is held.
    """
    groups = sorted({row.group for row in rows}, key=lambda name: hashlib.sha256(f"{seed}\n{name}".encode()).digest())
    wanted, held, count = math.ceil(share * len(rows)), set(), 0
    for name in groups[:-1]:
        if count >= wanted:
            break
        held.add(name)
        count += sum(row.group == name for row in rows)
    return [row for row in rows if row.group not in held], [row for row in rows if row.group in held]
