"""The service for clients whose SDKs have environments of their own.

RAG_INTRINSICS_COMMAND names an `intrinsics` that has the extra [serve]; without it that of this environment is used.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator

import pytest

from tests.service.running import in_process


@pytest.fixture(scope="session")
def service() -> Iterator[str]:
    if "RAG_INTRINSICS_COMMAND" not in os.environ and importlib.util.find_spec("fastapi") is None:
        pytest.skip("RAG_INTRINSICS_COMMAND names no `intrinsics` with the extra [serve], and there is none here")
    with in_process() as (url, _):
        yield url
