"""Train the reader.

    python -m training.reader --data $RAG_INTRINSICS_DATA --out DIR [--wordnet DIR] [--pairs N]

Goes on from `DIR/latest` where that is there. A few hundred pairs (`--pairs 400 --dev 20`) take minutes.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.reader", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("RAG_INTRINSICS_DATA"), help="the data folder")
    parser.add_argument("--out", type=Path, required=True, help="folder for checkpoints")
    parser.add_argument("--source", type=Path, help="folder with upstream's model.safetensors and tokenizer.json")
    parser.add_argument("--start", type=Path, help="checkpoint of an earlier run to begin with")
    parser.add_argument("--wordnet", type=Path, help="folder with WordNet's database files")
    for name, kind in (
        ("pairs", int),
        ("batch", int),
        ("chunk", int),
        ("dev", int),
        ("seed", int),
        ("frozen", int),
        ("threads", int),
        ("part", int),
    ):
        parser.add_argument(f"--{name}", type=kind)
    for name in ("rate", "minutes", "beside"):
        parser.add_argument(f"--{name}", type=float)
    args = parser.parse_args()
    if args.data is None:
        raise SystemExit("no data folder: pass --data or set RAG_INTRINSICS_DATA")

    import torch

    from training.build_encoder import source_folder
    from training.reader.train import Run, Settings
    from training.reader.wordnet import WordNet, load

    torch.set_num_threads(1)  # the replicas share the cores
    names = ("pairs", "batch", "chunk", "dev", "seed", "frozen", "threads", "part", "rate", "minutes", "beside")
    settings = Settings(**{n: getattr(args, n) for n in names if getattr(args, n) is not None})
    net = load(args.wordnet) if args.wordnet else WordNet()
    Run(Path(args.data), args.out, args.source or source_folder(), net, settings, args.start).train()


if __name__ == "__main__":
    main()
