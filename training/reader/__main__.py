"""Train the reader.

    python -m training.reader --data $RAG_INTRINSICS_DATA --out DIR [--device cuda] [--wordnet DIR] [--pairs N]

Goes on from `DIR/latest` where that is there. A few hundred pairs (`--pairs 400 --dev 20`) take minutes.
`training.reader.pack` puts all that a run reads into one file, for a machine with a GPU.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

INTEGERS = ("pairs", "tokens", "chunk", "dev", "seed", "frozen", "threads", "part", "lanes", "layers", "longest")
NUMBERS = ("rate", "minutes", "beside", "teach", "fall", "head")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.reader", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("RAG_INTRINSICS_DATA"), help="the data folder")
    parser.add_argument("--out", type=Path, required=True, help="folder for checkpoints")
    parser.add_argument("--device", default="cpu", help="cpu or cuda; the defaults of the settings differ")
    parser.add_argument("--source", type=Path, help="folder with upstream's model.safetensors")
    parser.add_argument("--start", type=Path, help="checkpoint to begin with, or the folder of a reader that ships")
    parser.add_argument("--teacher", type=Path, action="append", default=[], help="checkpoint to distil; repeatable")
    parser.add_argument("--wordnet", type=Path, help="folder with WordNet's database files")
    parser.add_argument("--rankings", type=Path, help="file of training.reader.pack: no sentence is ranked again")
    parser.add_argument("--stop-after", type=float, help="minutes, after which this call ends with a checkpoint")
    for name in INTEGERS:
        parser.add_argument(f"--{name}", type=int)
    for name in NUMBERS:
        parser.add_argument(f"--{name}", type=float)
    args = parser.parse_args()
    if args.data is None:
        raise SystemExit("no data folder: pass --data or set RAG_INTRINSICS_DATA")

    import torch

    from training.build_encoder import source_folder
    from training.reader.dequantize import dequantize
    from training.reader.nearest import take_rankings
    from training.reader.train import Run, Settings
    from training.reader.wordnet import WordNet, load

    torch.set_num_threads(1)  # the replicas share the cores
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # so do the processes
    named = {name: getattr(args, name) for name in (*INTEGERS, *NUMBERS) if getattr(args, name) is not None}
    start = args.start
    if start is not None and (start / "model.onnx").is_file():
        start = dequantize(start, args.out / "start")
    if args.rankings:
        take_rankings(args.rankings)
    run = Run(
        Path(args.data),
        args.out,
        load(args.wordnet) if args.wordnet else WordNet(),
        Settings.of(args.device, **named),
        source=None if start is not None else args.source or source_folder(),
        start=start,
        teachers=args.teacher,
    )
    try:
        run.train(minutes=args.stop_after)
    finally:
        run.close()


if __name__ == "__main__":
    main()
