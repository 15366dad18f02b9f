"""What is at a place: every adapter's file, what it serves, and which runtimes can load its adapter."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from intrinsics_core.profiles import io_yaml
from intrinsics_core.profiles.io_yaml.location import SWITCH, Found, find
from intrinsics_core.protocol.errors import InvalidInput

# technology -> what can load it. vLLM as it is shipped takes an aLoRA for a plain LoRA: it is not among them.
RUNTIMES: Mapping[str | None, tuple[str, ...]] = {
    "lora": ("server", "transformers", "vllm"),
    "alora": ("transformers",),
    SWITCH: ("server with the Granite Switch plugin",),
    None: ("server", "transformers", "vllm"),
}


def survey(place: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """One row per file, in the order of paths: ``intrinsic``, ``base`` (as published), ``technology``, ``source``,
    ``profile`` (how to ask for it), ``runtimes``, ``arguments`` (texts that its instruction names) and ``wrong`` (why
    it cannot be used, else None).

    Raises:
        InvalidInput: there is no such file.
        RuntimeUnavailable: the hub cannot be reached.
    """
    return [_row(found, str(place)) for found in find(place)]


def _row(found: Found, place: str) -> dict[str, Any]:
    try:
        spec, wrong = io_yaml.read(found), None
    except InvalidInput as error:
        spec, wrong = None, str(error)
    names = spec.instruction.names if spec and spec.instruction else frozenset()
    return {
        "intrinsic": spec.name if spec else found.intrinsic,
        "base": None if found.base is None else io_yaml.published(found.base),
        "technology": found.technology,
        "source": found.source,
        "profile": f"granite-4:{_chosen(found, place)}",
        "runtimes": list(RUNTIMES[found.technology]),
        "arguments": sorted(names - {"last_message", "document_content"}),
        "wrong": wrong,
    }


def _chosen(found: Found, place: str) -> str:
    """The place, with what chooses this adapter there."""
    parts = [found.base, found.technology if found.base and found.technology != SWITCH else None]
    choice = "/".join(part for part in parts if part)
    return f"{place.partition('#')[0]}#{choice}" if choice else place
