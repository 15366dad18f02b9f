"""The shipped models give the same sums on every processor.

On x86 without VNNI, onnxruntime multiplies activations of 0 to 255 by int8 weights and adds the products in pairs, in
16 bits that do not wrap but stop at the largest number. The weights are such that no pair reaches it. That is read here
from the files themselves, with a few lines for protobuf in place of the package `onnx`, and tried on this machine.
"""

from collections import defaultdict

import numpy as np
import pytest

from intrinsics_core.embedded.models.bi_encoder import SHIPPED

MODELS = (SHIPPED, SHIPPED.parent / "reader")
LARGEST_PAIR = 2**15 - 1
LARGEST_ACTIVATION = 255
TYPES = {2: np.uint8, 3: np.int8}  # of TensorProto.DataType, those of eight bits


def number(data, at):
    """A varint and where it ends."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(data):
    """The fields of a protobuf message: numbers, and bytes of what is longer."""
    found, at = defaultdict(list), 0
    while at < len(data):
        tag, at = number(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = number(data, at)
        else:
            size, at = number(data, at) if kind == 2 else ({1: 8, 5: 4}[kind], at)
            value, at = data[at : at + size], at + size
        found[tag >> 3].append(value)
    return found


def parts(model):
    """Nodes as (operation, names of inputs), and the tensors of eight bits by their names."""
    (graph,) = fields(memoryview(model))[7]
    graph = fields(graph)
    nodes, tensors = [], {}
    for node in map(fields, graph[1]):
        nodes.append((bytes(node[4][0]).decode(), [bytes(name).decode() for name in node[1]]))
    for tensor in map(fields, graph[5]):
        if (kind := tensor[2][0]) in TYPES:
            assert tensor[9], "not raw bytes"
            tensors[bytes(tensor[8][0]).decode()] = np.frombuffer(tensor[9][0], TYPES[kind])
    return nodes, tensors


@pytest.mark.parametrize("folder", MODELS, ids=lambda folder: folder.name)
def test_no_pair_of_products_leaves_16_bits(folder):
    nodes, tensors = parts((folder / "model.onnx").read_bytes())
    multiplied = 0
    for operation, inputs in nodes:
        for place, name in enumerate(inputs):
            if name not in tensors or operation == "Gather":  # rows that are looked up are not multiplied in integers
                continue
            assert operation == "DynamicQuantizeMatMul", f"{operation} of {name}: is it multiplied in integers?"
            if place == 1:
                largest = np.abs(tensors[name].astype(int)).max()
                assert tensors[name].dtype == np.int8
                assert 2 * LARGEST_ACTIVATION * largest <= LARGEST_PAIR, name
                multiplied += 1
            else:
                assert not tensors[name].any(), f"{name}: a zero point would be added to the weights"
    assert multiplied == 4 * 6  # of each layer: queries, keys and values; attention; up; down


def test_the_largest_weights_that_ship_are_multiplied_exactly():
    onnxruntime = pytest.importorskip("onnxruntime")
    onnx = pytest.importorskip("onnx", reason="onnx writes the model of one product")
    from onnx import helper, numpy_helper

    _, tensors = parts((SHIPPED / "model.onnx").read_bytes())
    largest = max(np.abs(value.astype(int)).max() for name, value in tensors.items() if name.startswith("layer"))
    weights = np.full((64, 16), largest, np.int8)
    graph = helper.make_graph(
        [helper.make_node("MatMulInteger", ["x", "weights"], ["sums"])],
        "product",
        [helper.make_tensor_value_info("x", onnx.TensorProto.UINT8, [1, 64])],
        [helper.make_tensor_value_info("sums", onnx.TensorProto.INT32, [1, 16])],
        [numpy_helper.from_array(weights, "weights")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    (sums,) = session.run(None, {"x": np.full((1, 64), LARGEST_ACTIVATION, np.uint8)})
    assert (sums == 64 * LARGEST_ACTIVATION * largest).all()
