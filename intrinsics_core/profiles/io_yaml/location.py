"""Where ``io.yaml`` files lie: a folder of adapters, one adapter's folder, or a hub repository at a commit.

A folder of adapters has one folder per task, and in it the file, or folders by base model and technology as published:
``<task>/<base model>/<lora|alora>/io.yaml``.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from intrinsics_core.errors import InvalidInput, RuntimeUnavailable
from intrinsics_core.hub import HubPlace

FILE = "io.yaml"
_DEPTH = 4  # folders below the one given
_SAME = {  # what tasks are called in the libraries published so far
    "context-relevancy": "context-relevance",
    "answerability-prediction": "answerability",
    "certainty": "uncertainty",
    "hallucinations": "hallucination-detection",
    "hallucination": "hallucination-detection",
    "citation": "citations",
    "citation-generation": "citations",
    "requirement-checking": "requirement-check",
}


@dataclass(frozen=True)
class Found:
    """One adapter: its intrinsic, its file, its folders below the root, and where that came from."""

    intrinsic: str
    path: Path
    folders: tuple[str, ...]
    source: str


def intrinsic_of(folder: str) -> str:
    """``query_rewrite`` and ``query-rewrite-lora`` are ``query-rewrite``."""
    name = re.sub(r"[-_](?:a?lora)$", "", folder.strip().lower()).replace("_", "-")
    return _SAME.get(name, name)


def find(location: str | os.PathLike[str], *, base: str | None, technology: str | None) -> list[Found]:
    """All adapters at a location, one per intrinsic.

    Args:
        location: a folder, an ``io.yaml``, or ``owner/name[/folder]@commit`` on the hub. The commit is its full hash:
            a branch or a tag may be moved, and with it what the adapter is told.
        base: which base model's adapters, by a part of its folder's name, where there are several.
        technology: ``"lora"`` or ``"alora"``, where there are both.

    Raises:
        InvalidInput: nothing is there, or two files serve the same intrinsic.
        RuntimeUnavailable: the hub cannot be reached, or huggingface_hub is not installed.
    """
    root, source = _root(location)
    files = [root] if root.is_file() else sorted(root.glob(FILE)) or _below(root)
    found: dict[str, Found] = {}
    for path in files:
        folders = path.relative_to(root).parts[:-1] if path != root else ()
        names = folders or path.resolve().parts[-2:-1]
        if not _wanted(folders[1:], base, technology):
            continue
        name = intrinsic_of(names[0])
        if name in found:
            raise InvalidInput(
                f"{source} has several adapters for {name!r}: {'/'.join(found[name].folders)} and {'/'.join(folders)}",
                expected="base= and technology= that choose one, e.g. base='granite-4.0-micro', technology='lora'",
            )
        shown = "/".join((source.rstrip("/"), *folders)) if path != root else source
        found[name] = Found(name, path, folders, shown)
    if not found:
        raise InvalidInput(f"{source} has no {FILE} that fits", expected="a folder of adapters, each with its io.yaml",
                           got=f"base={base!r}, technology={technology!r}")  # fmt: skip
    return list(found.values())


def _wanted(folders: tuple[str, ...], base: str | None, technology: str | None) -> bool:
    kinds = [folder for folder in folders if folder in ("lora", "alora")]
    bases = [folder for folder in folders if folder not in ("lora", "alora")]
    right_kind = technology is None or not kinds or technology in kinds
    return right_kind and (base is None or not bases or any(base in folder for folder in bases))


def _below(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob(FILE) if len(path.relative_to(root).parts) <= _DEPTH)


def _root(location: str | os.PathLike[str]) -> tuple[Path, str]:
    path = Path(location).expanduser()
    if path.exists():
        return path, str(path)
    place = HubPlace.parse(str(location))
    if place is None or not place.pinned:
        raise InvalidInput(
            "there are no adapters at this location",
            expected="a folder, or owner/name@commit on the hub, with the commit's full hash of 40 digits",
            got=repr(str(location)),
        )
    return _download(place), str(location)


def _download(place: HubPlace) -> Path:
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise RuntimeUnavailable("huggingface_hub is not installed", expected="pip install huggingface_hub") from error
    try:
        pattern = f"{place.folder}/*{FILE}" if place.folder else f"*{FILE}"
        root = Path(snapshot_download(place.repository, revision=place.revision, allow_patterns=[pattern]))
    except Exception as error:  # the client's errors are many, and all mean the same here
        raise RuntimeUnavailable(
            f"{place.repository} at {place.revision} cannot be had from the hub: {error}"
        ) from error
    return root / place.folder if place.folder else root
