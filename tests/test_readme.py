"""Every snippet of every README and of the page of intrinsics runs and prints what it says."""

import doctest
from pathlib import Path

import pytest

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
    results = doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert results.attempted > 0
    assert results.failed == 0
