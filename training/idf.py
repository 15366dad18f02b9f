"""Build the background idf table that ships as ``intrinsics_core/data/idf.json``.

Counts in how many texts each term occurs, over the open-licence sets of the data folder, and writes
``{"documents", "default", "sources", "idf": {term: nats}}``. Terms in fewer than ``--min-df`` texts are left
out: they get ``default``, the idf of a term seen once.

    python -m training.idf --data "$RAG_INTRINSICS_DATA" --out intrinsics_core/data/idf.json
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from intrinsics_core.bench.folder import rows
from intrinsics_core.embedded.words import terms

# Sets whose licence allows shipped weights, with the field that holds running text.
SOURCES: dict[str, tuple[str, ...]] = {
    "begin": ("premise",),
    "clapnq_dev": ("sentences",),
    "expertqa_claims": ("claim", "evidence"),
    "fever_dev_nli": ("premise",),
    "fm2": ("gold", "retrieved"),
    "halueval": ("knowledge",),
    "mtrag_tasks": ("answer",),
    "policyqa": ("context",),
    "qr_cast_ikat": ("history",),
    "squad2_dev_b": ("context",),
    "summedits": ("doc",),
    "wice": ("evidence",),
}
PIECE = 250
"""Words a document is cut to, so that one long page does not count as one passage."""


def strings(value: Any) -> Iterator[str]:
    """Every text inside a JSON value. A list of short texts (a page's sentences) is one text."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        if all(isinstance(item, str) for item in value):
            yield " ".join(value)
        else:
            for item in value:
                yield from strings(item)
    elif isinstance(value, dict):
        for key in ("text", "content", "sentence", "sentences"):
            if key in value:
                yield from strings(value[key])


def passages(folder: Path) -> Iterator[str]:
    """Distinct passages of at most ``PIECE`` words from every source, each source's own order kept."""
    seen: set[str] = set()
    for name, fields in SOURCES.items():
        for row in rows(folder, name):
            for field in fields:
                for text in strings(row.get(field)):
                    words = text.split()
                    for start in range(0, len(words), PIECE):
                        piece = " ".join(words[start : start + PIECE])
                        if piece not in seen and (start == 0 or len(words) - start > PIECE // 4):
                            seen.add(piece)
                            yield piece


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with the .jsonl.gz sets")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--min-df", type=int, default=3)
    arguments = parser.parse_args()

    frequency: Counter[str] = Counter()
    count = 0
    for passage in passages(arguments.data):
        frequency.update(set(terms(passage, stopwords=True)))
        count += 1

    def idf(df: int) -> float:
        return round(math.log1p((count - df + 0.5) / (df + 0.5)), 2)

    kept = {
        term: idf(df)
        for term, df in sorted(frequency.items())
        if df >= arguments.min_df and len(term) <= 30 and (term.isalpha() or df >= 4 * arguments.min_df)
    }
    table = {"documents": count, "default": idf(1), "sources": list(SOURCES), "idf": kept}
    arguments.out.write_text(json.dumps(table, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"{count} passages, {len(frequency)} terms, {len(kept)} kept, {arguments.out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
