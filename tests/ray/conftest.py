"""One small Ray cluster for all tests here, where Ray is installed."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
HAS_RAY = importlib.util.find_spec("ray") is not None and importlib.util.find_spec("pyarrow") is not None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents and not HAS_RAY:
            item.add_marker(pytest.mark.skip(reason="Ray is not installed: pip install 'rag-intrinsics[ray]'"))


@pytest.fixture(scope="session")
def ray(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Two CPUs in Ray's books, 200 MB for objects, no dashboard, nothing told to anybody."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        import ray
        import ray.data

        settings: dict[str, Any] = {
            "address": "local", "num_cpus": 2, "object_store_memory": 200 * 2**20, "include_dashboard": False,
            "log_to_driver": False, "logging_level": "ERROR",
        }  # fmt: skip
        try:
            ray.init(**settings)
        except Exception:  # on a machine that is very busy, its half a minute may pass
            ray.shutdown()
            ray.init(**settings)
        ray.data.DataContext.get_current().enable_progress_bars = False
        yield ray
        ray.shutdown()
