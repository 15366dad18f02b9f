"""The tiny encoders, made once a session. Skipped where torch is missing."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.encoders import tiny

_NEEDED = ("torch", "transformers", "safetensors")
NLI, TURNED = ("contradiction", "entailment", "neutral"), ("entailment", "neutral", "contradiction")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    missing = [name for name in _NEEDED if find_spec(name) is None]
    here = Path(__file__).parent
    for item in items:
        if missing and item.path.is_relative_to(here) and "models" in getattr(item, "fixturenames", ()):
            item.add_marker(
                pytest.mark.skip(reason=f"needs {', '.join(missing)}: pip install 'rag-intrinsics[encoders]'")
            )


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Folder by name."""
    import torch

    torch.set_num_threads(1)
    root = tmp_path_factory.mktemp("encoders")
    made = {
        "relevance": tiny.classifier(root / "relevance", ["LABEL_0"], role="relevance"),
        "one label": tiny.classifier(root / "one", ["LABEL_0"]),
        "nli": tiny.classifier(root / "nli", NLI),
        "nli turned": tiny.classifier(root / "turned", TURNED),
        "minicheck": tiny.classifier(root / "minicheck", ["LABEL_0", "LABEL_1"], template=True),
        "minicheck t5": tiny.minicheck(root / "t5"),
        "hhem": tiny.hhem(root / "hhem"),
        "mxbai v2": tiny.reranker(root / "mxbai", tiny.MXBAI, ("0", "1")),
        "qwen3": tiny.reranker(root / "qwen3", tiny.QWEN3, ("no", "yes")),
        "tokens": tiny.token_classifier(root / "tokens"),
    }
    return {name: str(folder) for name, folder in made.items()}
