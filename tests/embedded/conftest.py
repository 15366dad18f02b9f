"""The shipped sentence encoder, one for each file of tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from intrinsics_core.embedded.models.bi_encoder import BiEncoder


@pytest.fixture(scope="module")
def encoder() -> Iterator[BiEncoder]:
    with BiEncoder() as shared:
        yield shared
