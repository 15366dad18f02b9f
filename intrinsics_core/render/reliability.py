"""A reliability picture: what was predicted against how often it was so, before and after calibration.

On the diagonal a probability means what it says. Neighbouring bins are joined until each has enough examples, and each
has its 95% interval: a picture of two dozen examples shows how little they say.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from intrinsics_core.protocol.errors import RuntimeUnavailable

if TYPE_CHECKING:
    from intrinsics_core.calibration.fitting import Bin, Calibration, Quality

_LEAST = 5  # examples of a point
_POINTS = 8  # at most, where there are many
_CONFIDENCE = 0.95
_APART = 0.008  # how far the two points of one place are moved from each other


def draw(fitted: Calibration, title: str, file: Path) -> None:
    """Write the picture: PNG into a file that is called so, else SVG.

    Scores that are no probabilities have no curve before calibration.

    Args:
        fitted: the calibration whose reliability is drawn.
        title: title of the picture.
        file: the file to write; its suffix chooses the format.

    Raises:
        RuntimeUnavailable: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise RuntimeUnavailable("pictures need matplotlib: pip install matplotlib") from error
    from intrinsics_core.calibration.promises import interval

    figure = Figure(figsize=(5, 6.2), layout="constrained")
    axes = figure.add_subplot(title=title, xlabel="predicted", ylabel="observed", aspect=1)
    axes.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
    axes.plot([0, 1], [0, 1], ":", color="#888888")
    for name, quality, marker, aside in (("before", fitted.before, "s", -_APART), ("after", fitted.after, "o", _APART)):
        points = joined(quality.table or ())
        ranges = [interval(round(point.observed * point.count), point.count, _CONFIDENCE) for point in points]
        drawn = axes.errorbar(
            [point.predicted + aside for point in points],
            [point.observed for point in points],
            yerr=[
                [point.observed - low for point, (low, _) in zip(points, ranges, strict=True)],
                [high - point.observed for point, (_, high) in zip(points, ranges, strict=True)],
            ],
            fmt=marker,
            capsize=3,
            label=f"{name}: {_measured(quality)}",
        )
        drawn.lines[0].set_gid(f"points-{name}")
    words = f"threshold {fitted.threshold:.3f} ({fitted.objective}), {fitted.examples} examples"
    axes.axvline(fitted.threshold, color="#a51d2d", label=words)
    axes.grid(alpha=0.3)
    figure.legend(loc="outside lower center", frameon=False)
    if file.suffix == ".png":
        figure.savefig(file, format="png")
    else:
        figure.savefig(file, format="svg", metadata={"Date": None})


def joined(table: Sequence[Bin]) -> list[Bin]:
    """Neighbouring bins as one, until each has an eighth of the examples, and at least five.

    Args:
        table: the bins of a reliability table, from low to high.

    Returns:
        Fewer bins, with the same examples. Of fewer than five examples, one.
    """
    least = max(_LEAST, sum(row.count for row in table) / _POINTS)
    found: list[Bin] = []
    for row in table:
        found.append(_together(found.pop(), row) if found and found[-1].count < least else row)
    if len(found) > 1 and found[-1].count < least:
        last = found.pop()
        found.append(_together(found.pop(), last))
    return found


def _together(one: Bin, two: Bin) -> Bin:
    count = one.count + two.count

    def mean(first: float, second: float) -> float:
        return (one.count * first + two.count * second) / count

    observed = mean(one.observed, two.observed)
    return type(one)(one.low, two.high, count, mean(one.predicted, two.predicted), observed)


def _measured(quality: Quality) -> str:
    ece = "not a probability" if quality.ece is None else f"ECE {quality.ece:.3f}, Brier {quality.brier:.3f}"
    return f"AUROC {quality.auroc:.3f}, {ece}"
