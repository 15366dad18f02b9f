"""The service as a Ray Serve deployment: replicas on the nodes of a cluster, as many as there is work for.

    serve run intrinsics_core.service.ray_serve:deployment runtime='{"kind": "embedded"}'

or in Python ``ray.serve.run(build(config, autoscaling_config={"min_replicas": 1, "max_replicas": 8}))``. Each replica
has models of its own. A session of ``/v1/audit/stream`` belongs to one replica.
"""

from __future__ import annotations

import json
from typing import Any

from fastapi import FastAPI
from ray import serve

from intrinsics_core.service.app import create_app


def build(runtimes: Any = None, *, app: dict[str, Any] | None = None, **deployed: Any) -> serve.Application:
    """The service as an application of Ray Serve.

    Args:
        runtimes, app: what :func:`create_app` takes; configs, not runtimes: each replica makes its own.
        deployed: options of ``serve.deployment``, such as ``num_replicas`` or ``autoscaling_config``.
    """

    def made() -> FastAPI:
        # Ray's proxy hands on any host that clients name; who may reach it, it decides.
        return create_app(runtimes, **{"hosts": ["*"], **(app or {})})

    @serve.ingress(made)
    class Intrinsics:
        pass

    return serve.deployment(name="rag-intrinsics", max_ongoing_requests=256, **deployed)(Intrinsics).bind()


def deployment(arguments: dict[str, str]) -> serve.Application:
    """The application of ``serve run``: ``runtime`` is the JSON of a config."""
    return build(json.loads(arguments.get("runtime", "null")))
