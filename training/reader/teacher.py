"""Train a teacher for the reader: all-mpnet-base-v2's twelve layers of 768 over two texts at once.

    python -m training.reader.teacher --source DIR --data $RAG_INTRINSICS_DATA --out RUN [--wordnet DIR] [--device cuda]

`DIR` holds upstream's `model.safetensors` (Apache-2.0); NOTES.md says where it is. The run goes on from `RUN/latest`
where that is there. Loop, mixture and checkpoints are the reader's (`training.reader.train`), with other settings:
embeddings and the lowest four layers stay, a layer's rate is .9 of the one above, the head's twenty times the highest.

`--six READER` measures what ships on the teacher's held pairs, and ends.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from training.reader.mixture import TEACHER
from training.reader.model import CrossEncoder, load
from training.reader.mpnet import FROZEN, LAYERS, SHA256, Mpnet, upstream
from training.reader.train import Run, Settings, measured

SETTINGS: dict[str, Any] = {
    "pairs": 200_000, "tokens": 1536, "chunk": 512, "rate": 5e-5, "warm": 0.005, "frozen": FROZEN, "fall": 0.9,
    "head": 20.0, "threads": 1, "part": 1 << 20, "layers": LAYERS, "longest": 160, "minutes": 25.0, "dev": 20,
    "seed": 431,
}  # fmt: skip
CUDA: dict[str, Any] = {"tokens": 32_768, "chunk": 6144, "lanes": 15, "rate": 1e-4, "pairs": 2_000_000, "dev": 60}


class TeacherRun(Run):
    """A run of `training.reader.train` of the teacher."""

    shares, source_sha256 = TEACHER, SHA256

    def blank(self) -> CrossEncoder:
        return Mpnet()

    def begun(self, source: Path) -> dict[str, Tensor]:
        return upstream(source)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("RAG_INTRINSICS_DATA"), help="the data folder")
    parser.add_argument("--out", type=Path, required=True, help="folder for checkpoints")
    parser.add_argument("--source", type=Path, required=True, help="folder with upstream's model.safetensors")
    parser.add_argument("--device", default="cpu", help="cpu or cuda; the defaults of the settings differ")
    parser.add_argument("--wordnet", type=Path, help="folder with WordNet's database files")
    parser.add_argument("--rankings", type=Path, help="file of training.reader.pack: no sentence is ranked again")
    parser.add_argument("--stop-after", type=float, help="minutes, after which this call ends with a checkpoint")
    parser.add_argument("--six", type=Path, help="measure this reader on the held pairs, and end")
    for name in ("pairs", "tokens", "chunk", "dev", "seed", "threads", "lanes", "part"):
        parser.add_argument(f"--{name}", type=int)
    for name in ("rate", "minutes", "fall", "head"):
        parser.add_argument(f"--{name}", type=float)
    args = parser.parse_args()
    if args.data is None:
        raise SystemExit("no data folder: pass --data or set RAG_INTRINSICS_DATA")

    from training.reader.dequantize import dequantize
    from training.reader.nearest import take_rankings
    from training.reader.wordnet import WordNet
    from training.reader.wordnet import load as tables

    torch.set_num_threads(1)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    if args.rankings:
        take_rankings(args.rankings)
    given = {name: value for name, value in vars(args).items() if name in Settings.__dataclass_fields__}
    settings = SETTINGS | (CUDA if args.device.startswith("cuda") else {})
    settings |= {name: value for name, value in given.items() if value is not None}
    run = TeacherRun(
        Path(args.data), args.out, tables(args.wordnet) if args.wordnet else WordNet(), Settings(**settings),
        source=args.source,
    )  # fmt: skip
    try:
        if args.six:
            model = load(dequantize(args.six, args.out / "six"))
            print(json.dumps(measured(model, run.encode, run.dev)))
        else:
            run.train(minutes=args.stop_after)
    finally:
        run.close()


if __name__ == "__main__":
    main()
