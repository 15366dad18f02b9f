"""The encoders runtime beside a bare sentence-transformers `CrossEncoder.predict` on the same pairs, in one run.

    python -m benchmarks.encoders [--pairs 96 --rounds 5]          needs rag-intrinsics[encoders]

A cross-encoder of MiniLM's shape (6 layers of 384) with random weights and a vocabulary of its own: speed does not
depend on what the weights say. Passages of 20 to 120 words, all in one request, and 8 of them for the first result.
Contenders take turns; the median of the rounds' ratios is told, so that a machine that slows down slows both. Aim: 0.95
of the bare throughput. ONNX is the same weights by onnxruntime, and its dynamically quantised int8 file, where the
packages that export are there. Memory is the process's peak while that contender alone was loaded.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

WORDS = [f"word{i}" for i in range(2_000)]
Pairs = list[tuple[str, str]]


def made(folder: Path) -> None:
    """The model and its tokenizer."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    torch.manual_seed(0)
    specials = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
    numbers = {word: i for i, word in enumerate([*specials, *WORDS])}
    tokenizer = Tokenizer(models.WordLevel(numbers, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.add_special_tokens(list(specials))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(token, numbers[token]) for token in specials],
    )  # fmt: skip
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]",
        model_max_length=512, model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    ).save_pretrained(folder)  # fmt: skip
    config = BertConfig(
        vocab_size=len(numbers), hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536,
        max_position_embeddings=512, num_labels=1,
    )  # fmt: skip
    BertForSequenceClassification(config).save_pretrained(folder)


def exported(folder: Path) -> bool:
    """The ONNX file and its int8 form beside the weights; False where the packages are missing."""
    try:
        import onnx  # noqa: F401
        import torch
        from onnxruntime.quantization import QuantType, quantize_dynamic
        from transformers import BertForSequenceClassification
    except ImportError:
        return False
    model = BertForSequenceClassification.from_pretrained(folder, attn_implementation="eager").eval()
    (folder / "onnx").mkdir()
    names = ["input_ids", "attention_mask", "token_type_ids"]
    axes = {name: {0: "rows", 1: "width"} for name in names}
    example = tuple(torch.ones(2, 8, dtype=torch.long) for _ in names)
    torch.onnx.export(model, example, str(folder / "onnx" / "model.onnx"), input_names=names, output_names=["logits"],
                      dynamic_axes=axes, dynamo=False)  # fmt: skip
    whole, small = (str(folder / "onnx" / name) for name in ("model.onnx", "model_int8.onnx"))
    quantize_dynamic(whole, small, weight_type=QuantType.QInt8)
    return True


def pairs_of(count: int) -> Pairs:
    draw = random.Random(0)
    question = " ".join(draw.choices(WORDS, k=10))
    return [(question, " ".join(draw.choices(WORDS, k=draw.randint(20, 120)))) for _ in range(count)]


def bare(folder: Path) -> Callable[[Pairs], Sequence[float]]:
    from sentence_transformers import CrossEncoder

    model = CrossEncoder(str(folder), device="cpu")
    return lambda pairs: model.predict(pairs, show_progress_bar=False)  # type: ignore[no-any-return]


def ours(folder: Path, **options: Any) -> Callable[[Pairs], Sequence[float]]:
    from intrinsics_core.encoders.runtime import EncodersRuntime
    from intrinsics_core.protocol.requests import Score, Scored

    runtime = EncodersRuntime(relevance=str(folder), device="cpu", **options)

    def predict(pairs: Pairs) -> Sequence[float]:
        (scored,) = runtime.handle([Score("reranking", tuple(pairs), "relevance")])
        assert isinstance(scored, Scored), scored
        return [row[0] for row in scored.logits]

    return predict


CONTENDERS: dict[str, Callable[[Path], Callable[[Pairs], Sequence[float]]]] = {
    "CrossEncoder.predict": bare,
    "encoders, torch": ours,
    "encoders, onnx": lambda folder: ours(folder, backend="onnx"),
    "encoders, onnx int8": lambda folder: ours(folder, backend="onnx", file_name="model_int8.onnx"),
}


def alone(name: str, folder: Path, pairs: Pairs) -> tuple[float, float]:
    """(seconds to the first 8 scores, MiB at the peak) of one contender in a process of its own."""
    program = [sys.executable, "-m", "benchmarks.encoders", "--alone", name, "--folder", str(folder)]
    said = subprocess.run([*program, "--pairs", str(len(pairs))], capture_output=True, text=True, check=True).stdout
    seconds, memory = said.split()[-2:]
    return float(seconds), float(memory)


def _peak() -> float:
    """MiB at the peak of this process: what `getrusage` says begins with the parent's."""
    status = Path("/proc/self/status").read_text()
    return float(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) / 1024


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=96)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--alone")
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    pairs = pairs_of(options.pairs)
    if options.alone:
        begun = time.perf_counter()
        CONTENDERS[options.alone](options.folder)(pairs[:8])
        seconds = time.perf_counter() - begun
        print(f"{seconds} {_peak()}")
        return
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        made(folder)
        names = list(CONTENDERS) if exported(folder) else list(CONTENDERS)[:2]
        predict = {name: CONTENDERS[name](folder) for name in names}
        said = {name: list(map(float, one(pairs[:8]))) for name, one in predict.items()}
        times: dict[str, list[float]] = {name: [] for name in names}
        for _ in range(options.rounds):
            for name in names:
                begun = time.perf_counter()
                predict[name](pairs)
                times[name].append(time.perf_counter() - begun)
        print(f"{options.pairs} pairs, median of {options.rounds} rounds\n")
        print("| | pairs/s | throughput / bare | first 8, alone (s) | peak, alone (MiB) |\n|---|---:|---:|---:|---:|")
        for name in names:
            ratio = statistics.median(a / b for a, b in zip(times[names[0]], times[name], strict=True))
            first, memory = alone(name, folder, pairs)
            speed = options.pairs / statistics.median(times[name])
            print(f"| {name} | {speed:.1f} | {ratio:.2f} | {first:.1f} | {memory:.0f} |")
        print(f"\nscores of 8 pairs: { {name: [round(x, 3) for x in each[:3]] for name, each in said.items()} }")


if __name__ == "__main__":
    main()
