"""The reader's layers written out for training: the same numbers as `model.CrossEncoder`, a fifth faster.

Weights stay in float32 where the optimiser moves them. A step casts them once for all replicas to the type that the
processor multiplies fastest (`working_type`), and nothing is cast between the layers. Query, key and value are
one product; rows of one length need no mask.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from intrinsics_core.training.working_type import working_type
from training.build_encoder import EPSILON
from training.reader.model import CrossEncoder

Weights = dict[str, Tensor]
WIDE_EPSILON = 1e-5  # of all-mpnet-base-v2
BUCKETS, FURTHEST = 32, 128
"""Biases by distance, and the distance that the last one begins at (Raffel et al. 2020)."""


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
    """Logits (pairs, tasks) in float32; the arguments of `model.padded`.

    Weights of `training.reader.mpnet` have a bias of attention by distance (`distances.weight`), and in one layer a
    vector a token type (`types.weight`) that is added to what it reads.
    """
    epsilon = WIDE_EPSILON if "distances.weight" in w else EPSILON
    e = "bert.embeddings."
    pairs, tokens = ids.shape
    dtype = w[e + "position_embeddings.weight"].dtype
    words = functional.embedding(ids, w[e + "word_embeddings.weight"]).to(dtype)
    x = words + w[e + "position_embeddings.weight"][:tokens] + w[e + "token_type_embeddings.weight"][types]
    x = _norm(x, w, e + "LayerNorm.", epsilon).view(pairs * tokens, -1)
    size = x.shape[1]
    added = None
    if not bool(mask.all()):
        added = torch.zeros(pairs, 1, 1, tokens, dtype=dtype, device=x.device)
        added = added.masked_fill_(mask[:, None, None] == 0, -1e9)
    if "distances.weight" in w:
        apart = w["distances.weight"][buckets(tokens, x.device)].permute(2, 0, 1)[None]
        added = apart if added is None else added + apart
    layer = 0
    while f"bert.encoder.layer.{layer}.output.dense.weight" in w:
        p = f"bert.encoder.layer.{layer}."
        if p + "types.weight" in w:
            x = x + w[p + "types.weight"][types].view(pairs * tokens, -1)
        parts = [p + f"attention.self.{name}." for name in ("query", "key", "value")]
        weight = torch.cat([w[part + "weight"] for part in parts])
        bias = torch.cat([w[part + "bias"] for part in parts])
        qkv = _Dense.apply(x, weight, bias).view(pairs, tokens, 3, heads, size // heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).contiguous()
        scores = torch.matmul(q * (size // heads) ** -0.5, k.transpose(-1, -2))
        if added is not None:
            scores = scores + added
        mixed = torch.matmul(scores.softmax(-1), v).transpose(1, 2).reshape(pairs * tokens, size)
        x = _norm(x + _dense(mixed, w, p + "attention.output.dense."), w, p + "attention.output.LayerNorm.", epsilon)
        inner = functional.gelu(_dense(x, w, p + "intermediate.dense."))
        x = _norm(x + _dense(inner, w, p + "output.dense."), w, p + "output.LayerNorm.", epsilon)
        layer += 1
    states = x.view(pairs, tokens, size)
    seen = mask.unsqueeze(-1)
    mean = (states * seen.to(dtype)).sum(1, dtype=torch.float32) / seen.sum(1)
    both = torch.cat([states[:, 0].float(), mean], 1)
    return functional.linear(both, w["head.weight"].float(), w["head.bias"].float())


class _Dense(torch.autograd.Function):
    """``x @ weight.T + bias``. On the way back the gradients of the outputs are laid out anew, which makes the product
    of bfloat16 two to four times as fast on a CPU.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        ctx.save_for_backward(x, weight)
        return functional.linear(x[None], weight, bias)[0]  # of a batch, product and bias are one step

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        x, weight = ctx.saved_tensors
        (grad,) = grads
        needs = ctx.needs_input_grad
        return (
            grad @ weight if needs[0] else None,
            grad.t().contiguous() @ x if needs[1] else None,
            grad.sum(0) if needs[2] else None,
        )


def _dense(x: Tensor, w: Weights, name: str) -> Tensor:
    return _Dense.apply(x, w[name + "weight"], w[name + "bias"])


def _norm(x: Tensor, w: Weights, name: str, epsilon: float) -> Tensor:
    return functional.layer_norm(x, x.shape[-1:], w[name + "weight"], w[name + "bias"], epsilon)


def buckets(tokens: int, device: torch.device | str = "cpu") -> Tensor:
    """(tokens, tokens): which of `BUCKETS` biases stands for the distance from a token to another.

    Half of them are for what comes later in the row. Of each half, half are one distance each, and the others grow up
    to `FURTHEST`.
    """
    at = torch.arange(tokens, device=device)
    distance = at[None, :] - at[:, None]
    far, half = distance.abs(), BUCKETS // 2
    each = half // 2
    grown = (far.float().clamp(min=1) / each).log() / math.log(FURTHEST / each) * (half - each)
    return torch.where(far < each, far, (each + grown.long()).clamp(max=half - 1)) + half * (distance > 0)
