"""The ``intrinsics`` command before anything is imported: Ctrl-C is told in a line then too, not in a traceback.

It stands beside the package because it has to come first: whoever imports anything of ``intrinsics_core`` imports what
its users import, for a good part of a second. ``python -m intrinsics_core.cli`` cannot be helped so: Python imports the
package before it runs the module.
"""

from __future__ import annotations

import os
from typing import Any

INTERRUPTED = 130  # 128 + SIGINT, what shells expect


def main() -> None:
    """Entry point of the ``intrinsics`` command."""
    try:
        import signal

        heeded = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # a shell's background jobs ignore it
        if heeded:
            # Not by an exception: one that is raised in the middle of an import may be caught, or come out as another.
            signal.signal(signal.SIGINT, _leave)
        from intrinsics_core.cli import main as command
        from intrinsics_core.cli.commands import app  # noqa: F401  (here, where Ctrl-C is heeded so)

        if heeded:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        command()
    except KeyboardInterrupt:
        _leave()


def _leave(*_: Any) -> None:
    try:
        os.write(2, b"intrinsics: interrupted\n")
    except OSError:  # nobody to tell
        pass
    finally:
        os._exit(INTERRUPTED)  # nothing was begun that would have to be ended
