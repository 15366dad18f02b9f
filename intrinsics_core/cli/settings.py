"""What the user set: a runtime config, options of an intrinsic. A mistake is one clear line, and no key is echoed."""

from __future__ import annotations

import hashlib
import json
import os
import re
import typing
from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import Any

from intrinsics_core.errors import IntrinsicsError, InvalidInput, UnsupportedIntrinsic
from intrinsics_core.hiding import SECRET, hide, secrets
from intrinsics_core.intrinsics import INTRINSICS
from intrinsics_core.profiles.base import Profile
from intrinsics_core.program import Call

__all__ = [
    "check_served",
    "fingerprint",
    "hide",
    "intrinsic_function",
    "intrinsic_options",
    "profile_mark",
    "runtime_config",
    "secrets",
]

_READ = ("calibrations", "thresholds")  # their values may be files
_QUESTION = [{"role": "user", "content": "?"}]
_ANSWERED = [*_QUESTION, {"role": "assistant", "content": "!"}]
_NOT_OPTIONS = {"on_error", "date"}  # these have flags of their own


def runtime_config(text: str | None) -> dict[str, Any] | None:
    """The config in ``--runtime``: JSON text, or the name of a file that holds it.

    Raises:
        InvalidInput: neither, or not a JSON object. The message never repeats what was given: it may hold a key.
    """
    if text is None:
        return None
    where = "--runtime"
    if not text.lstrip().startswith(("{", "[", '"')):
        try:
            text, where = Path(text).read_text(encoding="utf-8-sig"), "the file that --runtime names"
        except UnicodeDecodeError:
            raise InvalidInput("the file that --runtime names is not UTF-8 text") from None
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else "not a file name"
            raise InvalidInput(
                f"--runtime cannot be read: {why}",
                expected='JSON text such as {"kind": "embedded"}, or a file that holds it',
            ) from None
    try:
        config = json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidInput(f"{where} is not JSON: {error.msg} (line {error.lineno}, column {error.colno})") from None
    except RecursionError:
        raise InvalidInput(f"{where} is nested too deeply") from None
    if not isinstance(config, dict):
        raise InvalidInput(f"{where} is not a JSON object", expected='{"kind": ...}')
    return config


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
    for messages in (_QUESTION, _ANSWERED):
        try:
            program = intrinsic_function(intrinsic)(messages, [".", "?"], on_error="raise", **options).start(profile)
        except InvalidInput:
            continue  # a question is no input to what judges an answer, and the other way round
        try:
            next(program)
        except UnsupportedIntrinsic:
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
    if name not in INTRINSICS:
        raise InvalidInput("INTRINSIC is unknown", expected=f"one of {', '.join(INTRINSICS)}", got=repr(name))
    return INTRINSICS[name]


def intrinsic_options(intrinsic: str, pairs: Sequence[str]) -> dict[str, Any]:
    """``key=value`` texts as keyword arguments of the intrinsic, typed by its signature.

    Raises:
        InvalidInput: no such option, or a value it does not take.
    """
    factory = intrinsic_function(intrinsic)
    hints = typing.get_type_hints(factory)
    known = {
        name: hints[name]
        for name, parameter in signature(factory).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY and name not in _NOT_OPTIONS
    }
    options: dict[str, Any] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        name = name.strip().replace("-", "_")
        if not equals:
            raise InvalidInput("--option is not of the form key=value", intrinsic=intrinsic, got=repr(pair))
        if name not in known:
            raise InvalidInput("--option names no option of it", intrinsic=intrinsic,
                               expected=f"one of {', '.join(known)}" if known else "none: it has no options",
                               got=repr(name))  # fmt: skip
        options[name] = _value(intrinsic, name, known[name], text.strip())
    if options:
        _probe(intrinsic, options)
    return options


def _value(intrinsic: str, name: str, hint: Any, text: str) -> Any:
    from pydantic import TypeAdapter, ValidationError

    if text.lower() in ("none", "null") and type(None) in typing.get_args(hint):
        return None
    try:
        return TypeAdapter(hint).validate_strings(text)
    except ValidationError as error:
        raise InvalidInput(f"--option {name} has a wrong value", intrinsic=intrinsic,
                           expected=error.errors()[0]["msg"], got=repr(text)) from None  # fmt: skip


def _probe(intrinsic: str, options: Mapping[str, Any]) -> None:
    """Find out before the first row whether the intrinsic takes these values."""
    for messages in (_QUESTION, _ANSWERED):
        try:
            intrinsic_function(intrinsic)(messages, ["."], **options)
            return
        except InvalidInput as error:
            if not error.message.startswith("messages"):
                raise
