"""Adapters before they are loaded: which one serves a request, where it lies, what it says of itself."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from intrinsics_core._support.hub import HubPlace
from intrinsics_core.intrinsics import TABLE
from intrinsics_core.profiles import own_names, ships
from intrinsics_core.profiles.adapter_names import PUBLISHED, intrinsic_of
from intrinsics_core.profiles.routed import ELSE, FLOW
from intrinsics_core.protocol.errors import InvalidInput, RuntimeUnavailable, UnknownAdapter
from intrinsics_core.protocol.names import find, plain, unknown
from intrinsics_core.protocol.profile import Profile
from intrinsics_core.protocol.requests import Generate

RANKS = (8, 16, 32, 64, 128, 256, 320, 512)  # what every vLLM takes for max_lora_rank (not all of them take 1)


def served_rank(rank: int) -> int:
    """The least ``max_lora_rank`` of vLLM's that serves an adapter of this rank; above all of them the rank itself."""
    return next((allowed for allowed in RANKS if allowed >= rank), rank)


_COMPARE = "compare"  # asked for like an intrinsic, and not in the table: it takes two answers
_TOKENS = "alora_invocation_tokens"  # the one spelling that PEFT knows
_ACTIVATED = (_TOKENS, "alora_invocation_string", "invocation_tokens", "invocation_string")
# What PEFT cannot mix in one batch, or would leave out silently.
_USUAL = {"peft_type": ("LORA",), "task_type": ("CAUSAL_LM", None), "use_dora": (False, None), "bias": ("none", None)}
_WANTED = ("*.safetensors", "*.json", "*.yaml", "*.jinja")  # never a pickle, never code


def choose(adapters: Mapping[str, str], request: Generate) -> str | None:
    """The key in ``adapters`` that serves a request: a name the adapter was published under, else its intrinsic.

    Raises:
        UnknownAdapter: the request needs an adapter, and there is none of a fitting name.
    """
    if request.adapter is None:
        return None
    if (key := key_of(adapters, request)) is not None:
        return key
    raise UnknownAdapter(
        f"the runtime has no adapter for {request.adapter!r}",
        expected=f"one of {', '.join(adapters) or '(adapters is empty)'}",
        got=", ".join(dict.fromkeys((*request.models, request.adapter))),
    )


def key_of(adapters: Mapping[str, str], request: Generate) -> str | None:
    """The key in ``adapters`` for a request, by any name that its adapter goes by; None where there is none."""
    if request.adapter is None:
        return None
    for name in (*request.models, request.adapter):
        if (found := find(name, adapters)) is not None:
            return found
    wanted = intrinsic_of(request.adapter)
    return next((key for key in adapters if intrinsic_of(key) == wanted), None)


def check_names(adapters: Mapping[str, str] | None, profile: Profile) -> None:
    """Whether each key of a runtime's ``adapters`` can be the name of an adapter that it will be asked for.

    Known are the intrinsics, your registered ones too; the adapters that IBM publishes; what the profile of the runtime
    serves, and the names that its adapters were published under; and the name that a folder of an adapter has itself.
    A profile of your own making may ask for adapters by any name.

    Raises:
        InvalidInput: a key means nothing, or two keys mean the same; the message has the nearest name.
    """
    if not adapters:
        return
    if len({plain(key) for key in adapters}) < len(adapters):
        raise InvalidInput("runtime.adapters names one adapter twice", expected="each name once",
                           got=", ".join(map(repr, adapters)))  # fmt: skip
    if not ships(profile):
        return
    asked = {name for names in profile.models.values() for name in names}
    asked |= {name for name in (*profile.models, *own_names(profile)) if name is not None}
    for key, place in adapters.items():
        meant = intrinsic_of(key)
        known = find(meant, (*TABLE, *PUBLISHED)) or find(meant, asked) or find(key, asked)
        own = Path(place).is_dir() and intrinsic_of(Path(place).name) == meant
        if not known and not own:
            raise unknown(f"runtime.adapters.{key} is unknown", key, (*TABLE, *PUBLISHED),
                          otherwise=", or what the profile in the runtime's config asks for")  # fmt: skip


def route_names(own: Iterable[str] = ()) -> tuple[str, ...]:
    """What a route may be called; ``own`` are names of adapters that its profiles serve."""
    return (*TABLE, _COMPARE, ELSE, FLOW, *PUBLISHED, *own)


def folder_of(place: str | Path) -> Path:
    """The local folder of an adapter, downloaded where it is not local.

    Args:
        place: a folder, or ``owner/name[/folder/inside][@revision]`` on the hub. Without a revision the repository may
            change under you: pin it.

    Raises:
        RuntimeUnavailable: there is no such folder, and nothing of that name on the hub can be had.
    """
    path = Path(place).expanduser()
    if path.is_dir():
        return path
    found = HubPlace.parse(str(place))
    if found is None or path.is_absolute():
        raise RuntimeUnavailable(
            f"there is no adapter at {str(place)!r}", expected="a folder, or owner/name[/folder][@revision] on the hub"
        )
    try:
        return found.download(_WANTED)
    except Exception as error:  # the client's errors are many, and all mean the same here
        raise RuntimeUnavailable(f"the adapter {str(place)!r} cannot be downloaded from the hub ({error})") from error


def is_activated(config: Mapping[str, Any]) -> bool:
    """Whether an adapter's description is that of an Activated LoRA, in any of the spellings that were published.

    Loaded as a plain LoRA it would answer, and wrongly.
    """
    return any(config.get(key) for key in _ACTIVATED) or config.get("peft_type") == "ALORA"


def invocation(key: str, config: Mapping[str, Any]) -> tuple[int, ...]:
    """The tokens that activate an adapter; () for a plain LoRA.

    Raises:
        RuntimeUnavailable: it is an Activated LoRA that PEFT would not know as one.
    """
    tokens = config.get(_TOKENS)
    if isinstance(tokens, list) and all(isinstance(token, int) and not isinstance(token, bool) for token in tokens):
        found = tuple(tokens)
    else:
        found = ()
    if not found and is_activated(config):
        raise RuntimeUnavailable(
            f"the adapter {key!r} is an aLoRA, but its adapter_config.json does not give the "
            "tokens that activate it in PEFT's form",
            expected=f"the activation tokens as token ids: {_TOKENS}",
            got=", ".join(f"{name}={config[name]!r}" for name in (*_ACTIVATED, "peft_type") if config.get(name)),
        )
    return found


def read_config(key: str, folder: Path) -> dict[str, Any]:
    """An adapter's own description.

    Raises:
        RuntimeUnavailable: there is none, its weights are not safetensors, or it is of a kind that no engine here can
            mix with others in one batch.
    """
    try:
        config: dict[str, Any] = dict(json.loads((folder / "adapter_config.json").read_text("utf-8")))
    except (OSError, TypeError, ValueError) as error:
        raise RuntimeUnavailable(f"the folder of the adapter {key!r} contains no adapter ({error})") from None
    if not (folder / "adapter_model.safetensors").is_file():
        raise RuntimeUnavailable(
            f"the adapter {key!r} has no weights in safetensors", expected=str(folder / "adapter_model.safetensors")
        )
    if wrong := [f"{name}={config.get(name)!r}" for name, usual in _USUAL.items() if config.get(name) not in usual]:
        raise RuntimeUnavailable(
            f"the adapter {key!r} is of a kind that cannot be served",
            expected="a LoRA or aLoRA adapter for text generation, without DoRA and bias",
            got=", ".join(wrong),
        )
    return config
