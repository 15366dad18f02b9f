"""JSON answers, for any text that JSON can spell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.responses import Response

from intrinsics_core.running.rows import written

JSON = "application/json"


def json_answer(value: Mapping[str, Any] | Sequence[Any], status: int = 200) -> Response:
    """A response of JSON."""
    return Response(written(value), status, media_type=JSON)
