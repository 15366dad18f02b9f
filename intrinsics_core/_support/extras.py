"""What to type to install one of the package's extras."""

from __future__ import annotations


def install_command(extra: str) -> str:
    """The command for an installed package, and the one in a clone of the repository."""
    return f"pip install 'rag-intrinsics[{extra}]' (in a clone: pip install -e '.[{extra}]')"
