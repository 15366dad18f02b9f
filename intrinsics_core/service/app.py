"""The service as an ASGI app."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware

from intrinsics_core import __version__
from intrinsics_core.service import (
    audit_stream,
    embeddings,
    health,
    intrinsics,
    models,
    pages,
    problems,
    report,
    rerank,
    score,
)
from intrinsics_core.service.limits import Bounded, Limits
from intrinsics_core.service.mcp import OverHttp
from intrinsics_core.service.metrics import Measured
from intrinsics_core.service.security import Guard
from intrinsics_core.service.serving import serving

_ABOUT = """Verdicts for retrieval-augmented generation: rankings, gates, flags, citations, checks.

Errors are `application/problem+json`; `title` is the type of the error in the library."""


def create_app(
    runtimes: Any = None,
    *,
    token: str | None = None,
    hosts: Collection[str] = (),
    origins: Collection[str] = (),
    limits: Limits | None = None,
) -> FastAPI:
    """The service on some runtimes.

    Args:
        runtimes: a runtime, its config, or None for the embedded one; or several by name. A request that names none
            gets the first.
        token: what requests have to bring as ``Authorization: Bearer``; None: nothing.
        hosts: names that ``Host`` may have, beside addresses and ``localhost``; ``"*"``: any.
        origins: pages of other origins that may ask (CORS); none by default.
        limits: how much a request may ask for.

    Returns:
        The ASGI application.

    Raises:
        InvalidInput: a runtime's config or name is wrong.
    """
    bounds = limits or Limits()
    served = serving(runtimes, bounds)
    tools = OverHttp(served)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        warming = asyncio.create_task(served.begin())
        try:
            async with tools.running():
                yield
        finally:
            warming.cancel()
            await served.end()

    cors = Middleware(CORSMiddleware, allow_origins=list(origins), allow_methods=["GET", "POST", "DELETE"],
                      allow_headers=["*"])  # fmt: skip
    app = FastAPI(
        title="RAG intrinsics",
        version=__version__,
        description=_ABOUT,
        lifespan=lifespan,
        docs_url=None,  # FastAPI's own pages load from elsewhere
        redoc_url=None,
        middleware=[
            Middleware(Measured, metrics=served.metrics),
            Middleware(pages.Headed),
            Middleware(Guard, token=token, hosts=hosts, origins=origins),
            *([cors] if origins else []),
            Middleware(Bounded, limits=bounds),
        ],
    )
    problems.install(app, served.hide)
    for module in (rerank, score, embeddings, models, intrinsics, report, audit_stream, health):
        app.include_router(module.routes(served))
    app.router.routes.append(tools.route)
    pages.install(app)
    return app
