"""Every snippet of every README runs and prints what it says."""

import doctest
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
READMES = [ROOT / "README.md", *sorted(ROOT.glob("integrations/*/README.md"))]


@pytest.mark.parametrize("readme", READMES, ids=lambda path: str(path.relative_to(ROOT)))
def test_snippets(readme):
    if readme.parent.name == "llamaindex":
        pytest.importorskip("llama_index.core", reason="llama-index is not installed")
    if readme.parent.name == "haystack":
        pytest.importorskip("haystack", reason="haystack is not installed")
    results = doctest.testfile(str(readme), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert results.attempted > 0
    assert results.failed == 0
