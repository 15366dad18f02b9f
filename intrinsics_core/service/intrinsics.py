"""``POST /v1/intrinsics/{name}``: a row of the command line in, its JSON out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from intrinsics_core import IntrinsicsError, InvalidInput
from intrinsics_core.intrinsics.options import from_json
from intrinsics_core.intrinsics.table import TABLE
from intrinsics_core.protocol.names import find, unknown
from intrinsics_core.running.rows import checked, encode, json_object
from intrinsics_core.service.answers import JSON, json_answer
from intrinsics_core.service.problems import of_error
from intrinsics_core.service.serving import Service, not_here

_MESSAGES = [{"role": "user", "content": "Who built the tide mill?"}]
ANSWERED = [*_MESSAGES, {"role": "assistant", "content": "Ada Brink built it. She painted it gold."}]
DOCUMENTS = [{"id": "mill", "text": "The tide mill was built in 1911 by the engineer Ada Brink."}]
_PROPERTIES: Mapping[str, Any] = {
    "id": {"description": "anything; it comes back"},
    "messages": {"type": "array", "items": {"type": "object", "required": ["role", "content"]}},
    "documents": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "object"}]}},
    "on_error": {"type": "string", "description": "`raise` (default), or `fallback`"},
    "date": {"type": "string", "description": "date text for prompts that carry one"},
    "options": {"type": "object", "description": "options of the intrinsic, by name"},
    "runtime": {"type": "string", "description": "a runtime of this service; else the first"},
}


def row_body(required: Sequence[str], names: Iterable[str] = _PROPERTIES, **examples: Any) -> dict[str, Any]:
    """What OpenAPI says of a request whose body is a row with these fields."""
    schema = {"type": "object", "required": required, "properties": {name: _PROPERTIES[name] for name in names}}
    shown = {name: {"value": row} for name, row in examples.items()}
    return {"requestBody": {"required": True, "content": {JSON: {"schema": schema, "examples": shown}}}}


_ROW = row_body(["messages"], audit={"id": 1, "messages": ANSWERED, "documents": DOCUMENTS},
                reranking={"id": 2, "messages": _MESSAGES, "documents": DOCUMENTS})  # fmt: skip
_FIELDS = ("id", "messages", "documents", "on_error", "options", "date", "runtime")
_SHOWN = 100  # characters of a field's name


def routes(serving: Service) -> APIRouter:
    """The routes of the intrinsics."""
    router = APIRouter(tags=["intrinsics"])

    @router.get("/v1/intrinsics", summary="The intrinsics, what each needs and gives")
    async def listing() -> Response:
        rows = [{"name": r.name, "needs": r.needs, "gives": r.gives, "on_error": r.on_error} for r in TABLE.values()]
        return json_answer({"intrinsics": rows})

    @router.post("/v1/intrinsics/{name}", summary="One intrinsic on one row", openapi_extra=_ROW)
    async def intrinsic(name: str, request: Request) -> Response:
        known = find(name, TABLE)
        if known is None:
            raise not_here("intrinsic", name, list(TABLE))
        row = json_object(await request.body())
        identity = row.get("id")
        try:
            has_only(row, _FIELDS)
            record = TABLE[known]
            options = from_json(record, given(row, "options", Mapping, {}), called="option")
            on_error = given(row, "on_error", str, "raise")
            build = partial(record.function, date=given(row, "date", str, None), on_error=on_error, **options)
            call = checked(row, build, needs_documents=record.needs_documents)
            served = serving.pick(given(row, "runtime", str, None))
            found = await serving.ask(served, call)
        except IntrinsicsError as error:
            return of_error(error.named(known), serving.hide, id=identity if _plain(identity) else None)
        return Response(encode(identity, found), media_type=JSON)

    return router


def has_only(row: Mapping[str, Any], fields: Sequence[str]) -> None:
    """Refuse a field that is none of these.

    Raises:
        InvalidInput: there is one; the message has the nearest name.
    """
    for field in row:
        if field not in fields:
            raise unknown(f"{field[:_SHOWN]!r} is an unknown field", field, fields)


def given(row: Mapping[str, Any], key: str, kind: type, otherwise: Any) -> Any:
    """What a row holds under a key; ``otherwise`` where it is absent or null.

    Raises:
        InvalidInput: it is of another kind.
    """
    value = row.get(key)
    if value is None:
        return otherwise
    if not isinstance(value, kind):
        raise InvalidInput(f"{key} has the wrong type", expected="text" if kind is str else "an object",
                           got=type(value).__name__)  # fmt: skip
    return value


def _plain(identity: Any) -> bool:
    """Whether an id can be written into a problem."""
    return isinstance(identity, str | int)
