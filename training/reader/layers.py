"""The reader's layers written out for training: the same numbers as `model.CrossEncoder`, a fifth faster.

Weights stay in float32 where the optimiser moves them. A step casts them once for all replicas to the type that the
processor multiplies fastest (`model.working_type`), and nothing is cast between the layers. Query, key and value are
one product; rows of one length need no mask.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from training.build_encoder import EPSILON
from training.reader.model import CrossEncoder, working_type

Weights = dict[str, Tensor]


def cast(model: CrossEncoder, dtype: torch.dtype | None = None) -> Weights:
    """The model's weights in a type, by default the one that is fastest where the model is."""
    dtype = dtype or working_type(model.device)
    found: Weights = {}
    for name, value in model.named_parameters():
        if name == "bert.embeddings.word_embeddings.weight":
            found[name] = value.detach()  # rows are picked before they are cast
        else:
            found[name] = value.detach().to(dtype)
    return found


def leaves(weights: Weights, model: CrossEncoder) -> Weights:
    """The same numbers, as tensors that gather gradients of their own."""
    trained = {name for name, value in model.named_parameters() if value.requires_grad}
    return {n: w.detach().requires_grad_() if n in trained else w for n, w in weights.items()}


def forward(w: Weights, ids: Tensor, types: Tensor, mask: Tensor, heads: int = 12) -> Tensor:
    """Logits (pairs, tasks) in float32; the arguments of `model.padded`."""
    e = "bert.embeddings."
    pairs, tokens = ids.shape
    dtype = w[e + "position_embeddings.weight"].dtype
    words = functional.embedding(ids, w[e + "word_embeddings.weight"]).to(dtype)
    x = words + w[e + "position_embeddings.weight"][:tokens] + w[e + "token_type_embeddings.weight"][types]
    x = _norm(x, w, e + "LayerNorm.").view(pairs * tokens, -1)
    size = x.shape[1]
    hidden = None
    if not bool(mask.all()):
        hidden = torch.zeros(pairs, 1, 1, tokens, dtype=dtype, device=x.device)
        hidden = hidden.masked_fill_(mask[:, None, None] == 0, -1e9)
    layer = 0
    while f"bert.encoder.layer.{layer}.output.dense.weight" in w:
        p = f"bert.encoder.layer.{layer}."
        parts = [p + f"attention.self.{name}." for name in ("query", "key", "value")]
        weight = torch.cat([w[part + "weight"] for part in parts])
        bias = torch.cat([w[part + "bias"] for part in parts])
        qkv = functional.linear(x, weight, bias).view(pairs, tokens, 3, heads, size // heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).contiguous()
        scores = torch.matmul(q * (size // heads) ** -0.5, k.transpose(-1, -2))
        if hidden is not None:
            scores = scores + hidden
        mixed = torch.matmul(scores.softmax(-1), v).transpose(1, 2).reshape(pairs * tokens, size)
        x = _norm(x + _dense(mixed, w, p + "attention.output.dense."), w, p + "attention.output.LayerNorm.")
        inner = functional.gelu(_dense(x, w, p + "intermediate.dense."))
        x = _norm(x + _dense(inner, w, p + "output.dense."), w, p + "output.LayerNorm.")
        layer += 1
    states = x.view(pairs, tokens, size)
    seen = mask.unsqueeze(-1)
    mean = (states * seen.to(dtype)).sum(1, dtype=torch.float32) / seen.sum(1)
    both = torch.cat([states[:, 0].float(), mean], 1)
    return functional.linear(both, w["head.weight"].float(), w["head.bias"].float())


def _dense(x: Tensor, w: Weights, name: str) -> Tensor:
    return functional.linear(x, w[name + "weight"], w[name + "bias"])


def _norm(x: Tensor, w: Weights, name: str) -> Tensor:
    return functional.layer_norm(x, x.shape[-1:], w[name + "weight"], w[name + "bias"], EPSILON)
