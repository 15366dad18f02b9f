"""Files that are written whole or not at all: where writing fails, the file that was there stays as it was."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def drafted(path: Path) -> Iterator[Path]:
    """A draft beside a file, which takes the file's place at the end. After an error the draft is gone.

    Raises:
        OSError: the draft cannot take the file's place.
    """
    draft = path.with_name(path.name + ".part")
    try:
        yield draft
        os.replace(draft, path.resolve())
    except BaseException:  # a full disk, or Ctrl-C
        with suppress(OSError):
            draft.unlink()
        raise


def write(path: Path, text: str) -> None:
    """Write a file of UTF-8.

    Raises:
        OSError: it cannot be written.
    """
    if path.exists() and not path.is_file():  # a device or a pipe
        path.write_text(text, encoding="utf-8")
        return
    with drafted(path) as draft:
        draft.write_text(text, encoding="utf-8")
