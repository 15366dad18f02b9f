"""The JSON of the paper (*REC: Rate, Explain and Cite*, 2024), with what is needed to read it back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.render.citations.marks import NONE
from intrinsics_core.render.citations.places import Places
from intrinsics_core.render.citations.views import Reference, View


def as_json(shown: View) -> dict[str, Any]:
    """The paper's JSON, with what is needed to read it back."""
    claims = Places({"": [shown.response]})
    rows = []
    for r in shown.references:
        row: dict[str, Any] = {"context_id": r.context_id}
        if r.begin is not None and r.end is not None:
            row = {"claim": (claim := shown.response[r.begin : r.end])} | row
            if (nth := claims.number("", 0, r.begin, claim)) > 1:
                row["claim_nth"] = nth
        row |= {} if r.snippet is None else {"snippet": r.snippet}
        rows.append(row | ({"nth": r.nth} if r.nth > 1 else {}))
    return {"mode": shown.mode, "response": shown.response, "citations": rows or NONE}


def from_json(value: Any, response: str | None = None) -> View:
    """The view of the paper's JSON.

    Raises:
        InvalidInput: a field is missing or wrong, or a claim is not in the response.
    """
    rows = value.get("citations") if isinstance(value, dict) else None
    rows = [] if rows == NONE else rows
    text = value.get("response", response) if isinstance(value, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows) or not isinstance(text, str):
        raise InvalidInput(
            "json is not a list of citations",
            expected='{"citations": [{"context_id": ...}], "response": ...}',
            got=repr(value)[:500],
        )
    mode: Any = value.get("mode") or _mode_of(rows[0] if rows else {})
    claims = Places({"": [text]})
    references = []
    for i, row in enumerate(rows):
        name, snippet, claim = row.get("context_id"), row.get("snippet"), row.get("claim")
        nth, claim_nth = row.get("nth", 1), row.get("claim_nth", 1)
        numbers = all(isinstance(n, int) and not isinstance(n, bool) and n > 0 for n in (nth, claim_nth))
        texts = isinstance(name, str) and all(isinstance(x, str | None) for x in (snippet, claim))
        if not (texts and numbers):
            raise InvalidInput(f"citations[{i}] is wrong", expected='{"context_id": text, "snippet"?, "claim"?}',
                               got=repr(row))  # fmt: skip
        place = None if claim is None else claims.find("", claim, claim_nth)
        if claim is not None and place is None:
            raise InvalidInput(f"citations[{i}].claim is not in the response", expected="its words", got=repr(claim))
        span = (None, None) if place is None else (place[1], place[1] + len(claim or ""))
        references.append(Reference(name, snippet, nth, *span))
    return View(mode, text, tuple(references))


def _mode_of(row: Mapping[str, Any]) -> str:
    """The mode of the paper's own JSON, which does not name it."""
    return ("inline" if "claim" in row else "postfix") + ("-snippet" if "snippet" in row else "")
