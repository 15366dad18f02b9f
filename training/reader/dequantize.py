"""The shipped int8 reader back as a checkpoint in float, so that a later run goes on from what ships.

    python -m training.reader.dequantize intrinsics_core/data/reader --out CHECKPOINT

`python -m training.reader --start intrinsics_core/data/reader` does it by itself.

What int8 rounded away stays lost (half a step of each channel's scale); training takes that up at once.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from training.build_encoder import LAYERS, Array
from training.reader.pairs import TASKS


def floats(reader: Path) -> dict[str, Array]:
    """The tensors of `training.reader.model.CrossEncoder` by their names, from a folder of `training.reader.export`."""
    import onnx
    from onnx import numpy_helper

    held = {t.name: numpy_helper.to_array(t) for t in onnx.load(reader / "model.onnx").graph.initializer}

    def linear(name: str) -> Array:
        weight = held[f"{name}.weight"].astype(np.float32) * held[f"{name}.scale"].reshape(1, -1)
        return np.asarray((weight * held[f"{name}.smooth"][:, None]).T)

    found: dict[str, Array] = {
        # Never trained: these are upstream's as they are rounded in what ships.
        "embeddings.word_embeddings.weight": held["words"].astype(np.float32) * held["words.scale"],
        "embeddings.position_embeddings.weight": held["positions"],
        "embeddings.token_type_embeddings.weight": held["types"],
        "embeddings.LayerNorm.weight": held["embedded.norm.gamma"],
        "embeddings.LayerNorm.bias": held["embedded.norm.beta"],
    }
    for i in range(LAYERS):
        p = f"encoder.layer.{i}."
        heads = zip(np.split(linear(f"layer{i}.heads"), 3), np.split(held[f"layer{i}.heads.bias"], 3), strict=True)
        for part, (weight, bias) in zip(("query", "key", "value"), heads, strict=True):
            found[f"{p}attention.self.{part}.weight"], found[f"{p}attention.self.{part}.bias"] = weight, bias
        for ours, theirs in (
            ("attention", "attention.output.dense"),
            ("wide", "intermediate.dense"),
            ("thin", "output.dense"),
        ):
            found[f"{p}{theirs}.weight"] = linear(f"layer{i}.{ours}")
            found[f"{p}{theirs}.bias"] = held[f"layer{i}.{ours}.bias"]
        for ours, theirs in (("norm1", "attention.output.LayerNorm"), ("norm2", "output.LayerNorm")):
            found[f"{p}{theirs}.weight"] = held[f"layer{i}.{ours}.gamma"]
            found[f"{p}{theirs}.bias"] = held[f"layer{i}.{ours}.beta"]
    tensors = {f"bert.{name}": np.ascontiguousarray(value) for name, value in found.items()}
    lacking = len(TASKS) - len(held["head.bias"])  # tasks that do not ship
    return tensors | {
        "head.weight": np.ascontiguousarray(np.pad(held["head.weight"].T, ((0, lacking), (0, 0)))),
        "head.bias": np.pad(held["head.bias"], (0, lacking)),
    }


def dequantize(reader: Path, out: Path) -> Path:
    """Write the checkpoint of a reader folder. Returns its folder."""
    from safetensors.numpy import save_file

    about = json.loads((reader / "reader.json").read_text("utf-8"))
    out.mkdir(parents=True, exist_ok=True)
    save_file(floats(reader), str(out / "model.safetensors"))
    before = about.get("runs_before", [])
    state = {
        "seen": about["pairs"] - sum(run["seen"] for run in before), "before": before, "settings": about["settings"],
        "shares": about["shares"], "sets": about["trained_on"], "mean_with": about.get("mean_with"),
        "from_int8": about["name"],
    }  # fmt: skip
    (out / "state.json").write_text(json.dumps(state, indent=1) + "\n", "utf-8")
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("reader", type=Path, help="folder that training.reader.export wrote")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    dequantize(args.reader, args.out)


if __name__ == "__main__":
    main()
