"""What the user set: a runtime config, options of an intrinsic. A mistake is one clear line, and no key is echoed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from intrinsics_core._support.extras import install_command
from intrinsics_core._support.redaction import hide, secrets
from intrinsics_core.intrinsics.options import ANSWERED, QUESTION, from_texts, record_of
from intrinsics_core.protocol.call import Call
from intrinsics_core.protocol.errors import IntrinsicsError, InvalidInput, RuntimeUnavailable, UnsupportedIntrinsic
from intrinsics_core.protocol.profile import Profile
from intrinsics_core.runtimes.configs import runtime_config

__all__ = [
    "check_served",
    "extra",
    "hide",
    "intrinsic_function",
    "intrinsic_options",
    "named_configs",
    "runtime_config",
    "secrets",
]

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


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Within it a package that is missing is told as the extra that brings it.

    Raises:
        RuntimeUnavailable: one is.
    """
    try:
        yield
    except ImportError as error:
        raise RuntimeUnavailable(f"a package is missing: {error}",
                                 expected=install_command(name)) from None  # fmt: skip


def check_served(intrinsic: str, options: Mapping[str, Any], profile: Profile) -> None:
    """Find out before the first row whether the profile serves the intrinsic: only to ask needs no runtime.

    Raises:
        UnsupportedIntrinsic: it does not.
    """
    for messages in (QUESTION, ANSWERED):
        try:
            program = intrinsic_function(intrinsic)(messages, [".", "?"], on_error="raise", **options).start(profile)
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


def intrinsic_function(name: str) -> Callable[..., Call[Any]]:
    """The function of that name.

    Raises:
        InvalidInput: there is none.
    """
    return record_of(name, called="INTRINSIC").function


def intrinsic_options(intrinsic: str, pairs: Sequence[str]) -> dict[str, Any]:
    """``key=value`` texts as keyword arguments of the intrinsic, typed by its signature.

    Raises:
        InvalidInput: no such option, or a value it does not take.
    """
    return from_texts(record_of(intrinsic, called="INTRINSIC"), pairs, called="--option")
