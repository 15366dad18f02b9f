"""Each program in examples/ runs and prints what its first line promises."""

from __future__ import annotations

import json
import runpy
from importlib.util import find_spec
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
NEEDS = {
    "langchain_chain": "langchain_rag_intrinsics",
    "llamaindex_engine": "llama_index",
    "haystack_pipeline": "haystack",
}
PRINTED = {
    "audit": ["answerable unfaithful", "faithful | Ada Brink built", "unfaithful | She painted"],
    "rerank": ["1 ", "Ada Brink built the tide mill"],
    "gate": ["answerable | How much", "unanswerable | Is there a first class?"],
    "rewrite": ["mill"],
    "cite": ["[^", "closed"],
    "stream": ["faithful | Ada Brink built", "unfaithful | It is made of glass."],
    "calibrate": ["expected calibration error", "answerable"],
    "langchain_chain": ["'faithful', 'unfaithful'", "The documents do not say."],
    "llamaindex_engine": ["answerable"],
    "haystack_pipeline": ["Ada Brink built it in 1911 [1].", "The documents do not say."],
}


def test_every_example_is_run() -> None:
    assert {file.stem for file in EXAMPLES.glob("*.py")} == set(PRINTED)


def test_the_calibration_of_the_example_is_worth_it() -> None:
    shown = runpy.run_path(str(EXAMPLES / "calibrate.py"))
    rows = [json.dumps(example) for example in shown["examples"]]
    assert shown["fitted"].after.ece < shown["fitted"].before.ece and len(set(rows)) == len(rows)


@pytest.mark.parametrize("name", sorted(PRINTED))
def test_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    if name in NEEDS and find_spec(NEEDS[name]) is None:
        pytest.skip(f"{NEEDS[name]} is not installed here")
    runpy.run_path(str(EXAMPLES / f"{name}.py"))
    printed = capsys.readouterr().out
    for part in PRINTED[name]:
        assert part in printed, printed
