"""A reliability picture as SVG: what was predicted against how often it was so, before and after calibration.

On the diagonal a probability means what it says. Text in the picture is escaped; it loads nothing from anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from intrinsics_core.render.text import clean

if TYPE_CHECKING:
    from intrinsics_core.evaluation.calibration import Bin, Calibration, Quality

_SIDE, _LEFT, _TOP, _FOOT = 320, 56, 44, 92  # pixels: the square, and what is around it
_BEFORE, _AFTER = "#9a6b00", "#1a5fb4"
_LARGEST = 9.0  # radius of the fullest bin


def picture(fitted: Calibration, title: str) -> str:
    """The SVG document. Scores that are no probabilities have no curve before calibration."""
    width, height = _SIDE + _LEFT + 24, _SIDE + _TOP + _FOOT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'role="img" font-family="sans-serif" font-size="12">',
        f"<title>{_text(title)}</title>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        f'<text x="{_LEFT}" y="22" font-size="14" font-weight="bold">{_text(title)}</text>',
        *_axes(),
        *_curve(fitted.before.table or (), _BEFORE, "4 3"),
        *_curve(fitted.after.table or (), _AFTER, ""),
        *_marked(fitted.threshold),
        *_legend(fitted),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _text(value: str) -> str:
    return escape(clean(value), {'"': "&quot;"})


def _x(share: float) -> float:
    return round(_LEFT + share * _SIDE, 1)


def _y(share: float) -> float:
    return round(_TOP + (1 - share) * _SIDE, 1)


def _axes() -> list[str]:
    ticks = []
    for tenths in range(0, 11, 2):
        share = tenths / 10
        ticks += [
            f'<line x1="{_x(share)}" y1="{_y(0)}" x2="{_x(share)}" y2="{_y(1)}" stroke="#eee"/>',
            f'<line x1="{_x(0)}" y1="{_y(share)}" x2="{_x(1)}" y2="{_y(share)}" stroke="#eee"/>',
            f'<text x="{_x(share)}" y="{_y(0) + 16}" text-anchor="middle">{share:g}</text>',
            f'<text x="{_x(0) - 6}" y="{_y(share) + 4}" text-anchor="end">{share:g}</text>',
        ]
    middle = _y(0.5)
    return [
        *ticks,
        f'<rect x="{_x(0)}" y="{_y(1)}" width="{_SIDE}" height="{_SIDE}" fill="none" stroke="#888"/>',
        f'<line x1="{_x(0)}" y1="{_y(0)}" x2="{_x(1)}" y2="{_y(1)}" stroke="#888" stroke-dasharray="2 3"/>',
        f'<text x="{_x(0.5)}" y="{_y(0) + 34}" text-anchor="middle">predicted</text>',
        f'<text x="14" y="{middle}" text-anchor="middle" transform="rotate(-90 14 {middle})">observed</text>',
    ]


def _curve(table: Sequence[Bin], colour: str, dashes: str) -> list[str]:
    """A point for each bin, its area the number of examples in it."""
    if not table:
        return []
    most = max(row.count for row in table)
    points = " ".join(f"{_x(row.predicted)},{_y(row.observed)}" for row in table)
    dots = [
        f'<circle cx="{_x(row.predicted)}" cy="{_y(row.observed)}" fill="{colour}" fill-opacity=".75" '
        f'r="{max(2.0, _LARGEST * (row.count / most) ** 0.5):.1f}"><title>{row.count} examples</title></circle>'
        for row in table
    ]
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return [f'<polyline points="{points}" fill="none" stroke="{colour}"{dashed}/>', *dots]


def _marked(threshold: float) -> list[str]:
    x = _x(min(1.0, threshold))
    return [f'<line x1="{x}" y1="{_y(0)}" x2="{x}" y2="{_y(1)}" stroke="#a51d2d"><title>threshold</title></line>']


def _legend(fitted: Calibration) -> list[str]:
    lines = (
        (_BEFORE, f"before: {_measured(fitted.before)}"),
        (_AFTER, f"after: {_measured(fitted.after)}"),
        ("#a51d2d", f"threshold {fitted.threshold:.3f} ({fitted.objective}), {fitted.examples} examples"),
    )
    return [
        f'<text x="{_LEFT}" y="{_y(0) + 52 + 15 * i}" fill="{colour}">{_text(words)}</text>'
        for i, (colour, words) in enumerate(lines)
    ]


def _measured(quality: Quality) -> str:
    ece = "not a probability" if quality.ece is None else f"ECE {quality.ece:.3f}, Brier {quality.brier:.3f}"
    return f"AUROC {quality.auroc:.3f}, {ece}"
