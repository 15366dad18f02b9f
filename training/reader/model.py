"""The reader in torch: all-MiniLM-L6-v2's layers over two texts at once, and one linear head a task.

The input is `training.reader.limits`' row, with token types 0 for the text and 1 for the query. The heads look at
`[CLS]` and at the mean of all tokens. Word embeddings stay as they were: the sets are too small to move 30,000 of them
well, and the encoder that ships beside the reader has the same. Attention is the plain one: on a CPU, torch's fused
attention spends four times as long on the way back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from intrinsics_core.training.working_type import working_type
from training.build_encoder import EPSILON, HEADS, HIDDEN, LAYERS, checked_weights, layers_of
from training.reader.limits import TOKENIZER, assembled
from training.reader.pairs import TASKS


def _layer(number: int) -> str:
    return f"bert.encoder.layer.{number}."


class CrossEncoder(nn.Module):
    """Token ids of pairs to logits (pairs, tasks). Its weights are random until some are loaded.

    Args:
        layers: of the encoder; what ships has `LAYERS`.
        frozen: lowest layers that are not trained; where there are some, the embeddings are not trained either.
        hidden: numbers a token.
    """

    def __init__(self, layers: int = LAYERS, frozen: int = 0, hidden: int = HIDDEN) -> None:
        super().__init__()
        from transformers import BertConfig, BertModel

        config = BertConfig(
            hidden_size=hidden, num_hidden_layers=layers, num_attention_heads=HEADS, intermediate_size=4 * hidden,
            layer_norm_eps=EPSILON, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
            attn_implementation="eager",
        )  # fmt: skip
        self.bert: Any = BertModel(config, add_pooling_layer=False)
        self.bert.embeddings.word_embeddings.weight.requires_grad_(False)
        for layer in self.bert.encoder.layer[:frozen]:
            layer.requires_grad_(False)
        if frozen:
            self.bert.embeddings.requires_grad_(False)
        self.head = nn.Linear(2 * hidden, len(TASKS))
        nn.init.normal_(self.head.weight, std=0.02)
        nn.init.zeros_(self.head.bias)

    @property
    def device(self) -> torch.device:
        return self.head.weight.device

    def take(self, weights: Mapping[str, Tensor]) -> None:
        """Load weights by their names in a checkpoint. Where this model has more layers, theirs are used again
        (stacking, Gong et al. 2019).
        """
        own, theirs = len(self.bert.encoder.layer), layers_of(weights)
        found = {f"head.{name}": value for name, value in self.head.state_dict().items()} | dict(weights)
        found |= {name: widened(value) for name, value in found.items() if name.startswith("head.")}
        for i in range(theirs, own):
            for name in [name for name in weights if name.startswith(_layer(i % theirs))]:
                found[_layer(i) + name.removeprefix(_layer(i % theirs))] = weights[name]
        self.load_state_dict(found)

    def resume(self, weights: Mapping[str, Tensor]) -> None:
        """Load all weights of a checkpoint; a task that it does not know has a head of zeros."""
        self.load_state_dict({name: widened(value) if name.startswith("head.") else value
                              for name, value in weights.items()})  # fmt: skip

    def forward(self, ids: Tensor, types: Tensor, mask: Tensor) -> Tensor:
        states = self.bert(input_ids=ids, token_type_ids=types, attention_mask=mask).last_hidden_state.float()
        seen = mask.unsqueeze(-1).float()
        mean = (states * seen).sum(1) / seen.sum(1)
        out: Tensor = self.head(torch.cat([states[:, 0], mean], 1))
        return out


class Encoding:
    """Pairs of texts to token ids, the way the shipped model reads them."""

    def __init__(self, tokenizer: Path = TOKENIZER) -> None:
        from tokenizers import Tokenizer

        self.tokenizer = Tokenizer.from_file(str(tokenizer))
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[list[int], int]]:
        """For each pair its ids and where the query begins among them."""
        texts = self.tokenizer.encode_batch([t for t, _ in pairs], add_special_tokens=False)
        queries = self.tokenizer.encode_batch([q for _, q in pairs], add_special_tokens=False)
        return [assembled(t.ids, q.ids) for t, q in zip(texts, queries, strict=True)]


def widened(rows: Tensor) -> Tensor:
    """Weights or moments of the heads, with rows of zeros for the tasks that they lack."""
    lacking = len(TASKS) - len(rows)
    return torch.cat([rows, rows.new_zeros(lacking, *rows.shape[1:])]) if lacking > 0 else rows


def padded(
    rows: Sequence[tuple[Sequence[int], int]], device: torch.device | str = "cpu"
) -> tuple[Tensor, Tensor, Tensor]:
    """ids, token types and mask (pairs, tokens)."""
    longest = max(len(ids) for ids, _ in rows)
    ids = np.zeros((len(rows), longest), np.int64)
    types, mask = np.zeros_like(ids), np.zeros_like(ids)
    for i, (row, begin) in enumerate(rows):
        ids[i, : len(row)] = row
        types[i, begin : len(row)] = 1
        mask[i, : len(row)] = 1
    return torch.from_numpy(ids).to(device), torch.from_numpy(types).to(device), torch.from_numpy(mask).to(device)


@torch.inference_mode()
def logits(model: CrossEncoder, encode: Encoding, pairs: Sequence[tuple[str, str]], size: int = 64) -> Tensor:
    """(pairs, tasks), in evaluation mode, longest batches first."""
    model.eval()
    dtype = working_type(model.device)
    rows = encode(pairs)
    order = sorted(range(len(rows)), key=lambda i: -len(rows[i][0]))
    out = torch.zeros(len(rows), len(TASKS))
    for begin in range(0, len(order), size):
        some = order[begin : begin + size]
        with torch.autocast(model.device.type, torch.bfloat16, enabled=dtype is torch.bfloat16):
            out[some] = model(*padded([rows[i] for i in some], model.device)).float().cpu()
    return out


def upstream(source: Path) -> dict[str, Tensor]:
    """Upstream's weights by their names in a checkpoint, without the heads. Refuses anything but upstream's."""
    weights = {k: v for k, v in checked_weights(source).items() if k.startswith(("embeddings.", "encoder."))}
    return {f"bert.{k}": torch.from_numpy(v) for k, v in weights.items() if k != "embeddings.position_ids"}


def load(checkpoint: Path) -> CrossEncoder:
    """The model of a checkpoint's `model.safetensors`."""
    weights = load_file(str(checkpoint / "model.safetensors"))
    model = CrossEncoder(layers_of(weights))
    model.resume(weights)
    model.eval()
    return model
