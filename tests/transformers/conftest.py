"""A tiny random Granite, made once a session, and the runtime on it. Skipped where an extra is missing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

_NEEDED = ("torch", "transformers", "peft", "llguidance")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    from importlib.util import find_spec

    missing = [name for name in _NEEDED if find_spec(name) is None]
    if not missing:
        return
    skip = pytest.mark.skip(reason=f"needs {', '.join(missing)}: pip install 'rag-intrinsics[transformers]'")
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here) and "models" in getattr(item, "fixturenames", ()):
            item.add_marker(skip)


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ``base`` and one folder per adapter."""
    import torch

    from tests.tiny_granite import build

    torch.set_num_threads(1)  # on matrices this small, more threads only wait for each other
    return build(tmp_path_factory.mktemp("granite"))


ADAPTERS = {
    "answerability": "answerability",
    "citations": "citations",
    "uncertainty": "uncertainty-alora",
    "hallucination-detection": "hallucination-alora",
}


@pytest.fixture(scope="session")
def made(models: Path) -> Any:
    """Makes runtimes on the tiny model."""
    from intrinsics_core.local.transformers import TransformersRuntime

    def make(**options: Any) -> TransformersRuntime:
        adapters = {intrinsic: str(models / folder) for intrinsic, folder in ADAPTERS.items()}
        return TransformersRuntime(**{"model": str(models / "base"), "adapters": adapters, **options})

    return make


@pytest.fixture(scope="module")
def runtime(made: Any) -> Iterator[Any]:
    with made() as runtime:
        yield runtime
