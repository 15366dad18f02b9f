"""The program whose types `.ci/run` checks does what it says."""

from integrations.haystack.tests import typed_program


def test_the_typed_program_runs() -> None:
    assert typed_program.ask() == f"{typed_program.MILL[:-1]} [1]."
    assert [document.id for document in typed_program.retrieve()] == ["mill"]
    assert typed_program.judge()[-2:] == ["True", "individual_scores,metrics,results,score"]
