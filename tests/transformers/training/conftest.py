"""Training in small: what the extra [train] needs, and a function that trains on the tiny Granite."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.transformers.training.rows import rows

MISSING = [
    name for name in ("torch", "transformers", "peft", "trl", "datasets", "llguidance") if find_spec(name) is None
]
collect_ignore_glob = ["test_*.py"] if MISSING else []  # pip install 'rag-intrinsics[transformers,train]'
QUICK = {"learning_rate": 0.02, "epochs": 8, "batch": 4, "rank": 8, "held": 0, "dropout": 0}


@pytest.fixture(scope="module")
def tokenizer(models: Path) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(models / "base")


@pytest.fixture
def write(tmp_path: Path) -> Callable[[Sequence[Any]], Path]:
    def written(rows_: Sequence[Any]) -> Path:
        path = tmp_path / "rows.jsonl"
        path.write_text("".join(json.dumps(one) + "\n" for one in rows_), encoding="utf-8")
        return path

    return written


@pytest.fixture
def trained(models: Path, tmp_path: Path, write: Callable[..., Path]) -> Callable[..., Any]:
    from intrinsics_core.training import train

    def make(intrinsic: str, rows_: Sequence[Any] | None = None, **options: Any) -> Any:
        data = write(rows(intrinsic) if rows_ is None else rows_)
        return train(intrinsic, base=str(models / "base"), data=data, **{"out": tmp_path / "out"} | QUICK | options)

    return make
