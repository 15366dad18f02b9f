"""A tiny random Granite with adapters, made on the spot: real files, real tokenizer, no download.

``python tests/tiny_granite.py OUT`` writes OUT/base and one folder per adapter, in a few seconds.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SPECIALS = ("<|end_of_text|>", "<|start_of_role|>", "<|end_of_role|>", "<|tool_call|>")
SYSTEM = "Knowledge Cutoff Date: April 2024. You are Granite, developed by IBM."

# Granite's shape of a turn; documents come as turns of their own, before the conversation.
CHAT_TEMPLATE = """\
{%- macro turn(role, content) -%}
{{ '<|start_of_role|>' + role + '<|end_of_role|>' + content + '<|end_of_text|>\n' }}
{%- endmacro -%}
{%- if messages[0]['role'] != 'system' -%}{{ turn('system', default_system) }}{%- endif -%}
{%- for document in documents or [] -%}
{{ turn('document {"document_id": "' + (document['doc_id'] | default(loop.index) | string) + '"}', document['text']) }}
{%- endfor -%}
{%- for message in messages -%}{{ turn(message['role'], message['content']) }}{%- endfor -%}
{%- if add_generation_prompt -%}
{{ '<|start_of_role|>assistant' + (' ' + controls | tojson if controls else '') + '<|end_of_role|>' }}
{%- endif -%}
""".replace("default_system", json.dumps(SYSTEM))


@dataclass(frozen=True)
class Adapter:
    """``invocation`` makes it an aLoRA: text from which on its weights are active."""

    seed: int
    invocation: str | None = None
    rank: int = 8


ADAPTERS = {
    "answerability": Adapter(1),
    "citations": Adapter(2),
    "uncertainty-alora": Adapter(3, "<|start_of_role|>certainty<|end_of_role|>"),
    "hallucination-alora": Adapter(4, "<|start_of_role|>assistant<|end_of_role|>"),
}


def tokenizer(size: int = 2000) -> Any:
    """A byte-level BPE tokenizer with Granite's special tokens and a chat template."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    engine = Tokenizer(models.BPE())
    engine.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    engine.decoder = decoders.ByteLevel()
    text = [path.read_text() for path in sorted(Path(json.__file__).parent.glob("*.py"))]
    labels = [
        '{"answerability": "answerable"} "unanswerable" relevant irrelevant yes no faithful partial citation'
    ] * 20
    engine.train_from_iterator(
        text + labels,
        trainers.BpeTrainer(
            vocab_size=size,
            special_tokens=list(SPECIALS),
            show_progress=False,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        ),
    )
    end = SPECIALS[0]
    return PreTrainedTokenizerFast(
        tokenizer_object=engine,
        bos_token=end,
        eos_token=end,
        pad_token=end,
        additional_special_tokens=list(SPECIALS[1:]),
        chat_template=CHAT_TEMPLATE,
        padding_side="left",
    )


def build(out: Path | str, *, adapters: dict[str, Adapter] | None = None, context: int = 2048, **shape: Any) -> Path:
    """Write a base model and its adapters.

    Args:
        adapters: folder name -> adapter; two LoRA and two aLoRA where left out.
        context: the model's context window, in tokens.
        shape: further arguments of `GraniteConfig`. Two layers of width 128 where left out; a head is 32 wide, the
            least that vLLM's CPU kernels take.
    """
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import GraniteConfig, GraniteForCausalLM

    out = Path(out)
    words = tokenizer()
    words.save_pretrained(out / "base")
    end = words.eos_token_id
    # Wide weights and an output layer of its own: else a random model repeats one token for ever.
    sizes = {"hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 2} | {
        "num_attention_heads": 4, "num_key_value_heads": 2, "initializer_range": 0.2, "logits_scaling": 1.0,
        "embedding_multiplier": 12.0, "residual_multiplier": 0.22, "attention_multiplier": 1 / 32,
    }  # fmt: skip
    torch.manual_seed(0)
    config = GraniteConfig(
        vocab_size=len(words), max_position_embeddings=context, tie_word_embeddings=False, dtype="float32",
        bos_token_id=end, eos_token_id=end, pad_token_id=end, **sizes | shape,
    )  # fmt: skip
    GraniteForCausalLM(config).save_pretrained(out / "base")
    for name, adapter in (ADAPTERS if adapters is None else adapters).items():
        torch.manual_seed(adapter.seed)
        targets = ["q_proj", "k_proj", "v_proj"] if adapter.invocation else ["q_proj", "k_proj", "v_proj", "o_proj"]
        invocation = words.encode(adapter.invocation, add_special_tokens=False) if adapter.invocation else None
        lora = LoraConfig(
            r=adapter.rank,
            lora_alpha=2 * adapter.rank,
            target_modules=targets,
            task_type="CAUSAL_LM",
            init_lora_weights=False,  # random weights: an adapter that does nothing would test nothing
            alora_invocation_tokens=invocation,
        )
        model = get_peft_model(GraniteForCausalLM.from_pretrained(out / "base"), lora)
        with torch.no_grad():
            for key, weights in model.named_parameters():
                if "lora_B" in key:
                    weights.normal_(0, 0.5)
        model.save_pretrained(out / name)
    return out


if __name__ == "__main__":
    print(build(sys.argv[1]))
