"""How results show themselves in a notebook. Results know no rendering; the package tells them at import."""

from __future__ import annotations

from intrinsics_core.protocol.results import Result


def _repr_html_(self: Result) -> str:
    """Rich view in notebooks; all text escaped."""
    from intrinsics_core.render import html  # not for every import of the package

    return html.result(self)


def install() -> None:
    """Give every result its view."""
    Result._repr_html_ = _repr_html_  # type: ignore[attr-defined]
