"""Adapters that say themselves how they want to be asked: the ``io.yaml`` of Granite 4 and later.

>>> from intrinsics_core.profiles import io_yaml
>>> granite = io_yaml.profile("adapters/granitelib-rag", base="granite-4.0-micro", technology="lora")  # doctest: +SKIP

Every adapter in the folder becomes a format: the known intrinsics with the typed results they have under every
profile, any other as JSON that its schema admits (see :func:`intrinsics_core.intrinsics.adapter`). The transformed
JSON of a known one is there, too, under ``"io.yaml:<intrinsic>"``. Requests are chat completions with ``documents``;
reranking, query expansion and answers are asked of the base model.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from intrinsics_core.conversation import Task
from intrinsics_core.errors import InvalidInput
from intrinsics_core.profiles.base import Format, Profile
from intrinsics_core.profiles.granite import prompts
from intrinsics_core.profiles.io_yaml import base_model, location
from intrinsics_core.profiles.io_yaml.reading import output
from intrinsics_core.profiles.io_yaml.rendering import render
from intrinsics_core.profiles.io_yaml.spec import Spec, load, parse
from intrinsics_core.profiles.io_yaml.typed import TYPED
from intrinsics_core.replies import readers
from intrinsics_core.requests import Reply

__all__ = ["RAW", "AdapterProfile", "Spec", "from_specs", "load", "parse", "profile"]

RAW = "io.yaml:"  # before an intrinsic's name: its transformed JSON instead of the typed result
Place = str | os.PathLike[str]


@dataclass(frozen=True)
class AdapterProfile(Profile):
    """A profile made of ``io.yaml`` files. ``specs`` holds them by intrinsic, each with its source and revision."""

    specs: Mapping[str, Spec] = field(default_factory=dict, repr=False)


def profile(
    *places: Place,
    base: str | None = None,
    technology: Literal["lora", "alora"] | None = None,
    name: str = "io.yaml",
) -> AdapterProfile:
    """A profile from folders of adapters, or from the hub.

    Args:
        places: each a folder of adapters, one adapter's folder, its ``io.yaml``, or ``owner/name[/folder]@commit`` on
            the hub. Of two adapters for one intrinsic the first place's counts.
        base: which base model's adapters, by a part of its folder's name, where a place has several.
        technology: ``"lora"`` or ``"alora"``, where a place has both.
        name: the profile's name.

    Raises:
        InvalidInput: a file is missing, doubled or wrong; the message names file and key.
        RuntimeUnavailable: the hub cannot be reached.
    """
    if not places:
        raise InvalidInput("no place of adapters is given", expected="a folder, or owner/name@commit on the hub")
    if technology not in (None, "lora", "alora"):
        raise InvalidInput("technology is unknown", expected="lora or alora", got=repr(technology))
    found: dict[str, location.Found] = {}
    for place in places:
        for adapter in location.find(place, base=base, technology=technology):
            found.setdefault(adapter.intrinsic, adapter)
    specs = {
        intrinsic: load(adapter.path, intrinsic, adapter.source, root=adapter.path.parents[len(adapter.folders)])
        for intrinsic, adapter in found.items()
    }
    models: dict[str | None, tuple[str, ...]] = {}
    for intrinsic, adapter in found.items():
        folder = next(iter(adapter.folders), intrinsic.replace("-", "_"))
        models[intrinsic] = tuple(filter(None, (specs[intrinsic].model, folder, f"{folder}_lora", f"{folder}_alora")))
        models[None] = models.get(None) or tuple(
            f"ibm-granite/{part}" for part in adapter.folders[1:] if part not in ("lora", "alora")
        )
    return from_specs(specs, name=name, models=models)


def from_specs(
    specs: Mapping[str, Spec], *, name: str = "io.yaml", models: Mapping[str | None, tuple[str, ...]] | None = None
) -> AdapterProfile:
    """A profile from files that are read already, by intrinsic."""
    formats: dict[str, Format[Any]] = dict(base_model.FORMATS)
    for intrinsic, spec in specs.items():
        formats[RAW + intrinsic] = _format(spec, output)
        formats[intrinsic] = _format(spec, TYPED.get(intrinsic, output))
    if detect := formats.get("hallucination-detection"):
        formats["entailment"] = Format(detect.render, prompts.entailment(detect.parse))
    return AdapterProfile(name, formats, models=models or {}, specs=dict(specs))


def _format(spec: Spec, understand: Callable[[Spec, Task, Any], Any]) -> Format[Any]:
    view = _VIEWS.get(spec.name, _whole)

    def parse_reply(task: Task, replies: Sequence[Reply]) -> Any:
        return understand(spec, view(task), readers.generated(replies))

    return Format(lambda task: render(spec, view(task)), parse_reply)


def _whole(task: Task) -> Task:
    return task


def _question(task: Task) -> Task:
    """Up to the last user turn: what a passage is judged against."""
    last = max((i for i, m in enumerate(task.messages) if m.role == "user"), default=len(task.messages) - 1)
    return replace(task, messages=task.messages[: last + 1])


_VIEWS: Mapping[str, Callable[[Task], Task]] = {
    "context-relevance": _question,
    "query-rewrite": lambda task: replace(_question(task), documents=()),
}


def __getattr__(name: str) -> AdapterProfile:
    if name == "PROFILE":
        raise InvalidInput("profile io.yaml needs to know where its adapters are", expected="'io.yaml:FOLDER'")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
