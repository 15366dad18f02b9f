"""Requests for the tests, and the reference they are held against: transformers and PEFT without this library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from intrinsics_core.protocol.requests import Generate

TURN = "<|start_of_role|>{}<|end_of_role|>{}<|end_of_text|>\n"
ASSISTANT = "<|start_of_role|>assistant<|end_of_role|>"
CERTAINTY = "<|start_of_role|>certainty<|end_of_role|>"
LORA = ("answerability", "citations")
ALORA = {"uncertainty": CERTAINTY, "hallucination-detection": ASSISTANT}


def context(sentences: int = 20, about: str = "Bridge") -> str:
    """A user turn of about 11 tokens per sentence."""
    return TURN.format("user", " ".join(f"{about} {i} was built in {1900 + i}, or was it?" for i in range(sentences)))


def asked(adapter: str | None, prompt: str, **options: Any) -> Generate:
    return Generate(
        **{"intrinsic": adapter or "base", "prompt": prompt, "adapter": adapter, "max_tokens": 16} | options
    )


def mixed() -> list[Generate]:
    """Every adapter and the base model, on contexts alike and different, short and long."""
    long, other = context(), context(9, "Tower")
    return [
        asked(None, long + ASSISTANT),
        asked("answerability", long + ASSISTANT),
        asked("citations", other + ASSISTANT),
        asked("uncertainty", long + CERTAINTY),
        asked("hallucination-detection", long + TURN.format("system", "Check it.") + ASSISTANT),
        asked("uncertainty", other + CERTAINTY),
        asked(None, "Hello" + ASSISTANT),
        asked("answerability", "Hi" + ASSISTANT),
        asked("hallucination-detection", ASSISTANT),
    ]


def reference(models: Path, folder: str | None, prompt: str, tokens: int = 16) -> list[int]:
    """Greedy tokens of one prompt: a fresh model, no batch, no cache from elsewhere, none of our code."""
    import torch
    from peft import PeftModel
    from transformers import AutoModelForCausalLM, AutoTokenizer

    words = AutoTokenizer.from_pretrained(models / "base")
    model = AutoModelForCausalLM.from_pretrained(models / "base").eval()
    if folder:
        model = PeftModel.from_pretrained(model, models / folder).eval()
    ids = torch.tensor([words.encode(prompt)])
    with torch.inference_mode():
        out = model.generate(
            input_ids=ids, attention_mask=torch.ones_like(ids), max_new_tokens=tokens, do_sample=False, pad_token_id=0
        )
    return [int(token) for token in out[0, ids.shape[1] :]]


def text_of(models: Path, tokens: list[int]) -> str:
    from transformers import AutoTokenizer

    words = AutoTokenizer.from_pretrained(models / "base")
    text: str = words.decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False)
    return text.rstrip("\ufffd")  # bytes of a character that was cut off
