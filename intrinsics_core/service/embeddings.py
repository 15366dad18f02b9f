"""``POST /v1/embeddings`` as OpenAI has it, ``/embed`` as TEI has it: vectors of a runtime's bi-encoder."""

from __future__ import annotations

import asyncio
import base64
import struct
from typing import Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict
from starlette.responses import Response

from intrinsics_core import InvalidInput
from intrinsics_core.embedded.models.bi_encoder import averaged
from intrinsics_core.protocol.requests import Embed
from intrinsics_core.service.answers import json_answer
from intrinsics_core.service.limits import tokens_of
from intrinsics_core.service.models import EMBEDDING, pick
from intrinsics_core.service.serving import Served, Service

_EXAMPLE: dict[str, Any] = {
    "model": "default/embedding",
    "input": ["The tide mill was built in 1911.", "Fog is common in May."],
}


class EmbeddingsRequest(BaseModel):
    """Texts. Numbers of tokens are not read: each model has its own."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    input: str | list[str] | list[int] | list[list[int]]
    model: str | None = None
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = None
    input_type: Literal["query", "passage"] = "passage"


class EmbedRequest(BaseModel):
    """Texts, as TEI's clients send them. Their other fields are ignored: vectors have length 1, and no text is cut."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"inputs": ["The tide mill was built in 1911."]}]})

    inputs: str | list[str]


class Embeddings(BaseModel):
    """A vector of length 1 for each text; the windows of a long text are averaged."""

    object: str
    model: str
    data: list[dict[str, Any]]
    usage: dict[str, int]


def routes(serving: Service) -> APIRouter:
    """The route of vectors."""
    router = APIRouter(tags=["embeddings"])

    async def vectors_of(served: Served, texts: list[str], kind: Literal["query", "passage"]) -> list[list[float]]:
        await serving.limits.check(texts, len(texts))
        reply = await serving.ask_once(served, Embed("embeddings", tuple(texts), kind))
        return averaged(reply.vectors)

    @router.post("/v1/embeddings", response_model=Embeddings, summary="Vectors of texts")
    async def embeddings(asked: EmbeddingsRequest) -> Response:
        served, task = pick(serving, asked.model, task=EMBEDDING, tasks=(EMBEDDING,))
        texts = _texts(asked.input)
        vectors = await vectors_of(served, texts, asked.input_type)
        if asked.dimensions is not None and vectors and asked.dimensions != len(vectors[0]):
            raise InvalidInput("dimensions must be the length of the model's vectors", expected=str(len(vectors[0])),
                               got=str(asked.dimensions))  # fmt: skip
        rows = [
            {"index": i, "object": "embedding", "embedding": _packed(v) if asked.encoding_format == "base64" else v}
            for i, v in enumerate(vectors)
        ]
        count = await asyncio.to_thread(tokens_of, texts)
        usage = {"prompt_tokens": count, "total_tokens": count}
        return json_answer({"object": "list", "model": f"{served.name}/{task}", "data": rows, "usage": usage})

    @router.post("/embed", response_model=list[list[float]], summary="Vectors of texts, as TEI gives them")
    async def embed(asked: EmbedRequest) -> Response:
        served, _ = pick(serving, None, task=EMBEDDING, tasks=(EMBEDDING,))
        return json_answer(await vectors_of(served, _texts(asked.inputs), "passage"))

    return router


def _texts(given: Any) -> list[str]:
    texts = [given] if isinstance(given, str) else given
    if not texts or not all(isinstance(text, str) for text in texts):
        raise InvalidInput(
            "input is not text",
            expected="a text or a list of texts (with LangChain's OpenAIEmbeddings, set "
            "check_embedding_ctx_length=False)",
        )
    return list(texts)


def _packed(vector: list[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
