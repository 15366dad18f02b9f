"""Packages that are not always there, each told by the extra that brings it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from intrinsics_core._support.extras import install_command
from intrinsics_core.protocol.errors import RuntimeUnavailable


@contextmanager
def extra(name: str, why: str = "a package is missing: {error}") -> Iterator[None]:
    """Within it, a package that cannot be imported is told in the words of this library.

    Args:
        name: the extra that brings it.
        why: what is said; ``{error}`` in it is what the import says.

    Raises:
        RuntimeUnavailable: a package is missing.
    """
    try:
        yield
    except ImportError as error:
        raise RuntimeUnavailable(why.format(error=error), expected=install_command(name)) from None
