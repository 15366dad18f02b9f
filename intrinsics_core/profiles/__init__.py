"""Profiles by name. Adding a model family is adding a file and a line, or a call of :func:`register`."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.protocol.names import unknown
from intrinsics_core.protocol.profile import Format, MultiStepFormat, Profile

__all__ = [
    "Format",
    "MultiStepFormat",
    "Profile",
    "as_profile",
    "check",
    "fixed",
    "names",
    "own_names",
    "profile",
    "register",
    "ships",
]

_REGISTERED: dict[str, Callable[[], Profile] | str] = {}  # what ships: `intrinsics_core.shipped`


def register(name: str, make: Callable[[], Profile] | str) -> None:
    """Add a model family: its name is then taken wherever a profile is, in Python, configs and on the command line.

        register("haiku-7b", lambda: Profile("haiku-7b", {"answerability": Format(render, parse)}))

    Args:
        make: makes the profile; called when it is asked for. Or the name of a module, imported then: it holds
            ``PROFILE``, or ``profile(place, **at_hand)`` and ``at_hand(**at_hand)`` where it is made of adapters.

    Raises:
        InvalidInput: the name is taken, or holds a colon.
    """
    if name in _REGISTERED or ":" in name:
        what = f"the profile name {name!r} is already registered or contains a colon"
        raise InvalidInput(what, expected="another name")
    _REGISTERED[name] = make


def names() -> tuple[str, ...]:
    """The names of all profiles there are."""
    return tuple(_REGISTERED)


def ships(profile: Profile) -> bool:
    """Whether a profile is of a family that ships with this package, and not one of the user's making."""
    return isinstance(_REGISTERED.get(profile.name), str)


def fixed(name: str | None) -> bool:
    """Whether what a profile of this name serves is known without its place: it ships, and is made of no adapters."""
    make = _REGISTERED.get(name or "")
    return name is None or (isinstance(make, str) and not hasattr(import_module(make), "at_hand"))


def own_names(profile: Profile) -> tuple[str, ...]:
    """What a profile and its bases serve that is no part of a family that ships: adapters with an ``io.yaml``, and all
    formats of a profile of the user's making."""
    own = tuple(getattr(profile, "specs", ())) if ships(profile) else tuple(profile.formats)
    return own + (own_names(profile.base) if profile.base else ())


def as_profile(spec: Profile | str | None, own: Profile, **at_hand: Any) -> Profile:
    """A profile from a profile, a name, or None.

    Args:
        spec: a profile, its name, or None for ``own``.
        own: the runtime's own profile.
        at_hand: as :func:`profile` takes it.

    Returns:
        The profile that is meant.

    Raises:
        InvalidInput: no profile has that name.
    """
    if isinstance(spec, str) and spec != own.name:
        return profile(spec, **at_hand)
    return spec if isinstance(spec, Profile) else own


def check(spec: Any) -> None:
    """Whether :func:`as_profile` knows this, found out without making it: for components, when they are built.

    Raises:
        InvalidInput: it is no profile, and no name of one; the message has the nearest name.
    """
    known = spec.partition(":")[0] if isinstance(spec, str) else spec
    if not (spec is None or isinstance(spec, Profile) or known in _REGISTERED):
        raise unknown("profile is unknown", spec, _REGISTERED)


def profile(name: str, **at_hand: Any) -> Profile:
    """The profile of that name. A name with a place, ``"granite-4:FOLDER"``, is made of the adapters there.

    Args:
        at_hand: ``model`` and ``technologies`` of the runtime, for a place that has adapters for several.

    Raises:
        InvalidInput: no profile has that name, or it takes no place, or nothing usable is at the place.
    """
    known, _, place = name.partition(":") if isinstance(name, str) else ("", "", "")
    make = _REGISTERED.get(known)
    module: Any = import_module(make) if isinstance(make, str) else None
    if make is None or (place and not hasattr(module, "at_hand")):
        raise unknown("profile is unknown", name, _REGISTERED)
    made: Profile
    if callable(make):
        made = make()
    elif not hasattr(module, "at_hand"):
        made = module.PROFILE
    else:
        made = module.profile(place, **at_hand) if place else module.at_hand(**at_hand)
    return made
