"""Results as HTML: a fragment for notebooks, pieces for a report. No script, nothing loaded, all text escaped.

The views are templates, in which everything that is written is cleaned and escaped.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from intrinsics_core.protocol.results import CheckedCitation, Citation, Result, SentenceVerdict
from intrinsics_core.protocol.task import Document
from intrinsics_core.render import text

if TYPE_CHECKING:
    from jinja2 import Environment

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
    "supported": "ok",
    "unsupported": "bad",
    "misattributed": "bad",
    "not_found": "bad",
    "no_document": "bad",
}


def result(value: Result) -> str:
    """The HTML fragment of a result: what `_repr_html_` of every result returns."""
    return str(_views().result(value, _safe("style.css")))


def answer(
    response: str,
    verdicts: Sequence[SentenceVerdict] = (),
    citations: Sequence[Citation] = (),
    marks: Sequence[CheckedCitation] = (),
) -> str:
    """A response with flagged sentences, citation numbers and wrong marks; offsets are in the response.

    Args:
        response: the text of the response.
        verdicts: sentence verdicts with offsets in the response.
        citations: citations with offsets in the response.
        marks: the response's own citations, checked; those that do not hold are shown.

    Returns:
        HTML text.
    """
    return str(_views().answer(text.pieces(response, verdicts, citations, marks)))


def response(
    said: str,
    verdicts: Sequence[SentenceVerdict] = (),
    citations: Sequence[Citation] = (),
    documents: Sequence[Document] = (),
    marks: Sequence[CheckedCitation] = (),
) -> str:
    """A response as `answer` shows it, why sentences were flagged, and the cited quotes with their titles.

    Args:
        said: the text of the response.
        verdicts: sentence verdicts with offsets in the response.
        citations: citations with offsets in the response.
        documents: the documents that the citations are from.
        marks: the response's own citations, checked; those that do not hold are shown.

    Returns:
        HTML text.
    """
    citations = text.supporting(verdicts, citations)
    pieces = text.pieces(said, verdicts, citations, marks)
    return str(_views().response(pieces, verdicts, citations, documents, _safe("style.css")))


def tone(label: str | None) -> str | None:
    """The tone of a label, for its tag, its mark and its bar; none without a label: a score alone judges nothing."""
    return None if label is None else TONES.get(label, "na")


def write(template: str, *styles: str, **values: Any) -> str:
    """A template of this package with these style sheets and values.

    Args:
        template: name of the template.
        styles: names of style sheets.
        values: the values of the template, by name.

    Returns:
        HTML text.
    """
    return environment().get_template(template).render(style=_safe(*styles), **values)


@cache
def environment() -> Environment:
    """Templates in which every text is cleaned and escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    def shown(value: Any) -> Any:
        return text.clean(value) if type(value) is str else value  # markup of a template's own is another type

    made = Environment(loader=PackageLoader(__package__), autoescape=True, finalize=shown, undefined=StrictUndefined)
    own = (tone, text.supporting, _body, _fields, text.numbered_sources, _cited_lines, text.pieces)
    made.globals |= {function.__name__.strip("_"): function for function in own}
    return made


def _views() -> Any:
    return environment().get_template("results.html").module


def _safe(*sheets: str) -> Any:
    """Style sheets of this package, as they are."""
    from markupsafe import Markup

    return Markup("").join(Markup(files(__package__).joinpath(name).read_text(encoding="utf-8")) for name in sheets)


def _body(value: Result) -> Any:
    """The view of a result by the name of its type, or of the nearest type above it that has one."""
    views = _views()
    return next(getattr(views, kind.__name__) for kind in type(value).__mro__ if hasattr(views, kind.__name__))(value)


def _fields(value: Result) -> list[tuple[str, str]]:
    fields = value.model_dump(mode="json", exclude={"schema_version"})
    return [(name, json.dumps(field, ensure_ascii=False)) for name, field in fields.items()]


def _cited_lines(citations: Sequence[Citation]) -> list[tuple[str, list[int]]]:
    """Each cited sentence of the response, with the numbers of what it cites."""
    numbers = text.numbered(citations)
    found: dict[tuple[int, int], tuple[str, set[int]]] = {}
    for c in citations:
        place = c.response_begin, c.response_end
        found.setdefault(place, (c.response_text, set()))[1].add(numbers[text.spot(c)])
    return [(said, sorted(cited)) for said, cited in found.values()]
