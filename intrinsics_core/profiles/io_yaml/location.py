"""Where ``io.yaml`` files lie: a folder of adapters, one adapter's folder, or a hub repository at a commit.

Layouts that are published, and what each folder says:

- ``<task>/<base model>/<lora|alora>/io.yaml``: a library of adapters for several base models;
- ``<task>/io.yaml``, ``<task>_lora/io.yaml`` or a lone ``io.yaml``: adapters for one base model;
- ``io_configs/<task>/io.yaml``: Granite Switch, one checkpoint with its adapters inside.

A place may say which it means behind a hash: ``FOLDER#granite-4.1-3b/alora``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from intrinsics_core._support.hub import HubPlace
from intrinsics_core.profiles.adapter_names import intrinsic_of, technology_of
from intrinsics_core.profiles.io_yaml.spec import Spec, load
from intrinsics_core.protocol.errors import InvalidInput, RuntimeUnavailable

FILE = "io.yaml"
TECHNOLOGIES = ("lora", "alora")
SWITCH = "switch"
_CONFIGS = "io_configs"  # Granite Switch's folder of such files
_DEPTH = 4  # folders below the one given
# technology -> what can load it. vLLM as it is shipped takes an aLoRA for a plain LoRA: it is not among them.
RUNTIMES: Mapping[str | None, tuple[str, ...]] = {
    "lora": ("server", "transformers", "vllm"),
    "alora": ("transformers",),
    SWITCH: ("server with the Granite Switch plugin",),
    None: ("server", "transformers", "vllm"),
}
_MODEL = re.compile(r"granite|gpt|llama|mi[sx]tral|qwen|phi|gemma|olmo|falcon|deepseek|\d[bm]\b", re.IGNORECASE)
Place = str | os.PathLike[str]


@dataclass(frozen=True)
class Found:
    """One adapter's file.

    Attributes:
        task: the folder that is named after what the adapter does; the file may say otherwise.
        source: where it came from, with its revision.
        base: its base model's folder, None where there is none.
        technology: ``"lora"``, ``"alora"``, ``"switch"`` for one inside a checkpoint, None where no folder says.
        root: the folder of the place, which its files must not lead out of.
    """

    task: str
    path: Path
    source: str
    base: str | None = None
    technology: str | None = None
    root: Path | None = field(default=None, compare=False)

    @property
    def intrinsic(self) -> str:
        return intrinsic_of(self.task)

    def __str__(self) -> str:
        return "/".join(filter(None, (self.task, self.base, self.technology)))


def find(location: Place, *, base: str | None = None, technology: str | None = None) -> list[Found]:
    """All adapters at a location, sorted by path.

    Args:
        location: a folder, an ``io.yaml``, or ``owner/name[/folder]@commit`` on the hub, with ``#base/technology``
            behind it where it has several. The commit is its full hash: a branch or a tag may be moved, and with it
            what the adapter is told.
        base: which base model's adapters, by a part of its folder's name, where there are several.
        technology: ``"lora"`` or ``"alora"``, where there are both.

    Raises:
        InvalidInput: nothing is there that fits.
        RuntimeUnavailable: the hub cannot be reached, or huggingface_hub is not installed.
    """
    place, chosen_base, chosen_technology = _chosen(location)
    base, technology = base or chosen_base, technology or chosen_technology
    root, source = _root(place)
    below = (path for path in root.rglob(FILE) if len(path.relative_to(root).parts) <= _DEPTH)
    files = [root] if root.is_file() else sorted(root.glob(FILE)) or sorted(below)
    every = [_found(path, root, source) for path in files]
    found = [
        one
        for one in every
        if (technology is None or one.technology in (None, technology))
        and (base is None or one.base is None or base in one.base)
    ]
    if not found and not (base or technology):
        raise InvalidInput(f"there is no {FILE} in {source}", expected=f"a folder with TASK/BASE/lora|alora/{FILE}")
    if not found:
        what = f"{source} has no {FILE} for this base model and technology"
        raise InvalidInput(what, expected="a folder of adapters, each with its io.yaml",
                           got=f"base={base!r}, technology={technology!r}")  # fmt: skip
    return found


def at_hand(found: Sequence[Found], model: str | None, technologies: Iterable[str]) -> list[Found]:
    """Of several adapters for one intrinsic those that fit what is at hand; all of them, where none does.

    Args:
        model: the base model's name or folder, None where it is not known.
        technologies: what the runtime can load.
    """
    left = list(found)
    if len(left) > 1 and model:
        fitting = [one for one in left if one.base and _plain(one.base) in _plain(model)]
        longest = max((len(one.base or "") for one in fitting), default=0)
        left = [one for one in fitting if len(one.base or "") == longest] or left
    if len(left) > 1:
        left = [one for one in left if one.technology is None or one.technology in technologies] or left
    return left


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.rstrip("/").rpartition("/")[2].lower())


def _chosen(location: Place) -> tuple[Place, str | None, str | None]:
    """(place, base, technology) of a place that may name them."""
    place, mark, choice = str(location).rpartition("#")
    if not mark or Path(location).expanduser().exists():
        return location, None, None
    parts = [part for part in choice.split("/") if part]
    bases = [part for part in parts if part not in TECHNOLOGIES]
    kinds = [part for part in parts if part in TECHNOLOGIES]
    if not parts or len(bases) > 1 or len(kinds) > 1:
        raise InvalidInput("the part after # must name a base model, a technology, or both",
                           expected="FOLDER#base/lora, FOLDER#base or FOLDER#lora", got=repr(f"#{choice}"))  # fmt: skip
    return place, next(iter(bases), None), next(iter(kinds), None)


def _found(path: Path, root: Path, source: str) -> Found:
    """What the folders around a file say."""
    home, below = (path.parent, ()) if path == root else (root, path.relative_to(root).parts[:-1])
    shown = "/".join((source.rstrip("/"), *below))
    folders = list(path.absolute().parts[1:-1])
    if folders[-2:-1] == [_CONFIGS]:
        return Found(folders[-1], path, shown, technology=SWITCH, root=home)
    technology = folders.pop() if len(folders) > 1 and folders[-1] in TECHNOLOGIES else None
    nested = technology is not None or len(below) > 1
    base = folders.pop() if nested and len(folders) > 1 and _MODEL.search(folders[-1]) else None
    task = folders[-1] if folders else ""
    return Found(task, path, shown, base, technology or technology_of(task), home)


def _root(location: Place) -> tuple[Path, str]:
    path = Path(location).expanduser()
    if path.exists():
        return path, str(path)
    place = HubPlace.parse(str(location))
    if place is None or not place.pinned:
        expected = "a folder, or owner/name@commit on the hub, with the commit's full hash of 40 digits"
        raise InvalidInput("there are no adapters at this location", expected=expected, got=repr(str(location)))
    try:
        return place.download([f"*{FILE}"]), str(location)
    except ImportError as error:
        raise RuntimeUnavailable("huggingface_hub is not installed", expected="pip install huggingface_hub") from error
    except Exception as error:  # the client's errors are many, and all mean the same here
        what = f"{place.repository} at {place.revision} cannot be downloaded from the hub: {error}"
        raise RuntimeUnavailable(what) from error


def read(found: Found) -> Spec:
    """The file of an adapter that was found.

    Raises:
        InvalidInput: it is wrong; the message names file and key.
    """
    spec = load(found.path, found.intrinsic, found.source, found.root)
    return replace(spec, switch=found.task) if found.technology == SWITCH else spec


def choose(
    place: Place, base: str | None, technology: str | None, model: str | None, technologies: Iterable[str]
) -> Iterable[tuple[Found, Spec]]:
    """One adapter for each intrinsic at a place, and its file: see :func:`find` and :func:`at_hand`.

    Raises:
        InvalidInput: there are several for one intrinsic, or a file is wrong.
    """
    groups: dict[str, list[Found]] = {}
    for one in find(place, base=base, technology=technology):
        groups.setdefault(one.intrinsic, []).append(one)
    chosen: dict[str, tuple[Found, Spec]] = {}
    for one in (one for group in groups.values() for one in at_hand(group, model, technologies)):
        spec = read(one)
        other, _ = chosen.setdefault(spec.name, (one, spec))
        if other is not one:
            what = f"{place} has several adapters for {spec.name!r}: {other} and {one}"
            expected = "base= and technology= to choose one, or a location that chooses: PLACE#granite-4.1-3b/lora"
            raise InvalidInput(what, expected=expected)
    return chosen.values()


def names(found: Found, spec: Spec) -> tuple[str, ...]:
    """What a server may call the adapter: by its model, its folder, and what it does."""
    own = spec.name.replace("-", "_")
    folder = found.task if found.intrinsic == spec.name else found.task.replace("-", "_")
    every = (spec.model, folder, f"{folder}_lora", f"{folder}_alora", own, f"{own}_lora")
    return tuple(dict.fromkeys(filter(None, every)))


def published(base: str) -> str:
    """The name under which a base model is published, by its folder in a library of adapters."""
    return f"openai/{base}" if base.startswith("gpt-oss") else f"ibm-granite/{base}"


def survey(place: Place) -> list[dict[str, Any]]:
    """One row per file, in the order of paths: ``intrinsic``, ``base`` (as published), ``technology``, ``source``,
    ``profile`` (how to ask for it), ``runtimes``, ``arguments`` (texts that its instruction names) and ``wrong`` (why
    it cannot be used, else None).

    Raises:
        InvalidInput: there is no such file.
        RuntimeUnavailable: the hub cannot be reached.
    """
    return [_row(found, str(place)) for found in find(place)]


def _row(found: Found, place: str) -> dict[str, Any]:
    try:
        spec, wrong = read(found), None
    except InvalidInput as error:
        spec, wrong = None, str(error)
    arguments = spec.instruction.names if spec and spec.instruction else frozenset()
    choice = "/".join(filter(None, (found.base, found.technology if found.base else None)))
    return {
        "intrinsic": spec.name if spec else found.intrinsic,
        "base": None if found.base is None else published(found.base),
        "technology": found.technology,
        "source": found.source,
        "profile": f"granite-4:{place.partition('#')[0]}#{choice}" if choice else f"granite-4:{place}",
        "runtimes": list(RUNTIMES[found.technology]),
        "arguments": sorted(arguments - {"last_message", "document_content"}),
        "wrong": wrong,
    }
