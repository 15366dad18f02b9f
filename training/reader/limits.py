"""How a pair becomes one row of token ids, the same in training and in what ships."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import intrinsics_core

MAX_TOKENS = 256
MAX_QUERY = 72
WINDOWS = {"answers": 192}
"""Tokens of a window of one task, where that is read in smaller ones: an answer stands in a few sentences."""
CLS, SEP, PAD = 101, 102, 0
TOKENIZER = Path(intrinsics_core.__file__).parent / "data" / "reader" / "tokenizer.json"
"""Upstream's, as it ships."""


def assembled(text: Sequence[int], query: Sequence[int]) -> tuple[list[int], int]:
    """`[CLS] text [SEP] query [SEP]`, both cut to fit, and where the query begins."""
    query = query[:MAX_QUERY]
    text = text[: MAX_TOKENS - 3 - len(query)]
    return [CLS, *text, SEP, *query, SEP], len(text) + 2
