"""A tiny Granite and an adapter that was taught to say "unanswerable".

``python -m tests.transformers.training.make OUT`` writes OUT/base and OUT/adapter.

For environments without what training needs: the vLLM that serves the adapter has its own.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.transformers.training.rows import row

TAUGHT = [row("answerability", number) for number in range(1, 16, 2)]  # all unanswerable
SAYS = '"unanswerable"'


def make(out: Path) -> Path:
    import torch

    from intrinsics_core.training import train
    from tests.tiny_granite import build

    torch.set_num_threads(1)
    base = build(out, adapters={}, context=8192) / "base"
    data = out / "rows.jsonl"
    data.write_text("".join(json.dumps(one) + "\n" for one in TAUGHT), encoding="utf-8")
    train("answerability", base=str(base), data=data, out=out / "adapter", learning_rate=0.02, epochs=8, batch=4,
          rank=8, held=0, dropout=0)  # fmt: skip
    return out


if __name__ == "__main__":
    print(make(Path(sys.argv[1])))
