"""What the user set: a runtime config, options of an intrinsic. A mistake is one clear line, and no key is echoed."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from intrinsics_core._support.extras import install_command
from intrinsics_core._support.redaction import SECRET, hide, secrets
from intrinsics_core.intrinsics.options import ANSWERED, QUESTION, from_texts, record_of
from intrinsics_core.protocol.call import Call
from intrinsics_core.protocol.errors import IntrinsicsError, InvalidInput, RuntimeUnavailable, UnsupportedIntrinsic
from intrinsics_core.protocol.profile import Profile
from intrinsics_core.runtimes.config_text import runtime_config

__all__ = [
    "check_served",
    "extra",
    "fingerprint",
    "hide",
    "intrinsic_function",
    "intrinsic_options",
    "named_configs",
    "profile_mark",
    "runtime_config",
    "secrets",
]

_UNNAMED = "default"
_READ = ("calibrations", "thresholds")  # their values may be files


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


def fingerprint(config: Mapping[str, Any] | None) -> dict[str, str]:
    """What tells one runtime from another, without its secrets: a new key for the same server is the same runtime."""
    public = json.dumps(_public(dict(config or {"kind": "embedded"})), sort_keys=True)
    kind = (config or {}).get("kind", "embedded")
    return {"kind": str(kind), "sha256": hashlib.sha256(public.encode()).hexdigest()}


def profile_mark(spelled: str | None, chosen: Profile) -> str:
    """What tells one profile from another: its name, and the place of the adapters that it is made of."""
    from intrinsics_core.profiles.granite.granite_4 import VARIABLE  # not for every start of the command

    name, _, place = (spelled or chosen.name).partition(":")
    places = [place] if place else os.environ.get(VARIABLE, "").split(os.pathsep) if name == "granite-4" else []
    found = [str(Path(one).expanduser().resolve()) if Path(one).expanduser().exists() else one for one in places if one]
    return ":".join((name, *found))


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


def _public(value: Any) -> Any:
    if isinstance(value, Mapping):
        # A number is no secret, whatever it is called (max_tokens).
        kept = {k: v for k, v in value.items() if isinstance(v, int | float) or not SECRET.search(str(k))}
        return {key: _contents(item) if key in _READ else _public(item) for key, item in kept.items()}
    if isinstance(value, list):
        return [_public(item) for item in value]
    if isinstance(value, str):
        # User, password and query of an address may be credentials.
        return re.sub(r"(?<=://)[^/@\s]*@|\?.*", "", value) if "://" in value else value
    return value


def _contents(value: Any) -> Any:
    """The same with the digest of each file in place of its name: another file of that name is another runtime."""
    if isinstance(value, Mapping):
        return {key: _contents(item) for key, item in value.items()}
    if isinstance(value, str) and Path(value).is_file():
        return f"sha256:{hashlib.sha256(Path(value).read_bytes()).hexdigest()}"
    return _public(value)


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
