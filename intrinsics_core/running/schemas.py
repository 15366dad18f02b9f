"""The JSON schemas of results: one file for each version of each, published with the package.

``intrinsics_core/data/schemas/answerability.1.json`` describes the ``result`` in a row of ``intrinsics run
answerability`` where its ``schema_version`` is 1. A file that was released never changes. Whoever changes the fields of
a result raises its ``schema_version``, and then

    python -m intrinsics_core.running.schemas --write

adds a file. It refuses where a result changed and its version did not. ``--unreleased`` replaces the files of versions
that no release holds yet.

The files say types and bounds, in draft 2020-12. What the fields mean stands in `intrinsics_core.protocol.results`.
"""

from __future__ import annotations

import json
import sys
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


def schema_of(name: str, kind: type[Result]) -> dict[str, Any]:
    """The schema of what a result's ``model_dump(mode="json")`` gives now."""
    found = kind.model_json_schema()
    found["required"] = [*found.get("required", ()), "schema_version"]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"{name}, version {kind.schema_version}",
        **_bare(found),
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
    found: dict[str, Any] = json.loads(_place(FOLDER, name, wanted).read_text(encoding="utf-8"))
    return found


def differing(results: Mapping[str, type[Result]] = RESULTS, folder: Path = FOLDER) -> dict[str, str]:
    """Results whose schema is not the one that is published under their version, and why."""
    found = {}
    for name, kind in results.items():
        place = _place(folder, name, kind.schema_version)
        if not place.exists():
            found[name] = f"{place.name} is missing"
        elif place.read_text(encoding="utf-8") != _text(name, kind):
            found[name] = f"the result changed, and its schema_version is {kind.schema_version} as before"
    return found


def write(
    results: Mapping[str, type[Result]] = RESULTS, folder: Path = FOLDER, *, unreleased: bool = False
) -> list[Path]:
    """Write the files that are missing.

    Args:
        results: the result types, by name.
        folder: where the schemas are.
        unreleased: replace files that differ, too.

    Returns:
        The files that were written.

    Raises:
        InvalidInput: a result changed, and its version did not. Nothing is written then.
    """
    found = differing(results, folder)
    places = {name: _place(folder, name, results[name].schema_version) for name in found}
    changed = [f"{name}: {why}" for name, why in found.items() if places[name].exists()]
    if changed and not unreleased:
        raise InvalidInput("; ".join(changed), expected="a higher schema_version, or --unreleased")
    folder.mkdir(parents=True, exist_ok=True)
    for name, place in places.items():
        place.write_text(_text(name, results[name]), encoding="utf-8")
    return list(places.values())


def _place(folder: Path, name: str, version: int) -> Path:
    return folder / f"{name}.{version}.json"


def _text(name: str, kind: type[Result]) -> str:
    return json.dumps(schema_of(name, kind), indent=1, ensure_ascii=False) + "\n"


def _bare(schema: Any) -> Any:
    """Without titles and descriptions: words may be mended without a new version."""
    if isinstance(schema, list):
        return [_bare(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: {name: _bare(one) for name, one in value.items()} if key in ("properties", "$defs") else _bare(value)
        for key, value in schema.items()
        if key not in ("title", "description")
    }


if __name__ == "__main__":
    if sys.argv[1:] not in (["--write"], ["--write", "--unreleased"]):
        sys.exit("usage: python -m intrinsics_core.running.schemas --write [--unreleased]")
    try:
        for written in write(unreleased="--unreleased" in sys.argv):
            print(written)
    except InvalidInput as error:
        sys.exit(str(error))
