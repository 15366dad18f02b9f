"""Sets of questions that lean on a conversation, with people's rewrites that stand alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from intrinsics_core.bench.datasets.records import RewriteRow
from intrinsics_core.bench.folder import DataFolder


def canard(folder: DataFolder) -> Iterator[RewriteRow]:
    """The first two of a history are the article's title and the section's; question and answer follow in turn."""
    for row in folder.rows("qr_canard_dev"):
        history = tuple(("user" if i < 2 or i % 2 == 0 else "assistant", text) for i, text in enumerate(row["history"]))
        yield RewriteRow(row["id"], history, row["question"], row["rewrite"])


def _turns(row: Mapping[str, list[dict[str, str]]]) -> tuple[tuple[str, str], ...]:
    return tuple((turn["role"], turn["content"]) for turn in row["history"])


def cast_ikat(folder: DataFolder) -> Iterator[RewriteRow]:
    """CAsT and iKAT; ``source`` begins with either name."""
    for row in folder.rows("qr_cast_ikat"):
        yield RewriteRow(row["id"], _turns(row), row["question"], row["rewrite"], row.get("source", ""))


def alexa(folder: DataFolder) -> Iterator[RewriteRow]:
    """Alexa CQR: spoken requests. Rows have no ids: theirs are their numbers in the file."""
    for number, row in enumerate(folder.rows("qr_alexa_cqr")):
        yield RewriteRow(str(number), _turns(row), row["question"], row["rewrite"])


REWRITES: Mapping[str, Callable[[DataFolder], Iterator[RewriteRow]]] = {
    "canard": canard,
    "cast-ikat": cast_ikat,
    "alexa": alexa,
}
