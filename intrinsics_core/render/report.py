"""A whole conversation as one HTML page: nothing loaded, no script, readable without colour and in the dark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from intrinsics_core.protocol.task import Document
from intrinsics_core.render import html, text
from intrinsics_core.render.positions import positions
from intrinsics_core.render.trace import Turn

_SHOWN = 8  # documents in the picture of a ranking
_ROW, _LEFT, _RIGHT, _WIDTH = 30, 300, 460, 760  # its geometry, in units of its view box
_TITLE = 38  # characters of a title in it


def report(title: str, lead: str, turns: Sequence[Turn], *, notes: Sequence[str] = ()) -> str:
    """The page.

    Args:
        title: heading and window title.
        lead: what this is, in a sentence or two.
        turns: the conversation, in order.
        notes: paragraphs at the foot.

    Returns:
        HTML text of a whole page.
    """
    styles = ("style.css", "turn.css", "page.css")
    return _write("page.html", *styles, title=title, lead=lead, turns=turns, notes=notes) + "\n"


def fragment(t: Turn, number: int = 1) -> str:
    """One question and what became of it, for a notebook: without the time it took, which is another each time."""
    timeless = replace(t, seconds=0.0)
    return _write("fragment.html", "style.css", "turn.css", turn=timeless, number=number)


def turn(t: Turn, number: int = 1) -> str:
    """One question and what became of it, as a section of a page that has the styles."""
    return _write("fragment.html", turn=t, number=number)


def _write(template: str, *styles: str, **values: Any) -> str:
    html.environment().globals.update(ranked=ranked, labels=labels)
    return html.write(template, *styles, **values)


def ranked(t: Turn) -> dict[str, Any]:
    """What the picture of a ranking shows: where each retrieved document stood before and after."""
    rows_of = t.ranking.ranking if t.ranking else ()
    found = positions(((r.document_id, r.index) for r in rows_of), t.retrieved)
    scores = {at: f" {r.score:.2f}" for at, r in zip(found, rows_of, strict=True) if r.score is not None}
    after = [at for at in found if at is not None] if t.ranking else list(range(len(t.retrieved)))
    shown = sorted(at for at in after if at < _SHOWN)
    names = [d.title or d.id or "" for d in t.retrieved]
    shared = {identity for identity, times in Counter(d.id for d in t.retrieved).items() if times > 1}
    kept = {_identity(d, shared) for d in t.kept}
    order = [at for at in after if at in shown]
    places = {at: place for place, at in enumerate(order)}
    judged = labels(t)
    rows = []
    for line, at in enumerate(shown):
        document, label = t.retrieved[at], judged[at]
        rows.append(
            {
                "before": 40 + _ROW * line,
                "after": 40 + _ROW * places[at],
                "number": at + 1,
                "place": places[at] + 1,
                "was": f"retrieved as number {at + 1};",
                "name": _short(names[at]),
                "kind": label.split()[0] if label else "relevant",
                "kept": not kept or _identity(document, shared) in kept,
                "score": scores.get(at, ""),
                "label": label,
            }
        )
    return {
        "rows": rows,
        "order": ", ".join(names[at] for at in order),
        "left": _LEFT,
        "right": _RIGHT,
        "middle": (_LEFT + _RIGHT) // 2,
        "width": _WIDTH,
        "height": 26 + _ROW * max(len(shown), 1),
    }


def labels(t: Turn) -> list[str]:
    """The label of each retrieved document, "" where it has none."""
    judgements = t.relevance.judgements if t.relevance else ()
    found = positions(((j.document_id, j.index) for j in judgements), t.retrieved)
    judged = dict(zip(found, (j.label for j in judgements), strict=True))
    return [judged.get(at, "") for at in range(len(t.retrieved))]


def _identity(document: Document, shared: Collection[str | None]) -> tuple[str | None, str]:
    """What a document is known by in another list: its id, and its text too where others share that id."""
    return document.id, document.text if document.id in shared else ""


def _short(name: str) -> str:
    name = text.clean(name)
    return name if len(name) <= _TITLE else name[: _TITLE - 1] + "…"
