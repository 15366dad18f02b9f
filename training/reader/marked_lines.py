"""Text files of blocks between empty lines, in which the first character of a line says what the rest is."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path


def marked_blocks(file: Path) -> Iterator[dict[str, list[str]]]:
    """Of each block its lines by their mark; a mark that it does not use has none."""
    for block in re.split(r"\n\s*\n", file.read_text("utf-8").strip()):
        lines: dict[str, list[str]] = defaultdict(list)
        for line in block.strip().splitlines():
            lines[line[0]].append(line[1:].strip())
        yield lines
