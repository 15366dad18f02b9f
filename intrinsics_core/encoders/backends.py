"""The weights at work: arrays in, logits out. Here torch by way of transformers; files of whole graphs in graphs.py."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from intrinsics_core.encoders.conventions import CAUSAL, Convention
from intrinsics_core.protocol.errors import RuntimeUnavailable
from intrinsics_core.runtimes.extras import extra

_SHELL = "T5ForTokenClassification"  # what a checkpoint of foreign code is loaded into
_PREFIX = "t5."  # of its weights' names

Arrays = dict[str, np.ndarray]


class Backend(ABC):
    """A model of a known convention.

    Args:
        convention: its row, ``columns`` filled in where it has ``words``.
        config: the model's.
        folder: where its files are.
        file_name: the one to read, where there are several kinds; None: as they are usually called.
        device: as in :class:`EncodersRuntime`.
    """

    def __init__(
        self, convention: Convention, config: Mapping[str, Any], folder: Path, file_name: str | None, device: str | None
    ) -> None:
        self.convention = convention
        self._types = int(config.get("type_vocab_size") or 0)  # below two, the model knows no second text
        self._open(folder, file_name, device)

    @abstractmethod
    def _open(self, folder: Path, file_name: str | None, device: str | None) -> None:
        """Load the model."""

    @staticmethod
    @abstractmethod
    def files(file_name: str | None) -> Sequence[str]:
        """Patterns of the files that hold the weights."""

    def logits(self, ids: np.ndarray, mask: np.ndarray, types: np.ndarray) -> np.ndarray:
        """float64: (rows, labels), or (rows, positions, labels) of a token classifier."""
        if self.convention.at == "last":
            ids, mask = _to_the_right(ids, mask)
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types if self._types > 1 else types * 0,
                 "decoder_input_ids": np.zeros((len(ids), 1), np.int64)}  # fmt: skip
        found = np.asarray(self._forward(given), np.float64)
        if self.convention.at == "first":
            found = found[:, 0]
        if self.convention.at == "last":
            found = found[:, -1]
        return found if self.convention.columns is None else found[..., list(self.convention.columns)]

    @abstractmethod
    def _forward(self, given: Arrays) -> Any:
        """The model's first output, from those of the arrays that it takes."""


def _to_the_right(ids: np.ndarray, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows that end together: what a causal model says next is then at the last position of each."""
    turned, seen = ids.copy(), np.zeros_like(mask)
    for row, length in enumerate(mask.sum(1)):
        turned[row] = np.roll(ids[row], -length)
        seen[row, len(seen[row]) - length :] = 1
    return turned, seen


class Torch(Backend):
    """Weights in safetensors only; no code of the repository is run.

    Raises:
        RuntimeUnavailable: torch or the weights are missing, or the weights do not fit.
    """

    def _open(self, folder: Path, file_name: str | None, device: str | None) -> None:
        with extra("encoders", "encoders on torch need {error.name}"):
            import torch
            import transformers
        if not any(folder.glob("*.safetensors")):
            raise RuntimeUnavailable(
                f"the model in {folder.name!r} has no weights in safetensors", expected="*.safetensors"
            )
        try:
            if self.convention.loads == _SHELL:
                model, missing = _shelled(folder, transformers)
            else:
                loader = getattr(transformers, self.convention.loads)
                model, loaded = loader.from_pretrained(
                    str(folder), local_files_only=True, trust_remote_code=False, use_safetensors=True,
                    dtype=torch.float32, output_loading_info=True,
                )  # fmt: skip
                missing = sorted(loaded["missing_keys"])
        except Exception as error:  # whatever transformers makes of a broken folder
            raise RuntimeUnavailable(f"the model in {folder.name!r} cannot be loaded ({error})") from error
        if missing:  # they would be random numbers, and so would every verdict
            raise RuntimeUnavailable(f"the model in {folder.name!r} lacks weights", got=", ".join(missing[:5]))
        self._torch, self._device = torch, device or ("cuda" if torch.cuda.is_available() else "cpu")
        self._model = model.eval().to(self._device)
        self._takes = set(inspect.signature(self._model.forward).parameters)

    @staticmethod
    def files(file_name: str | None) -> Sequence[str]:
        return ("*.safetensors",)

    def _forward(self, given: Arrays) -> Any:
        takes = {name for name in given if name in self._takes}
        if self.convention.loads != "AutoModelForSeq2SeqLM":
            takes -= {"decoder_input_ids"}
        with self._torch.inference_mode():
            tensors = {name: self._torch.from_numpy(given[name]).to(self._device) for name in takes}
            if self.convention.loads == CAUSAL:
                tensors["logits_to_keep"] = 1  # a whole vocabulary at each position would be gigabytes
            return self._model(**tensors).logits.float().cpu().numpy()


def _shelled(folder: Path, transformers: Any) -> tuple[Any, list[str]]:
    """HHEM-2.1-open, whose own code does not run on transformers 5, as the T5 that it is; the shapes tell which."""
    from safetensors.torch import load_file

    weights = {
        name.removeprefix(_PREFIX): tensor
        for file in sorted(folder.glob("*.safetensors"))
        for name, tensor in load_file(str(file)).items()
    }
    attention = "transformer.encoder.block.0.layer.0.SelfAttention"
    dense = "transformer.encoder.block.0.layer.1.DenseReluDense"
    bias, gated = weights[f"{attention}.relative_attention_bias.weight"], f"{dense}.wi_0.weight" in weights
    vocabulary, width = weights["transformer.shared.weight"].shape
    config = transformers.T5Config(
        vocab_size=vocabulary,
        d_model=width,
        num_heads=bias.shape[1],
        d_kv=weights[f"{attention}.q.weight"].shape[0] // bias.shape[1],
        d_ff=weights[f"{dense}.wi_0.weight" if gated else f"{dense}.wi.weight"].shape[0],
        num_layers=1
        + max(int(name.split(".")[3]) for name in weights if name.startswith("transformer.encoder.block.")),
        relative_attention_num_buckets=bias.shape[0],
        feed_forward_proj="gated-gelu" if gated else "relu",
        num_labels=weights["classifier.weight"].shape[0],
    )
    model = transformers.T5ForTokenClassification(config)
    loaded = model.load_state_dict(weights, strict=False)
    tied = {"transformer.encoder.embed_tokens.weight"}
    return model.float(), sorted(set(loaded.missing_keys) - tied)
