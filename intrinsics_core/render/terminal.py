"""Turns for a terminal, with rich. All text goes in as `Text`: nothing in it is taken for markup or an escape code."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from intrinsics_core.protocol.results import CheckedCitation, Citation, QueryRewrite, SentenceVerdict
from intrinsics_core.render.html import TONES, tone
from intrinsics_core.render.positions import positions
from intrinsics_core.render.report import labels
from intrinsics_core.render.text import clean, numbered_sources, pieces, supporting
from intrinsics_core.render.trace import Turn

_STYLES = {"ok": "green", "warn": "yellow", "bad": "red", "na": "bright_black"}
_MARKED = {"ok": "", "warn": "underline yellow", "bad": "underline bold red", "na": "dim"}
_UNLABELLED = "blue"
_BLOCKS = 12  # width of a bar, in characters


def turn(t: Turn, number: int = 1) -> RenderableType:
    """One question and what became of it."""
    parts: list[RenderableType] = [Rule(Text(f"question {number}", "dim"), align="left", style="dim"),
                                   Text.assemble(("You  ", "bold cyan"), (clean(t.question), "bold"))]  # fmt: skip
    if t.remark:
        parts.append(Text(clean(t.remark), "dim italic"))
    if t.rewrite:
        parts.append(_step("rewrite", _rewritten(t.rewrite)))
    if t.retrieved:
        parts.append(_step("retrieve, rerank", _ranked(t)))
    if t.gate:
        verdict = _label(t.gate.label)
        parts.append(_step("gate", Text.assemble(verdict, "  ", bar(t.gate.probability, t.gate.label))))
    verdicts = t.hallucination.sentences if t.hallucination else ()
    cited = supporting(verdicts, t.citations.citations if t.citations else ())
    border = _STYLES[tone(t.worst) or "na"]
    inside: list[RenderableType] = [answer(t.answer, verdicts, cited), *_flags(t), *_sources(t, cited)]
    heading = "canned answer" if t.blocked else "answer"
    parts.append(Panel(Group(*inside), title=heading, title_align="left", border_style=border, padding=(0, 1)))
    if meters := _meters(t):
        parts.append(_step("scores", meters))
    return Group(*parts, Text())


def answer(
    response: str,
    verdicts: Sequence[SentenceVerdict] = (),
    citations: Sequence[Citation] = (),
    marks: Sequence[CheckedCitation] = (),
) -> Text:
    """A response with flagged sentences, citation numbers and wrong marks.

    Args:
        response: the text of the response.
        verdicts: sentence verdicts with offsets in the response.
        citations: citations with offsets in the response.
        marks: the response's own citations, checked; those that do not hold are shown.

    Returns:
        Text for a rich console.
    """
    said = Text()
    for piece in pieces(response, verdicts, citations, marks):
        said.append(clean(piece.text), _MARKED[TONES[piece.verdict.label]] if piece.verdict else "")
        if piece.wrong and piece.wrong.text.endswith(piece.text):
            said.append(f" ({(piece.wrong.verdict or '').replace('_', ' ')})", _MARKED["bad"])
        for number in piece.cited:
            said.append(f"[{number}]", "bold blue")
    return said


def bar(score: float | None, label: str | None = None) -> Text:
    """A score in 0..1 as blocks, in the colour of its label if it has one, and a number."""
    if score is None:
        return Text("–", "dim")
    filled = round(min(1.0, max(0.0, score)) * _BLOCKS)
    return Text.assemble(
        ("━" * filled, _STYLES.get(tone(label) or "", _UNLABELLED)),
        ("┄" * (_BLOCKS - filled), "bright_black"),
        f" {score:.2f}",
    )


def _step(name: str, inner: RenderableType) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    table.add_column(width=16, style="cyan", no_wrap=True)
    table.add_column()
    table.add_row(Text(name, "cyan"), inner)
    return Padding(table, (0, 0, 0, 2))


def _rewritten(rewrite: QueryRewrite) -> Text:
    more = rewrite.retrieval_query != rewrite.query
    if not rewrite.changed and not more:
        return Text("stands alone, kept as it is", "dim")
    searched = f"\nsearched for: {clean(rewrite.retrieval_query)}" if more else ""
    return Text.assemble(clean(rewrite.query), (searched, "dim"))


def _label(label: str) -> Text:
    return Text(label, _STYLES[TONES.get(label, "na")])


def _ranked(t: Turn) -> RenderableType:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for heading in ("rank", "retrieved as", "passage", "score", "relevance"):
        table.add_column(heading, justify="right" if heading in ("rank", "retrieved as", "score") else "left")
    rows = (
        [(r.document_id, r.index, r.score) for r in t.ranking.ranking]
        if t.ranking
        else [(d.id or str(at), at, d.score) for at, d in enumerate(t.retrieved)]
    )
    found = positions(((identity, index) for identity, index, _ in rows), t.retrieved)
    judged = labels(t)
    for place, (at, (identity, _, score)) in enumerate(zip(found, rows, strict=True), start=1):
        was, name, label = place, identity, ""
        if at is not None:
            was, name, label = at + 1, t.retrieved[at].title or t.retrieved[at].id or "", judged[at]
        moved = "green" if was > place else "red" if was < place else "dim"
        table.add_row(Text(str(place)), Text(str(was), moved), Text(clean(name)),
                      Text("" if score is None else f"{score:.2f}"), _label(label))  # fmt: skip
    return table


def _flags(t: Turn) -> list[RenderableType]:
    return [
        Text.assemble(("⚠ ", "bold red"), _label(v.label), ": ", (clean(v.explanation or v.text), "italic"))
        for v in t.flagged
    ]


def _sources(t: Turn, citations: Sequence[Citation]) -> list[RenderableType]:
    lines = [
        Text.assemble((f"[{number}] ", "bold blue"), (clean(title or c.document_id), "dim"),
                      (f" “{clean(c.document_text)}”", "dim"))
        for number, c, title in numbered_sources(citations, t.sources)
    ]  # fmt: skip
    return [Text(), *lines] if lines else []


def _meters(t: Turn) -> Text | None:
    shown = [Text.assemble((f"{name} ", "dim"), bar(score, label)) for name, score, label in t.scores]
    return Text("   ").join(shown) if shown else None
