"""The program whose types `.ci/run` checks does what it says."""

from __future__ import annotations

import pytest

from integrations.langchain.tests import typed_program


def test_the_typed_program_runs() -> None:
    assert [document.id for document in typed_program.search()] == ["mill", "mill"]
    told = typed_program.answer()
    assert told.text == typed_program.MILL
    assert told.response_metadata["rag_intrinsics"]["audit"]["label"] == "faithful"
    assert typed_program.judge()[-1] == "No."
    pytest.importorskip("langchain.agents", reason="the extra [agents] is not installed")
    assert typed_program.agent() == "Hello!"
