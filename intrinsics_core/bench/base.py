"""What a table is made of: cases, observations, and the measures that turn observations into numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from intrinsics_core.bench.folder import DataFolder
from intrinsics_core.protocol.call import Call

# One judgement against the truth: (what is true, the label given, the score given or None).
Labelled = tuple[Any, Any, float | None]


@dataclass(frozen=True)
class Observed:
    """What one case showed: numbers of its own (``values``), judgements to be counted over all cases (``labelled``, by
    level, e.g. ``"sentence"``).

    Plain JSON, so that a run can stop and go on.
    """

    values: Mapping[str, float] = field(default_factory=dict)
    labelled: Mapping[str, Sequence[Labelled]] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        given = {"values": dict(self.values), "labelled": {k: [list(v) for v in vs] for k, vs in self.labelled.items()}}
        return {key: value for key, value in given.items() if value}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Observed:
        levels = data.get("labelled", {}).items()
        return cls(data.get("values", {}), {level: [tuple(v) for v in rows] for level, rows in levels})


@dataclass(frozen=True)
class Case:
    """One row of a set: what to run, how its result is held against the truth, and what plain methods say.

    Attributes:
        set: the data set it is of.
        call: makes the call; raises InvalidInput where the row cannot be one.
        observe: the result held against the truth.
        baselines: by name, what a plain method shows on the same case; computed when asked.
    """

    set: str
    call: Callable[[], Call[Any]]
    observe: Callable[[Any], Observed]
    baselines: Mapping[str, Callable[[], Observed]] = field(default_factory=dict)


Said = tuple[Any, float | None]  # the label given, the score given or None


def judged_case(
    set: str,
    call: Callable[[], Call[Any]],
    truth: tuple[str, Any],
    read: Callable[[Any], Said],
    plain: Mapping[str, Callable[[], Said]],
) -> Case:
    """A case that is one judgement.

    Args:
        set, call: as :class:`Case` has them.
        truth: the level of the judgement, and what is true.
        read: the judgement in a result.
        plain: by name, the judgements of plain methods.
    """

    level, true = truth

    def seen(said: Callable[[], Said]) -> Observed:
        return Observed(labelled={level: [(true, *said())]})

    baselines = {name: partial(seen, method) for name, method in plain.items()}
    return Case(set, call, lambda found: seen(lambda: read(found)), baselines)


def by_half(share: float) -> Said:
    """The judgement of a plain method that gives a share: true from one half on."""
    return share >= 0.5, share


# A measure over labelled judgements: a number, or None where it is not defined (one class only).
Measure = Callable[[Sequence[Labelled]], float | None]


@dataclass(frozen=True)
class Published:
    """A number that a paper gives, and where; never mixed with ours: other data, other rows, other retrievers."""

    set: str
    measure: str
    value: float
    system: str
    source: str


@dataclass(frozen=True)
class Table:
    """A table of the papers.

    Attributes:
        name: as the command has it.
        sets: by name, the cases of a data set, in an order that never changes.
        measures: by level of :attr:`Observed.labelled`, the measures over it.
        own: one case from a row of the user's own file, or None where the table cannot be filled that way.
        columns: what such a row must have, and what is in it.
        published: what papers report for the same task.
    """

    name: str
    sets: Mapping[str, Callable[[DataFolder], Iterator[Case]]]
    measures: Mapping[str, Mapping[str, Measure]] = field(default_factory=dict)
    own: Callable[[Mapping[str, Any]], Case] | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    published: Sequence[Published] = ()
