"""``granite-4``: the adapters of the Granite 4 libraries, each driven by the ``io.yaml`` beside its weights.

Nothing of these files is built in: they come with the adapters. ``"granite-4:FOLDER"`` or
``"granite-4:owner/name@commit"`` says where they are, or the environment variable ``RAG_INTRINSICS_ADAPTERS`` for plain
``"granite-4"``, or :func:`profile` is given them.
"""

from __future__ import annotations

import os
from functools import partial
from typing import Any

from intrinsics_core.profiles import io_yaml
from intrinsics_core.profiles.io_yaml import AdapterProfile
from intrinsics_core.protocol.errors import InvalidInput

VARIABLE = "RAG_INTRINSICS_ADAPTERS"

profile = partial(io_yaml.profile, name="granite-4")


def at_hand(**hints: Any) -> AdapterProfile:
    """The profile of the adapters that the environment names.

    Args:
        hints: ``model`` and ``technologies`` of the runtime, see :func:`intrinsics_core.profiles.io_yaml.profile`.

    Raises:
        InvalidInput: it names none.
    """
    if not (places := [place for place in os.environ.get(VARIABLE, "").split(os.pathsep) if place]):
        expected = f"'granite-4:FOLDER', 'granite-4:owner/name@commit', or the environment variable {VARIABLE}"
        raise InvalidInput("profile granite-4 needs to know where its adapters are", expected=expected)
    return profile(*places, **hints)
