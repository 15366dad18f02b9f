"""Which code an event loop's own thread runs: what keeps a loop from its other tasks, told without a clock."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine
from types import FrameType
from typing import Any

# Where splitting, vectors and their loading are: work that a loop would feel.
LONG_WORK = ("/nltk/", "/onnxruntime/", "/tokenizers/", "/intrinsics_core/embedded/")


def files_on_loop(main: Callable[[], Coroutine[Any, Any, Any]], names: tuple[str, ...] = LONG_WORK) -> set[str]:
    """Run ``main()`` in a new event loop; the files with any of ``names`` in their path that its thread ran code of.

    What threads of a pool run, imports too, is not the loop's.
    """
    seen: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            seen.add(frame.f_code.co_filename)

    async def watched() -> None:
        sys.setprofile(note)  # of this thread alone
        try:
            await main()
        finally:
            sys.setprofile(None)

    asyncio.run(watched())
    return {file for file in seen if any(name in file for name in names)}
