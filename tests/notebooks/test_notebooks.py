"""The notebooks: what is committed is whole and clean, and running it again works."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

from benchmarks.fetch_models import FOLDER as FOLDER_OF_MODELS
from benchmarks.fetch_models import MODELS, folder

nbformat = pytest.importorskip("nbformat", reason="notebooks need nbformat")

FOLDER = Path(__file__).parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
# Absolute paths, and what tells when and where a notebook ran.
MACHINE = re.compile(
    r"/(?:root|home|tmp|work|usr|opt|Users|private|var)/|site-packages|[A-Z]:\\|file://|<ipython-input"
)
TOLD = [
    "1 sentence flagged",
    "stopped at the gate",
    "Does the tide mill still grind flour?",
    # The gate of the whole chain lets one question pass and refuses the other.
    "Who has the bakery on Quay Street belonged to since 1920?\n   The bakery on Quay Street has belonged to the Oduya family",
    "Who won the football cup in 2019?\n   The passages do not say.",
]
# What the text around the cells promises, and the package that the notebook is about.
PROMISES = {
    "langchain": TOLD,
    "llamaindex": [*TOLD, "passing: False"],
    "haystack": [*TOLD, "[1] The crossing"],
    "training": ["72 steps"],
}
NEEDS = {
    "langchain": "langchain_rag_intrinsics",
    "llamaindex": "llama_index.rag_intrinsics",
    "haystack": "haystack_integrations.components.rankers.rag_intrinsics",
    "training": "trl",
}
PICTURES, VIEWS = {"training": 2}, {"training": 0}  # of each other notebook at least three
HOST = re.compile(r"0x[0-9a-f]{6,}")


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


def told(notebook: Any) -> str:
    """All that the cells hold, source and output, pictures left out."""
    parts = []
    for cell in notebook.cells:
        parts.append(cell.source)
        for output in cell.get("outputs", []):
            parts.append(str(output.get("text", "")))
            parts += [str(data) for kind, data in output.get("data", {}).items() if not kind.startswith("image/")]
    return "\n".join(parts)


def test_there_is_one_for_langchain() -> None:
    assert "langchain.ipynb" in [path.name for path in NOTEBOOKS]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_committed_notebook_was_run_from_top_to_bottom(path: Path) -> None:
    notebook = read(path)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell.outputs]
    assert not [o for o in outputs if o.output_type == "error" or o.get("name") == "stderr"]
    pictures = [o for o in outputs if "image/png" in o.get("data", {})]
    views = [o for o in outputs if "text/html" in o.get("data", {})]
    assert len(pictures) >= PICTURES.get(path.stem, 3) and len(views) >= VIEWS.get(path.stem, 3)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_committed_notebook_names_no_machine_and_no_time(path: Path) -> None:
    notebook = read(path)
    assert not MACHINE.search(told(notebook)) and not HOST.search(told(notebook))
    assert notebook.metadata == {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    assert not [cell for cell in notebook.cells if cell.metadata]


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("nbclient", "ipykernel", "matplotlib", "bm25s"):
        pytest.importorskip(module, reason=f"running a notebook needs {module}")
    pytest.importorskip(NEEDS[path.stem], reason=f"the notebook needs {NEEDS[path.stem]}")
    if path.stem == "training":
        monkeypatch.setenv("BASE_MODEL", base_model())
    notebook = execution().execute(read(path))  # an exception in a cell is raised here
    shown = told(notebook)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert sum("image/png" in output.get("data", {}) for output in outputs) >= PICTURES.get(path.stem, 3)
    for promise in PROMISES[path.stem]:
        assert promise in shown


def base_model() -> str:
    """The folder of the model that the notebook trains; skips where there is none."""
    where = folder()
    found = where and MODELS["smollm"].safetensors(where)
    if not (found and found.is_dir()):
        pytest.skip(f"{FOLDER_OF_MODELS} names no folder with SmolLM2")
    return str(found)


def execution() -> Any:
    """The script beside the notebooks that runs them."""
    spec = importlib.util.spec_from_file_location("execute", FOLDER / "execute.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
