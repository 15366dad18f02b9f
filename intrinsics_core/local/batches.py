"""Which requests an in-process model works on together. Plain numbers in, plain numbers out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

SHORT = 32  # tokens; a label is shorter, an answer longer: side by side, the labels would wait for the answer
WORTH_SHARING = 32  # tokens of a common beginning; below, computing them anew costs less than keeping them


def common(a: np.ndarray, b: np.ndarray) -> int:
    """Length of the common beginning of two sequences of token ids."""
    length = min(len(a), len(b))
    differ = a[:length] != b[:length]
    return int(differ.argmax()) if differ.any() else length


def families(beginnings: Sequence[np.ndarray]) -> list[tuple[list[int], int]]:
    """Sequences that begin alike, put together.

    Args:
        beginnings: token ids; of each, only what may be shared.

    Returns:
        Per family: indices of its members and the number of tokens they have in common. Every index comes once.
    """
    found: list[tuple[list[int], int]] = []
    for i in sorted(range(len(beginnings)), key=lambda i: beginnings[i].tolist()):  # alike ones become neighbours
        if found:
            members, shared = found[-1]
            alike = common(beginnings[members[0]][:shared], beginnings[i])
            if alike >= max(WORTH_SHARING, shared // 2):
                members.append(i)
                found[-1] = members, alike
                continue
        found.append(([i], len(beginnings[i])))
    return found


def packed(lengths: Sequence[int], budgets: Sequence[int], tokens: int, step: int = 16) -> list[list[int]]:
    """Batches of sequences of like length and like budget.

    Args:
        lengths: tokens of each prompt.
        budgets: tokens that may be generated for each.
        tokens: bound on rows times the longest prompt. A prompt above it gets a batch of its own.
        step: what generating one token for a whole batch costs, in tokens of prompt that could be read in that time.
            Shorter prompts are padded to the longest of their batch: where that costs more than a batch of their own,
            they get one.
    """
    batches: list[list[int]] = []
    rest = sorted(range(len(lengths)), key=lambda i: (budgets[i] > SHORT, -lengths[i]))
    for place, i in enumerate(rest):
        if batches:
            first = batches[-1][0]  # the longest of its batch
            free = tokens // max(1, lengths[first]) - len(batches[-1])
            alike = [j for j in rest[place : place + max(0, free)] if (budgets[j] > SHORT) == (budgets[first] > SHORT)]
            padding = (lengths[first] - lengths[i]) * len(alike)
            if alike and alike[0] == i and padding <= step * max(budgets[j] for j in alike):
                batches[-1].append(i)
                continue
        batches.append([i])
    return batches
