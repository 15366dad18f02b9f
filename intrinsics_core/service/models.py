"""``GET /v1/models``, and what the names of models mean."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from intrinsics_core.service.answers import json_answer
from intrinsics_core.service.serving import Served, Service, not_here

RELEVANCE, ENTAILMENT, EMBEDDING = "relevance", "entailment", "embedding"
"""What a model of a runtime is for. Its name is the runtime's with one of these: ``default/entailment``."""


def names(served: Served) -> list[str]:
    """The names of a runtime's models: itself, for rankings and intrinsics, and one for each task of its encoders."""
    runtime = served.runtime
    scores = [RELEVANCE, ENTAILMENT] if getattr(runtime, "has_reader", False) else list(getattr(runtime, "places", ()))
    tasks = [task for task in (RELEVANCE, ENTAILMENT) if task in scores]
    return [served.name, *(f"{served.name}/{task}" for task in (*tasks, *([EMBEDDING] if embeds(served) else [])))]


def embeds(served: Served) -> bool:
    """Whether a runtime has a bi-encoder."""
    return hasattr(served.runtime, "embed")


def pick(serving: Service, name: str | None, *, task: str, tasks: tuple[str, ...]) -> tuple[Served, str]:
    """The runtime and the task of a model's name.

    Args:
        task: what a runtime's name alone, or none, stands for.
        tasks: those that may be named.

    Raises:
        NotHere: no model is called so; the message has the nearest name.
    """
    runtime, _, named = (name or serving.default.name).partition("/")
    found = serving.runtimes.get(runtime)
    known = [one for served in serving.runtimes.values() for one in names(served)]
    if found is None or (named or task) not in tasks or f"{runtime}/{named or task}" not in known:
        fitting = [one for one in known if one.partition("/")[2] in tasks]
        raise not_here("model", name or runtime, fitting or known)
    return found, named or task


def routes(serving: Service) -> APIRouter:
    """The route of the models."""
    router = APIRouter(tags=["models"])

    @router.get("/v1/models", summary="The models' names")
    async def models() -> Response:
        found: list[dict[str, Any]] = [
            {"id": name, "object": "model", "created": 0, "owned_by": "rag-intrinsics", "root": name, "parent": None}
            for served in serving.runtimes.values()
            for name in names(served)
        ]
        return json_answer({"object": "list", "data": found})

    return router
