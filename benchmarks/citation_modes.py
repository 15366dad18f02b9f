"""The four citation modes: writing and reading an answer of 100 sentences with 100 citations, and with 10,000.

    python -m benchmarks.citation_modes

Sentences are made up and alike, so that snippets and claims repeat and must be told apart. Every round is checked: what
was written is read back, and the fullest mode restores the citations. The median of the rounds, and the best of them.
"""

from __future__ import annotations

import platform
import random
import statistics
import time
from collections.abc import Callable
from itertools import accumulate
from typing import Any

from intrinsics_core import Document
from intrinsics_core.protocol.results import Citation, Citations
from intrinsics_core.render.citations import MODES, STYLES, parse, restored, view, write

SENTENCES, ROUNDS = 100, 15
# fmt: off
WORDS = [
    "the", "ferry", "leaves", "harbour", "at", "noon", "and", "a", "keeper", "lights", "lamp", "on", "cape", "when",
    "[1]", "storm", "comes", "with", "Moreau", "3.5",
]
# fmt: on


def text(draw: random.Random, sentences: int) -> tuple[str, list[tuple[int, int]]]:
    """Sentences with a space between, and where each stands."""
    made = [" ".join(draw.choices(WORDS, k=draw.randint(6, 18))).capitalize() + "." for _ in range(sentences)]
    begins = [0, *accumulate(len(sentence) + 1 for sentence in made)]
    return " ".join(made), [(begin, begin + len(each)) for begin, each in zip(begins, made, strict=False)]


def cited(each: int) -> tuple[str, list[Document], Citations]:
    """A response whose sentences each have so many citations of ten documents."""
    draw = random.Random(7)
    response, claims = text(draw, SENTENCES)
    sources = [text(draw, SENTENCES) for _ in range(10)]
    rows = []
    for begin, end in claims:
        for place in sorted(draw.sample(range(10 * SENTENCES), each)):
            index, number = divmod(place, SENTENCES)
            first, last = sources[index][1][number]
            rows.append(
                Citation(
                    response_begin=begin, response_end=end, response_text=response[begin:end],
                    document_id=f"source {index}", document_index=index, document_begin=first, document_end=last,
                    document_text=sources[index][0][first:last],
                )
            )  # fmt: skip
    documents = [Document(words, id=f"source {i}") for i, (words, _) in enumerate(sources)]
    return response, documents, Citations(citations=tuple(rows))


def timed(work: Callable[[], Any]) -> tuple[Any, str]:
    """What it gives, and its milliseconds: median (best)."""
    spent = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        made = work()
        spent.append(1000 * (time.perf_counter() - begin))
    return made, f"{statistics.median(spent):.2f} ({min(spent):.2f})"


def main() -> None:
    print(f"{platform.python_implementation()} {platform.python_version()}, median (best) of {ROUNDS} rounds, ms\n")
    print("| citations | mode | style | view | write | parse | restore |\n|---|---|---|---|---|---|---|")
    for each in (1, 100):
        response, documents, found = cited(each)
        for mode in MODES:
            shown, viewing = timed(lambda d=documents, f=found, r=response, m=mode: view(f, r, d, m))
            for style in STYLES:
                written, writing = timed(lambda v=shown, s=style: write(v, s))
                read, parsing = timed(lambda w=written: parse(w))
                assert read == shown
                restoring = "–"
                if mode == "inline-snippet":
                    back, restoring = timed(lambda v=read, d=documents: restored(v, d))
                    assert back == found
                cells = (len(found.citations), mode, style, viewing, writing, parsing, restoring)
                print(f"| {' | '.join(map(str, cells))} |")


if __name__ == "__main__":
    main()
