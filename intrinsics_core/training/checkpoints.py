"""The note beside a training's checkpoints: what was begun, so that only the same is gone on with."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.training.examples import Example

NOTE = "training.json"
CHECKPOINTS = "checkpoints"
WHOLE = "whole"  # an empty file, written into a checkpoint when all else is


def digest(rows: Sequence[Example]) -> str:
    """What tells one set of examples from another: all their tokens."""
    sha = hashlib.sha256()
    for row in rows:
        sha.update(json.dumps([row.start, row.ids]).encode())
    return f"sha256:{sha.hexdigest()}"


def noted(folder: Path) -> dict[str, Any] | None:
    """What was begun in a folder, None where nothing was."""
    try:
        value = json.loads((folder / NOTE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise InvalidInput(f"{folder / NOTE} is not the note of a training run", expected="another --out")
    return value


def begin(folder: Path, note: Mapping[str, Any], *, resume: bool) -> Path | None:
    """Make the folder ready; the checkpoint to go on from, None to begin anew.

    Raises:
        InvalidInput: there is a training already and ``resume`` is not set, or it is another one.
    """
    before = noted(folder)
    if before is None:
        if folder.exists() and any(folder.iterdir()):
            raise InvalidInput(f"{folder} exists and is not empty", expected="a new folder")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / NOTE).write_text(json.dumps(note, indent=2) + "\n", encoding="utf-8")
        return None
    if not resume:
        raise InvalidInput(f"a training run was started in {folder}", expected="resume=True, or another folder")
    if different := [name for name in note if before.get(name) != note[name]]:
        changes = "; ".join(f"{name} {before.get(name)!r}, not {note[name]!r}" for name in different)
        raise InvalidInput(
            f"{folder} cannot be resumed, because it was started with {changes}",
            expected="the same settings, or a new folder",
        )
    return last_checkpoint(folder)


def last_checkpoint(folder: Path) -> Path | None:
    """The latest checkpoint that was written to its end."""
    whole = (path.parent for path in (folder / CHECKPOINTS).glob(f"checkpoint-*/{WHOLE}"))
    return max(whole, key=lambda path: int(path.name.rpartition("-")[2]), default=None)
