"""Profiles by name. Adding a model family is adding a file and a line, or a call of :func:`register`."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from intrinsics_core.errors import InvalidInput
from intrinsics_core.profiles.base import Format, Profile, Staged

__all__ = ["NAMES", "Format", "Profile", "Staged", "as_profile", "profile", "register"]

# name -> module that holds PROFILE, or makes one from a place: "granite-4:FOLDER"
_MODULES = {
    "embedded": "intrinsics_core.profiles.embedded",
    "encoders": "intrinsics_core.profiles.encoders",
    "prompted": "intrinsics_core.profiles.prompted",
    "granite-3.2": "intrinsics_core.profiles.granite.granite_3_2",
    "granite-3.3": "intrinsics_core.profiles.granite.granite_3_3",
    "granite-4": "intrinsics_core.profiles.granite.granite_4",
    "io.yaml": "intrinsics_core.profiles.io_yaml",
}
_PLACED = ("granite-4", "io.yaml")
NAMES = tuple(_MODULES)
_REGISTERED: dict[str, Callable[[], Profile]] = {}


def register(name: str, make: Callable[[], Profile]) -> None:
    """Add a model family: its name is then taken wherever a profile is, in Python, configs and on the command line.

        register("haiku-7b", lambda: Profile("haiku-7b", {"answerability": Format(render, parse)}))

    Args:
        make: makes the profile; called when it is first asked for.

    Raises:
        InvalidInput: the name is taken, or holds a colon.
    """
    if name in _MODULES or name in _REGISTERED or ":" in name:
        raise InvalidInput(f"there is a profile {name!r} already, or it holds a colon", expected="another name")
    _REGISTERED[name] = make


def as_profile(spec: Profile | str | None, own: Profile, **at_hand: Any) -> Profile:
    """A profile from a profile, a name, or None (the runtime's ``own``). ``at_hand``: as :func:`profile` takes it.

    Raises:
        InvalidInput: no profile has that name.
    """
    if spec is None or spec == own.name:
        return own
    if isinstance(spec, Profile):
        return spec
    return profile(spec, **at_hand)


def profile(name: str, **at_hand: Any) -> Profile:
    """The profile of that name. A name with a place, ``"granite-4:FOLDER"``, is made of the adapters there.

    Args:
        at_hand: ``model`` and ``technologies`` of the runtime, for a place that has adapters for several.

    Raises:
        InvalidInput: no profile has that name, or it takes no place, or nothing usable is at the place.
    """
    if isinstance(name, str) and name in _REGISTERED:
        return _REGISTERED[name]()
    known, _, place = name.partition(":") if isinstance(name, str) else ("", "", "")
    if known not in _MODULES or (place and known not in _PLACED):
        names = ", ".join((*NAMES, *_REGISTERED))
        raise InvalidInput("profile is unknown", expected=f"one of {names}", got=repr(name))
    module = import_module(_MODULES[known])
    if known not in _PLACED:
        found: Profile = module.PROFILE
        return found
    made: Profile = module.profile(place, **at_hand) if place else module.at_hand(**at_hand)
    return made
