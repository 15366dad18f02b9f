"""``python -m intrinsics_core.cli``: the same as ``intrinsics``."""

from intrinsics_core.cli import main

main()
