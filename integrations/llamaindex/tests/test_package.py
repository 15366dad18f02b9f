"""The distribution as a whole: its examples, what it imports, how it lives beside others, how it is saved."""

from __future__ import annotations

import doctest
import importlib
import pickle
import pkgutil
import re
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.llms import ChatMessage, MockLLM
from llama_index.postprocessor.rag_intrinsics import ContextRelevancePostprocessor, IntrinsicsRerank
from llama_index.query_transform.rag_intrinsics import QueryRewriteTransform
from llama_index.rag_intrinsics import LLMRuntime
from llama_index.response_synthesizers.rag_intrinsics import AnswerabilityGate, AnswerCheck
from llama_index.retrievers.rag_intrinsics import IntrinsicsRetriever

from integrations.llamaindex.tests.adapter import COMPONENTS
from integrations.llamaindex.tests.llms import BOTH, JudgeLLM, Traced, nodes
from intrinsics_core import IntrinsicsError, InvalidInput
from intrinsics_core.profiles.prompted import PROFILE
from tests.contract.settings import REWRITTEN, SECRET, SERVER, RuntimeSettingTests
from tests.interpreter import examples_of, output_of
from tests.scripted import Scripted

ROOT = Path(__file__).parents[1]
DOCS = ROOT.parents[1] / "docs"
PACKAGES = [
    "llama_index.rag_intrinsics",
    "llama_index.postprocessor.rag_intrinsics",
    "llama_index.query_transform.rag_intrinsics",
    "llama_index.retrievers.rag_intrinsics",
    "llama_index.response_synthesizers.rag_intrinsics",
    "llama_index.evaluation.rag_intrinsics",
    "llama_index.embeddings.rag_intrinsics",
]
MODULES = [
    module.name
    for package in PACKAGES
    for module in pkgutil.iter_modules(importlib.import_module(package).__path__, prefix=f"{package}.")
]


@pytest.mark.parametrize("name", [*PACKAGES, *MODULES])
def test_examples_in_docstrings(name: str) -> None:
    failed, _ = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert failed == 0


@pytest.mark.parametrize("package", PACKAGES)
def test_every_class_has_an_example_or_a_word(package: str) -> None:
    module = importlib.import_module(package)
    assert (Path(module.__path__[0]) / "py.typed").is_file()
    for name in module.__all__:
        documented = getattr(module, name).__doc__ or ""
        assert ">>> " in documented, name
        assert len(documented) > 40


@pytest.mark.parametrize("page", [ROOT / "README.md", DOCS / "llamaindex.md"], ids=["README", "docs"])
def test_the_examples_of_the_pages(page: Path) -> None:
    assert examples_of(page) > 25


def test_the_page_of_programs_names_every_one_of_them() -> None:
    page = (DOCS.parent / "benchmarks/results/programs.md").read_text(encoding="utf-8")
    tests = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "tests").glob("test_programs_*.py"))]
    there = set(re.findall(r"^def (test_\w+)", "\n".join(tests), re.MULTILINE))
    assert len(there) > 40
    own = page.split("\n## LlamaIndex\n")[1].split("\n## ")[0]
    assert set(re.findall(r"`(test_\w+)`", own)) == there


def test_the_namespaces_have_no_init_of_ours() -> None:
    folders = [path for path in (ROOT / "llama_index").rglob("*") if path.is_dir() and path.name != "__pycache__"]
    with_init = {path.parent.relative_to(ROOT).as_posix() for path in (ROOT / "llama_index").rglob("__init__.py")}
    assert with_init == {package.replace(".", "/") for package in PACKAGES}
    assert len(folders) == 2 * len(PACKAGES) - 1  # postprocessor, query_transform, ...: each holds one, but the first
    assert not (ROOT / "__init__.py").exists()


def test_it_lives_beside_another_integration() -> None:
    pytest.importorskip("llama_index.retrievers.bm25", reason="llama-index-retrievers-bm25 is not installed")
    code = (
        "import llama_index.core\n"
        "from llama_index.retrievers.bm25 import BM25Retriever\n"
        "from llama_index.retrievers.rag_intrinsics import IntrinsicsRetriever\n"
        "from llama_index.core.schema import TextNode\n"
        "nodes = [TextNode(id_=str(i), text=t) for i, t in enumerate(['a red fox ran', 'the tide mill of Ellery'])]\n"
        "search = BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=1)\n"
        "print(IntrinsicsRetriever([search]).retrieve('tide mill')[0].node_id)\n"
    )
    assert output_of(code).split()[-1] == "1"


def test_importing_it_is_light() -> None:
    code = (
        "import sys, llama_index.core\n"
        "before = set(sys.modules)\n"
        f"import {', '.join(PACKAGES)}\n"
        "new = {name.split('.')[0] for name in set(sys.modules) - before}\n"
        "print(sorted(new & {'torch', 'transformers', 'onnxruntime', 'sklearn', 'openai', 'langchain', 'haystack'}))"
    )
    assert output_of(code) == "[]"


@pytest.mark.parametrize("kind", COMPONENTS.values())
def test_a_key_is_kept_and_never_dumped(kind: Any) -> None:
    component = kind(runtime=SERVER)
    kind = type(component)
    assert component.api_key.get_secret_value() == SECRET
    dumped = component.to_dict()
    assert "api_key" not in dumped and "api_key" not in dumped["runtime"]
    again = kind.from_dict(dumped, api_key=SECRET)
    assert again.api_key == component.api_key
    assert SECRET not in repr(again) and SECRET not in again.to_json()
    assert kind.from_dict(dumped).api_key is None


def test_settings_come_back() -> None:
    how: dict[str, Any] = {"mode": "pairwise", "prior": "lower"}
    rerank = IntrinsicsRerank(runtime={"kind": "embedded"}, top_n=2, date="May 1", profile=PROFILE, **how)
    again = IntrinsicsRerank.from_json(rerank.to_json())
    assert (again.top_n, again.prior, again.date, again.profile) == (2, "lower", "May 1", "prompted")
    assert again.mode == "pairwise"
    keep = ContextRelevancePostprocessor(labels=("relevant",), similarity_cutoff=0.4)
    assert ContextRelevancePostprocessor.from_json(keep.to_json()).to_dict() == keep.to_dict()
    assert keep.to_dict()["labels"] == ("relevant",)


def test_a_saved_object_cannot_be_made_again_and_says_so() -> None:
    llm = JudgeLLM(reply=lambda messages, options: "x")
    dumped = IntrinsicsRerank(runtime=LLMRuntime(llm)).to_dict()
    assert dumped["runtime"] == {"kind": "LLMRuntime"}
    with pytest.raises(InvalidInput, match="'LLMRuntime'"):
        IntrinsicsRerank.from_dict(dumped).postprocess_nodes(nodes(), query_str="Who?")


def test_it_is_pickled_whole_or_not_at_all() -> None:
    again = pickle.loads(pickle.dumps(IntrinsicsRerank(runtime=SERVER, top_n=2)))  # noqa: S301
    assert again.api_key.get_secret_value() == SECRET and again.top_n == 2
    with pytest.raises(Exception, match="pickle"):  # not a component that silently judges with another runtime
        pickle.dumps(IntrinsicsRerank(runtime=Scripted(lambda request: "x")))
    pickle.loads(pickle.dumps(IntrinsicsRerank(runtime=LLMRuntime(MockLLM()))))  # noqa: S301


def test_an_unknown_setting_is_an_error() -> None:
    with pytest.raises(ValueError, match="top_k"):
        IntrinsicsRerank(top_k=3)


def test_spans_and_events_show_no_key() -> None:
    rerank = IntrinsicsRerank(runtime=SERVER)
    with Traced() as traced, pytest.raises(IntrinsicsError):
        rerank.postprocess_nodes(nodes(), query_str="Who?")  # nothing listens there
    spans = [*traced.spans.completed_spans, *traced.spans.dropped_spans]
    assert spans
    assert SECRET not in repr(spans) + repr(traced.events.seen) + "".join(
        e.model_dump_json() for e in traced.events.seen
    )


class TestRuntimeSetting(RuntimeSettingTests):
    rewriter, reranker = QueryRewriteTransform, IntrinsicsRerank
    makes = "llama_index.rag_intrinsics._component.as_runtime"

    def rewritten(self, rewriter: Any, question: str) -> str:
        return str(rewriter.run(question).query_str)

    def runtimes(self) -> list[Any]:
        llm = JudgeLLM(reply=lambda messages, settings: REWRITTEN)
        return [llm, LLMRuntime(llm)]


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: AnswerabilityGate(MockLLM(), check=BOTH, canned=3), "canned is not an answer"),
        (lambda: IntrinsicsRetriever("x"), "retrievers has something that is not a retriever"),
        (lambda: AnswerCheck().as_query_engine("x"), "query_engine is not a query engine"),
        (lambda: AnswerCheck(BOTH).check("Who?", "Ada."), "response is not a response"),
        (lambda: QueryRewriteTransform().run([ChatMessage("Who?")]), "query is not a question"),
    ],
)
def test_a_wrong_part_is_told_by_its_name(build: Any, says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        build()
