"""What the user set: a runtime config, options of an intrinsic. A mistake is one clear line, and no key is echoed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from intrinsics_core._support.redaction import hide, secrets
from intrinsics_core.intrinsics.options import ANSWERED, QUESTION
from intrinsics_core.intrinsics.table import Record
from intrinsics_core.protocol.errors import IntrinsicsError, InvalidInput, UnsupportedIntrinsic
from intrinsics_core.protocol.profile import Profile
from intrinsics_core.runtimes.configs import runtime_config

__all__ = ["check_served", "hide", "named_configs", "runtime_config", "secrets"]

_UNNAMED = "default"


def named_configs(texts: Sequence[str]) -> dict[str, Any]:
    """The configs in several ``--runtime``, by name; what is given without one is called ``default``.

    Raises:
        InvalidInput: one is no config, or two have the same name.
    """
    found: dict[str, Any] = {}
    for text in texts:
        named = re.match(r"([A-Za-z0-9][A-Za-z0-9_.-]*)=", text)
        name = named.group(1) if named else _UNNAMED
        if name in found:
            raise InvalidInput(
                f"two runtimes have the name {name!r}", expected="a different name for each: --runtime NAME=CONFIG"
            )
        found[name] = runtime_config(text[named.end() :] if named else text)
    return found or {_UNNAMED: None}


def check_served(intrinsic: Record, options: Mapping[str, Any], profile: Profile) -> None:
    """Find out before the first row whether the profile serves the intrinsic: only to ask needs no runtime.

    Raises:
        UnsupportedIntrinsic: it does not.
    """
    for messages in (QUESTION, ANSWERED):
        try:
            program = intrinsic.function(messages, [".", "?"], on_error="raise", **options).start(profile)
        except InvalidInput:
            continue  # a question is no input to what judges an answer, and the other way round
        try:
            next(program)
        except UnsupportedIntrinsic:
            raise
        except InvalidInput as error:
            if error.message.startswith("arguments"):  # the same for each row
                raise
        except (StopIteration, IntrinsicsError):
            pass  # served without asking, or this row of ours is not to its taste
        finally:
            program.close()
