"""Where a model lies: a local folder, or a repository on the hub, of which only what is needed is fetched."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from intrinsics_core._support.hub import HubPlace
from intrinsics_core.protocol.errors import RuntimeUnavailable

_DESCRIBED = ("*.json", "*.txt", "*.model")  # configs and tokenizers; never a pickle, never code


def folder_of(place: str, revision: str | None, weights: Sequence[str]) -> Path:
    """The local folder of a model, fetched where it is not local. The hub's cache is used, and alone where
    ``HF_HUB_OFFLINE`` is set.

    Args:
        place: a folder, or ``owner/name[/folder][@revision]``.
        revision: the commit, tag or branch of a place that names none itself. Without one the model may change.
        weights: patterns of the files that hold the weights.

    Raises:
        RuntimeUnavailable: there is no such folder, and nothing of that name can be had.
    """
    path = Path(place).expanduser()
    if path.is_dir():
        return path
    found = None if place.startswith((".", "/", "~")) else HubPlace.parse(place)
    if found is None or path.is_absolute():
        raise RuntimeUnavailable(
            f"there is no model at {place!r}", expected="a folder, or owner/name[@revision] on the hub"
        )
    try:
        return found.download((*_DESCRIBED, *weights), revision)
    except Exception as error:  # the client's errors are many, and all mean the same here
        why = " ".join(str(error).split())
        raise RuntimeUnavailable(
            f"the model {place!r} is not on disk and cannot be downloaded from the hub ({why})",
            expected="a network, a local folder, or a model in the hub's cache",
        ) from error


def read_config(place: str, folder: Path) -> dict[str, Any]:
    """The model's ``config.json``.

    Raises:
        RuntimeUnavailable: there is none that can be read.
    """
    try:
        return dict(json.loads((folder / "config.json").read_text("utf-8")))
    except (OSError, TypeError, ValueError) as error:
        raise RuntimeUnavailable(
            f"{place!r} contains no model, because its config.json cannot be read ({error})"
        ) from None
