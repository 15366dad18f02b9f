"""Write one version into everything that names it, and the bill of materials, or print it.

python .ci/version.py            # what it is; an error where two places disagree
python .ci/version.py 0.2.0      # write it
"""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSION = r"[0-9]+(?:\.[0-9]+){2}(?:(?:a|b|rc)[0-9]+)?"
FOLDERS = (".", "integrations/langchain", "integrations/llamaindex", "integrations/haystack")
PLACES = (
    *((f"{folder}/pyproject.toml", rf'(?m)^version = "({VERSION})"$') for folder in FOLDERS),
    *((f"{folder}/pyproject.toml", rf'"rag-intrinsics>=({VERSION})"') for folder in FOLDERS[1:]),
    ("intrinsics_core/__init__.py", rf'__version__ = "({VERSION})"'),
    ("integrations/langchain/langchain_rag_intrinsics/__init__.py", rf'__version__ = "({VERSION})"'),
    ("integrations/llamaindex/llama_index/rag_intrinsics/__init__.py", rf'__version__ = "({VERSION})"'),
    ("CITATION.cff", rf"(?m)^version: ({VERSION})$"),
)
"""Files, and the pattern whose group is the version."""


def found() -> dict[tuple[str, str], str]:
    """The version in each place."""
    versions = {}
    for file, pattern in PLACES:
        match = re.search(pattern, (ROOT / file).read_text(encoding="utf-8"))
        if match is None:
            raise SystemExit(f"{file} names no version ({pattern})")
        versions[file, pattern] = match[1]
    return versions


def write(version: str) -> None:
    """Put a version in each place."""
    if not re.fullmatch(VERSION, version):
        raise SystemExit(f"{version!r} is no version; expected a form such as 0.2.0 or 0.2.0rc1")
    for (file, pattern), old in found().items():
        path = ROOT / file
        text = path.read_text(encoding="utf-8")
        path.write_text(re.sub(pattern, lambda m, old=old: m[0].replace(old, version), text, count=1), encoding="utf-8")
    citation = ROOT / "CITATION.cff"
    day = f"date-released: {datetime.now(UTC).date().isoformat()}"
    text = re.sub(r"(?m)^date-released: .*$", day, citation.read_text(encoding="utf-8"))
    citation.write_text(text, encoding="utf-8")
    bill = subprocess.run([sys.executable, ROOT / ".ci" / "sbom.py"], capture_output=True, check=True)
    (ROOT / "sbom.json").write_bytes(bill.stdout)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        write(sys.argv[1])
    versions = set(found().values())
    if len(versions) != 1:
        raise SystemExit("\n".join(f"{file}: {version}" for (file, _), version in found().items()))
    print(*versions)
