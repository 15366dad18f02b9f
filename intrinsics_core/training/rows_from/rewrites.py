"""Query rewrite from people's rewrites: each question as it was asked, and as it stands alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from intrinsics_core.bench.datasets import REWRITES, RewriteRow
from intrinsics_core.bench.folder import DataFolder, Row


def _rewritten(name: str, turns: Sequence[tuple[str, str]], given: RewriteRow, group: str) -> Iterator[Row]:
    """The row, and the one of the question that stands alone already."""
    said = [{"role": role, "content": text} for role, text in turns]
    for suffix, asked in (("", given.question), ("-alone", given.rewrite)):
        if suffix and (given.rewrite == given.question or not said):
            continue
        result = {"query": given.rewrite, "original": asked, "changed": given.rewrite.strip() != asked.strip()}
        yield {"id": f"{name}-{given.identity}{suffix}", "messages": [*said, {"role": "user", "content": asked}],
               "result": result, "group": group}  # fmt: skip


def canard(folder: DataFolder) -> Iterator[Row]:
    """The first two of its history are an article and a section: they are told as the first turn."""
    for row in REWRITES["canard"](folder):
        (_, title), (_, section), *said = row.history
        opening = [("user", f"Let us talk about {title}: {section}."), ("assistant", "Gladly.")]
        yield from _rewritten("canard", [*opening, *said], row, row.identity.rpartition("_")[0])


def cast(folder: DataFolder) -> Iterator[Row]:
    for row in REWRITES["cast-ikat"](folder):
        yield from _rewritten("cast", row.history, row, row.identity.rpartition("_")[0])


def alexa(folder: DataFolder) -> Iterator[Row]:
    for row in REWRITES["alexa"](folder):
        yield from _rewritten("alexa", row.history, row, row.history[0][1] if row.history else row.question)
