"""Every snippet of every README and of the page of intrinsics runs and prints what it says."""

from pathlib import Path

import pytest

from tests.interpreter import examples_of

ROOT = Path(__file__).parent.parent
PAGES = [
    ROOT / "README.md",
    ROOT / "docs" / "intrinsics.md",
    *sorted(ROOT.glob("integrations/*/README.md")),
]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_snippets(page):
    if page.parent.name == "llamaindex":
        pytest.importorskip("llama_index.core", reason="llama-index is not installed")
    if page.parent.name == "haystack":
        pytest.importorskip("haystack", reason="haystack is not installed")
    assert examples_of(page) > 0
