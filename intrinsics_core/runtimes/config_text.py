"""A runtime config as a command line names it: JSON text, or a file that contains it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.runtimes.configs import KINDS


def runtime_config(text: str | None) -> dict[str, Any] | None:
    """The config in ``--runtime``: JSON text, the name of a file that holds it, or the name of a kind alone.

    Raises:
        InvalidInput: neither, or not a JSON object. The message never repeats what was given: it may hold a key.
    """
    if text is None:
        return None
    where = "--runtime"
    if text in KINDS and not Path(text).exists():
        return {"kind": text}
    if not text.lstrip().startswith(("{", "[", '"')):
        try:
            text, where = Path(text).read_text(encoding="utf-8-sig"), "the file that --runtime names"
        except UnicodeDecodeError:
            raise InvalidInput("the file that --runtime names is not UTF-8 text") from None
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else "not a file name"
            raise InvalidInput(
                f"--runtime is neither JSON nor a file that can be read ({why})",
                expected='{"kind": "embedded"}, a file that contains it, or the name of a kind, such as embedded',
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
