"""The files of the results' schemas, beside what the results are now: ``python -m tests.running.schema_files --write``.

Whoever changes the fields of a result raises its ``schema_version``, and then writes a file by this. It refuses where a
result changed and its version did not. ``--unreleased`` replaces the files of versions that no release holds yet.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.protocol.results import Result
from intrinsics_core.running.schemas import FOLDER, RESULTS, file_name


def schema_of(name: str, kind: type[Result]) -> dict[str, Any]:
    """The schema of what a result's ``model_dump(mode="json")`` gives now."""
    found = kind.model_json_schema()
    found["required"] = [*found.get("required", ()), "schema_version"]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"{name}, version {kind.schema_version}",
        **_bare(found),
    }


def differing(results: Mapping[str, type[Result]] = RESULTS, folder: Path = FOLDER) -> dict[str, str]:
    """Results whose schema is not the one that is published under their version, and why."""
    found = {}
    for name, kind in results.items():
        file = folder / file_name(name, kind.schema_version)
        if not file.exists():
            found[name] = f"{file.name} is missing"
        elif file.read_text(encoding="utf-8") != _text(name, kind):
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
    places = {name: folder / file_name(name, results[name].schema_version) for name in found}
    changed = [f"{name}: {why}" for name, why in found.items() if places[name].exists()]
    if changed and not unreleased:
        raise InvalidInput("; ".join(changed), expected="a higher schema_version, or --unreleased")
    folder.mkdir(parents=True, exist_ok=True)
    for name, file in places.items():
        file.write_text(_text(name, results[name]), encoding="utf-8")
    return list(places.values())


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
        sys.exit("usage: python -m tests.running.schema_files --write [--unreleased]")
    try:
        for written in write(unreleased="--unreleased" in sys.argv):
            print(written)
    except InvalidInput as error:
        sys.exit(str(error))
