"""How a place on the hub is written: ``owner/name[/folder/inside][@revision]``."""

from __future__ import annotations

import re
from dataclasses import dataclass

_PLACE = re.compile(r"\A(?P<repository>[\w.-]+/[\w.-]+)(?:/(?P<folder>[\w./-]+?))?(?:@(?P<revision>[\w./-]+))?")
_COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class HubPlace:
    """``folder`` and ``revision`` are None where the place names none."""

    repository: str
    folder: str | None = None
    revision: str | None = None

    @classmethod
    def parse(cls, text: str) -> HubPlace | None:
        """The place that a text names, None where it is no such text."""
        match = _PLACE.fullmatch(text)
        return cls(**match.groupdict()) if match else None

    @property
    def pinned(self) -> bool:
        """Whether the revision is a commit's full hash: a branch or a tag may be moved."""
        return self.revision is not None and _COMMIT.fullmatch(self.revision) is not None
