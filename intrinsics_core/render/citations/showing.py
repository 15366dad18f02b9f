"""From results to views, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.protocol.names import named
from intrinsics_core.protocol.results import Citation, Citations, Evaluation, RatedMetric
from intrinsics_core.protocol.task import DocumentLike
from intrinsics_core.render.citations.code_blocks import outside_code
from intrinsics_core.render.citations.places import Places, by_id, member
from intrinsics_core.render.citations.views import MODES, Mode, Reference, View


def view(found: Citations, response: str, documents: Iterable[DocumentLike], mode: Mode = "inline-snippet") -> View:
    """Citations as a mode shows them. No mark stands in a block of code: what ends there is marked behind it.

    Args:
        found: of the intrinsic ``citations``, or of a flow.
        response, documents: the texts that they are of.
        mode: how the citations are shown: one of ``MODES``.

    Returns:
        The text with its citations, and the list of sources.

    Raises:
        InvalidInput: the mode is unknown, or a citation lies outside the response.
    """
    members, places = by_id(documents)
    references = [
        Reference(
            c.document_id,
            c.document_text,
            places.number(c.document_id, member(members, c), c.document_begin, c.document_text),
            c.response_begin,
            c.response_end,
        )
        for c in found.citations
    ]
    return _shown(mode, response, references)


def restored(shown: View, documents: Iterable[DocumentLike]) -> Citations:
    """The citations of an ``inline-snippet`` view, given the documents; a snippet that is in none is dropped, counted.

    Raises:
        InvalidInput: the view is of another mode.
    """
    if shown.mode != "inline-snippet":
        raise InvalidInput(
            "the view does not contain its citations", expected="mode 'inline-snippet'", got=repr(shown.mode)
        )
    members, places = by_id(documents)
    rows = []
    for reference in shown.references:
        snippet, begin, end = reference.snippet or "", reference.begin or 0, reference.end or 0
        place = places.find(reference.context_id, snippet, reference.nth)
        if place is None:
            continue
        which, at = place
        rows.append(
            Citation(
                response_begin=begin,
                response_end=end,
                response_text=shown.response[begin:end],
                document_id=reference.context_id,
                document_index=members[reference.context_id][which],
                document_begin=at,
                document_end=at + len(snippet),
                document_text=snippet,
            )
        )
    return Citations(citations=tuple(rows), dropped=len(shown.references) - len(rows))


def metric_view(rated: RatedMetric, texts: Mapping[str, str], mode: Mode = "inline-snippet") -> View:
    """One metric of an evaluation: its explanation and statements, a line each, with what they cite.

    Args:
        rated: one metric of an evaluation.
        texts: by the names that its citations have for them, the texts themselves.
        mode: how the citations are shown: one of ``MODES``.

    Returns:
        The text with its citations, and the list of sources.
    """
    places = Places({name: [text] for name, text in texts.items()})
    lines = [rated.explanation] if rated.explanation else []
    references = []
    for statement in rated.statements:
        begin = sum(len(line) + 1 for line in lines)
        lines.append(statement.text)
        for quote in statement.citations:
            nth = places.number(quote.source, 0, quote.begin, quote.text)
            references.append(Reference(quote.source, quote.text, nth, begin, begin + len(statement.text)))
    return _shown(mode, "\n".join(lines), references)


def metric_views(found: Evaluation, texts: Mapping[str, str], mode: Mode = "inline-snippet") -> dict[str, View]:
    """The views of all metrics that were rated, by name.

    Args:
        found: the result of the intrinsic ``evaluate``.
        texts: by the names that its citations have for them, the texts themselves.
        mode: how the citations are shown: one of ``MODES``.

    Returns:
        A view for each rated metric, by the metric's name.
    """
    return {rated.name: metric_view(rated, texts, mode) for rated in found.metrics if rated.rating is not None}


def _shown(mode: Mode, response: str, references: Sequence[Reference]) -> View:
    """The whole references cut to what the mode shows; a postfix mode tells each source once."""
    placed = (
        outside_code(response, references)
        if named("mode", mode, MODES).startswith("inline")
        else [replace(r, begin=None, end=None) for r in references]
    )
    kept = [r if mode.endswith("snippet") else replace(r, snippet=None, nth=1) for r in placed]
    return View(mode, response, tuple(dict.fromkeys(kept)))
