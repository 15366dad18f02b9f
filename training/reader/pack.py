"""Put all that a training run reads into one file, for a machine with a GPU and without a network.

    python -m training.reader.pack --data $RAG_INTRINSICS_DATA --out reader.tar.gz [--wordnet DIR]

With `--teacher DIR`, the folder of upstream's larger model, the file holds that, too, and `bash teacher.sh` trains
`training.reader.teacher` there.

That machine needs what the extra `build` installs, and pydantic. There, one command trains:

    mkdir run && tar xzf reader.tar.gz -C run && cd run && bash train.sh --pairs 4000000 --stop-after 20

It goes on from the reader that ships, and from its own checkpoint when it is called again. It ends by writing the int8
reader to `reader/`. What stands behind `train.sh` goes to `python -m training.reader`.
"""

from __future__ import annotations

import argparse
import io
import os
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from training.reader.data import CLAIMS, QUESTIONS, Claim
from training.reader.makers import evidence
from training.reader.mixture import Stream, streams
from training.reader.nearest import keep_rankings
from training.reader.splits import Part
from training.reader.wordnet import DATABASE, WordNet, load
from training.reader.written import Asked, Said, answered, claimed

ROOT = Path(__file__).resolve().parents[2]
DATA = (*CLAIMS, *QUESTIONS, "wikipedia_passages", "qr_canard_dev", "qr_cast_ikat")
ENCODER = ("data", "encoder", "model.onnx")
SCRIPT = """\
#!/usr/bin/env bash
# Train the reader on a GPU, and write what ships. Arguments go to python -m training.reader.
set -euo pipefail
cd "$(dirname "$0")"
given=()
[ ! -d wordnet ] || given+=(--wordnet wordnet)
[ ! -f rankings.json.gz ] || given+=(--rankings rankings.json.gz)
python3 -m training.reader --device cuda --data data --start intrinsics_core/data/reader --frozen 0 --out checkpoints \\
  "${given[@]}" "$@"
python3 -m training.reader.export checkpoints/latest --out reader
"""

TEACHER_SCRIPT = """\
#!/usr/bin/env bash
# Train the teacher on a GPU. Arguments go to python -m training.reader.teacher.
set -euo pipefail
cd "$(dirname "$0")"
given=()
[ ! -d wordnet ] || given+=(--wordnet wordnet)
[ ! -f rankings.json.gz ] || given+=(--rankings rankings.json.gz)
python3 -m training.reader.teacher --device cuda --data data --source teacher \\
  --out teacher-checkpoints "${given[@]}" "$@"
"""


def rank(found: dict[str, Stream]) -> None:
    """Rank the sentences behind every claim once, as drawing it would."""
    makers: dict[type, Callable[[Any, Random], object]] = {Claim: lambda row, _: evidence(row), Said: claimed,
                                                           Asked: answered}  # fmt: skip
    for stream in found.values():
        for row in stream.rows:
            if type(row) in makers:
                makers[type(row)](row, Random(1))


def code(encoder: bool) -> Iterator[Path]:
    """The files of this repository that training reads, with the encoder that ranks sentences or without."""
    for folder in ("training", "intrinsics_core"):
        for file in sorted((ROOT / folder).rglob("*")):
            parts = file.relative_to(ROOT).parts
            if file.is_file() and "__pycache__" not in parts and (encoder or parts[1:4] != ENCODER):
                yield file


def pack(data: Path, out: Path, wordnet: Path | None = None, ranked: bool = True, teacher: Path | None = None) -> int:
    """Write the file. Returns its size in bytes.

    Args:
        teacher: folder of the larger model's weights, which go along.
        ranked: rank all sentences now, which takes minutes. Else the encoder goes along, and training ranks.
    """
    parts: tuple[Part, ...] = ("train", "dev") if ranked else ()
    for part in parts:
        rank(streams(data, part, load(wordnet) if wordnet else WordNet(), 1))
    with tempfile.TemporaryDirectory() as folder, tarfile.open(out, "w:gz") as tar:
        if ranked:
            keep_rankings(Path(folder) / "rankings.json.gz")
            tar.add(Path(folder) / "rankings.json.gz", "rankings.json.gz")
        for file in code(encoder=not ranked):
            tar.add(file, str(file.relative_to(ROOT)))
        for name in DATA:
            tar.add(data / f"{name}.jsonl.gz", f"data/{name}.jsonl.gz")
        if wordnet:
            for name in DATABASE:
                tar.add(wordnet / name, f"wordnet/{name}")
        scripts = {"train.sh": SCRIPT}
        if teacher:
            tar.add(teacher / "model.safetensors", "teacher/model.safetensors")
            scripts["teacher.sh"] = TEACHER_SCRIPT
        for name, script in scripts.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(script.encode()), 0o755
            tar.addfile(entry, io.BytesIO(script.encode()))
    return out.stat().st_size


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("RAG_INTRINSICS_DATA"), help="the data folder")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--wordnet", type=Path, help="folder with WordNet's database files")
    parser.add_argument("--teacher", type=Path, help="folder with the larger model's model.safetensors")
    parser.add_argument("--unranked", action="store_true", help="leave it to the training to rank sentences")
    args = parser.parse_args()
    if args.data is None:
        raise SystemExit("no data folder: pass --data or set RAG_INTRINSICS_DATA")
    size = pack(Path(args.data), args.out, args.wordnet, not args.unranked, args.teacher)
    print(f"{args.out}: {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
