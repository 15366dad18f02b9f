"""Activated LoRA on a server: vLLM as it is shipped loads one as a plain LoRA without a word, and answers wrongly."""

from __future__ import annotations

import json
from pathlib import Path

from intrinsics_core.runtimes.adapters import is_activated
from intrinsics_core.runtimes.server.listing import Entry

_CONFIG = "adapter_config.json"
_LARGEST = 1 << 20  # bytes


def activated(entry: Entry) -> bool | None:
    """Whether a listed adapter is an Activated LoRA; None where its name alone says so, and nothing can be seen.

    The server lists the folder of its weights; it can be looked into where the server runs on this machine.
    """
    path = Path(entry.root or "") / _CONFIG
    try:
        if entry.root and path.is_absolute() and path.is_file() and path.stat().st_size <= _LARGEST:
            config = json.loads(path.read_text(encoding="utf-8"))
            return isinstance(config, dict) and is_activated(config)
    except (OSError, ValueError, RecursionError):
        pass
    return None if "alora" in f"{entry.name} {entry.root or ''}".lower() else False
