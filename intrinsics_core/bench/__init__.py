"""The papers' tables, for any runtime on a folder of data: ``intrinsics bench TABLE``.

One module a table. A table makes cases (a call, what is true, what the plainest method would say); :mod:`.running` runs
them and keeps what was seen; :mod:`.reporting` turns that into numbers with intervals.
"""

from __future__ import annotations

from importlib import import_module

from intrinsics_core.bench.base import Table
from intrinsics_core.protocol.names import find, unknown

# name -> its module; each has a `TABLE`. Named as the intrinsic is.
NAMES = (
    "query-rewrite",
    "query-expansion",
    "context-relevance",
    "answerability",
    "reranking",
    "uncertainty",
    "hallucination-detection",
    "citations",
    "fact-check",
    "evaluate",
    "flows",
)


def table(name: str) -> Table:
    """A table by its name.

    Raises:
        InvalidInput: there is none of that name; the message lists those that there are.
    """
    if (known := find(name, NAMES)) is None:
        raise unknown("there is no such table", name, NAMES)
    name = known
    module = import_module(f"{__name__}.{name.replace('-', '_')}_table")
    found: Table = module.TABLE
    return found
