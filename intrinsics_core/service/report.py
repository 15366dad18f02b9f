"""``POST /v1/report``: a row in, everything about it as one HTML page to keep."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from intrinsics_core import (
    Call,
    IntrinsicsError,
    answerability,
    audit,
    context_relevance,
    query_rewrite,
    reranking,
)
from intrinsics_core.protocol.results import Audit, Uncertainty
from intrinsics_core.render.report import report as page_of
from intrinsics_core.render.trace import Turn
from intrinsics_core.running.rows import checked, json_object
from intrinsics_core.service.intrinsics import ANSWERED, DOCUMENTS, given, has_only, row_body
from intrinsics_core.service.serving import Service

_TITLE = "What holds of this answer"
_LEAD = "One question, the documents that were given, and what the judge said about them."
_ROW = {
    **row_body(["messages", "documents"], ("messages", "documents", "runtime"),
               report={"messages": ANSWERED, "documents": DOCUMENTS}),
    "responses": {"200": {"content": {"text/html": {"schema": {"type": "string"}}}}},
}  # fmt: skip
_FIELDS = ("id", "messages", "documents", "runtime")


def routes(serving: Service) -> APIRouter:
    """The route of the report."""
    router = APIRouter(tags=["intrinsics"])

    @router.post("/v1/report", summary="Everything about one row, as an HTML page", openapi_extra=_ROW)
    async def report(request: Request) -> Response:
        row = json_object(await request.body())
        has_only(row, _FIELDS)
        served = serving.pick(given(row, "runtime", str, None))
        calls = _calls(row)
        await serving.bounded(next(iter(calls.values())))
        found = await asyncio.gather(*(serving.ask(served, call) for call in calls.values()), return_exceptions=True)
        results, notes = _sorted(dict(zip(calls, found, strict=True)), serving)
        notes.append(f"Judged by the runtime {served.name}.")
        headers = {"content-disposition": 'attachment; filename="report.html"'}
        page = page_of(_TITLE, _LEAD, [_turn(next(iter(calls.values())), results)], notes=notes)
        return Response(page, media_type="text/html; charset=utf-8", headers=headers)

    return router


def _calls(row: Mapping[str, Any]) -> dict[str, Call[Any]]:
    """What is asked, by its name in a turn: the answer, or the gate where there is none, and then the question."""
    turns = row.get("messages")
    last = turns[-1] if isinstance(turns, list) and turns else None
    answered = isinstance(last, Mapping) and last.get("role") == "assistant"
    first = checked(row, audit if answered else answerability, needs_documents=True)
    calls: dict[str, Call[Any]] = {"audit" if answered else "gate": first}
    task = first.task
    if task.query:
        asked = list(task.messages)
        while asked[-1].role != "user":
            asked.pop()
        calls["rewrite"] = query_rewrite(asked)
        calls["ranking"] = reranking(asked, task.documents)
        calls["relevance"] = context_relevance(asked, task.documents)
    return calls


def _sorted(found: Mapping[str, Any], serving: Service) -> tuple[dict[str, Any], list[str]]:
    """The results by name, and a note for each that there is none of.

    Raises:
        IntrinsicsError: there is no result at all.
    """
    results: dict[str, Any] = {}
    failed: dict[str, IntrinsicsError] = {}
    for name, outcome in found.items():
        if isinstance(outcome, IntrinsicsError):
            failed[name] = outcome
        elif isinstance(outcome, BaseException):
            raise outcome
        else:
            results[name] = outcome
    if not results:
        raise next(iter(failed.values()))
    notes = [f"No {name}: {type(error).__name__}: {serving.hide(str(error))}" for name, error in failed.items()]
    for name, result in results.items():
        notes += [f"{name}: {words}" for words in (result.degraded, result.reason) if words]
    notes += [f"No verdict on: “{s.text}”" for s in getattr(results.get("audit"), "sentences", ()) if not s.judged]
    return results, notes


def _turn(asked: Call[Any], results: dict[str, Any]) -> Turn:
    task = asked.task
    audited: Audit | None = results.pop("audit", None)
    if audited:
        results |= {
            "gate": audited.answerability,
            "hallucination": audited.hallucination,
            "citations": audited.citations,
            "certainty": Uncertainty(certainty=audited.certainty),
            "remark": "; ".join(audited.disagreements).capitalize(),
        }
    return Turn(question=task.query, answer=task.response, retrieved=task.documents, **results)
