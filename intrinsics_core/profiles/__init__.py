"""Profiles by name. Adding a model family is adding a file and a line."""

from __future__ import annotations

from importlib import import_module

from intrinsics_core.errors import InvalidInput
from intrinsics_core.profiles.base import Profile

__all__ = ["NAMES", "as_profile"]

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


def as_profile(spec: Profile | str | None, own: Profile) -> Profile:
    """A profile from a profile, a name, or None (the runtime's ``own``).

    Raises:
        InvalidInput: no profile has that name.
    """
    if spec is None or spec == own.name:
        return own
    if isinstance(spec, Profile):
        return spec
    return profile(spec)


def profile(name: str) -> Profile:
    """The profile of that name. A name with a place, ``"granite-4:FOLDER"``, is made of the adapters there.

    Raises:
        InvalidInput: no profile has that name, or it takes no place, or nothing usable is at the place.
    """
    known, _, place = name.partition(":") if isinstance(name, str) else ("", "", "")
    if known not in _MODULES or (place and known not in _PLACED):
        raise InvalidInput("profile is unknown", expected=f"one of {', '.join(NAMES)}", got=repr(name))
    module = import_module(_MODULES[known])
    found: Profile = module.profile(place) if place else module.PROFILE
    return found
