"""The teacher in torch: all-mpnet-base-v2's twelve layers of 768 over two texts at once, under the reader's heads.

Its words are those of our tokenizer in another order, so rows of token ids are the same for both. It knows no token
types; the first trained layer adds a vector a type, which begins as zeros.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from safetensors.torch import load_file
from torch import Tensor, nn

from training.reader import model
from training.reader.layers import BUCKETS, cast, forward
from training.reader.limits import CLS, PAD, SEP

SHA256 = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"
HIDDEN, LAYERS, HEADS = 768, 12, 12
FROZEN = 4  # lowest layers that are not trained
SHIFT = 4  # what stands before our tokenizer's words in upstream's: <s>, <pad>, </s>, <unk>
SPECIAL = {CLS: 0, PAD: 1, SEP: 2}
BEFORE = 2  # position embeddings that no token has

NAMES = {
    "attention.attn.q": "attention.self.query",
    "attention.attn.k": "attention.self.key",
    "attention.attn.v": "attention.self.value",
    "attention.attn.o": "attention.output.dense",
    "attention.LayerNorm": "attention.output.LayerNorm",
    "intermediate.dense": "intermediate.dense",
    "output.dense": "output.dense",
    "output.LayerNorm": "output.LayerNorm",
}
"""A layer's parts by upstream's names and by BERT's."""


class Mpnet(model.CrossEncoder):
    """Token ids of pairs to logits (pairs, tasks), with a bias of attention by distance."""

    def __init__(self) -> None:
        super().__init__(LAYERS, FROZEN, HIDDEN)
        self.distances = nn.Embedding(BUCKETS, HEADS).requires_grad_(False)
        types = nn.Embedding(2, HIDDEN)
        self.bert.encoder.layer[FROZEN].types = types
        for weight in (types.weight, self.bert.embeddings.token_type_embeddings.weight):
            nn.init.zeros_(weight)

    def take(self, weights: Mapping[str, Tensor]) -> None:
        """Load weights by their names in a checkpoint; what they lack stays as it is."""
        self.load_state_dict(self.state_dict() | dict(weights))

    def forward(self, ids: Tensor, types: Tensor, mask: Tensor) -> Tensor:
        return forward(cast(self), ids, types, mask)


def upstream(source: Path) -> dict[str, Tensor]:
    """Upstream's weights by the names of `Mpnet`, its words in our tokenizer's order. Refuses any other file."""
    file = source / "model.safetensors"
    found = hashlib.sha256(file.read_bytes()).hexdigest()
    if found != SHA256:
        raise SystemExit(f"{file} is not upstream's all-mpnet-base-v2: sha256 {found}, expected {SHA256}")
    return renamed(load_file(str(file)))


def renamed(given: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Weights of transformers' `MPNetModel` by the names of `Mpnet`."""
    words, e = given["embeddings.word_embeddings.weight"], "bert.embeddings."
    ordered = words[SHIFT:-1].clone()
    for row, special in SPECIAL.items():
        ordered[row] = words[special]
    weights = {
        e + "word_embeddings.weight": ordered,
        e + "position_embeddings.weight": given["embeddings.position_embeddings.weight"][BEFORE:],
        e + "LayerNorm.weight": given["embeddings.LayerNorm.weight"],
        e + "LayerNorm.bias": given["embeddings.LayerNorm.bias"],
        "distances.weight": given["encoder.relative_attention_bias.weight"],
    }
    for layer in range(LAYERS):
        p = f"encoder.layer.{layer}."
        for theirs, ours in NAMES.items():
            for kind in ("weight", "bias"):
                weights[f"bert.{p}{ours}.{kind}"] = given[f"{p}{theirs}.{kind}"]
    return weights


def load(checkpoint: Path) -> model.CrossEncoder:
    """The model of a checkpoint: this one, or the reader's."""
    weights = load_file(str(checkpoint / "model.safetensors"))
    if "distances.weight" not in weights:
        return model.load(checkpoint)
    found = Mpnet()
    found.resume(weights)
    found.eval()
    return found
