"""What tells one runtime, profile or file from another, for runs that are resumed. It holds no secrets."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from intrinsics_core._support.redaction import SECRET
from intrinsics_core.protocol.profile import Profile

_FILES = ("calibrations", "thresholds", "replies", "path", "reader")  # options whose values may be files or folders
_MODELS = ("model", "adapters", "relevance", "entailment", "tokens")  # these too, but not where a server has them
_SAMPLE = 65_536  # bytes of a large file's beginning and of its end that are compared: weights take gigabytes


def of_run(
    intrinsic: str, spelled: str | None, chosen: Profile, config: Mapping[str, Any] | None, input: str, **more: Any
) -> dict[str, Any]:
    """What a run's note says of it.

    Args:
        intrinsic: what is asked.
        spelled, chosen: the profile, as it was named and as it is.
        config: the runtime's.
        input: the digest of the input.
        more: what else must be the same for a run to go on.
    """
    shared = {"profile": profile(spelled, chosen), "runtime": runtime(config), "input": input}
    return {"version": 1, "intrinsic": intrinsic, **shared, **more}


def runtime(config: Mapping[str, Any] | None) -> dict[str, str]:
    """A new key for the same server is the same runtime. Another model or calibration in the same place is another."""
    whole = dict(config or {"kind": "embedded"})
    public = json.dumps(_public(whole), sort_keys=True)
    return {"kind": str(whole.get("kind", "embedded")), "sha256": hashlib.sha256(public.encode()).hexdigest()}


def profile(spelled: str | None, chosen: Profile) -> str:
    """The profile's name, and the place and contents of the adapters that it is made of."""
    from intrinsics_core.profiles.granite.granite_4 import VARIABLE  # not for every start of the command

    name, _, place = (spelled or chosen.name).partition(":")
    places = [place] if place else os.environ.get(VARIABLE, "").split(os.pathsep) if name == "granite-4" else []
    return ":".join((name, *(_place(Path(one).expanduser()) for one in places if one)))


def _place(path: Path) -> str:
    found = contents(path)
    return str(path) if found is None else f"{path.resolve()}@{found[:19]}"


def contents(path: Path) -> str | None:
    """A digest of a file, or of the names and contents of the files below a folder. None where there is neither.

    Of a file of more than twice 64 KiB, the size, the beginning and the end are read.
    """
    if path.is_file():
        files = [("", path)]
    elif path.is_dir():
        files = [(str(one.relative_to(path)), one) for one in sorted(path.rglob("*")) if one.is_file()]
    else:
        return None
    digest = hashlib.sha256()
    for name, file in files:
        size = file.stat().st_size
        digest.update(f"{name}\0{size}\0".encode())
        with file.open("rb") as stream:
            digest.update(stream.read(_SAMPLE))
            stream.seek(max(_SAMPLE, size - _SAMPLE))
            digest.update(stream.read())
    return f"sha256:{digest.hexdigest()}"


def _public(value: Any) -> Any:
    if isinstance(value, Mapping):
        # A number is no secret, whatever it is called (max_tokens), nor is the model for "tokens".
        kept = {
            k: v for k, v in value.items() if isinstance(v, int | float) or k in _MODELS or not SECRET.search(str(k))
        }
        read = _FILES if kept.get("kind") == "server" else (*_FILES, *_MODELS)
        return {key: _read(item) if key in read else _public(item) for key, item in kept.items()}
    if isinstance(value, list):
        return [_public(item) for item in value]
    if isinstance(value, str):
        # User, password and query of an address may be credentials.
        return re.sub(r"(?<=://)[^/@\s]*@|\?.*", "", value) if "://" in value else value
    return str(value) if isinstance(value, Path) else value


def _read(value: Any) -> Any:
    """The same with the contents of each file or folder in place of its name."""
    if isinstance(value, Mapping):
        return {key: _read(item) for key, item in value.items()}
    found = None
    if isinstance(value, str | Path):
        with suppress(OSError):  # a text too long for a name
            found = contents(Path(value))
    return _public(value) if found is None else found
