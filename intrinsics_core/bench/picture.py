"""A report as a picture: each measure with its interval, the baselines beside it."""

from __future__ import annotations

from pathlib import Path

from intrinsics_core.bench.reporting import Report
from intrinsics_core.protocol.errors import RuntimeUnavailable

_MARKS = ("s", "^", "v", "D", "x")


def draw(report: Report, file: Path) -> None:
    """Write the picture; its format is the file's suffix (``.svg``, ``.png``). Only measures in -1 .. 1.5 are drawn.

    Raises:
        RuntimeUnavailable: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise RuntimeUnavailable("pictures need matplotlib: pip install matplotlib") from error
    lines = [line for line in report.lines if -1 <= line.ours.value <= 1.5]
    if not lines:
        return
    names = list(dict.fromkeys(name for line in lines for name in line.baselines))
    figure = Figure(figsize=(8, 1.2 + 0.32 * len(lines)), layout="constrained")
    axes = figure.add_subplot()
    for y, line in enumerate(lines):
        low, high = line.ours.low, line.ours.high
        if low is not None and high is not None:
            axes.plot([low, high], [y, y], color="#1f5fa8", linewidth=3, alpha=0.4, zorder=1)
        axes.plot(line.ours.value, y, "o", color="#1f5fa8", zorder=3, label=None if y else report.runtime)
    for mark, name in zip(_MARKS, names, strict=False):
        found = [(line.baselines[name].value, y) for y, line in enumerate(lines) if name in line.baselines]
        axes.plot([x for x, _ in found], [y for _, y in found], mark, color="#888888", label=name, zorder=2)
    axes.set_yticks(range(len(lines)), [f"{line.set}: {line.measure}" for line in lines])
    axes.invert_yaxis()
    axes.grid(axis="x", alpha=0.3)
    axes.set_title(report.table)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.06), ncols=4, frameon=False)
    figure.savefig(file, metadata={"Date": None} if file.suffix == ".svg" else None)
