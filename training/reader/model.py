"""The reader in torch: all-MiniLM-L6-v2's layers over two texts at once, and one linear head a task.

The input is `training.reader.limits`' row, with token types 0 for the text and 1 for the query. The heads look at
`[CLS]` and at the mean of all tokens. Word embeddings stay as they were: the sets are too small to move 30,000 of them
well, and the encoder that ships beside the reader has the same. Attention is the plain one: on a CPU, torch's fused
attention spends four times as long on the way back.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from training.reader.limits import assembled
from training.reader.pairs import TASKS


class CrossEncoder(nn.Module):
    """Token ids of pairs to logits (pairs, tasks)."""

    def __init__(self, folder: Path, frozen: int = 0) -> None:
        super().__init__()
        from safetensors.torch import load_file
        from transformers import BertConfig, BertModel

        config = BertConfig.from_pretrained(folder, attn_implementation="eager")
        config.hidden_dropout_prob = config.attention_probs_dropout_prob = 0.0  # every row is seen once or twice
        self.bert: Any = BertModel(config, add_pooling_layer=False)
        upstream = load_file(str(folder / "model.safetensors"))
        self.bert.load_state_dict({k: v for k, v in upstream.items() if not k.startswith("pooler.")}, strict=False)
        self.bert.embeddings.word_embeddings.weight.requires_grad_(False)
        for layer in self.bert.encoder.layer[:frozen]:
            layer.requires_grad_(False)
        if frozen:
            self.bert.embeddings.requires_grad_(False)
        self.head = nn.Linear(2 * self.bert.config.hidden_size, len(TASKS))
        nn.init.normal_(self.head.weight, std=0.02)
        nn.init.zeros_(self.head.bias)

    def forward(self, ids: Tensor, types: Tensor, mask: Tensor) -> Tensor:
        states = self.bert(input_ids=ids, token_type_ids=types, attention_mask=mask).last_hidden_state.float()
        seen = mask.unsqueeze(-1).float()
        mean = (states * seen).sum(1) / seen.sum(1)
        out: Tensor = self.head(torch.cat([states[:, 0], mean], 1))
        return out


class Encoding:
    """Pairs of texts to token ids, the way the shipped model reads them."""

    def __init__(self, tokenizer: Path) -> None:
        from tokenizers import Tokenizer

        self.tokenizer = Tokenizer.from_file(str(tokenizer))
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[list[int], int]]:
        """For each pair its ids and where the query begins among them."""
        texts = self.tokenizer.encode_batch([t for t, _ in pairs], add_special_tokens=False)
        queries = self.tokenizer.encode_batch([q for _, q in pairs], add_special_tokens=False)
        return [assembled(t.ids, q.ids) for t, q in zip(texts, queries, strict=True)]


def padded(rows: Sequence[tuple[list[int], int]]) -> tuple[Tensor, Tensor, Tensor]:
    """ids, token types and mask (pairs, tokens)."""
    longest = max(len(ids) for ids, _ in rows)
    ids = torch.zeros(len(rows), longest, dtype=torch.long)
    types, mask = torch.zeros_like(ids), torch.zeros_like(ids)
    for i, (row, begin) in enumerate(rows):
        ids[i, : len(row)] = torch.tensor(row)
        types[i, begin : len(row)] = 1
        mask[i, : len(row)] = 1
    return ids, types, mask


@torch.inference_mode()
def logits(model: CrossEncoder, encode: Encoding, pairs: Sequence[tuple[str, str]], size: int = 64) -> Tensor:
    """(pairs, tasks), in evaluation mode, longest batches first."""
    model.eval()
    rows = encode(pairs)
    order = sorted(range(len(rows)), key=lambda i: -len(rows[i][0]))
    out = torch.zeros(len(rows), len(TASKS))
    for begin in range(0, len(order), size):
        some = order[begin : begin + size]
        with torch.autocast("cpu", torch.bfloat16):
            out[some] = model(*padded([rows[i] for i in some])).float()
    return out


def load(checkpoint: Path, source: Path) -> CrossEncoder:
    """The model of a checkpoint's `model.safetensors`."""
    from safetensors.torch import load_file

    model = CrossEncoder(source)
    model.load_state_dict(load_file(str(checkpoint / "model.safetensors")))
    model.eval()
    return model
