"""Results as HTML: a fragment for notebooks, pieces for a report. No script, nothing loaded, all text escaped."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, singledispatch
from importlib.resources import files
from typing import Any

from intrinsics_core.conversation import Document
from intrinsics_core.render import text
from intrinsics_core.results import (
    Answerability,
    Audit,
    Citation,
    Citations,
    ContextRelevance,
    FactCheck,
    HallucinationDetection,
    QueryExpansion,
    QueryRewrite,
    Ranking,
    Result,
    RevisedAnswer,
    SentenceVerdict,
    Uncertainty,
)

# How a label looks; the label itself is always written out too, for who cannot see the colour.
TONES: Mapping[str, str] = {
    "relevant": "ok",
    "partially relevant": "warn",
    "irrelevant": "na",
    "answerable": "ok",
    "unanswerable": "bad",
    "faithful": "ok",
    "partial": "warn",
    "unfaithful": "bad",
    "NA": "na",
}
_FAIR, _GOOD = 0.35, 0.65  # where a score changes its tone


def result(value: Result) -> str:
    """The HTML fragment of a result: what `_repr_html_` of every result returns."""
    return f'<div class="ri"><style>{style()}</style>{body(value)}{_caveats(value)}</div>'


def style() -> str:
    """The style sheet that all fragments share."""
    return stylesheet("style.css")


@cache
def stylesheet(name: str) -> str:
    """A style sheet of this package."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def escape(value: str) -> str:
    """Text that can stand anywhere in HTML, inside a quoted attribute too."""
    return html.escape(text.clean(value), quote=True)


# --- small parts --------------------------------------------------------------------------------------------------


def tag(label: str, look: str | None = None) -> str:
    return f'<span class="tag {look or tone(label)}">{escape(label)}</span>'


def bar(score: float | None, what: str, look: str | None = None) -> str:
    """A score in 0..1 as a bar and a number; a dash where there is none."""
    if score is None:
        return '<span class="faint">–</span>'
    share = min(1.0, max(0.0, score))
    return (
        f'<span class="score"><span class="bar {look or grade(share)}" role="img" '
        f'aria-label="{escape(what)} {score:.2f}"><i style="width:{share:.1%}"></i></span>'
        f'<span class="num">{score:.2f}</span></span>'
    )


def tone(label: str | None) -> str | None:
    """The tone of a label; None where there is no label, so that the score decides."""
    return None if label is None else TONES.get(label, "na")


def grade(score: float) -> str:
    return "bad" if score < _FAIR else "warn" if score < _GOOD else "ok"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; cells are HTML."""
    heads = "".join(f'<th scope="col">{h}</th>' for h in head)
    lines = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>"


def _caveats(value: Result) -> str:
    notes = []
    if value.degraded is not None:
        notes.append(f"Degraded: {escape(value.degraded)}")
    if value.dropped:
        notes.append(f"{value.dropped} unusable entries of the reply were left out.")
    return "".join(f'<p class="note warn">{note}</p>' for note in notes)


# --- an answer with its verdicts ----------------------------------------------------------------------------------


def answer(
    response: str,
    verdicts: Sequence[SentenceVerdict] = (),
    citations: Sequence[Citation] = (),
    *,
    anchor: Callable[[int], str] | None = None,
) -> str:
    """A response with flagged sentences and citation numbers.

    Args:
        response: the text that the offsets are of.
        verdicts: of :class:`HallucinationDetection`.
        citations: of :class:`Citations`.
        anchor: the id of the element that shows citation n, to link to.
    """
    parts = []
    for piece in text.pieces(response, verdicts, citations):
        shown = escape(piece.text)
        if piece.verdict and piece.text.strip():
            shown = f'<mark class="{TONES[piece.verdict.label]}" title="{_title(piece.verdict)}">{shown}</mark>'
        parts.append(shown + _references(piece.cited, anchor))
    return f'<div class="said">{"".join(parts)}</div>'


def _title(verdict: SentenceVerdict) -> str:
    score = "" if verdict.score is None else f" ({verdict.score:.2f})"
    why = f": {verdict.explanation}" if verdict.explanation else ""
    return escape(f"{verdict.label}{score}{why}")


def _references(numbers: Sequence[int], anchor: Callable[[int], str] | None) -> str:
    if not numbers:
        return ""
    links = "".join(
        f'<a href="#{anchor(n)}" aria-label="source {n}">[{n}]</a>' if anchor else f"<b>[{n}]</b>" for n in numbers
    )
    return f"<sup>{links}</sup>"


def sources(
    citations: Sequence[Citation],
    documents: Sequence[Document] = (),
    *,
    anchor: Callable[[int], str] | None = None,
) -> str:
    """The cited quotes by number."""
    titles = {d.id: d.title for d in documents if d.title}
    numbers = text.numbered(citations)
    quotes = {text.spot(c): c.document_text for c in citations}
    items = []
    for spot, number in numbers.items():
        identity, begin, end = spot
        target = f' id="{anchor(number)}"' if anchor else ""
        name = f"{escape(titles[identity])} " if identity in titles else ""
        items.append(
            f'<div class="source"{target}><b>[{number}]</b> {name}<span class="faint">{escape(identity)}, '
            f"characters {begin}–{end}</span><blockquote>{escape(quotes[spot])}</blockquote></div>"
        )
    return "".join(items)


def flags(verdicts: Sequence[SentenceVerdict]) -> str:
    """Why sentences were flagged."""
    notes = []
    for verdict in verdicts:
        if verdict.label in ("partial", "unfaithful"):
            why = f"<br>{escape(verdict.explanation)}" if verdict.explanation else ""
            notes.append(
                f'<div class="note {TONES[verdict.label]}">{tag(verdict.label)} “{escape(verdict.text)}”{why}</div>'
            )
    return "".join(notes)


# --- one view per result ------------------------------------------------------------------------------------------


@singledispatch
def body(value: Result) -> str:
    """The inner HTML of a result. A type without a view of its own shows its fields."""
    fields: Mapping[str, Any] = value.model_dump(mode="json")
    shown = [(escape(name), f"<code>{escape(json.dumps(v, ensure_ascii=False))}</code>") for name, v in fields.items()]
    return table(("field", "value"), shown)


@body.register
def _(value: QueryRewrite) -> str:
    plain, more = value.query, value.retrieval_query != value.query
    searched = f'<p class="faint">searched for: {escape(value.retrieval_query)}</p>' if more else ""
    if not value.changed:
        told = tag("words added for the search", "warn") if more else tag("stands alone", "ok")
        return f'<p class="then">{escape(plain)} {told}</p>{searched}'
    return (
        f'<p class="faint">{escape(value.original)}</p>'
        f'<p class="then"><span aria-hidden="true">→</span> {escape(plain)} {tag("rewritten", "warn")}</p>{searched}'
    )


@body.register
def _(value: QueryExpansion) -> str:
    return f"<ul>{''.join(f'<li>{escape(q.text)} {tag(q.strategy)}</li>' for q in value.queries)}</ul>"


@body.register
def _(value: ContextRelevance) -> str:
    return table(
        ("document", "judgement", "of use"),
        [(escape(j.document_id), tag(j.label), bar(j.score, "of use", TONES[j.label])) for j in value.judgements],
    )


@body.register
def _(value: Answerability) -> str:
    return f"<p>{tag(value.label)} {bar(value.probability, 'probability of answerable', tone(value.label))}</p>"


@body.register
def _(value: Ranking) -> str:
    top = max((abs(r.score or 0.0) for r in value.ranking), default=0.0) or 1.0
    compared = any(r.wins is not None for r in value.ranking)
    head = ("rank", "document", "score", "wins") if compared else ("rank", "document", "score")
    rows = []
    for r in value.ranking:
        width = f"{max(0.0, r.score or 0.0) / top:.1%}"
        score = (
            ""
            if r.score is None
            else (
                f'<span class="score"><span class="bar" role="img" aria-label="score {r.score:.2f}">'
                f'<i style="width:{width}"></i></span><span class="num">{r.score:.2f}</span></span>'
            )
        )
        rows.append((str(r.rank), escape(r.document_id), score, *([f"{r.wins or 0:g}"] if compared else [])))
    return table(head, rows) if rows else '<p class="faint">no documents</p>'


@body.register
def _(value: Uncertainty) -> str:
    expected = "" if value.expected is None else f' <span class="faint">expected {value.expected:.2f}</span>'
    return f"<p>certainty {bar(value.certainty, 'certainty')}{expected}</p>"


@body.register
def _(value: HallucinationDetection) -> str:
    rows = [
        (
            f'<mark class="{TONES[s.label]}">{escape(s.text)}</mark>'
            + (f'<br><span class="faint">{escape(s.explanation)}</span>' if s.explanation else ""),
            tag(s.label),
            bar(s.score, "faithfulness", TONES[s.label]),
        )
        for s in value.sentences
    ]
    head = f"<p>response {tag(value.label)} {bar(value.score, 'faithfulness', tone(value.label))}</p>"
    return head + (table(("sentence", "verdict", "faithfulness"), rows) if rows else "")


@body.register
def _(value: Citations) -> str:
    if not value.citations:
        return '<p class="faint">no citations</p>'
    numbers = text.numbered(value.citations)
    said: dict[tuple[int, int], list[Citation]] = {}
    for c in value.citations:
        said.setdefault((c.response_begin, c.response_end), []).append(c)
    lines = [
        f"<p>{escape(cited[0].response_text)}{_references(sorted({numbers[text.spot(c)] for c in cited}), None)}</p>"
        for cited in said.values()
    ]
    return "".join(lines) + sources(value.citations)


@body.register
def _(value: RevisedAnswer) -> str:
    head = ("was", "is", "why")
    rows = [(escape(c.before), escape(c.after) or tag("dropped", "bad"), escape(c.why)) for c in value.changes]
    left = [(escape(s.text), tag(s.label)) for s in value.unsupported]
    return (
        f'<p class="then">{escape(value.answer)}</p>'
        + (table(head, rows) if rows else '<p class="faint">nothing was changed</p>')
        + (table(("still unsupported", "verdict"), left) if left else "")
    )


@body.register
def _(value: Audit) -> str:
    gate = "" if value.answerability is None else f"<p>question {body(value.answerability)[3:]}"
    told = "".join(f'<p class="note warn">{escape(words)}</p>' for words in value.disagreements)
    cited = body(value.citations) if value.citations.citations else ""
    return (
        gate
        + body(value.hallucination)
        + f"<p>certainty {bar(value.certainty, 'certainty')} "
        + f"addresses the question {bar(value.answer_relevance, 'answer relevance')}</p>"
        + told
        + cited
    )


@body.register
def _(value: FactCheck) -> str:
    rows = [
        (escape(s.document_id), bar(s.relevance, "relevance"), f"{s.weight:.2f}", bar(s.score, "support"))
        for s in value.sources
    ]
    claims = [(escape(c.text), bar(c.score, "factuality")) for c in value.claims]
    return (
        f"<p>factuality {bar(value.score, 'factuality')}</p>"
        + (table(("claim", "factuality"), claims) if len(claims) > 1 else "")
        + table(("source", "relevance", "weight", "supports the answer"), rows)
    )
