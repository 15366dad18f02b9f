"""``GET /health``, ``/ready`` and ``/metrics``: for who runs the service."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from intrinsics_core.service.answers import json_answer
from intrinsics_core.service.problems import problem
from intrinsics_core.service.serving import Service


def routes(serving: Service) -> APIRouter:
    """The routes of probes and counters."""
    router = APIRouter(tags=["operation"])

    @router.get("/health", summary="Whether the process lives")
    async def health() -> Response:
        return json_answer({"status": "alive"})

    @router.get("/ready", summary="Whether every runtime has loaded what it needs")
    async def ready() -> Response:
        states = {
            name: "ready" if one.warm else f"failed: {one.failure}" if one.failure else "loading"
            for name, one in serving.runtimes.items()
        }
        if all(served.warm for served in serving.runtimes.values()):
            return json_answer({"status": "ready", "runtimes": states})
        waits = "; ".join(f"{name} {state}" for name, state in states.items() if state != "ready")
        return problem(503, "RuntimeUnavailable", serving.hide(waits))

    @router.get("/metrics", summary="Counters for Prometheus")
    async def metrics(request: Request) -> Response:
        return await serving.metrics.page(request)

    return router
