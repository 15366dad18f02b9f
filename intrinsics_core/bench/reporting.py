"""What was seen, as numbers: value, 95% interval, baselines, paired differences, published numbers, cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from intrinsics_core.bench.base import Case, Observed, Table
from intrinsics_core.bench.intervals import Statistic, difference, interval, mean_of, pooled
from intrinsics_core.bench.running import Seen


@dataclass(frozen=True)
class Number:
    """A value with its 95% bootstrap interval (None where there are too few cases for one)."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Line:
    """One measure on one set. ``n`` counts the cases that it is of, ``failed`` those that ended in an error.

    ``against``: the other runtime's number; ``difference``: ours minus theirs, on the cases that both ended.
    """

    set: str
    measure: str
    n: int
    failed: int
    ours: Number
    baselines: Mapping[str, Number] = field(default_factory=dict)
    against: Number | None = None
    difference: Number | None = None
    published: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True)
class Report:
    """A table filled in. ``cost``: requests and tokens of a case; ``errors``: the first of each set."""

    table: str
    runtime: str
    profile: str
    lines: Sequence[Line]
    missing: Mapping[str, str] = field(default_factory=dict)
    cost: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)
    against: str | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def report(
    table: Table, cases: Sequence[Case], found: Sequence[Seen], *, runtime: str, profile: str,
    missing: Mapping[str, str] | None = None, other: tuple[str, Sequence[Seen]] | None = None,
) -> Report:  # fmt: skip
    """Fill a table in.

    Args:
        table: the table that is filled in.
        cases, found: in the same order.
        runtime: name of the runtime, for the heading.
        profile: name of the profile, for the heading.
        missing: by name of a set that is missing, the reason.
        other: the name of another runtime, and what it showed on the same cases.

    Returns:
        The filled-in table.
    """
    lines: list[Line] = []
    costs, errors = {}, {}
    for name in dict.fromkeys(case.set for case in cases):
        at = [i for i, case in enumerate(cases) if case.set == name]
        ended = [i for i in at if found[i].observed is not None]
        failed = [found[i].error for i in at if found[i].error]
        costs[name] = _cost([found[i] for i in ended])
        if failed:
            errors[name] = str(failed[0])
        ours = _observed(found, ended)
        plain = {
            baseline: [cases[i].baselines[baseline]() for i in ended]
            for baseline in dict.fromkeys(b for i in ended for b in cases[i].baselines)
            if all(baseline in cases[i].baselines for i in ended)
        }
        theirs = other[1] if other else None
        both = [i for i in ended if theirs and theirs[i].observed is not None]
        for measure, statistic in _statistics(table, ours):
            if (value := _number(ours, statistic)) is None:
                continue
            against = gap = None
            if theirs and both:
                pair = _observed(found, both), _observed(theirs, both)
                against, three = _number(pair[1], statistic), difference(*pair, statistic)
                gap = None if three is None else Number(*three)
            lines.append(
                Line(name, measure, len(ended), len(failed), value,
                     {b: number for b, rows in plain.items() if (number := _number(rows, statistic))},
                     against, gap, [asdict(p) for p in table.published if (p.set, p.measure) == (name, measure)])
            )  # fmt: skip
    return Report(table.name, runtime, profile, lines, missing or {}, costs, errors, other[0] if other else None)


def _observed(found: Sequence[Seen], at: Sequence[int]) -> list[Observed]:
    return [observed for i in at if (observed := found[i].observed) is not None]


def _statistics(table: Table, cases: Sequence[Observed]) -> list[tuple[str, Statistic]]:
    """By name, every statistic that these cases can have: the table's measures, and the mean of each value."""
    levels = dict.fromkeys(level for case in cases for level in case.labelled)
    several = len(levels) > 1
    measures = [
        (f"{name}, by {level}" if several else name, pooled(level, measure))
        for level in levels
        for name, measure in table.measures.get(level, {}).items()
    ]
    return measures + [(name, mean_of(name)) for name in dict.fromkeys(v for case in cases for v in case.values)]


def _number(cases: Sequence[Observed], statistic: Callable[[Sequence[Observed]], float | None]) -> Number | None:
    if (value := statistic(cases)) is None:
        return None
    return Number(value, *(interval(cases, statistic) or (None, None)))


def _cost(found: Sequence[Seen]) -> dict[str, float]:
    names = ("requests", "prompt_tokens", "completion_tokens")
    totals = {name: sum(getattr(seen, name) for seen in found) / max(1, len(found)) for name in names}
    return {name: value for name, value in totals.items() if value}


def markdown(found: Report) -> str:
    """The report as a Markdown table. Names in it are ours; nothing of the data's text is."""
    plain = list(dict.fromkeys(name for line in found.lines for name in line.baselines))
    head = ["set", "measure", "n", "failed", found.runtime, *plain]
    head += [found.against, "difference"] if found.against else []
    head += ["published"] if any(line.published for line in found.lines) else []
    rows = []
    for line in found.lines:
        row = [line.set, line.measure, str(line.n), str(line.failed), f"**{shown(line.ours)}**"]
        row += [shown(line.baselines.get(name)) for name in plain]
        row += [shown(line.against), shown(line.difference, signed=True)] if found.against else []
        if "published" in head:
            row.append("; ".join(f"{p['value']:.3g} ({p['system']})" for p in line.published))
        rows.append(row)
    lines = [f"## {found.table} ({found.runtime}, profile {found.profile})", ""]
    lines += ["| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *rows)]
    if any(found.cost.values()):
        each = (f"{name}: " + ", ".join(f"{v:,.1f} {k.replace('_', ' ')}" for k, v in cost.items())
                for name, cost in found.cost.items() if cost)  # fmt: skip
        lines += ["", "Cost of a case. " + "; ".join(each) + "."]
    sources = dict.fromkeys(p["source"] for line in found.lines for p in line.published)
    lines += ["", *(f"Published, on other rows of the set: {source}." for source in sources)] if sources else []
    lines += ["", *(f"- no {name}: {why}" for name, why in found.missing.items())] if found.missing else []
    lines += ["", *(f"- first error of {name}: {why}" for name, why in found.errors.items())] if found.errors else []
    return "\n".join(lines) + "\n"


def shown(number: Number | None, *, signed: bool = False) -> str:
    """``.812 [.790, .834]``, or an empty text."""
    if number is None:
        return ""
    form = "{:+.3f}" if signed else "{:.3f}"
    value = form.format(number.value)
    if number.low is None or number.high is None:
        return value
    return f"{value} [{form.format(number.low)}, {form.format(number.high)}]"
