"""Four intrinsics on one long context in process: aLoRA with the base model's keys and values shared, and plain LoRA.

    python -m benchmarks.inprocess_alora [--context 2000] [--hidden 512] [--layers 8] [--repeats 3] [--device cpu]
        [--base FOLDER]

Also: requests for different adapters in one batch, and one by one. The model is a random Granite of that shape, built
on the spot, or a real base; its adapters are untrained. Time does not depend on what the weights are. Each kind of run
is repeated in turn with the others, and medians are shown: a machine that slows down then slows all of them. In
brackets: CPU seconds, which other work on the machine does not lengthen.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from intrinsics_core.local.kv_cache import Prefixes
from intrinsics_core.local.transformers import TransformersRuntime
from intrinsics_core.protocol.requests import Choice, Generate, Generated
from intrinsics_core.training.fitting import Base, _with_adapter
from intrinsics_core.training.regime import Regime
from tests.tiny_granite import build

DIGITS = Choice(tuple("0123456789"))
ROLES = {"answerability": "answerability", "uncertainty": "certainty", "relevance": "relevance", "requirement": "check"}


def opening(role: str) -> str:
    return f"<|start_of_role|>{role}<|end_of_role|>"


def conversation(words: Any, tokens: int, subject: str = "bridge") -> str:
    """A user turn of so many tokens, as near as whole sentences get."""
    text = "<|start_of_role|>user<|end_of_role|>"
    year = 0
    while len(words.encode(text)) < tokens - 20:
        text += "".join(
            f"In year {year + i} the {subject} was painted by crew {(year + i) * 7 % 13}. " for i in range(8)
        )
        year += 8
    return text + "<|end_of_text|>\n"


def requests(context: str, kind: str, reply: int) -> list[Generate]:
    """One request per intrinsic. ``reply`` 1: a constrained digit, as a gate asks; else that many free tokens."""
    return [
        Generate(
            name,
            prompt=context + opening(role),
            adapter=f"{name}-{kind}",
            max_tokens=reply,
            constraint=DIGITS if reply == 1 else None,
        )
        for name, role in ROLES.items()
    ]


class Took(NamedTuple):
    wall: float  # seconds on the clock
    cpu: float  # seconds of processor time

    def __str__(self) -> str:
        return f"{self.wall:.2f} ({self.cpu:.2f})"

    def over(self, other: Took) -> str:
        return f"{self.wall / other.wall:.1f} ({self.cpu / other.cpu:.1f}) times"


def timed(work: Callable[[], list[Any]]) -> Took:
    wall, cpu = time.perf_counter(), time.process_time()
    replies = work()
    seconds = Took(time.perf_counter() - wall, time.process_time() - cpu)
    assert all(isinstance(reply, Generated) for reply in replies), replies
    return seconds


def one_by_one(runtime: TransformersRuntime, wanted: Sequence[Generate]) -> list[Any]:
    return [reply for request in wanted for reply in runtime.handle([request])]


def medians(repeats: int, kinds: dict[str, Callable[[], list[Any]]]) -> dict[str, Took]:
    runs: dict[str, list[Took]] = {name: [] for name in kinds}
    for _ in range(repeats):
        for name, work in kinds.items():
            runs[name].append(timed(work))
    columns = {name: zip(*took, strict=True) for name, took in runs.items()}
    return {name: Took(*map(statistics.median, walls_and_cpus)) for name, walls_and_cpus in columns.items()}


def forget(runtime: TransformersRuntime) -> None:
    engine = runtime._engine
    assert engine is not None
    engine._prefixes = Prefixes(engine._prefixes._limit)


def random_granite(folder: str, chosen: argparse.Namespace) -> str:
    build(
        folder,
        adapters={},
        context=chosen.context + 256,
        hidden_size=chosen.hidden,
        intermediate_size=4 * chosen.hidden,
        num_hidden_layers=chosen.layers,
        num_attention_heads=chosen.hidden // 64,
        num_key_value_heads=max(1, chosen.hidden // 256),
        initializer_range=0.05,
    )
    return f"{folder}/base"


def untrained_adapters(base: str, folder: str) -> dict[str, str]:
    """A LoRA and an aLoRA for each of the four, as they are before training."""
    import transformers

    model = transformers.AutoModelForCausalLM.from_pretrained(base, dtype="bfloat16")
    words = transformers.AutoTokenizer.from_pretrained(base)
    places = {}
    for name, role in ROLES.items():
        for kind, invocation in (("lora", ()), ("alora", tuple(words.encode(opening(role), add_special_tokens=False)))):
            adapted = _with_adapter(model, Base(base), Regime(rank=32), invocation)
            places[f"{name}-{kind}"] = f"{folder}/{name}-{kind}"
            adapted.save_pretrained(places[f"{name}-{kind}"])
            model = adapted.unload()
    return places


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--context", type=int, default=2000, help="tokens of the shared context")
    options.add_argument("--hidden", type=int, default=512)
    options.add_argument("--layers", type=int, default=8)
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--device", default="cpu")
    options.add_argument("--dtype", default="float32")
    options.add_argument("--base", help="a folder of safetensors")
    chosen = options.parse_args()

    import torch
    import transformers

    with tempfile.TemporaryDirectory() as folder:
        base = chosen.base or random_granite(folder, chosen)
        places = untrained_adapters(base, folder)
        runtime = TransformersRuntime(base, places, device=chosen.device, dtype=chosen.dtype)
        words = transformers.AutoTokenizer.from_pretrained(base)
        context = conversation(words, chosen.context)
        runtime.handle([*requests(context[:400], "lora", 2), *requests(context[:400], "alora", 2)])  # loads them all

        shape = Path(base).name if chosen.base else f"Granite of width {chosen.hidden}, {chosen.layers} layers"
        print(f"{shape}, {chosen.dtype} on {chosen.device}; "
              f"{torch.get_num_threads()} threads, {platform.machine()}; torch {torch.__version__}, transformers "
              f"{transformers.__version__}; median of {chosen.repeats} runs.\n")  # fmt: skip
        print(f"## Four intrinsics on one context of {len(words.encode(context))} tokens\n")
        print("| reply | LoRA, one by one (s) | LoRA, one batch (s) | aLoRA, one by one (s) | aLoRA, one batch (s) | "
              "aLoRA is faster, one by one | aLoRA is faster, one batch |\n|---|---|---|---|---|---|---|")  # fmt: skip
        for reply, label in ((1, "one digit"), (16, "16 tokens")):
            lora, alora = requests(context, "lora", reply), requests(context, "alora", reply)

            def fresh(work: Callable[[], list[Any]]) -> Callable[[], list[Any]]:
                def run() -> list[Any]:
                    forget(runtime)  # the context is computed anew in every run, once
                    return work()

                return run

            found = medians(
                chosen.repeats,
                {
                    "lora": lambda lora=lora: one_by_one(runtime, lora),
                    "lora batch": lambda lora=lora: runtime.handle(lora),
                    "alora": fresh(lambda alora=alora: one_by_one(runtime, alora)),
                    "alora batch": fresh(lambda alora=alora: runtime.handle(alora)),
                },
            )
            print(
                f"| {label} | {found['lora']} | {found['lora batch']} | {found['alora']} | {found['alora batch']} | "
                f"{found['lora'].over(found['alora'])} | {found['lora batch'].over(found['alora batch'])} |",
                flush=True,
            )

        print("\n## Sixteen requests to four LoRA adapters, contexts of about 60 and 250 tokens\n")
        print("| reply | one by one (s) | mixed batches (s) | mixed is faster |\n|---|---|---|---|")
        for reply, label in ((1, "one digit"), (16, "16 tokens")):
            mixed = [
                request
                for length, subject in ((60, "bridge"), (250, "tower"), (60, "road"), (250, "harbour"))
                for request in requests(conversation(words, length, subject), "lora", reply)
            ]
            found = medians(
                chosen.repeats,
                {
                    "one": lambda mixed=mixed: one_by_one(runtime, mixed),
                    "mixed": lambda mixed=mixed: runtime.handle(mixed),
                },
            )
            print(f"| {label} | {found['one']} | {found['mixed']} | {found['one'].over(found['mixed'])} |", flush=True)


if __name__ == "__main__":
    main()
