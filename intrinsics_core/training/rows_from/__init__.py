"""Rows to train on, from open sets in a data folder: ``build("answerability", folder)``.

A user's own rows are better: these show what rows are like, and serve where there are none yet. Each set's licence is
in :data:`SETS`; weights that will be published should be trained on the open ones alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from intrinsics_core.bench.folder import DataFolder, some
from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.training.rows_from import answers, certainty, questions, rewrites
from intrinsics_core.training.rows_from.filters import kept

TrainingRow = dict[str, Any]


@dataclass(frozen=True)
class OpenSet:
    """``open``: whether weights trained on it may be published under an open licence."""

    name: str
    licence: str
    open: bool
    rows: Callable[[DataFolder], Iterator[TrainingRow]]


SETS: Mapping[str, tuple[OpenSet, ...]] = {
    "answerability": (
        OpenSet("squad2", "CC BY-SA 4.0", True, questions.answerability_of_squad),
        OpenSet("clapnq", "Apache-2.0, text CC BY-SA", True, questions.answerability_of_clapnq),
    ),
    "context-relevance": (OpenSet("squad2", "CC BY-SA 4.0", True, questions.relevance_of_squad),),
    "query-rewrite": (
        OpenSet("canard", "CC BY-SA 4.0", True, rewrites.canard),
        OpenSet("cast-ikat", "MIT", True, rewrites.cast),
        OpenSet("alexa", "MIT-0", True, rewrites.alexa),
    ),
    "hallucination-detection": (OpenSet("wikipedia", "CC BY-SA", True, answers.verdicts),),
    "citations": (OpenSet("wikipedia", "CC BY-SA", True, answers.links),),
    "uncertainty": (OpenSet("recorded", "none stated", False, certainty.recorded),),
}


def build(
    intrinsic: str, data: str | Path, *, sets: tuple[str, ...] = (), limit: int | None = None
) -> tuple[list[TrainingRow], list[str]]:
    """Rows for an intrinsic, and why others were left out.

    Args:
        data: a folder with the sets' files.
        sets: names of :data:`SETS`; empty: all that are openly licensed.
        limit: most rows of a set, drawn, always the same.

    Raises:
        InvalidInput: there are none for it, no set has that name, or its file is not in the folder.
    """
    known = SETS.get(intrinsic)
    if known is None:
        raise InvalidInput(f"there is no open data set for {intrinsic}", expected=f"one of {', '.join(SETS)}")
    if unknown := [name for name in sets if name not in {one.name for one in known}]:
        raise InvalidInput(f"{unknown[0]!r} is not a data set for {intrinsic}",
                           expected=", ".join(one.name for one in known))  # fmt: skip
    wanted = [one for one in known if (one.name in sets if sets else one.open)]
    if not wanted:
        raise InvalidInput(f"no set for {intrinsic} is openly licensed", expected="sets: "
                           + ", ".join(f"{one.name} ({one.licence})" for one in known))  # fmt: skip
    folder = DataFolder(data)
    made = itertools.chain.from_iterable(some(list(one.rows(folder)), limit) for one in wanted)
    return kept(intrinsic, list(made))
