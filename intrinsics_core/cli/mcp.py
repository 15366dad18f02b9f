"""``intrinsics mcp``: the checks as tools of an agent, over standard input and output."""

from __future__ import annotations

import asyncio

from intrinsics_core.cli.options import NamedRuntimes
from intrinsics_core.cli.serve import named_runtimes
from intrinsics_core.runtimes.extras import extra

EPILOG = """
Over HTTP the same tools are at `/mcp` of `intrinsics serve`.

Example, in the settings of an MCP client: `{"mcpServers": {"rag": {"command": "intrinsics", "args": ["mcp"]}}}`
"""


def mcp(runtime: NamedRuntimes = None) -> None:
    """Serve the intrinsics as MCP tools over standard input and output."""
    with named_runtimes(runtime) as configs:
        with extra("serve"):
            from intrinsics_core.service import stdio
        asyncio.run(stdio.run(configs))
