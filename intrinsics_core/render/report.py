"""A whole conversation as one HTML page: nothing loaded, no script, readable without colour and in the dark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from intrinsics_core.protocol.task import Document
from intrinsics_core.render import html, text
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
    html.environment().globals.update(ranked=ranked, relevance=relevance, titles=titles)
    return html.write(template, *styles, **values)


def ranked(t: Turn) -> dict[str, Any]:
    """What the picture of a ranking shows: where each retrieved document stood before and after."""
    before = [d.id for d in t.retrieved]
    after = [r.document_id for r in t.ranking.ranking] if t.ranking else before
    shown = [i for i in before[:_SHOWN] if i in after]
    names = {d.id: d.title or d.id or "" for d in t.retrieved}
    ranking = t.ranking.ranking if t.ranking else ()
    scores: dict[str | None, str] = {r.document_id: f" {r.score:.2f}" for r in ranking}
    kept = {d.id for d in t.kept} or set(shown)
    places = {identity: place for place, identity in enumerate([i for i in after if i in shown])}
    rows = []
    for place, identity in enumerate(shown):
        label = relevance(t, t.retrieved[place])
        rows.append(
            {
                "before": 40 + _ROW * place,
                "after": 40 + _ROW * places[identity],
                "place": places[identity] + 1,
                "was": f"retrieved as number {place + 1};",
                "name": _short(names[identity]),
                "kind": label.split()[0] if label else "relevant",
                "kept": identity in kept,
                "score": scores.get(identity, ""),
                "label": label,
            }
        )
    return {
        "rows": rows,
        "order": ", ".join(names[i] for i in after if i in shown),
        "left": _LEFT,
        "right": _RIGHT,
        "middle": (_LEFT + _RIGHT) // 2,
        "width": _WIDTH,
        "height": 26 + _ROW * max(len(shown), 1),
    }


def relevance(t: Turn, document: Document) -> str:
    judgements = t.relevance.judgements if t.relevance else ()
    return next((j.label for j in judgements if j.document_id == document.id), "")


def titles(t: Turn) -> dict[str | None, str]:
    """Titles of documents by id."""
    return {d.id: d.title for d in (*t.kept, *t.retrieved) if d.title}


def _short(name: str) -> str:
    name = text.clean(name)
    return name if len(name) <= _TITLE else name[: _TITLE - 1] + "…"
