"""What a browser sees: the page, and the requests with their examples.

Nothing is loaded from elsewhere. FastAPI's own pages load their scripts from a content network; that of the requests is
HTML and a style sheet. The page looks as a report does, by the report's own style sheets and tones.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from intrinsics_core import render
from intrinsics_core.render.html import TONES
from intrinsics_core.service.answers import json_answer
from intrinsics_core.service.problems import problem

PAGE = Path(__file__).parent / "page"
_REPORT = Path(render.__file__).parent  # where a report's style sheets are
_SHEETS = ("style.css", "turn.css", "page.css")
_HEADERS = {
    # Scripts and styles of our own files alone, none within the HTML; nothing is sent anywhere else. Where a browser
    # knows trusted types, a script of ours that wrote text as markup would be stopped, too.
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'",
    "cache-control": "no-cache",  # kept, and asked for anew: after an update no old script meets a new page
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}
_STYLE = """
:root { color-scheme: light dark; font: 15px/1.55 system-ui, sans-serif; }
body { max-width: 60em; margin: 2em auto; padding: 0 1em; }
h2 { margin-top: 2em; border-bottom: 1px solid color-mix(in srgb, currentColor 20%, transparent); }
td, th { text-align: left; vertical-align: top; padding: .1em 1em .1em 0; }
h3 { font: 600 1em ui-monospace, monospace; margin-top: 1.6em; }
b { color: #1f7a57; } @media (prefers-color-scheme: dark) { b { color: #58c79b; } }
pre { overflow-x: auto; padding: .7em 1em; border-radius: .4em;
  background: color-mix(in srgb, currentColor 7%, transparent); }
"""


class Headed:
    """Middleware: what a browser is to know of every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._headers = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def headed(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *self._headers]}
            await send(message)

        await self.app(scope, receive, headed)


def install(app: FastAPI, folder: Path = PAGE) -> None:
    """Add the pages to an app.

    Args:
        folder: the files of the page, its ``index.html`` among them; without them ``/`` leads to ``/docs``.
    """

    @app.get("/docs", include_in_schema=False)
    async def docs(request: Request) -> Response:
        return HTMLResponse(_page(app.openapi(), str(request.base_url).rstrip("/")))

    @app.get("/docs.css", include_in_schema=False)
    async def style() -> Response:
        return Response(_STYLE, media_type="text/css")

    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        index = folder / "index.html"
        return FileResponse(index) if index.is_file() else RedirectResponse("/docs")

    @app.get("/page/report/{sheet}", include_in_schema=False)
    async def look(sheet: str) -> Response:
        if sheet == "tones.json":
            return json_answer({"tones": TONES})
        return FileResponse(_REPORT / sheet) if sheet in _SHEETS else problem(404, "NotFound", "there is no such file")

    if folder.is_dir():
        app.mount("/page", StaticFiles(directory=folder))


def _page(schema: dict[str, Any], url: str) -> str:
    about = "".join(f"<p>{escape(part)}</p>" for part in schema["info"]["description"].split("\n\n"))
    parts = "".join(_operations(schema, url))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>RAG intrinsics: requests</title>'
        '<meta name="viewport" content="width=device-width"><link rel="stylesheet" href="/docs.css"></head><body>'
        f'<h1>RAG intrinsics {escape(schema["info"]["version"])}</h1>{about}<p>Schemas: <a href="/openapi.json">'
        f"openapi.json</a>. MCP clients: <code>{escape(url)}/mcp</code>.</p>{parts}</body></html>"
    )


def _operations(schema: dict[str, Any], url: str) -> Iterator[str]:
    group = None
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            tag = operation.get("tags", [""])[0]
            if tag != group:
                group = tag
                yield f"<h2>{escape(tag)}</h2>"
            yield f"<h3><b>{method.upper()}</b> {escape(path)}</h3><p>{escape(operation.get('summary', ''))}</p>"
            if rows := "".join(_fields(schema, operation)):
                yield f"<table><tr><th>field</th><th>type</th><th>what it is</th></tr>{rows}</table>"
            for example in _examples(schema, operation):
                body = json.dumps(example, indent=1)
                globs = "-g " if "{" in path else ""  # else curl takes braces for a list of addresses
                yield f"<pre>curl {globs}{escape(url + path)} -d '{escape(body)}'</pre>"
            answers = ", ".join(
                f"{code} {escape(told['description'])}" for code, told in operation["responses"].items()
            )
            yield f"<p>Answers: {answers}.</p>"


def _fields(schema: dict[str, Any], operation: dict[str, Any]) -> Iterator[str]:
    """A row for each field of what is sent."""
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    given = content.get("schema", {})
    for one in given.get("anyOf", [given]):
        model = schema["components"]["schemas"].get(one.get("$ref", "").rpartition("/")[2], {})
        for name, field in model.get("properties", {}).items():
            needed = "" if name in model.get("required", ()) else ", optional"
            kind, about = escape(_type(field)), escape(field.get("description", ""))
            yield f"<tr><td><code>{escape(name)}</code></td><td>{kind}{needed}</td><td>{about}</td></tr>"


def _type(field: dict[str, Any]) -> str:
    """The type of a field in a word or two."""
    if "anyOf" in field:
        return " or ".join(dict.fromkeys(_type(one) for one in field["anyOf"] if one.get("type") != "null"))
    if field.get("type") == "array":
        return f"list of {_type(field.get('items', {}))}"
    if "enum" in field:
        return " or ".join(map(str, field["enum"]))
    return str(field.get("type") or field.get("$ref", "any").rpartition("/")[2])


def _examples(schema: dict[str, Any], operation: dict[str, Any]) -> list[Any]:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    named = [one["value"] for one in content.get("examples", {}).values()]
    model = content.get("schema", {}).get("$ref", "").rpartition("/")[2]
    return named or list(schema.get("components", {}).get("schemas", {}).get(model, {}).get("examples", ()))
