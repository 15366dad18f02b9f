"""The tools over standard input and output."""

from __future__ import annotations

import asyncio
from typing import Any

from mcp.server.stdio import stdio_server

from intrinsics_core.service.limits import Limits
from intrinsics_core.service.mcp import mcp_server
from intrinsics_core.service.serving import serving


async def run(runtimes: Any) -> None:
    """Serve the tools until the input ends.

    Args:
        runtimes: as :func:`intrinsics_core.service.app.create_app` takes them.

    Raises:
        InvalidInput: a runtime's config or name is wrong.
    """
    served = serving(runtimes, Limits())
    warming = asyncio.create_task(served.begin())
    server = mcp_server(served)
    try:
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())
    finally:
        warming.cancel()
        await served.end()
