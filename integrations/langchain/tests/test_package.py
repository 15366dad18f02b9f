"""The package as a whole: its surface, its examples, what it imports, how it is saved."""

from __future__ import annotations

import doctest
import importlib
import json
import pkgutil
from pathlib import Path
from typing import Any

import langchain_rag_intrinsics
import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.load import dumpd, dumps, load
from langchain_core.runnables import RunnablePassthrough
from langchain_rag_intrinsics import (
    AnswerabilityGate,
    ChatModelRuntime,
    IntrinsicsReranker,
    IntrinsicsRetriever,
    QueryRewriter,
)

from integrations.langchain.tests.adapter import CLASSES, COMPONENTS
from integrations.langchain.tests.scripts import documents
from tests.contract.settings import REWRITTEN, SECRET, SERVER, RuntimeSettingTests
from tests.interpreter import examples_of, output_of

MODULES = [m.name for m in pkgutil.walk_packages(langchain_rag_intrinsics.__path__, prefix="langchain_rag_intrinsics.")]


@pytest.mark.parametrize("name", ["langchain_rag_intrinsics", *MODULES])
def test_examples_in_docstrings(name: str) -> None:
    failed, _ = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert failed == 0


def test_every_class_has_an_example() -> None:
    assert set(langchain_rag_intrinsics._MIDDLEWARE) < set(langchain_rag_intrinsics.__all__)
    for name in langchain_rag_intrinsics.__all__:
        assert ">>> " in (getattr(langchain_rag_intrinsics, name).__doc__ or ""), name


def test_the_readmes_examples() -> None:
    readme = Path(langchain_rag_intrinsics.__path__[0]).parent / "README.md"
    assert examples_of(readme) > 10


def test_the_pages_in_docs() -> None:
    pytest.importorskip("langgraph.graph", reason="the page builds agents and a graph")
    page = Path(langchain_rag_intrinsics.__path__[0]).parents[2] / "docs" / "langchain.md"
    assert examples_of(page) > 50


def test_importing_it_is_light() -> None:
    code = (
        "import sys, langchain_rag_intrinsics\n"
        "print([m for m in ('torch', 'transformers', 'onnxruntime', 'langchain', 'langgraph', 'sklearn', 'nltk')"
        " if m in sys.modules])"
    )
    assert output_of(code) == "[]"


@pytest.mark.slow
def test_without_agents_all_but_the_middleware_is_there() -> None:
    code = (
        "import sys\n"
        "sys.modules['langchain'] = sys.modules['langchain.agents'] = None\n"
        "from langchain_rag_intrinsics import *\n"
        "assert 'GroundednessMiddleware' not in globals()\n"
        "print(AnswerCheck().get_name())\n"
        "try:\n"
        "    from langchain_rag_intrinsics import GroundednessMiddleware\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    name, error = output_of(code).splitlines()
    assert name == "AnswerCheck"
    assert "langchain-rag-intrinsics[agents]" in error


def test_a_name_that_does_not_exist() -> None:
    with pytest.raises(AttributeError, match="Nothing"):
        langchain_rag_intrinsics.Nothing  # noqa: B018


def reload(component: Any, secrets: dict[str, str] | None = None) -> Any:
    data = json.loads(json.dumps(dumpd(component)))
    allowed = [*CLASSES, IntrinsicsRetriever]
    return load(data, allowed_objects=allowed, valid_namespaces=["langchain_rag_intrinsics"], secrets_map=secrets)


@pytest.mark.parametrize("kind", COMPONENTS.values())
def test_a_key_comes_back_from_the_secrets_and_from_nowhere_else(kind: Any) -> None:
    component = kind(runtime=SERVER)
    assert SECRET not in dumps(component)
    again = reload(component, {"RAG_INTRINSICS_API_KEY": SECRET})
    assert again.api_key.get_secret_value() == SECRET
    assert again == component
    assert SECRET not in repr(again)
    assert reload(component).api_key is None


def test_settings_come_back() -> None:
    reranker = IntrinsicsReranker(
        runtime={"kind": "embedded"}, top_n=2, score_threshold=0.0, mode="pairwise", prior="lower", date="May 1"
    )
    assert reload(reranker) == reranker
    gate = AnswerabilityGate(otherwise="No.", on_error="closed")
    assert reload(gate) == gate


def test_a_retriever_shows_no_key_of_its_parts() -> None:
    retriever = IntrinsicsRetriever(
        retriever=RunnablePassthrough(),
        rewriter=QueryRewriter(runtime=SERVER),
        compressors=[IntrinsicsReranker(runtime=SERVER)],
    )
    for text in (repr(retriever), str(retriever), dumps(retriever), repr(retriever.model_dump())):
        assert SECRET not in text


def test_traces_show_no_key() -> None:
    from integrations.langchain.tests.test_chat_model import Spans

    spans = Spans()
    with pytest.raises(Exception):  # noqa: B017  (nothing listens there)
        IntrinsicsReranker(runtime=SERVER).invoke({"query": "q", "documents": documents()}, {"callbacks": [spans]})
    assert spans.roots
    assert SECRET not in spans.roots[0].model_dump_json()


class TestRuntimeSetting(RuntimeSettingTests):
    rewriter, reranker = QueryRewriter, IntrinsicsReranker
    makes = "langchain_rag_intrinsics._runtime.as_runtime"

    def rewritten(self, rewriter: Any, question: str) -> str:
        return str(rewriter.invoke(question))

    def runtimes(self) -> list[Any]:
        model = FakeListChatModel(responses=[json.dumps(REWRITTEN)])
        return [model, ChatModelRuntime(model)]


def test_the_provider_page_names_what_there_is() -> None:
    folder = Path(langchain_rag_intrinsics.__path__[0]).parent / "registry"
    page = (folder / "rag_intrinsics.mdx").read_text(encoding="utf-8")
    assert page.startswith('---\ntitle: "RAG intrinsics integrations"\ndescription: "')
    assert page.count("```") % 2 == 0
    shown = {
        name for name in [*langchain_rag_intrinsics.__all__, *langchain_rag_intrinsics._MIDDLEWARE] if name in page
    }
    assert {*langchain_rag_intrinsics.__all__, *langchain_rag_intrinsics._MIDDLEWARE} - shown == {"ChatModelRuntime"}
    for block in page.split("```python\n")[1:]:
        exec(compile(block.split("```")[0], "rag_intrinsics.mdx", "exec"), {})
    entry = (folder / "packages.yml").read_text(encoding="utf-8")
    assert "name: langchain-rag-intrinsics\n" in entry and "provider_page: rag_intrinsics\n" in entry
