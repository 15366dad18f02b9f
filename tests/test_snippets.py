"""Each snippet of each page runs, or is named here with what it wants that is not at hand.

Snippets of a session (`>>>`) are checked with what they print: `test_readme.py`, and a test of pages in each
integration. This is about the others: programs, commands of `intrinsics`, and requests to the service.
"""

from __future__ import annotations

import ast
import json
import re
import shlex
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest
import typer

from intrinsics_core.cli import app

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/*.md"))]
PAGES += sorted(ROOT.glob("integrations/*/*.md"))

# What a program takes for granted, by its page and place: the names that its reader has.
GIVEN = {
    "README.md 1": """
from llama_index.core import MockEmbedding, Settings, VectorStoreIndex
from llama_index.core.llms import MockLLM
from llama_index.core.schema import TextNode
Settings.llm = MockLLM()
index = VectorStoreIndex([TextNode(text="Ada Brink built the tide mill.")], embed_model=MockEmbedding(8))
""",
    "README.md 2": """
from haystack import Pipeline
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore
pipeline = Pipeline()
pipeline.add_component("retriever", InMemoryBM25Retriever(InMemoryDocumentStore()))
""",
    "docs/bench.md 1": "import pytest",
    "docs/bench.md 2": "import pytest",
    "docs/runtimes.md 2": """
mill, fog = "Ada Brink built the tide mill in 1911.", "Fog is common in May."
asked = [{"role": "user", "content": "Who built the tide mill?"}]
examples = [{"messages": asked, "documents": [text], "label": text == mill} for text in (mill, fog) * 5]
""",
    "docs/stores.md 1": """
from langchain_core.documents import Document
documents = [Document("Ada Brink built the tide mill.", metadata={"town": "Port Ellery"})]
""",
    "docs/stores.md 2": """
import chromadb
from llama_index.core.schema import TextNode
nodes = [TextNode(text="Ada Brink built the tide mill.")]
collection = chromadb.EphemeralClient().create_collection("harbour-page")
""",
}
NOT_RUN = {
    "docs/ray.md 1": "wants a cluster and a server with a model; tests/ray runs map_rows on a local one",
    "docs/service.md 1": "serves until it is stopped; tests/service/test_ray_serve.py runs what it builds",
    "docs/training.md 1": "wants weights of eight billions; tests/transformers/training runs it on a tiny one",
}


class Snippet(NamedTuple):
    name: str
    text: str


def fenced(page: Path, *languages: str) -> Iterator[str]:
    pattern = rf"^```(?:{'|'.join(languages)})[^\n]*\n(.*?)^```"
    return (found[1] for found in re.finditer(pattern, page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL))


def programs() -> list[Snippet]:
    return [
        Snippet(f"{page.relative_to(ROOT)} {place}", text)
        for page in PAGES
        for place, text in enumerate((t for t in fenced(page, "python") if ">>>" not in t), start=1)
    ]


PROGRAMS = programs()


def imported(text: str) -> set[str]:
    """The packages that a program imports."""
    nodes = list(ast.walk(ast.parse(text)))
    found = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return found | {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}


def there(module: str) -> bool:
    if module in sys.modules:
        return True  # some lazy modules have no spec
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


@pytest.mark.parametrize("snippet", PROGRAMS, ids=[snippet.name for snippet in PROGRAMS])
def test_a_program_of_a_page_runs(snippet: Snippet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = GIVEN.get(snippet.name, "")
    lacking = sorted(name for name in imported(f"{given}\n{snippet.text}") if not there(name))
    assert [name for name in lacking if name.startswith("intrinsics_core")] == []
    if lacking:
        pytest.skip(f"not installed: {', '.join(lacking)}")
    if snippet.name in NOT_RUN:
        imports = [node for node in ast.parse(snippet.text).body if isinstance(node, ast.Import | ast.ImportFrom)]
        exec(compile(ast.Module(imports, []), snippet.name, "exec"), {})
        pytest.skip(NOT_RUN[snippet.name])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PG_CONN_STR", "postgresql://localhost/none")
    names: dict[str, Any] = {"__name__": "snippet"}
    exec(compile(given, f"given to {snippet.name}", "exec"), names)
    exec(compile(snippet.text, snippet.name, "exec"), names)  # a page of ours


def test_every_name_is_that_of_a_program() -> None:
    assert {*GIVEN, *NOT_RUN} <= {snippet.name for snippet in PROGRAMS}


def commands(page: Path) -> Iterator[list[str]]:
    for text in fenced(page, "bash", "sh"):
        for line in text.replace("\\\n", " ").splitlines():
            if line.startswith("intrinsics "):
                yield shlex.split(line, comments=True)[1:]


COMMANDS = [(str(page.relative_to(ROOT)), words) for page in PAGES for words in commands(page)]


@pytest.mark.parametrize(("page", "words"), COMMANDS, ids=[f"{page} {words[0]}" for page, words in COMMANDS])
def test_a_command_of_a_page_is_understood(page: str, words: list[str]) -> None:
    """Its options and arguments are parsed; it is not carried out."""
    known = typer.main.get_command(app)
    assert isinstance(known, click.Group) or hasattr(known, "commands")
    command = known.commands[words[0]]  # type: ignore[attr-defined]
    command.make_context(words[0], words[1:])


def test_the_requests_of_the_services_page_are_answered() -> None:
    pytest.importorskip("fastapi", reason="the extra serve is not installed")
    from fastapi.testclient import TestClient

    from intrinsics_core.service.app import create_app

    text = "\n".join(fenced(ROOT / "docs/service.md", "bash"))
    sent = re.findall(r"^curl localhost:8010(\S+) -d '(.*)'$", text, re.MULTILINE)
    assert len(sent) > 5
    session = ""
    with TestClient(create_app({"default": None}), base_url="http://localhost:8010") as client:
        for path, body in sent:
            answered = client.post(path.replace("SESSION", session), json=json.loads(body))
            assert answered.status_code in (200, 201), (path, answered.text)
            if path == "/v1/audit/stream":
                session = next(str(value) for key, value in answered.json().items() if key in ("id", "session"))
