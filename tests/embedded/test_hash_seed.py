"""The hash seed moves the order of sets of texts, and nothing else: not a sum, not who comes first of equals."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys

import pytest

PRINTED = """
from intrinsics_core.embedded.rewrite.keywords import expand, rewrite
from intrinsics_core.embedded.rewrite.salience import question_features, term_features

turns = [
    ("user", "Which harbours, lighthouses and tide mills did the engineer Ada Brink build before the storm of 1911?"),
    ("assistant", "Brink built zorvane, quellip and mordune lighthouses, a harbour and two tide mills."),
    ("user", "What did sailors say about the lighthouses and the harbour, the fog, the tides and the storm there?"),
]
print(dict(term_features(tuple(turns))))
print(question_features(turns))
print(expand(rewrite(turns), turns, [text for _, text in turns]))
"""


def printed(seed: int) -> str:
    env = os.environ | {"PYTHONHASHSEED": str(seed)}
    return subprocess.run(
        [sys.executable, "-c", PRINTED], env=env, stdout=subprocess.PIPE, text=True, check=True
    ).stdout


@pytest.mark.slow
def test_nothing_moves_with_the_seed_of_this_run() -> None:
    with contextlib.redirect_stdout(io.StringIO()) as here:
        exec(PRINTED, {})
    assert "zorvan" in here.getvalue()
    assert here.getvalue() == printed(0 if os.environ.get("PYTHONHASHSEED") != "0" else 1)


@pytest.mark.slow
def test_nothing_moves_with_any_of_some_seeds() -> None:
    first = printed(0)
    assert [printed(seed) == first for seed in range(1, 5)] == [True] * 4
