"""The program whose types `.ci/run` checks does what it says."""

from integrations.llamaindex.tests import typed_program


def test_the_typed_program_runs() -> None:
    assert [node.node_id for node in typed_program.retrieve()] == ["mill"]
    told, refused, *_ = typed_program.answer()
    assert "audit" in told
    assert refused
    assert typed_program.evaluate()[:2] == [True, True]
