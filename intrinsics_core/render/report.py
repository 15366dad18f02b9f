"""A whole conversation as one HTML page: nothing loaded, no script, readable without colour and in the dark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from intrinsics_core.conversation import Document
from intrinsics_core.render import html, text
from intrinsics_core.render.html import bar, escape, tag
from intrinsics_core.render.trace import Turn

_SHOWN = 8  # documents in the picture of a ranking
_ROW, _LEFT, _RIGHT, _WIDTH = 30, 300, 460, 760  # its geometry, in units of its view box
_TITLE = 38  # characters of a title in it

Step = tuple[str, str, str]  # heading, tone, inner HTML


def report(title: str, lead: str, turns: Sequence[Turn], *, notes: Sequence[str] = ()) -> str:
    """The page.

    Args:
        title: heading and window title.
        lead: what this is, in a sentence or two.
        turns: the conversation, in order.
        notes: paragraphs at the foot.
    """
    sections = "".join(turn(t, number) for number, t in enumerate(turns, start=1))
    style = html.style() + html.stylesheet("turn.css") + html.stylesheet("page.css")
    foot = "".join(f"<p>{escape(note)}</p>" for note in notes)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        # Belt and braces: even if text got through unescaped, the page may load and run nothing.
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{escape(title)}</title><style>{style}</style></head><body><main>"
        f'<h1>{escape(title)}</h1><p class="lead">{escape(lead)}</p>{_glance(turns)}{_LEGEND}'
        f"{sections}<footer>{foot}</footer></main></body></html>\n"
    )


_LEGEND = (
    '<p class="ri legend">In the answers: <mark class="ok">plain text</mark> is supported by the sources, '
    '<mark class="warn">underlined amber</mark> only in part, <mark class="bad">underlined red</mark> not at all; '
    "<sup><b>[1]</b></sup> leads to the quote a sentence rests on.</p>"
)


def _glance(turns: Sequence[Turn]) -> str:
    rows = []
    for number, t in enumerate(turns, start=1):
        flagged = len(t.flagged)
        gate = tag(t.gate.label) if t.gate else "–"
        told = (
            tag("refused to guess", "na")
            if t.blocked
            else tag(f"{flagged} flagged" if flagged else "none flagged", "bad" if flagged else "ok")
        )
        certainty = bar(t.certainty.certainty, "certainty") if t.certainty else "–"
        rows.append((f'<a href="#turn-{number}">{escape(t.question)}</a>', gate, told, certainty))
    head = ("question", "the sources make it", "sentences", "certainty")
    return f'<div class="ri glance">{html.table(head, rows)}</div>'


def fragment(t: Turn, number: int = 1) -> str:
    """One question and what became of it, for a notebook: without the time it took, which is another each time."""
    styles = html.style() + html.stylesheet("turn.css")
    return f"<style>{styles}</style>{turn(replace(t, seconds=0.0), number)}"


def turn(t: Turn, number: int = 1) -> str:
    """One question and what became of it, as a section of a page that has the styles."""
    steps = [step for make in (_rewritten, _retrieved, _gated, partial(_answered, number), _trusted)
             for step in make(t)]  # fmt: skip
    items = "".join(f'<li class="step {tone}"><h3>{escape(head)}</h3>{inner}</li>' for head, tone, inner in steps)
    seconds = f" · {t.seconds:.2f} s" if t.seconds else ""
    remark = f"<p>{escape(t.remark)}</p>" if t.remark else ""
    return (
        f'<section class="turn ri" id="turn-{number}"><header><p class="count">question {number}{seconds}</p>'
        f'<h2>{escape(t.question)}</h2>{remark}</header><ol class="steps">{items}</ol></section>'
    )


def _rewritten(t: Turn) -> list[Step]:
    return [("Query rewrite", "", html.body(t.rewrite))] if t.rewrite else []


def _retrieved(t: Turn) -> list[Step]:
    if not t.retrieved:
        return []
    head = "Retrieval, reranking, relevance" if t.ranking else "Retrieval"
    passages = "".join(
        f"<p><b>{escape(d.title or d.id or '')}</b> {tag(_relevance(t, d)) if t.relevance else ''}<br>"
        f"{escape(d.text)}</p>"
        for d in t.retrieved
    )
    return [(head, "", f"{bump(t)}<details><summary>Read the passages</summary>{passages}</details>")]


def bump(t: Turn) -> str:
    """Where each retrieved document stood before and after reranking, as a picture."""
    before = [d.id for d in t.retrieved]
    after = [r.document_id for r in t.ranking.ranking] if t.ranking else before
    shown = [i for i in before[:_SHOWN] if i in after]
    names = {d.id: d.title or d.id or "" for d in t.retrieved}
    scores = {r.document_id: r.score for r in t.ranking.ranking} if t.ranking else {}
    height = 26 + _ROW * max(len(shown), 1)
    parts = []
    kept = {d.id for d in t.kept} or set(shown)
    places = {identity: place for place, identity in enumerate([i for i in after if i in shown])}
    for place, identity in enumerate(shown):
        y0, y1 = 40 + _ROW * place, 40 + _ROW * places[identity]
        label = _relevance(t, t.retrieved[place])
        kind = label.split()[0] if label else "relevant"
        name, out = escape(_short(names[identity])), "" if identity in kept else "out"
        score = f" {scores[identity]:.2f}" if identity in scores else ""
        middle = (_LEFT + _RIGHT) // 2
        parts.append(
            f'<text x="0" y="{y0 + 4}"><tspan class="head">{place + 1}</tspan> {name}</text>'
            f'<path class="{kind}" d="M{_LEFT} {y0}C{middle} {y0} {middle} {y1} {_RIGHT} {y1}"/>'
            f'<g class="{kind}"><circle cx="{_LEFT}" cy="{y0}" r="4"/><circle cx="{_RIGHT}" cy="{y1}" r="4"/></g>'
            f'<text class="{out}" x="{_RIGHT + 14}" y="{y1 + 4}"><tspan class="head">{places[identity] + 1}</tspan> '
            f'{name} <tspan class="head">{score} {escape(label)}</tspan></text>'
        )
    told = ", ".join(names[i] for i in after if i in shown)
    return (
        f'<div class="picture"><svg viewBox="0 0 {_WIDTH} {height}" role="img" '
        f'aria-label="Order after reranking: {escape(told)}">'
        f'<text class="head" x="0" y="14">as retrieved</text>'
        f'<text class="head" x="{_RIGHT + 14}" y="14">as reranked, with relevance</text>{"".join(parts)}</svg></div>'
    )


def _relevance(t: Turn, document: Document) -> str:
    judgements = t.relevance.judgements if t.relevance else ()
    return next((j.label for j in judgements if j.document_id == document.id), "")


def _short(name: str) -> str:
    name = text.clean(name)
    return name if len(name) <= _TITLE else name[: _TITLE - 1] + "…"


def _gated(t: Turn) -> list[Step]:
    if t.gate is None:
        return []
    told = "The question was stopped here: no answer was generated." if t.blocked else ""
    return [("Answerability gate", html.TONES[t.gate.label], html.body(t.gate) + (f"<p>{told}</p>" if told else ""))]


def _answered(number: int, t: Turn) -> list[Step]:
    verdicts = t.hallucination.sentences if t.hallucination else ()
    cited = t.citations.citations if t.citations else ()
    anchor: Callable[[int], str] = partial(_anchor, number)
    said = html.answer(t.answer, verdicts, cited, anchor=anchor)
    documents = (*t.kept, *t.retrieved)
    head = "Canned answer" if t.blocked else "Answer, with citations and flags"
    tone = html.tone(t.worst) or ""
    return [(head, tone, said + html.flags(verdicts) + html.sources(cited, documents, anchor=anchor))]


def _anchor(turn_number: int, source: int) -> str:
    return f"turn-{turn_number}-source-{source}"


def _trusted(t: Turn) -> list[Step]:
    if not t.scores:
        return []
    inner = "".join(
        f"<div><span>{name}</span>{bar(score, name, html.tone(label))}</div>" for name, score, label in t.scores
    )
    weighed = ""
    if t.fact_check:
        weighed = f"<details><summary>What the fact check read</summary>{html.body(t.fact_check)}</details>"
    return [("How far to trust it", "", f'<div class="meters">{inner}</div>{weighed}')]
