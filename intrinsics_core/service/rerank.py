"""``POST /v1/rerank`` and ``/v2/rerank``, as Cohere and Jina have them; ``/rerank``, as TEI and vLLM have it."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import uuid4

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from intrinsics_core import reranking
from intrinsics_core.calibration.probabilities import logit
from intrinsics_core.service.answers import json_answer
from intrinsics_core.service.models import RELEVANCE, pick
from intrinsics_core.service.serving import Service

_EXAMPLE: dict[str, Any] = {
    "query": "Who built the tide mill?",
    "documents": ["Fog is common in May.", "Ada Brink built the tide mill in 1911."],
    "top_n": 1,
}


_READ: dict[str, type] = {"title": str, "metadata": dict}  # of an object, beside its text; others are its own


class Passage(BaseModel):
    """A document as an object. A ``title`` is read, also one in ``metadata``; further fields are its own."""

    model_config = ConfigDict(extra="allow")

    text: str


class RerankRequest(BaseModel):
    """What to rank. Fields that are not named here are ignored, as the original ignores them."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    query: str
    documents: list[str | Passage]
    model: str | None = Field(
        None, description="A runtime of this service. The name of another service's model is the first one's."
    )
    top_n: Annotated[int, Field(ge=1, strict=True)] | None = None
    return_documents: bool = False


class TextsRequest(BaseModel):
    """What to rank, as TEI's clients send it."""

    query: str
    texts: list[str]
    raw_scores: bool = Field(False, description="True: logits; else probabilities.")
    return_text: bool = False


class Ranked(BaseModel):
    """One document of the answer, best first; ``index`` is its place among those given."""

    index: int
    relevance_score: float
    document: dict[str, Any] | None = None


class RerankResponse(BaseModel):
    """The ranking. ``model`` is the runtime that ranked; ``meta.warnings`` says so where another was named."""

    id: str
    model: str
    results: list[Ranked]
    meta: dict[str, Any]


def routes(serving: Service) -> APIRouter:
    """The routes of rankings."""
    router = APIRouter(tags=["rerank"])

    @router.post("/v1/rerank", response_model=RerankResponse, summary="Rank documents by a query")
    @router.post("/v2/rerank", response_model=RerankResponse, summary="Rank documents by a query")
    async def rerank(asked: RerankRequest) -> Response:
        served, _ = pick(serving, asked.model, task="", tasks=("", RELEVANCE))
        warnings = []
        if asked.model not in (None, served.name, f"{served.name}/{RELEVANCE}"):
            warnings.append(f"model {str(asked.model)[:100]!r} is not served here: {served.name!r} has ranked")
        documents = [one if isinstance(one, str) else _document(one) for one in asked.documents]
        found = await serving.ask(served, reranking([{"role": "user", "content": asked.query}], documents))
        if found.degraded:
            warnings.append(found.degraded)
        if found.missing:
            warnings.append(f"{found.missing} of {len(found.ranking)} documents were not ranked and keep their order")
        if found.mode != "pointwise" and found.ranking:
            warnings.append("relevance_score tells the place in the ranking and is no probability")
        results = []
        for row in found.ranking[: asked.top_n]:
            result: dict[str, Any] = {"index": row.index, "relevance_score": row.score}
            if asked.return_documents:
                given = asked.documents[row.index]
                result["document"] = {"text": given} if isinstance(given, str) else given.model_dump()
            results.append(result)
        meta: dict[str, Any] = {"api_version": {"version": "1"}, "billed_units": {"search_units": 0}}
        if warnings:
            meta["warnings"] = warnings
        return json_answer({"id": str(uuid4()), "model": served.name, "results": results, "meta": meta})

    @router.post("/rerank", response_model=None, summary="Rank documents, or `texts` as TEI has it")
    async def unversioned(asked: TextsRequest | RerankRequest) -> Response:
        if isinstance(asked, RerankRequest):
            return await rerank(asked)
        found = await serving.ask(serving.default, reranking([{"role": "user", "content": asked.query}], asked.texts))
        rows: list[dict[str, Any]] = []
        for row in found.ranking:
            score = logit(row.score) if asked.raw_scores and row.score is not None else row.score
            rows.append(
                {"index": row.index, "score": score} | ({"text": asked.texts[row.index]} if asked.return_text else {})
            )
        return json_answer(rows)

    return router


def _document(passage: Passage) -> dict[str, Any]:
    """What is read of an object, as the core takes it."""
    own = passage.model_extra or {}
    return {"text": passage.text} | {name: own[name] for name, kind in _READ.items() if isinstance(own.get(name), kind)}
