"""What Prometheus reads: requests, latency, verdicts by label, the line before each runtime."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from intrinsics_core.protocol.results import Result
from intrinsics_core.protocol.telemetry import verdicts

_LATENCIES = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_LABEL = "gen_ai.evaluation.score.label"


class Metrics:
    """The counters of one app. Several workers of one machine are added up where ``PROMETHEUS_MULTIPROC_DIR`` is set,
    as `prometheus_client` has it."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "rag_intrinsics_requests", "Requests answered.", ["route", "status"], registry=self.registry
        )
        self._latency = Histogram(
            "rag_intrinsics_request_seconds", "From a request's head to the end of its answer.", ["route"],
            buckets=_LATENCIES, registry=self.registry,
        )  # fmt: skip
        self._verdicts = Counter(
            "rag_intrinsics_verdicts", "Verdicts given.", ["intrinsic", "label"], registry=self.registry
        )
        self._waiting = Gauge(
            "rag_intrinsics_waiting", "Calls that wait for a runtime.", ["runtime"], registry=self.registry,
            multiprocess_mode="livesum",
        )  # fmt: skip

    def line(self, runtime: str, waiting: Callable[[], float]) -> None:
        """Tell how many calls wait for a runtime, whenever it is asked."""
        self._waiting.labels(runtime).set_function(waiting)

    def judged(self, intrinsic: str, value: Any) -> None:
        """Count the labels of a result."""
        if isinstance(value, Result):
            for attributes in verdicts(intrinsic, value):
                self._verdicts.labels(intrinsic, "degraded" if value.degraded else attributes.get(_LABEL, "none")).inc()

    def answered(self, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._requests.labels(route, str(status)).inc()
        self._latency.labels(route).observe(seconds)

    async def page(self, request: Request) -> Response:
        """The answer to ``GET /metrics``."""
        registry = self.registry
        if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
            from prometheus_client.multiprocess import MultiProcessCollector

            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)


class Measured:
    """Middleware: counts every request by the route that answered it. A path that is no route is one for all."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app, self.metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun, status = time.perf_counter(), 499  # what is logged elsewhere of a client that left

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, watched)
        except Exception:
            status = 500
            raise
        finally:
            route = getattr(scope.get("route"), "path", "other")
            self.metrics.answered(route, status, time.perf_counter() - begun)
