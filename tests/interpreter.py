"""A fresh interpreter, for what an import loads."""

from __future__ import annotations

import subprocess
import sys


def output_of(code: str) -> str:
    """What a program prints. One that fails, or takes two minutes, fails the test."""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    return found.stdout.strip()
