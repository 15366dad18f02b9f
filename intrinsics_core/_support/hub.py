"""How a place on the hub is written: ``owner/name[/folder/inside][@revision]``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

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

    def download(self, patterns: Iterable[str], revision: str | None = None) -> Path:
        """The local copy of its folder, with the files that fit one of the patterns.

        Args:
            patterns: names of files, with ``*`` for any part.
            revision: the one that counts where the place names none.

        Raises:
            Exception: whatever the hub's client raises, for whom all mean the same; or the client is not installed.
        """
        from huggingface_hub import snapshot_download

        inside = f"{self.folder}/" if self.folder else ""
        wanted = [inside + pattern for pattern in patterns]
        return Path(
            snapshot_download(self.repository, revision=self.revision or revision, allow_patterns=wanted), inside
        )
