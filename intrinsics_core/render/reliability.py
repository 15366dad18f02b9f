"""A reliability picture: what was predicted against how often it was so, before and after calibration.

On the diagonal a probability means what it says.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from intrinsics_core.protocol.errors import RuntimeUnavailable

if TYPE_CHECKING:
    from intrinsics_core.calibration.fitting import Calibration, Quality

_LARGEST = 250  # area of the fullest bin's point


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
    figure = Figure(figsize=(5, 6.2), layout="constrained")
    axes = figure.add_subplot(title=title, xlabel="predicted", ylabel="observed", aspect=1)
    axes.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
    axes.plot([0, 1], [0, 1], ":", color="#888888")
    for name, quality, line in (("before", fitted.before, "--"), ("after", fitted.after, "-")):
        table = quality.table or ()
        most = max((row.count for row in table), default=1)
        predicted, observed = [row.predicted for row in table], [row.observed for row in table]
        (drawn,) = axes.plot(predicted, observed, line, label=f"{name}: {_measured(quality)}")
        sizes = [_LARGEST * row.count / most for row in table]
        axes.scatter(predicted, observed, sizes, color=drawn.get_color(), alpha=0.75)
    words = f"threshold {fitted.threshold:.3f} ({fitted.objective}), {fitted.examples} examples"
    axes.axvline(fitted.threshold, color="#a51d2d", label=words)
    axes.grid(alpha=0.3)
    figure.legend(loc="outside lower center", frameon=False)
    if file.suffix == ".png":
        figure.savefig(file, format="png")
    else:
        figure.savefig(file, format="svg", metadata={"Date": None})


def _measured(quality: Quality) -> str:
    ece = "not a probability" if quality.ece is None else f"ECE {quality.ece:.3f}, Brier {quality.brier:.3f}"
    return f"AUROC {quality.auroc:.3f}, {ece}"
