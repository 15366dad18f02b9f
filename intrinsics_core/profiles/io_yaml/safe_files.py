"""Files of a folder that somebody else wrote: regular ones, inside the folder, of a size that was agreed on."""

from __future__ import annotations

import os
import stat
from pathlib import Path


def read_text(path: Path, largest: int, root: Path | None = None) -> str:
    """The text of a file.

    Args:
        largest: bytes it may have.
        root: the folder it must lie in, links followed; the file's own where left out. A snapshot of the hub's cache
            (``.../snapshots/<commit>``) links to ``.../blobs`` beside it, which counts as inside.

    Raises:
        OSError: it cannot be read, is no regular file (a pipe, a device), or lies elsewhere.
        ValueError: it is larger, or no UTF-8. No message holds any of its content.
    """
    home = _home((root or path.parent).resolve())
    real = path.resolve()
    if not real.is_relative_to(home):
        raise OSError("it is a link to a file outside its folder")
    if not stat.S_ISREG(os.lstat(real).st_mode):  # before it is opened: opening a pipe waits for its writer
        raise OSError("it is not a regular file")
    descriptor = os.open(real, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0))
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):  # what it was may have been changed since
            raise OSError("it is not a regular file")
        content = file.read(largest + 1)
    if len(content) > largest:
        raise ValueError(f"it is too large (more than {largest} bytes)")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not UTF-8 (byte {error.start})") from None


def _home(folder: Path) -> Path:
    for snapshot in (folder, *folder.parents):
        if snapshot.parent.name == "snapshots":
            return snapshot.parent.parent
    return folder
