"""Run notebooks from top to bottom and keep what they show: ``python notebooks/execute.py [NAME.ipynb ...]``.

What tells when and on which machine they ran is left out, so that running them twice changes no more than it must.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parent
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def execute(notebook: Any) -> Any:
    """The notebook, run anew in an empty folder. An exception in a cell is raised here."""
    for cell in notebook.cells:
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    with tempfile.TemporaryDirectory() as folder:
        resources = {"metadata": {"path": folder}}
        client = NotebookClient(notebook, timeout=1200, kernel_name="python3", record_timing=False, resources=resources)
        client.execute()
    notebook.metadata = METADATA
    nbformat.validate(notebook)
    return notebook


if __name__ == "__main__":
    for path in [FOLDER / name for name in sys.argv[1:]] or sorted(FOLDER.glob("*.ipynb")):
        nbformat.write(execute(nbformat.read(path, as_version=4)), path)
        print(path.name)
