"""``POST /v1/score`` and ``/score`` as vLLM has them: what a runtime's cross-encoder says of pairs of texts."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from fastapi import APIRouter
from pydantic import AliasChoices, BaseModel, ConfigDict, Field
from starlette.responses import Response

from intrinsics_core import InvalidInput
from intrinsics_core.calibration.logits import yes_logits
from intrinsics_core.calibration.probabilities import sigmoid
from intrinsics_core.protocol.requests import Score
from intrinsics_core.service.answers import json_answer
from intrinsics_core.service.models import ENTAILMENT, RELEVANCE, pick
from intrinsics_core.service.problems import TooMuch
from intrinsics_core.service.serving import Service

_EXAMPLE: dict[str, Any] = {
    "model": "default/relevance",
    "text_1": "Who built the tide mill?",
    "text_2": ["Fog is common in May.", "Ada Brink built the tide mill in 1911."],
}


class ScoreRequest(BaseModel):
    """Pairs: one text with each of many, or two lists of one length.

    Of ``…/relevance`` the first is a question and the second a passage; of ``…/entailment`` the first is a source and
    the second a claim.
    """

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    text_1: str | list[str] = Field(validation_alias=AliasChoices("text_1", "queries", "data_1"))
    text_2: str | list[str] = Field(validation_alias=AliasChoices("text_2", "documents", "items", "data_2"))
    model: str | None = None
    use_activation: bool | None = Field(
        None,
        validation_alias=AliasChoices("use_activation", "activation"),
        description="False: logits; else probabilities.",
    )


class Scores(BaseModel):
    """A score for each pair."""

    id: str
    object: str
    created: int
    model: str
    data: list[dict[str, Any]]


def routes(serving: Service) -> APIRouter:
    """The route of scores."""
    router = APIRouter(tags=["score"])

    @router.post("/score", response_model=Scores, summary="The same, without a version")
    @router.post("/v1/score", response_model=Scores, summary="What a cross-encoder says of pairs of texts")
    async def score(asked: ScoreRequest) -> Response:
        served, task = pick(serving, asked.model, task=RELEVANCE, tasks=(RELEVANCE, ENTAILMENT))
        pairs = _pairs(asked.text_1, asked.text_2, serving.limits.documents)
        await serving.limits.check([text for pair in pairs for text in pair], len(pairs))
        asked_for = Score("score", pairs, "entailment" if task == ENTAILMENT else "relevance")
        logits = yes_logits([await serving.ask_once(served, asked_for)]) if pairs else []
        values = logits if asked.use_activation is False else [sigmoid(one) for one in logits]
        rows = [{"index": i, "object": "score", "score": value} for i, value in enumerate(values)]
        return json_answer({"id": f"score-{uuid4()}", "object": "list", "created": 0,
                            "model": f"{served.name}/{task}", "data": rows, "usage": {}})  # fmt: skip

    return router


def _pairs(first: str | list[str], second: str | list[str], most: int) -> tuple[tuple[str, str], ...]:
    ones, others = [first] if isinstance(first, str) else first, [second] if isinstance(second, str) else second
    if max(len(ones), len(others)) > most:
        raise TooMuch("too many pairs", expected=f"at most {most}", got=str(max(len(ones), len(others))))
    if len(ones) == 1:
        ones = ones * len(others)
    if len(ones) != len(others):
        raise InvalidInput(
            "text_1 and text_2 cannot be paired",
            expected="one text and many, or two lists of one length",
            got=f"{len(ones)} and {len(others)}",
        )
    return tuple(zip(ones, others, strict=True))
