"""The script that builds the shipped encoder: it refuses other weights, and rebuilds what ships."""

import hashlib

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the build needs the extra [train]")
pytest.importorskip("safetensors", reason="the build needs the extra [train]")

from intrinsics_core.embedded.encoder import SHIPPED
from training.build_encoder import (
    bert,
    checked_weights,
    largest_activations,
    quantise,
    smoothing,
    source_folder,
)


def test_other_weights_are_refused(tmp_path):
    with pytest.raises(SystemExit, match=r"no model\.safetensors"):
        checked_weights(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"something else")
    found = hashlib.sha256(b"something else").hexdigest()
    with pytest.raises(SystemExit, match=f"sha256 {found}, expected 53aa51172d14"):
        checked_weights(tmp_path)


@pytest.mark.parametrize("axis", [0, 1])
def test_one_scale_per_slice(axis):
    weight = np.random.default_rng(0).normal(size=(20, 30)) * np.logspace(-3, 1, 30)
    values, scale = quantise(weight, axis=axis)
    assert values.dtype == np.int8
    assert np.abs(values).max() == 127
    assert (np.abs(values * scale - weight) <= scale * 0.5001).all()
    assert scale.size == weight.shape[1 - axis]


def test_smoothing_changes_no_product():
    draw = np.random.default_rng(1)
    x, weight = draw.normal(size=(5, 8)), draw.normal(size=(8, 3))
    x[:, 2] *= 50  # an outlying channel
    scale = smoothing(np.abs(x).max(0), weight)
    np.testing.assert_allclose((x / scale) @ (weight * scale[:, None]), x @ weight, rtol=1e-6)
    spread = np.abs(x / scale).max(0)
    assert spread.max() / spread.min() < np.abs(x).max() / np.abs(x).max(0).min() / 5


def test_a_silent_channel_is_safe():
    assert np.isfinite(smoothing(np.zeros(4), np.zeros((4, 2)))).all()
    values, scale = quantise(np.zeros((4, 2)), axis=0)
    assert not values.any()
    assert (scale > 0).all()


def test_rebuilds_what_ships():
    try:
        source = source_folder()
    except SystemExit as missing:
        pytest.skip(str(missing))
    import onnx
    from onnx import numpy_helper

    weights = checked_weights(source)
    _, built = bert(weights, largest_activations(weights, source / "tokenizer.json"))
    shipped = onnx.load(SHIPPED / "model.onnx")
    assert [n.op_type for n in built.graph.node] == [n.op_type for n in shipped.graph.node]
    mine = {i.name: numpy_helper.to_array(i) for i in built.graph.initializer}
    theirs = {i.name: numpy_helper.to_array(i) for i in shipped.graph.initializer}
    assert mine.keys() == theirs.keys()
    for name, value in mine.items():
        # Activations are measured on this machine, so the last bit of a scale may differ, and a weight by one step.
        step = 1 if value.dtype == np.int8 else 1e-4 * np.abs(theirs[name]).max()
        assert np.abs(value.astype(np.float64) - theirs[name]).max() <= step, name
    assert (SHIPPED / "tokenizer.json").read_bytes() == (source / "tokenizer.json").read_bytes()
