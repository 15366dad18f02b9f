"""The profile that an adapter is trained with, and the ``io.yaml`` that will ask it so again."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources

import yaml

from intrinsics_core.profiles import profile as by_name
from intrinsics_core.profiles.io_yaml import from_specs, location, parse, read, yaml_loader
from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.protocol.profile import Profile

_PLACED = ("io.yaml:", "granite-4:")


@dataclass(frozen=True)
class AskedBy:
    """``file`` is the text of the ``io.yaml`` behind the profile; None where it is no such file that asks."""

    name: str
    profile: Profile
    file: str | None


def asked_by(intrinsic: str, name: str | None = None, model: str | None = None) -> AskedBy:
    """How an adapter for an intrinsic is asked.

    Args:
        name: None: by a file of our own, ``prompts/<intrinsic>.yaml``, which any model with a chat template takes.
            ``"io.yaml:PLACE"``, ``"granite-4:PLACE"``: by the file at that place. Else a profile by name.
        model: the base model, for a place that has adapters for several.

    Raises:
        InvalidInput: there is no such profile or file, it does not serve the intrinsic, or asks no adapter.
    """
    if name is None or name.startswith(_PLACED):
        text = _own(intrinsic) if name is None else _at(name.partition(":")[2], intrinsic, model)
        shown = "io.yaml" if name is None else name
        spec = parse(yaml_loader.load(text), intrinsic, shown)
        return AskedBy(shown, from_specs({intrinsic: spec}), text)
    found = by_name(name)
    if intrinsic not in found:
        raise InvalidInput(f"profile {name!r} does not serve {intrinsic}", expected="a profile that serves it")
    return AskedBy(name, found, None)


def _own(intrinsic: str) -> str:
    file = resources.files("intrinsics_core") / "training" / "prompts" / f"{intrinsic}.yaml"
    if not file.is_file():
        raise InvalidInput(f"there is no built-in prompt for {intrinsic}", expected="profile='io.yaml:FOLDER'")
    return file.read_text(encoding="utf-8")


def _at(place: str, intrinsic: str, model: str | None) -> str:
    found = [one for one in location.find(place) if read(one).name == intrinsic]
    found = location.at_hand(found, model, location.TECHNOLOGIES)
    if not found:
        raise InvalidInput(f"{place} has no io.yaml for {intrinsic}", expected="one adapter's folder, or its file")
    texts = {one.path.read_text(encoding="utf-8") for one in found}
    if len(texts) > 1:
        raise InvalidInput(f"{place} has several files for {intrinsic}: {', '.join(map(str, found))}",
                           expected="PLACE#base/technology that chooses one")  # fmt: skip
    if any(one.technology == location.SWITCH for one in found):
        raise InvalidInput(
            f"the adapters at {place} are part of a checkpoint", expected="an adapter with weights of its own"
        )
    return with_name(texts.pop(), intrinsic)


class _Quoted(yaml.SafeDumper):
    """Text stays text: PyYAML leaves some without quotes that is read here as a number."""


_Quoted.add_representer(str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"'))


def with_name(text: str, intrinsic: str) -> str:
    """The file with the intrinsic's name in it: without one, a file is called after its folder. Comments are lost."""
    value = yaml_loader.load(text)
    if isinstance(value, dict) and value.get("name") is None:
        return yaml.dump({**value, "name": intrinsic}, Dumper=_Quoted, allow_unicode=True, sort_keys=False)
    return text
