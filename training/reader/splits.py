"""Which rows are trained on and which are kept apart, decided by a hash of what a row was made from.

A row's *group* is its article, document, premise or question: rows that share one never stand on both sides. The hash
is of the text alone, so the split survives a new order of the files and is the same on every machine.
"""

from __future__ import annotations

import hashlib
from typing import Literal

Part = Literal["train", "dev", "held"]

SHARES: dict[str, tuple[int, int]] = {
    # set: (percent trained on, percent for choosing a checkpoint); the rest is held for the last tables.
    "wikipedia_passages": (88, 2),
    "squad2_dev_b": (50, 5),
    "clapnq_dev": (50, 5),
    "summedits": (50, 5),
    "wice": (50, 5),
    "begin": (50, 5),
    "expertqa_claims": (50, 5),
    "halueval": (50, 5),
    "fm2": (50, 5),
    "policyqa": (85, 3),
    "pubmedqa": (70, 5),
    "fever_dev_nli": (85, 3),
    "snli_devtest": (85, 3),
    "cad_nli": (85, 3),
    "mnli_dev": (85, 3),
    "med": (85, 3),
    "help": (85, 3),
    "qr_canard_dev": (70, 5),
    "qr_cast_ikat": (70, 5),
    "everyday_frames": (80, 15),
    "ranges": (85, 15),
    "fictional": (90, 5),
    "turned": (82, 18),
    "written": (90, 3),
    "conversations": (80, 5),
}
"""Only what the data folder's README marks "weights may be trained on it: yes"; all else is measured on alone."""


def bucket(name: str, group: str) -> int:
    """0..99, evenly spread over groups and independent from set to set."""
    digest = hashlib.sha256(f"{name}\n{group}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") % 100


def part(name: str, group: str) -> Part:
    """Where the rows of a group of a set belong. Raises KeyError for a set that must not be trained on."""
    train, dev = SHARES[name]
    place = bucket(name, group)
    return "train" if place < train else "dev" if place < train + dev else "held"
