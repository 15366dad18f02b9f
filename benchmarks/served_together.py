"""Several adapters of one base model in one runtime, asked in mixed batches: what two doors reply to the same requests.

    RAG_INTRINSICS_MODELS=FOLDER RAG_INTRINSICS_DATA=FOLDER python -m benchmarks.served_together ADAPTER ...
        --door transformers|vllm --keep FILE [--against FILE] [--base gemma] [--items 24]

Each ADAPTER is a folder as `intrinsics train` writes it, for another intrinsic. Replies are kept in a file, by what was
asked; with `--against` they are compared with another door's, character for character.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace
from itertools import chain
from pathlib import Path

from benchmarks.fetch_models import MODELS, folder
from benchmarks.real_models import ENGINE, Kept, fastest_type, ranked, replies, scores_of, tables
from intrinsics_core import as_runtime, run_many
from intrinsics_core.profiles import io_yaml
from intrinsics_core.protocol.errors import IntrinsicsError


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("adapters", nargs="+", type=Path)
    parser.add_argument("--door", choices=("transformers", "vllm"), required=True)
    parser.add_argument("--keep", type=Path, required=True, help="a file of this door's replies")
    parser.add_argument("--against", type=Path, help="a file of another door's")
    parser.add_argument("--base", default="gemma", help="a name of benchmarks.fetch_models")
    parser.add_argument("--items", type=int, default=24, help="of each intrinsic")
    parser.add_argument("--set", default="customers")
    options = parser.parse_args()
    models = folder()
    if models is None:
        parser.error("RAG_INTRINSICS_MODELS names no folder: see benchmarks.fetch_models")
    made = {json.loads((place / "training.json").read_text("utf-8"))["intrinsic"]: place for place in options.adapters}
    profile = io_yaml.profile(*options.adapters)
    options.keep.unlink(missing_ok=True)
    begun = time.perf_counter()
    served = as_runtime({
        "kind": options.door, "model": str(MODELS[options.base].safetensors(models)), "context_length": 4096,
        "dtype": fastest_type(), "adapters": {name: str(place) for name, place in made.items()},
    } | ({"engine": ENGINE} if options.door == "vllm" else {}))  # fmt: skip
    runtime = Kept(served, options.keep)
    asked = [replace(table, items=table.items[: options.items]) for table in tables(options.set, 4 * options.items)
             if table.name in made]  # fmt: skip
    mixed = list(chain(*zip(*([(table, table.call(item)) for item in table.items] for table in asked), strict=True)))
    results = run_many([call for _, call in mixed], runtime, profile=profile)
    print(f"{len(made)} adapters by {options.door}: {len(mixed)} questions in mixed batches, {runtime.seconds:.0f} s, "
          f"{time.perf_counter() - begun:.0f} s with loading\n")  # fmt: skip
    print("| intrinsic | questions | errors | AUROC |\n|---|--:|--:|---|")
    for table in asked:
        own = [result for (of, _), result in zip(mixed, results, strict=True) if of is table]
        errors = sum(isinstance(result, IntrinsicsError) for result in own)
        area = ranked(table, scores_of(table, own)) if table.score else ""
        print(f"| {table.name} | {len(own)} | {errors} | {area} |", flush=True)
    if options.against:
        kept, other = (dict(replies(path)) for path in (options.keep, options.against))
        both = kept.keys() & other.keys()
        same = sum(kept[key][0].text == other[key][0].text for key in both)
        print(f"\n{same} of {len(both)} replies are the same, character for character")


if __name__ == "__main__":
    main()
