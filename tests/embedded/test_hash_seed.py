"""The hash seed moves the order of sets of texts, and nothing else: not a sum, not who comes first of equals."""

from __future__ import annotations

import os
import subprocess
import sys

PRINTED = """
from intrinsics_core.embedded.expanding import expand
from intrinsics_core.embedded.lexical import coverage
from intrinsics_core.embedded.salience import question_features, term_features

turns = [
    ("user", "Which harbours, lighthouses and tide mills did the engineer Ada Brink build before the storm of 1911?"),
    ("assistant", "Brink built zorvane, quellip and mordune lighthouses, a harbour and two tide mills."),
    ("user", "What did sailors say about the lighthouses and the harbour, the fog, the tides and the storm there?"),
]
question = turns[-1][1].casefold().split()
print(dict(term_features(turns)))
print(question_features(turns))
print(expand(turns, [text for _, text in turns]))
print([coverage(question, question[:n]) for n in range(len(question))])
"""


def test_nothing_moves_with_the_hash_seed() -> None:
    def printed(seed: int) -> bytes:
        env = os.environ | {"PYTHONHASHSEED": str(seed)}
        return subprocess.run([sys.executable, "-c", PRINTED], env=env, stdout=subprocess.PIPE, check=True).stdout

    first = printed(0)
    assert b"zorvan" in first
    assert [printed(seed) == first for seed in range(1, 5)] == [True] * 4
