"""Write a checkpoint as what ships: one ONNX graph with int8 weights per channel, the tokenizer, and `reader.json`.

    python -m training.reader.export CHECKPOINT --out DIR [--scores FILE] [--with OTHER --share .35]

The graph is `training.build_encoder`'s, with token types and the heads added and no pooling. It has no attention mask:
one window is read a run, so nothing is padded and a logit never depends on what else is in the call. The int8 graph is
compared with the float one on `CALIBRATION` before it is kept.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from training.build_encoder import LAYERS, SHA256, Array, Graph, largest_inputs, layer, layers_of
from training.reader.limits import MAX_QUERY, MAX_TOKENS, TOKENIZER, WINDOWS, assembled
from training.reader.pairs import TASKS

REQUEST_TASKS = {"support": "entailment", "answers": "answers", "meant": "meant"}
"""What `requests.Score` calls the tasks: the first ones of `TASKS`, and the only ones that ship."""

CALIBRATION: tuple[tuple[str, str], ...] = (
    ("The museum opens at nine and closes at five, except on Mondays.", "Is it open on Mondays? No."),
    ("She sold her shares at $14.20 each and paid 15% tax on the gain.", "She paid tax of 15 percent on her gain."),
    ("The treaty was signed in March 1848 after two years of talks.", "The treaty was signed in 1484."),
    ("Photosynthesis turns light into chemical energy, which plants store as sugars.", "what do plants store"),
    (
        "Mutations in this gene increase the risk of breast cancer in women under 50 (odds ratio 2.3, 95% CI 1.4-3.8). "
        "No such link was found in older women.",
        "Does the mutation matter for older women?",
    ),
    (
        "To reset your password, open Settings > Account, choose 'Forgot password' and follow the link in the e-mail. "
        "The link is valid for 30 minutes.",
        "According to the text, the link stays valid for half an hour.",
    ),
    ("Who wrote Emma? / Jane Austen wrote it in 1815. / When did she die?", "When did Jane Austen die?"),
    (
        "In goal for United was Andersson, who had joined from Malmö on a free transfer; he saved two penalties. The "
        "match ended two all, and both teams stayed in the upper half of the table, four points behind the leaders.",
        "How many penalties were saved by the goalkeeper of United?",
    ),
    ("kubectl apply -f deployment.yaml returns an error: the server could not find the resource", "It succeeds."),
    ("The tenant must give three months' notice in writing.", "Notice of one month by phone is enough."),
    (
        "The court held that the statute did not apply retroactively, reversing the judgment of the lower court, and "
        "sent the case back for a new trial on damages; one judge dissented.",
        "The judges agreed that the statute applied to earlier cases.",
    ),
    ("no", "Yes"),
    (
        "Table 3: annual rainfall (mm) | north 812 | south 455 | coast 1,204 |",
        "The north has more rain than the south.",
    ),
)
"""Pairs that activations are measured on and the int8 graph is compared with the float one: written for this."""

NOTICE = """\
reader, int8

model.onnx and tokenizer.json derive from sentence-transformers/all-MiniLM-L6-v2
(https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2), 22M parameters, licensed under the Apache License,
Version 2.0 (https://www.apache.org/licenses/LICENSE-2.0). Copyright the sentence-transformers authors; base model
nreimers/MiniLM-L6-H384-uncased, after microsoft/MiniLM-L12-H384-uncased (MIT).

Changes: fine-tuned on the sets that reader.json names, converted to ONNX, weights quantised to int8.
Source weights: model.safetensors, sha256 {sha}.
Built by training/reader.
"""


def reader_graph(weights: Mapping[str, Array], activations: Mapping[str, Array] | None = None) -> tuple[Graph, Any]:
    """The reader as an ONNX model: `input_ids`, `token_type_ids` (batch, tokens) to `logits` (batch, tasks).

    Args:
        weights: tensors by the names of a checkpoint's `model.safetensors`.
        activations: of `build_encoder.largest_inputs`, for an int8 model; None: a float one.
    """
    bert = {name.removeprefix("bert."): value for name, value in weights.items()}
    g = Graph(activations)
    words = g.embedding("input_ids", "words", bert["embeddings.word_embeddings.weight"])
    length = g.op("Shape", ["input_ids"], "length", start=1, end=2)
    begin = g.constant("begin", np.array([0], np.int64))
    positions = g.constant("positions", bert["embeddings.position_embeddings.weight"])
    place = g.op("Slice", [positions, begin, length], "place")
    types = g.constant("types", bert["embeddings.token_type_embeddings.weight"])
    side = g.op("Gather", [types, "token_type_ids"], "side")
    x = g.norm(g.op("Sum", [words, place, side], "embedded"), "embedded.norm", bert, "embeddings.LayerNorm")
    for i in range(LAYERS):
        x = layer(g, x, "", f"layer{i}", bert, f"encoder.layer.{i}.")
    one = g.constant("one", np.array([1], np.int64))
    first = g.op("Squeeze", [g.op("Gather", [x, begin], "first.row", axis=1), one], "first")
    mean = g.op("ReduceMean", [x, one], "mean", keepdims=0)
    both = g.op("Concat", [first, mean], "both", axis=1)
    heads = len(REQUEST_TASKS)
    product = g.op("MatMul", [both, g.constant("head.weight", weights["head.weight"][:heads].T)], "head.product")
    g.op("Add", [product, g.constant("head.bias", weights["head.bias"][:heads])], "logits")
    return g, g.model("reader", ("input_ids", "token_type_ids"), ("logits", heads))


def fed(tokenizer: Path, pairs: Sequence[tuple[str, str]]) -> list[dict[str, NDArray[np.int64]]]:
    """What the graph is fed for each pair."""
    from tokenizers import Tokenizer

    encode = Tokenizer.from_file(str(tokenizer))
    encode.no_padding()
    encode.no_truncation()
    feeds = []
    for text, query in pairs:
        row, begin = assembled(
            encode.encode(text, add_special_tokens=False).ids, encode.encode(query, add_special_tokens=False).ids
        )
        ids = np.array([row], np.int64)
        types = np.zeros_like(ids)
        types[:, begin:] = 1
        feeds.append({"input_ids": ids, "token_type_ids": types})
    return feeds


def run(model: Any, feeds: Sequence[Mapping[str, Any]]) -> Array:
    """(pairs, tasks) of an ONNX model held in memory."""
    from onnxruntime import InferenceSession

    session = InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return np.concatenate([session.run(["logits"], dict(feed))[0] for feed in feeds])


def build(checkpoint: Path) -> tuple[Any, float]:
    """The int8 model of a checkpoint, and the largest difference of a logit from the float one on `CALIBRATION`."""
    import onnx
    from safetensors.numpy import load_file

    weights = dict(load_file(checkpoint / "model.safetensors"))
    if (found := layers_of(weights)) != LAYERS:
        raise SystemExit(f"{checkpoint} has {found} layers; what ships has {LAYERS}: distil it (--teacher)")
    feeds = fed(TOKENIZER, CALIBRATION)
    graph, plain = reader_graph(weights)
    expected = run(plain, feeds)
    _, model = reader_graph(weights, largest_inputs(graph, plain, feeds))
    onnx.checker.check_model(model)
    return model, float(np.abs(run(model, feeds) - expected).max())


def mean(checkpoint: Path, other: Path, share: float, out: Path) -> Path:
    """A checkpoint whose weights are the mean of two, ``share`` of them ``other``'s (Wortsman et al. 2022).

    A second run forgets a part of what the first one knew; the mean keeps most of both.
    """
    from safetensors.numpy import load_file, save_file

    ours, theirs = load_file(checkpoint / "model.safetensors"), load_file(other / "model.safetensors")
    both = {name: ((1 - share) * value + share * theirs[name]).astype(value.dtype) for name, value in ours.items()}
    state = json.loads((checkpoint / "state.json").read_text("utf-8"))
    state["mean_with"] = {"share": share, "seen": json.loads((other / "state.json").read_text("utf-8"))["seen"]}
    out.mkdir(parents=True, exist_ok=True)
    save_file(both, out / "model.safetensors")
    (out / "state.json").write_text(json.dumps(state, indent=1) + "\n", "utf-8")
    return out


def write(checkpoint: Path, out: Path, scores: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Write the reader folder. Returns what `reader.json` says."""
    import onnx

    model, difference = build(checkpoint)
    state = json.loads((checkpoint / "state.json").read_text("utf-8"))
    out.mkdir(parents=True, exist_ok=True)
    onnx.save(model, out / "model.onnx")
    if out.resolve() != TOKENIZER.parent.resolve():
        shutil.copyfile(TOKENIZER, out / "tokenizer.json")
    (out / "NOTICE").write_text(NOTICE.format(sha=SHA256), "utf-8")
    about = {
        "name": "reader-minilm-l6-int8",
        "licence": "Apache-2.0",
        "parameters": 22_715_523,
        "tasks": {REQUEST_TASKS[task]: i for i, task in enumerate(TASKS) if task in REQUEST_TASKS},
        "max_tokens": MAX_TOKENS,
        "max_query": MAX_QUERY,
        "windows": {REQUEST_TASKS[task]: tokens for task, tokens in WINDOWS.items()},
        "source": "sentence-transformers/all-MiniLM-L6-v2",
        "source_sha256": SHA256,
        "trained_on": state["sets"],
        "pairs": state["seen"] + sum(run["seen"] for run in state.get("before", ())),
        "runs_before": state.get("before", []),
        "mean_with": state.get("mean_with"),
        "shares": state["shares"],
        "settings": state["settings"],
        "int8_largest_difference": round(difference, 3),
        "validation": dict(scores or {}),
        "method": "cross-entropy by task, true forms ranked above their false twins (training/reader)",
    }
    (out / "reader.json").write_text(json.dumps(about, indent=1) + "\n", "utf-8")
    return about


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--scores", type=Path, help="JSON of training.reader.evaluate, kept in reader.json")
    parser.add_argument("--with", dest="other", type=Path, help="checkpoint to take the mean of the weights with")
    parser.add_argument("--share", type=float, default=0.35, help="of the other checkpoint in that mean")
    args = parser.parse_args()
    scores = json.loads(args.scores.read_text("utf-8")) if args.scores else None
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = mean(args.checkpoint, args.other, args.share, Path(folder)) if args.other else args.checkpoint
        about = write(checkpoint, args.out, scores)
    size = sum(file.stat().st_size for file in args.out.iterdir())
    print(f"{args.out}: {size / 1e6:.1f} MB, largest difference of a logit {about['int8_largest_difference']}")


if __name__ == "__main__":
    main()
