"""The weights at work: torch by way of transformers, or an ONNX file by onnxruntime. Arrays in, logits out."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from intrinsics_core.errors import RuntimeUnavailable
from intrinsics_core.runtimes.encoders.conventions import Convention

WEIGHTS = ("*.safetensors",)
ONNX_FILES = ("onnx/model.onnx", "model.onnx")
_SHELL = "T5ForTokenClassification"  # what a checkpoint of foreign code is loaded into
_PREFIX = "t5."  # of its weights' names

Arrays = dict[str, np.ndarray]


class Backend(ABC):
    """A model of a known convention."""

    def __init__(self, convention: Convention, config: Mapping[str, Any]) -> None:
        self.convention = convention
        self._types = int(config.get("type_vocab_size") or 0)  # below two, the model knows no second text

    def logits(self, ids: np.ndarray, mask: np.ndarray, types: np.ndarray) -> np.ndarray:
        """float64: (rows, labels), or (rows, positions, labels) of a token classifier."""
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types if self._types > 1 else types * 0,
                 "decoder_input_ids": np.zeros((len(ids), 1), np.int64)}  # fmt: skip
        found = np.asarray(self._forward(given), np.float64)
        if self.convention.at == "first":
            found = found[:, 0]
        return found if self.convention.columns is None else found[..., list(self.convention.columns)]

    @abstractmethod
    def _forward(self, given: Arrays) -> Any:
        """The model's first output, from those of the arrays that it takes."""


class Torch(Backend):
    """Weights in safetensors only; no code of the repository is run.

    Raises:
        RuntimeUnavailable: torch or the weights are missing, or the weights do not fit.
    """

    def __init__(self, convention: Convention, config: Mapping[str, Any], folder: Path, device: str | None) -> None:
        super().__init__(convention, config)
        try:
            import torch
            import transformers
        except ImportError as error:
            needed = f"encoders on torch need {error.name}"
            raise RuntimeUnavailable(needed, expected="pip install 'rag-intrinsics[encoders]'") from error
        if not any(folder.glob("*.safetensors")):
            raise RuntimeUnavailable(
                f"the model in {folder.name!r} has no weights in safetensors", expected="*.safetensors"
            )
        try:
            if convention.loads == _SHELL:
                model, missing = _shelled(folder, transformers)
            else:
                loader = getattr(transformers, convention.loads)
                model, told = loader.from_pretrained(
                    str(folder), local_files_only=True, trust_remote_code=False, use_safetensors=True,
                    dtype=torch.float32, output_loading_info=True,
                )  # fmt: skip
                missing = sorted(told["missing_keys"])
        except Exception as error:  # whatever transformers makes of a broken folder
            raise RuntimeUnavailable(f"the model in {folder.name!r} cannot be loaded ({error})") from error
        if missing:  # they would be random numbers, and so would every verdict
            raise RuntimeUnavailable(f"the model in {folder.name!r} lacks weights", got=", ".join(missing[:5]))
        self._torch, self._device = torch, device or ("cuda" if torch.cuda.is_available() else "cpu")
        self._model = model.eval().to(self._device)
        self._takes = set(inspect.signature(self._model.forward).parameters)

    def _forward(self, given: Arrays) -> Any:
        takes = {name for name in given if name in self._takes}
        if self.convention.loads != "AutoModelForSeq2SeqLM":
            takes -= {"decoder_input_ids"}
        with self._torch.inference_mode():
            tensors = {name: self._torch.from_numpy(given[name]).to(self._device) for name in takes}
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
    told = model.load_state_dict(weights, strict=False)
    tied = {"transformer.encoder.embed_tokens.weight"}
    return model.float(), sorted(set(told.missing_keys) - tied)


class Onnx(Backend):
    """An ONNX file, on the CPU or the GPU that onnxruntime was built for; no torch.

    Raises:
        RuntimeUnavailable: there is no such file, or it takes inputs that such a model has not.
    """

    def __init__(
        self, convention: Convention, config: Mapping[str, Any], folder: Path, file_name: str | None, device: str | None
    ) -> None:
        super().__init__(convention, config)
        import onnxruntime

        names = (file_name, f"onnx/{file_name}") if file_name else ONNX_FILES
        file = next((folder / name for name in names if name and (folder / name).is_file()), None)
        if file is None:
            raise RuntimeUnavailable(
                f"the model in {folder.name!r} has no ONNX file", expected=" or ".join(map(str, names))
            )
        on_gpu = device is not None and device.startswith("cuda")
        try:
            self._session = onnxruntime.InferenceSession(
                str(file),
                providers=["CUDAExecutionProvider", "CPUExecutionProvider"] if on_gpu else ["CPUExecutionProvider"],
            )
        except Exception as error:  # onnxruntime's errors have no common base
            raise RuntimeUnavailable(f"{file.name!r} cannot be loaded ({error})") from error
        self._takes = {each.name for each in self._session.get_inputs()}
        known = {"input_ids", "attention_mask", "token_type_ids", "decoder_input_ids"}
        if unknown := self._takes - known:
            why, expected = f"{file.name!r} takes inputs that are not known", f"some of {', '.join(sorted(known))}"
            raise RuntimeUnavailable(why, expected=expected, got=", ".join(sorted(unknown)))

    def _forward(self, given: Arrays) -> Any:
        return self._session.run(None, {name: given[name] for name in self._takes})[0]
