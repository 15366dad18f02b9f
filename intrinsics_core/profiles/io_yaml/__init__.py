"""Adapters that say themselves how they want to be asked: the ``io.yaml`` of Granite 4 and later.

>>> from intrinsics_core.profiles import io_yaml
>>> granite = io_yaml.profile("adapters/granitelib-rag", base="granite-4.0-micro", technology="lora")  # doctest: +SKIP

Every adapter in the folder becomes a format. Known intrinsics have their typed results, and their transformed JSON
under ``"io.yaml:<intrinsic>"``. Any other has JSON that its schema admits (:func:`intrinsics_core.intrinsics.adapter`).
Requests are chat completions with ``documents``. The rest is asked of the base model.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

from intrinsics_core.profiles import common_formats
from intrinsics_core.profiles.granite import prompts
from intrinsics_core.profiles.io_yaml import location
from intrinsics_core.profiles.io_yaml.location import published, read
from intrinsics_core.profiles.io_yaml.rendering import render
from intrinsics_core.profiles.io_yaml.results import KNOWN, OUTPUT, Kind
from intrinsics_core.profiles.io_yaml.spec import Spec, load, parse
from intrinsics_core.profiles.turns import cut_to_last_question
from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.protocol.profile import Format, Profile
from intrinsics_core.protocol.requests import Generate
from intrinsics_core.protocol.task import Task
from intrinsics_core.replies import readers, writers

__all__ = ["RAW", "AdapterProfile", "Spec", "from_specs", "load", "parse", "profile", "read"]

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
    model: str | None = None,
    technologies: Sequence[str] = location.TECHNOLOGIES,
) -> AdapterProfile:
    """A profile from folders of adapters, or from the hub.

    Args:
        places: each a folder of adapters, one adapter's folder, its ``io.yaml``, or ``owner/name[/folder]@commit`` on
            the hub; ``#base/technology`` behind one chooses there. Of two adapters for one intrinsic the first place's
            counts.
        base: which base model's adapters, by a part of its folder's name, where a place has several.
        technology: ``"lora"`` or ``"alora"``, where a place has both.
        name: the profile's name.
        model: the base model at hand: of adapters for several, and no choice by ``base``, those for this one.
        technologies: what the runtime at hand can load: chooses where ``technology`` does not.

    Returns:
        The profile.

    Raises:
        InvalidInput: a file is missing, doubled or wrong; the message names file and key.
        RuntimeUnavailable: the hub cannot be reached.
    """
    if not places:
        what = "the location of the adapters is missing"
        raise InvalidInput(what, expected="a folder, or owner/name@commit on the hub")
    if technology not in (None, *location.TECHNOLOGIES):
        raise InvalidInput("technology is unknown", expected="lora or alora", got=repr(technology))
    specs: dict[str, Spec] = {}
    models: dict[str | None, tuple[str, ...]] = {}
    for place in places:
        for adapter, spec in location.choose(place, base, technology, model, technologies):
            if spec.name not in specs:
                specs[spec.name] = spec
                models[spec.name] = location.names(adapter, spec)
                if adapter.base:
                    models.setdefault(None, (published(adapter.base),))
    made = from_specs(specs, name=name, models=models)
    again = partial(profile, base=base, technology=technology, model=model, technologies=technologies, name=name)
    return replace(made, made_by=(again, places))


def from_specs(
    specs: Mapping[str, Spec], *, name: str = "io.yaml", models: Mapping[str | None, tuple[str, ...]] | None = None
) -> AdapterProfile:
    """A profile from files that are read already, by intrinsic.

    Args:
        specs: the checked files, by intrinsic.
        name: the profile's name.
        models: by intrinsic, the names that a server may have for its adapter; under None, those of the base model.

    Returns:
        The profile.
    """
    formats: dict[str, Format[Any]] = dict(prompts.CHAT_FORMATS)
    for intrinsic, spec in specs.items():
        formats[RAW + intrinsic] = _format(spec, OUTPUT)
        formats[intrinsic] = _format(spec, KNOWN.get(intrinsic, OUTPUT))
    if judged := formats.get("context-relevance"):
        formats["relevance"] = common_formats.logit_of_score(judged)
    if detect := formats.get("hallucination-detection"):
        write = writers.entailment(detect.write)
        formats["entailment"] = Format(detect.render, prompts.entailment(detect.parse), write)
    return AdapterProfile(name, formats, models=models or {}, specs=dict(specs))


def _format(spec: Spec, kind: Kind) -> Format[Any]:
    view: Callable[[Task], Task] = _VIEWS.get(spec.name, lambda task: task)

    def render_task(task: Task) -> Sequence[Generate]:
        if kind.one_document and len(task.documents) != 1:
            what, expected = f"{spec.name} judges one document at a time", "documents=[one]"
            expected += " (as_json=True takes its text as an argument)"
            raise InvalidInput(what, expected=expected, got=f"{len(task.documents)} documents")
        return render(spec, view(task))

    return Format(
        render_task,
        lambda task, replies: kind.read(spec, view(task), readers.generated(replies)),
        None if kind is OUTPUT and spec.rules else lambda task, value: kind.write(spec, view(task), value),
    )


_VIEWS: Mapping[str, Callable[[Task], Task]] = {
    "context-relevance": cut_to_last_question,
    "query-rewrite": lambda task: replace(cut_to_last_question(task), documents=()),
}


def at_hand(**hints: Any) -> AdapterProfile:
    raise InvalidInput("profile io.yaml needs to know where its adapters are", expected="'io.yaml:FOLDER'")
