"""MCP: the tools on the official SDK, and over streamable HTTP.

Whatever is given to a tool, the session lives on: arguments that do not fit, and what the library refuses, are results
that say so, with the type of the error.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from pydantic import ValidationError
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from intrinsics_core import IntrinsicsError, InvalidInput, __version__
from intrinsics_core.protocol.errors import as_intrinsics_error
from intrinsics_core.service.intrinsics import has_only
from intrinsics_core.service.misfits import misfit
from intrinsics_core.service.problems import name_of
from intrinsics_core.service.serving import Service, not_here
from intrinsics_core.service.short_results import MOST
from intrinsics_core.service.tools import TOOLS, Tool, structured

PATH = "/mcp"
_BY_NAME = {tool.name: tool for tool in TOOLS}
_INSTRUCTIONS = (
    "Checks for answers that rest on retrieved documents. Rewrite a follow-up question before you search, rerank what "
    "was found, ask whether it answers the question, and audit your answer before you give it."
)


def mcp_server(serving: Service) -> Server[Any]:
    """The tools on the runtimes of a service."""

    async def list_tools(context: Any, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_described(tool) for tool in TOOLS])

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            return await _called(serving, params.name, params.arguments or {})
        except Exception as error:  # never a broken session
            return _refused(serving, as_intrinsics_error(error))

    return Server("rag-intrinsics", version=__version__, instructions=_INSTRUCTIONS, on_list_tools=list_tools,
                  on_call_tool=call_tool)  # fmt: skip


class OverHttp:
    """The tools over streamable HTTP. No session is kept: a request may go to any worker."""

    def __init__(self, serving: Service) -> None:
        self._server = mcp_server(serving)
        self._manager: StreamableHTTPSessionManager | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Within it, requests are answered."""
        # What the manager checks of hosts and sizes is checked before, for all routes.
        self._manager = StreamableHTTPSessionManager(self._server, json_response=True, stateless=True)
        async with self._manager.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert self._manager is not None, "requests come while the app runs"
        first = await receive()  # the whole body: it is read before any route is asked

        async def again() -> Message:
            nonlocal first
            message, first = first, {"type": "http.disconnect"}
            return message if message["type"] == "http.request" else await receive()

        if scope["method"] == "POST" and _has_no_id(first.get("body", b"")):
            raise InvalidInput("the id of a request is neither text nor a whole number", expected="a JSON-RPC request")
        await self._manager.handle_request(scope, again, send)

    @property
    def route(self) -> Route:
        """Where they are answered."""
        return Route(PATH, self, methods=["GET", "POST", "DELETE"])


def _has_no_id(body: bytes) -> bool:
    """Whether a request has an id that is none: the SDK would take it for a notification, and never answer."""
    try:
        frame = json.loads(body)
    except (ValueError, RecursionError):
        return False  # the SDK tells
    identity = frame.get("id", 0) if isinstance(frame, dict) else 0
    return isinstance(identity, bool) or not isinstance(identity, str | int)


def _described(tool: Tool) -> types.Tool:
    given, result = tool.given.model_json_schema(), tool.result.model_json_schema()
    read = types.ToolAnnotations(read_only_hint=True, open_world_hint=False, idempotent_hint=True)
    return types.Tool(name=tool.name, description=tool.description, input_schema=given, output_schema=result,
                      annotations=read)  # fmt: skip


async def _called(serving: Service, name: str, arguments: dict[str, Any]) -> types.CallToolResult:
    tool = _BY_NAME.get(name)
    if tool is None:
        raise not_here("tool", name, list(_BY_NAME))
    has_only(arguments, list(tool.given.model_fields))
    try:
        given = tool.given.model_validate(arguments)
    except ValidationError as error:
        raise misfit(error.errors(include_url=False, include_input=False), arguments, "the arguments") from None
    found = await serving.ask(serving.pick(given.runtime), tool.call(given))
    text = types.TextContent(type="text", text=tool.tell(found, given))
    return types.CallToolResult(content=[text], structured_content=structured(tool, found, given))


def _refused(serving: Service, error: IntrinsicsError) -> types.CallToolResult:
    said = serving.hide(f"{name_of(error)}: {error}")
    text = types.TextContent(type="text", text=said if len(said) <= MOST else said[: MOST - 1] + "…")
    return types.CallToolResult(content=[text], is_error=True)
