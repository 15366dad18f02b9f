"""How fast adapters are trained: rows and tokens a second, with and without length-grouped batches and trl's own loss.

    python benchmarks/train_adapters.py [--rows 96] [--epochs 2] [--repeats 3] [--base FOLDER]

Needs the extra `[train]`. The base is the tiny Granite unless another is named. Rows are questions with documents of 10
to 900 tokens, lengths drawn anew for each row. What counts is the share of padding and what its absence is worth: a
large model on a GPU is bound by tokens alone, this one by much else. The table is Markdown; what it printed last is in
benchmarks/results/train_adapters.md.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

BATCH = 8


def rows(count: int) -> list[dict[str, Any]]:
    draw = random.Random(7)
    made = []
    for i in range(count):
        sentences = draw.choice((1, 2, 4, 8, 16, 40))
        text = " ".join(f"Bridge {i}.{n} was built in {1800 + n}." for n in range(sentences))
        result = {"label": "unanswerable" if i % 2 else "answerable", "probability": float(not i % 2)}
        made.append({"messages": [{"role": "user", "content": f"Who built bridge {i}?"}], "documents": [text],
                     "result": result})  # fmt: skip
    return made


KINDS = {"as drawn": (False, False), "of like length (--grouped)": (True, False),
         "of like length, trl's own loss": (True, True)}  # fmt: skip
"""Whether batches are of like length, and whether trl computes the loss: without a GPU it scores prompts, too."""


def measured(base: str, data: Path, out: Path, *, grouped: bool, by_trl: bool, epochs: int) -> dict[str, float]:
    """Seconds of training, and what the model was shown: tokens of rows and tokens of padding."""
    import trl

    from intrinsics_core.training import fitting, train

    shown = {"tokens": 0, "padding": 0}
    original = trl.SFTTrainer.training_step

    def counted(self: Any, model: Any, inputs: Any, *arguments: Any, **named: Any) -> Any:
        real = int(inputs["attention_mask"].sum())
        shown["tokens"] += real
        shown["padding"] += inputs["attention_mask"].numel() - real
        return original(self, model, inputs, *arguments, **named)

    trl.SFTTrainer.training_step = counted
    ours = fitting._trainer_for
    if by_trl:
        fitting._trainer_for = lambda _: trl.SFTTrainer
    try:
        done = train("answerability", base=base, data=data, out=out, epochs=epochs, batch=BATCH, rank=8, held=0,
                     grouped=grouped)  # fmt: skip
    finally:
        trl.SFTTrainer.training_step, fitting._trainer_for = original, ours
    seconds = next(seen["train_runtime"] for seen in reversed(done.log) if "train_runtime" in seen)
    return {"seconds": seconds, **shown, "loss": next(seen["loss"] for seen in reversed(done.log) if "loss" in seen)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=96)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--base", help="a folder of safetensors")
    asked = parser.parse_args()
    import torch

    from tests.tiny_granite import build

    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        base = asked.base or str(build(root / "model", adapters={}) / "base")
        data = root / "rows.jsonl"
        data.write_text("".join(json.dumps(row) + "\n" for row in rows(asked.rows)), encoding="utf-8")
        seen: dict[str, list[dict[str, float]]] = {kind: [] for kind in KINDS}
        for repeat in range(asked.repeats):
            for kind, (grouped, by_trl) in KINDS.items():  # side by side: the machine's mood is the same for all
                out = root / f"out-{repeat}-{grouped}-{by_trl}"
                seen[kind].append(measured(base, data, out, grouped=grouped, by_trl=by_trl, epochs=asked.epochs))
    print(f"{asked.rows} rows, {asked.epochs} epochs, batches of {BATCH}, one thread; medians of {asked.repeats}.\n")
    print("| batches | seconds | rows/s | tokens/s (without padding) | padding |\n|---|--:|--:|--:|--:|")
    for kind, runs in seen.items():
        seconds, one = statistics.median(run["seconds"] for run in runs), runs[0]
        share = one["padding"] / (one["padding"] + one["tokens"])
        print(f"| {kind} | {seconds:.2f} | "
              f"{asked.rows * asked.epochs / seconds:.1f} | {one['tokens'] / seconds:.0f} | {share:.1%} |")  # fmt: skip


if __name__ == "__main__":
    main()
