"""Names of intrinsics, metrics, parts, adapters and kinds: hyphens and underscores are the same in all of them.

A name that means nothing is an error, which says the nearest name that means something.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from intrinsics_core.protocol.errors import InvalidInput

T = TypeVar("T")
Name = TypeVar("Name", bound=str)
_SHOWN = 100  # characters of a name that an error shows


def plain(name: str) -> str:
    """The spelling by which names are compared: ``fact_check`` is ``fact-check``."""
    return name.replace("_", "-")


def find(name: Any, known: Iterable[Name]) -> Name | None:
    """The known name that is meant: the same text, or the same but for hyphens and underscores; None where none is."""
    if not isinstance(name, str):
        return None
    names = list(known)
    same = [one for one in names if one == name] or [one for one in names if plain(one) == plain(name)]
    return next(iter(same), None)


def nearest(name: Any, known: Iterable[Name], *, cutoff: float = 0.5) -> Name | None:
    """The known name that was most likely meant; None where none is like it.

    Args:
        name: the name that was given.
        known: the names that are known.
        cutoff: how like they must be, from 0 to 1.

    Returns:
        The nearest of the known names, in its own spelling.
    """
    from difflib import get_close_matches  # not for every start of the command

    names = {plain(one).lower(): one for one in known}
    found = get_close_matches(plain(str(name)).lower()[:_SHOWN], list(names), n=1, cutoff=cutoff)
    return names[found[0]] if found else None


def unknown(
    what: str,
    name: Any,
    known: Iterable[str],
    *,
    intrinsic: str | None = None,
    otherwise: str = "",
) -> InvalidInput:
    """The error for a name that is none of those known; with the nearest of them.

    Args:
        what: what is wrong, in words: ``"runtime.kind is unknown"``.
        name: the name that was given.
        known: the names that are known.
        intrinsic: name of the intrinsic in the error, or None.
        otherwise: what else would be right, behind the known names.

    Returns:
        The error, to be raised by the caller.
    """
    names = list(known)
    close = nearest(name, names)
    expected = (f"one of {', '.join(names)}" if names else "none") + otherwise
    meant = f" (did you mean {close!r}?)" if close else ""
    return InvalidInput(f"{what}{meant}", intrinsic=intrinsic, expected=expected, got=repr(name)[: _SHOWN + 2])


def named(what: str, name: Any, known: Iterable[Name], **details: Any) -> Name:
    """The known name that is meant.

    Args:
        what: what the name is called in an error: ``"runtime.kind"``.
        name: the name that was given.
        known: the names that are known.
        details: as :func:`unknown` takes them.

    Returns:
        The known name, in its own spelling.

    Raises:
        InvalidInput: none is; the message has the nearest one.
    """
    names = list(known)
    found = find(name, names)
    if found is None:
        raise unknown(f"{what} is unknown", name, names, **details)
    return found


def keyed(what: str, given: Mapping[str, T], known: Iterable[str], **details: Any) -> dict[str, T]:
    """A mapping with each key in its known spelling, in the order given.

    Args:
        what: what the mapping is called in an error.
        given: the mapping that was given.
        known: the keys that are known.
        details: as :func:`unknown` takes them.

    Returns:
        The mapping with the known keys.

    Raises:
        InvalidInput: a key means nothing, or two mean the same.
    """
    names, found = list(known), dict[str, T]()
    for key, value in given.items():
        name = named(f"{what}.{key}", key, names, **details)
        if name in found:
            raise InvalidInput(
                f"{what} names {name!r} twice", expected="each name once", got=", ".join(map(repr, given))
            )
        found[name] = value
    return found
