from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.service.running import in_thread

CLIENTS = Path(__file__).parent / "clients"  # their environments have a client's SDK, not the service


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Without the extra [serve] there is no service to test."""
    if collection_path.parent == Path(__file__).parent and collection_path.name.startswith("test_"):
        try:
            import fastapi  # noqa: F401
            import mcp.server.lowlevel  # noqa: F401
        except ImportError:
            return True
    return None


@pytest.fixture(scope="session")
def service() -> Iterator[str]:
    """The address of a service with two runtimes: the default, and `fast` without a reader."""
    from intrinsics_core.service.app import create_app

    with in_thread(create_app({"default": None, "fast": {"kind": "embedded", "reader": False}})) as url:
        yield url


@pytest.fixture
def http(service: str) -> Iterator[Any]:
    import httpx

    with httpx.Client(base_url=service, timeout=120, trust_env=False) as client:
        yield client
