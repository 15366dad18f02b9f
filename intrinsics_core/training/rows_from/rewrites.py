"""Query rewrite from people's rewrites: each question as it was asked, and as it stands alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from intrinsics_core.bench.folder import DataFolder, Row


def _rewritten(name: str, turns: Sequence[Any], question: str, rewrite: str, group: str) -> Iterator[Row]:
    """The row, and the one of the question that stands alone already."""
    for suffix, asked in (("", question), ("-alone", rewrite)):
        if suffix and (rewrite == question or not turns):
            continue
        result = {"query": rewrite, "original": asked, "changed": rewrite.strip() != asked.strip()}
        yield {"id": name + suffix, "messages": [*turns, {"role": "user", "content": asked}], "result": result,
               "group": group}  # fmt: skip


def canard(folder: DataFolder) -> Iterator[Row]:
    """The first two of its history are an article and a section: they are told as the first turn."""
    for row in folder.rows("qr_canard_dev"):
        title, section, *said = row["history"]
        opening = {"role": "user", "content": f"Let us talk about {title}: {section}."}
        turns = [opening, {"role": "assistant", "content": "Gladly."},
                 *({"role": ("user", "assistant")[i % 2], "content": text} for i, text in enumerate(said))]  # fmt: skip
        group = row["id"].rpartition("_")[0]
        yield from _rewritten(f"canard-{row['id']}", turns, row["question"], row["rewrite"], group)


def cast(folder: DataFolder) -> Iterator[Row]:
    for row in folder.rows("qr_cast_ikat"):
        group = row["id"].rpartition("_")[0]
        yield from _rewritten(f"cast-{row['id']}", row["history"], row["question"], row["rewrite"], group)


def alexa(folder: DataFolder) -> Iterator[Row]:
    for number, row in enumerate(folder.rows("qr_alexa_cqr")):
        first = row["history"][0]["content"] if row["history"] else row["question"]
        yield from _rewritten(f"alexa-{number}", row["history"], row["question"], row["rewrite"], first)
