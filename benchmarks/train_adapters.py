"""How fast adapters are trained: rows and tokens a second, by how batches are made and what takes gradients.

    python benchmarks/train_adapters.py [--rows 96] [--epochs 2] [--repeats 3] [--base FOLDER] [--threads 1]
        [--invocation TEXT] [--only KIND …]

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
from typing import Any, NamedTuple

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


class Kind(NamedTuple):
    """A way to train.

    Attributes:
        grouped: batches are of like length.
        by: who computes the loss. ``"trl"`` scores prompts, too, where there is no GPU; ``"all"`` is ours of an aLoRA
            with gradients of what is before its invocation.
        alora: an aLoRA is trained.
    """

    grouped: bool = False
    by: str = "ours"
    alora: bool = False


KINDS = {  # a template without special tokens needs --invocation, so an aLoRA comes first
    "of like length, aLoRA": Kind(grouped=True, alora=True),
    "of like length, aLoRA, gradients of all tokens": Kind(grouped=True, by="all", alora=True),
    "as drawn": Kind(),
    "of like length (--grouped)": Kind(grouped=True),
    "of like length, trl's own loss": Kind(grouped=True, by="trl"),
}


def measured(base: str, data: Path, out: Path, kind: Kind, asked: Any) -> dict[str, float]:
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
    if kind.by != "ours":
        fitting._trainer_for = lambda device, _: trl.SFTTrainer if kind.by == "trl" else ours(device)
    try:
        done = train("answerability", base=base, data=data, out=out, epochs=asked.epochs, batch=BATCH, rank=8, held=0,
                     grouped=kind.grouped, alora=kind.alora, dropout=0,
                     invocation=asked.invocation if kind.alora else None)  # fmt: skip
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
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--invocation", help="of the aLoRA; by default what opens the reply")
    parser.add_argument("--only", nargs="*", choices=KINDS, default=list(KINDS))
    asked = parser.parse_args()
    import torch

    from tests.tiny_granite import build

    torch.set_num_threads(asked.threads)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        base = asked.base or str(build(root / "model", adapters={}) / "base")
        data = root / "rows.jsonl"
        data.write_text("".join(json.dumps(row) + "\n" for row in rows(asked.rows)), encoding="utf-8")
        seen: dict[str, list[dict[str, float]]] = {name: [] for name in asked.only}
        for repeat in range(asked.repeats):
            for number, name in enumerate(asked.only):  # side by side: the machine's mood is the same for all
                seen[name].append(measured(base, data, root / f"out-{repeat}-{number}", KINDS[name], asked))
    print(f"{asked.rows} rows, {asked.epochs} epochs, batches of {BATCH}, {asked.threads} threads; medians of "
          f"{asked.repeats}.\n")  # fmt: skip
    print("| batches | seconds | rows/s | tokens/s (without padding) | padding | loss |\n|---|--:|--:|--:|--:|--:|")
    for name, runs in seen.items():
        seconds, one = statistics.median(run["seconds"] for run in runs), runs[0]
        share = one["padding"] / (one["padding"] + one["tokens"])
        speed = f"{asked.rows * asked.epochs / seconds:.1f} | {one['tokens'] / seconds:.0f}"
        print(f"| {name} | {seconds:.2f} | {speed} | {share:.1%} | {one['loss']:.4f} |")


if __name__ == "__main__":
    main()
