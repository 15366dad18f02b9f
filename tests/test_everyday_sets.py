"""The sets that everyday quality is measured on stay as they were written, and are never trained on."""

import hashlib
import json
from collections import Counter
from pathlib import Path

import pytest

from training.reader.written import _all as written

SETS = Path(__file__).parent.parent / "benchmarks" / "everyday"
HASHES = {
    "plain": "988616a2ea7d9a7b76fc09355e383b445cebe3a87f8d9f407c04d940a53c6e10",
    "hard": "f2d127cb8d95b2b3e4c51d3e8f77e2ee357e9943bcbd19bab0046c15a63a70e1",
    "hard_dev": "eb31b98d2cc8def5570a5873b59d6d3e7cc36c1a305930048d42a7be13876970",
    "long": "dc7da366e6ec699a9aa613874626608f25481bcec9504738cf53b4c3206aaf1b",
    "comparisons": "f3085ce23734e5e6d673c28c4372385b182ef7ada36c2173f8d0d09bccdf68f7",
    "customers": "a34ecba28ea08dfe5d99359ee646e882ed1c0b944a75e5c85b562a181bde61e4",
    "kinds": "1ba791b41766036fff36cdc7d0cbeec195dd38be019982fad3a54dd254c83406",
    "replies": "488add38d36b96156de0e28cbc257ba8e7239e59b88ed9bbbdd5b48ba1a11fef",
}


SINGLE = ("plain", "hard", "hard_dev", "customers", "kinds")
"""The sets of which a row is about one text."""


def rows(name: str) -> list[dict]:
    return [json.loads(line) for line in (SETS / f"{name}.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("name", HASHES)
def test_a_set_is_what_was_written(name: str) -> None:
    assert hashlib.sha256((SETS / f"{name}.jsonl").read_bytes()).hexdigest() == HASHES[name]


@pytest.mark.slow  # it reads all texts that are trained on
def test_no_text_of_them_is_trained_on() -> None:
    measured = {" ".join(row["doc"].split()) for name in SINGLE for row in rows(name)}
    several = [*rows("long"), *rows("comparisons")]
    measured |= {" ".join(document["text"].split()) for row in several for document in row["documents"]}
    trained = {text.key for text in written()}
    assert not measured & trained


def test_their_sizes() -> None:
    sizes = {"plain": (200, 106), "hard": (201, 120), "hard_dev": (1022, 657), "customers": (400, 200)}
    for name, size in sizes.items():
        assert tuple(sum(len(row[part]) for row in rows(name)) for part in ("answers", "questions")) == size
    long = rows("long")
    assert (len(long), sum(len(row["sentences"]) for row in long)) == (64, 452)
    told = [pair["direct"] for row in rows("customers") for pair in row["relevance"]]
    assert (len(told), sum(told)) == (200, 100)
    assert Counter(row["kind"] for row in rows("kinds")) == {"less": 200, "member": 200, "part": 200}
    comparisons = rows("comparisons")
    assert (len(comparisons), sum(len(row["sentences"]) for row in comparisons)) == (44, 256)
