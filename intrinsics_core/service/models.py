"""``GET /v1/models``, and what the names of models mean."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from intrinsics_core.protocol.names import nearest
from intrinsics_core.service.answers import json_answer
from intrinsics_core.service.serving import Served, Service, not_here

RELEVANCE, ENTAILMENT, EMBEDDING = "relevance", "entailment", "embedding"
_TASKS = (RELEVANCE, ENTAILMENT, EMBEDDING)
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
    """The runtime and the task of a model's name: one rule for rankings, scores and vectors.

    A name of this service is that model. A name of another service ("rerank-v3.5", "text-embedding-3-small"), which a
    client was written with, is the first runtime's model; the answer says which model gave it. What is spelled like a
    name of this service, and is none, is an error.

    Args:
        task: what a runtime's name alone, or none, stands for; "" for the runtime itself.
        tasks: those that may be named.

    Raises:
        NotHere: the name is spelled like one of this service, or there is no such model; the message lists what is.
    """
    known = [one for served in serving.runtimes.values() for one in names(served)]
    runtime, slash, named = (name or serving.default.name).partition("/")
    own = runtime in serving.runtimes or named in _TASKS or nearest(name, known, cutoff=0.8) is not None
    if not own:
        runtime, slash, named = serving.default.name, "", ""
    found, wanted = serving.runtimes.get(runtime), named if slash else task
    if found is None or wanted not in tasks or (f"{runtime}/{wanted}" if wanted else runtime) not in known:
        fitting = [one for one in known if one.partition("/")[2] in tasks]
        raise not_here("model", name or runtime, fitting or known)
    return found, wanted


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
