"""What is shipped is told: licences, notices, and a bill of materials that is not out of date."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_wheel_is_told_to_hold_notice_and_licences():
    assert {"LICENSE", "NOTICE", "intrinsics_core/data/encoder/NOTICE"} <= set(PROJECT["license-files"])
    assert all((ROOT / file).is_file() for file in PROJECT["license-files"])


def test_the_bill_of_materials_is_that_of_this_tree():
    made = subprocess.run([sys.executable, ".ci/sbom.py"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert json.loads((ROOT / "sbom.json").read_text(encoding="utf-8")) == json.loads(made)
    names = {part["name"] for part in json.loads(made)["components"]}
    assert {"intrinsics_core/data/encoder/model.onnx", "numpy", "regex"} <= names


def test_every_dependency_has_a_lower_bound():
    assert all(">=" in requirement for requirement in PROJECT["dependencies"])


@pytest.mark.parametrize(
    "project", [".", *(f"integrations/{name}" for name in ("langchain", "llamaindex", "haystack"))]
)
def test_every_bound_has_its_reason_beside_it(project):
    text = (ROOT / project / "pyproject.toml").read_text(encoding="utf-8")
    told = tomllib.loads(text)["project"]
    for name, requirements in {"": told["dependencies"], **told.get("optional-dependencies", {})}.items():
        for requirement in requirements:
            found = re.findall(rf'"{re.escape(requirement)}"[,\]]* # \S+', text)
            assert found, f"{project} {name}: {requirement} has no reason"
