"""The package as a whole: its surface, its examples, what it imports, and what it lives beside."""

import importlib
import re
import textwrap
from pathlib import Path
from typing import Any

import haystack_integrations
import pytest

from tests.interpreter import output_of, printed_by

PACKAGES = {
    "components.rankers": ["RagIntrinsicsContextRelevanceFilter", "RagIntrinsicsRanker"],
    "components.query": ["RagIntrinsicsQueryExpander", "RagIntrinsicsQueryRewriter"],
    "components.routers": ["RagIntrinsicsAnswerabilityRouter"],
    "components.embedders": ["RagIntrinsicsDocumentEmbedder", "RagIntrinsicsTextEmbedder"],
    "components.evaluators": ["RagIntrinsicsEvaluator"],
    "components.validators": ["RagIntrinsicsAnswerCheck", "RagIntrinsicsReviser"],
    "common": ["ChatGeneratorRuntime"],
    "hooks": ["RagIntrinsicsGroundednessHook"],
}
CLASSES = [(package, name) for package, names in PACKAGES.items() for name in names]
FOLDER = Path(__file__).parent.parent / "haystack_integrations"


def get(package: str, name: str) -> Any:
    module = importlib.import_module(f"haystack_integrations.{package}.rag_intrinsics")
    assert sorted(module.__all__) == PACKAGES[package]
    return getattr(module, name)


@pytest.mark.parametrize(("package", "name"), CLASSES)
def test_the_example_of_each_class_prints_what_it_says(
    package: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    [example] = re.findall(r"```python\n(.*?)```", textwrap.dedent(get(package, name).__doc__), re.DOTALL)
    printed = printed_by(example, name)
    expected = [line[2:] for line in example.splitlines() if line.startswith("# ")]
    if expected:
        assert printed == expected


def test_namespaces_have_no_init() -> None:
    for path in FOLDER.rglob("__init__.py"):
        assert path.parent.name == "rag_intrinsics"
    for path in FOLDER.rglob("rag_intrinsics"):
        assert (path / "__init__.py").exists() and (path / "py.typed").exists()


def test_it_lives_beside_another_integration(tmp_path: Path) -> None:
    # Another distribution's part of the namespace, as pip would lay it out in a folder of its own.
    other = tmp_path / "haystack_integrations" / "components" / "rankers" / "another"
    other.mkdir(parents=True)
    (other / "__init__.py").write_text("class AnotherRanker: ...\n")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from haystack_integrations.components.rankers.another import AnotherRanker\n"
        "from haystack_integrations.components.rankers.rag_intrinsics import RagIntrinsicsRanker\n"
        "print(AnotherRanker.__name__, RagIntrinsicsRanker.__name__)\n"
    )
    assert output_of(code) == "AnotherRanker RagIntrinsicsRanker"
    assert len(list(haystack_integrations.__path__)) >= 1


def test_it_lives_beside_a_published_integration() -> None:
    pytest.importorskip("haystack_integrations.document_stores.pgvector", reason="pgvector-haystack is not installed")
    code = (
        "from haystack_integrations.document_stores.pgvector import PgvectorDocumentStore\n"
        "from haystack_integrations.components.retrievers.pgvector import PgvectorEmbeddingRetriever\n"
        "from haystack_integrations.components.rankers.rag_intrinsics import RagIntrinsicsRanker\n"
        "print('both')\n"
    )
    assert output_of(code) == "both"


def test_importing_it_is_light() -> None:
    modules = "\n".join(f"import haystack_integrations.{package}.rag_intrinsics" for package in PACKAGES)
    code = (
        f"import sys\n{modules}\n"
        "heavy = ('torch', 'transformers', 'onnxruntime', 'tokenizers', 'nltk', 'langchain_core', 'llama_index.core')\n"
        "print([m for m in heavy if m in sys.modules])"
    )
    assert output_of(code) == "[]"
