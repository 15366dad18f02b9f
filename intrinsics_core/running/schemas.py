"""The JSON schemas of results: one file for each version of each, published with the package.

``intrinsics_core/data/schemas/answerability.1.json`` describes the ``result`` in a row of ``intrinsics run
answerability`` where its ``schema_version`` is 1. A file that was released never changes.

The files say types and bounds, in draft 2020-12. What the fields mean stands in `intrinsics_core.protocol.results`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from intrinsics_core.intrinsics import TABLE
from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.protocol.results import AdapterOutput, Preference, Result
from intrinsics_core.running.flows import RagResult

FOLDER = Path(__file__).parent.parent / "data" / "schemas"
RESULTS: Mapping[str, type[Result]] = {
    **{name: record.result for name, record in TABLE.items()},
    "compare": Preference,
    "adapter": AdapterOutput,
    "rag": RagResult,
}


def published(name: str, version: int | None = None) -> dict[str, Any]:
    """The published schema of a result.

    Args:
        name: of an intrinsic, ``"compare"``, ``"adapter"`` or ``"rag"``.
        version: its ``schema_version``, from 1; the newest where left out.

    Raises:
        InvalidInput: no such result, or no such version of it.
    """
    if name not in RESULTS:
        raise InvalidInput("there is no result of this name", expected=f"one of {', '.join(RESULTS)}", got=repr(name))
    newest = RESULTS[name].schema_version
    wanted = newest if version is None else version
    if type(wanted) is not int or not 1 <= wanted <= newest:
        raise InvalidInput(f"{name} has no such version", expected=f"1 to {newest}", got=repr(version))
    found: dict[str, Any] = json.loads((FOLDER / file_name(name, wanted)).read_text(encoding="utf-8"))
    return found


def file_name(name: str, version: int) -> str:
    """The name of the file of a version of a result."""
    return f"{name}.{version}.json"
