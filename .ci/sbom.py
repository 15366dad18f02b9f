"""A bill of materials (CycloneDX 1.5, JSON) of what the wheel holds and asks for: `python .ci/sbom.py > sbom.json`.

Components that ship inside come with the SHA-256 of their files; dependencies with the bounds of `pyproject.toml`.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "intrinsics_core" / "data"
MODELS = ("encoder", "reader")


def shipped() -> list[dict[str, Any]]:
    """Files under `data`: the models and the fitted numbers. Both models derive from one under the MIT licence."""
    files = sorted(path for path in DATA.rglob("*") if path.is_file() and path.suffix in (".onnx", ".json", ".f16"))
    return [
        {
            "type": "machine-learning-model" if path.suffix == ".onnx" else "data",
            "name": str(path.relative_to(ROOT)),
            "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(path.read_bytes()).hexdigest()}],
            "licenses": [{"expression": "Apache-2.0 AND MIT" if path.parent.name in MODELS else "Apache-2.0"}],
        }
        for path in files
    ]


def dependencies(requirements: list[str]) -> list[dict[str, Any]]:
    found = []
    for requirement in requirements:
        name = re.match(r"[A-Za-z0-9._-]+", requirement)
        assert name
        found.append({"type": "library", "name": name[0], "version": requirement[name.end() :] or "*",
                      "purl": f"pkg:pypi/{name[0].lower()}"})  # fmt: skip
    return found


def bill() -> dict[str, Any]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "name": project["name"],
                "version": project["version"],
                "licenses": [{"license": {"id": project["license"]}}],
            }
        },
        "components": [*shipped(), *dependencies(project["dependencies"])],
    }


if __name__ == "__main__":
    print(json.dumps(bill(), indent=1))
