"""Models as files of whole graphs: ONNX by onnxruntime, ONNX or OpenVINO's own format by OpenVINO. No torch."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from intrinsics_core.encoders.backends import Arrays, Backend, Torch
from intrinsics_core.protocol.errors import RuntimeUnavailable

_INPUTS = {"input_ids", "attention_mask", "token_type_ids", "decoder_input_ids"}


class Graph(Backend):
    """A file of a graph, found by its name.

    Raises:
        RuntimeUnavailable: there is no such file, it cannot be loaded, or it takes inputs that such a model has not.
    """

    kind: str
    usual: tuple[str, ...]  # what exporters call such files
    under: str  # the folder that they put them in

    def _open(self, folder: Path, file_name: str | None, device: str | None) -> None:
        names = self._names(file_name)
        file = next((folder / name for name in names if (folder / name).is_file()), None)
        if file is None:
            why = f"the model in {folder.name!r} has no {self.kind} file"
            raise RuntimeUnavailable(why, expected=" or ".join(names))
        try:
            self._takes = self._load(file, device)
        except RuntimeUnavailable:
            raise
        except Exception as error:  # the libraries' errors have no common base
            raise RuntimeUnavailable(f"{file.name!r} cannot be loaded ({error})") from error
        if unknown := self._takes - _INPUTS:
            why, expected = f"{file.name!r} takes inputs that are not known", f"some of {', '.join(sorted(_INPUTS))}"
            raise RuntimeUnavailable(why, expected=expected, got=", ".join(sorted(unknown)))

    @classmethod
    def _names(cls, file_name: str | None) -> tuple[str, ...]:
        return (file_name, f"{cls.under}/{file_name}") if file_name else cls.usual

    @abstractmethod
    def _load(self, file: Path, device: str | None) -> set[str]:
        """Load the file; the names of its inputs."""


class Onnx(Graph):
    """An ONNX file, on the CPU or the GPU that onnxruntime was built for."""

    kind, under = "ONNX", "onnx"
    usual = ("onnx/model.onnx", "model.onnx")

    @staticmethod
    def files(file_name: str | None) -> Sequence[str]:
        return [each for name in Onnx._names(file_name) for each in (name, f"{name}_data")]

    def _load(self, file: Path, device: str | None) -> set[str]:
        import onnxruntime

        on_gpu = device is not None and device.startswith("cuda")
        self._session = onnxruntime.InferenceSession(
            str(file),
            providers=["CUDAExecutionProvider", "CPUExecutionProvider"] if on_gpu else ["CPUExecutionProvider"],
        )
        return {each.name for each in self._session.get_inputs()}

    def _forward(self, given: Arrays) -> Any:
        return self._session.run(None, {name: given[name] for name in self._takes})[0]


class OpenVino(Graph):
    """A file in OpenVINO's format or in ONNX, on one of OpenVINO's devices (``"cpu"``, ``"gpu"``, ``"npu"``)."""

    kind, under = "OpenVINO or ONNX", "openvino"
    usual = ("openvino/openvino_model.xml", "openvino_model.xml", *Onnx.usual)

    @classmethod
    def _names(cls, file_name: str | None) -> tuple[str, ...]:
        return (*super()._names(file_name), f"onnx/{file_name}") if file_name else cls.usual

    @staticmethod
    def files(file_name: str | None) -> Sequence[str]:
        # The numbers of an .xml lie in a .bin beside it, as they are: no pickle.
        names = OpenVino._names(file_name)
        return [each for name in names for each in (name, f"{name}_data", f"{name.removesuffix('.xml')}.bin")]

    def _load(self, file: Path, device: str | None) -> set[str]:
        try:
            import openvino
        except ImportError as error:
            raise RuntimeUnavailable("encoders on OpenVINO need openvino", expected="pip install openvino") from error
        core = openvino.Core()
        # Without the hint some processors count in bfloat16, and scores tie.
        model = core.compile_model(str(file), (device or "cpu").upper(), {"INFERENCE_PRECISION_HINT": "f32"})
        self._request, self._output = model.create_infer_request(), model.output(0)
        return {port.get_any_name() for port in model.inputs}

    def _forward(self, given: Arrays) -> Any:
        return self._request.infer({name: given[name] for name in self._takes})[self._output]


BACKENDS: Mapping[str, type[Backend]] = {"torch": Torch, "onnx": Onnx, "openvino": OpenVino}
