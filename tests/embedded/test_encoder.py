"""The sentence encoder: the shipped model, folders of other models, windows, batches, cache."""

import json
import os
import pickle
import threading
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from intrinsics_core.embedded.models.bi_encoder import SHIPPED, BiEncoder, buckets
from intrinsics_core.embedded.models.onnx_model import windows
from intrinsics_core.protocol.errors import InvalidInput, RuntimeUnavailable

TEXTS = [
    "Who wrote Emma?",
    "Emma is a novel by Jane Austen, published in 1815.",
    "The boiling point of water falls with altitude.",
    "",
    " \n\t",
    "🎉🎉 party",
    "猫は窓のそばで眠っている。",
    "a [SEP] b [CLS] \ud800",
    "The lighthouse keeper counted the ships. " * 80,
]


def test_shapes_norms_and_order(encoder):
    vectors = encoder.encode(TEXTS)
    assert [v.dtype for v in vectors] == [np.float32] * len(TEXTS)
    assert all(v.ndim == 2 and v.shape[1] == encoder.dim == 384 for v in vectors)
    for text, v in zip(TEXTS, vectors, strict=True):
        expected = 1.0 if text.strip() else 0.0
        np.testing.assert_allclose(np.linalg.norm(v, axis=1), expected, atol=1e-5)
    assert len(vectors[-1]) > 1
    assert [len(v) for v in vectors[:-1]] == [1] * 8


def test_meaning_beats_surface(encoder):
    query, right, wrong = encoder.encode(
        ["How do I reset a forgotten password?", "Recovering account access when you lose your login", "Apple pie"]
    )
    assert (query @ right.T).item() > (query @ wrong.T).item() + 0.3


def test_a_vector_does_not_depend_on_its_neighbours(encoder):
    with BiEncoder(cache_size=0) as fresh:
        together = fresh.encode(TEXTS)
        for text, expected in zip(TEXTS, together, strict=True):
            np.testing.assert_array_equal(fresh.encode([text])[0], expected)


def test_one_thread_equals_many():
    with BiEncoder(threads=1) as one, BiEncoder(threads=4) as many:
        for a, b in zip(one.encode(TEXTS), many.encode(TEXTS), strict=True):
            np.testing.assert_array_equal(a, b)


def test_padded_batches_stay_close_to_single_texts(encoder):
    with BiEncoder(batch_tokens=4096, cache_size=0) as batched:
        for a, b in zip(batched.encode(TEXTS), encoder.encode(TEXTS), strict=True):
            if a.any():
                # A batch has one range of activations: a short text is rounded in the steps of a long one (.981).
                assert (a * b).sum(axis=1).min() > 0.97


def test_special_tokens_in_a_text_are_text(encoder):
    ids = encoder._loaded().tokenize(["a [SEP] b"])[0]
    separator = encoder._loaded().end[0]
    assert separator not in ids
    assert len(ids) > 3


def test_windows_cover_everything_evenly():
    for length in (1, 7, 8, 9, 15, 16, 100, 1001):
        for size, stride in ((8, 6), (8, 8), (8, 1), (100, 75)):
            parts = windows(range(length), size, stride)
            assert {i for part in parts for i in part} == set(range(length))
            assert max(map(len, parts)) <= size
            assert max(map(len, parts)) == min(map(len, parts))
            steps = [b[0] - a[0] for a, b in pairwise(parts)]
            assert all(0 < step <= stride for step in steps)


def test_buckets_keep_every_text_once_and_the_budget():
    lengths = [5, 300, 12, 12, 0, 7, 80, 80, 3]
    found = list(buckets(lengths, 160))
    assert sorted(i for batch in found for i in batch) == list(range(len(lengths)))
    assert all(len(batch) == 1 or max(lengths[i] for i in batch) * len(batch) <= 160 for batch in found)
    assert [lengths[i] for batch in found for i in batch] == sorted(lengths, reverse=True)
    assert list(buckets([], 160)) == []


def test_a_window_sees_only_its_own_part():
    story = "The harbour was quiet. " * 60 + "Photosynthesis turns light into sugar. " * 60
    with BiEncoder(window=64) as encoder:
        question, parts = encoder.encode(["How do plants make sugar?", story])
        cosines = (parts @ question.T).ravel()
        assert len(parts) > 10
        assert cosines[-1] > 0.4 > 0.2 > cosines[0]


def test_cache_is_bounded_and_keeps_the_recent():
    row = 384 * 4
    with BiEncoder(cache_size=3 * row, threads=1) as encoder:
        first = encoder.encode(["one"])[0]
        assert encoder.encode(["one"])[0] is first
        encoder.encode(["two", "three"])
        encoder.encode(["one"])
        encoder.encode(["four"])  # pushes out "two", the least recently used
        assert encoder._cache.used == 3 * row
        assert encoder.encode(["one"])[0] is first
        encoder.encode(TEXTS * 3)
        assert encoder._cache.used <= 3 * row
        assert len(encoder._cache) <= 3


def test_cached_vectors_cannot_be_spoilt(encoder):
    with pytest.raises(ValueError, match="read-only"):
        encoder.encode(["one"])[0][0, 0] = 1.0


def test_duplicates_are_encoded_once(monkeypatch):
    with BiEncoder(threads=1) as encoder:
        seen = []
        inner = encoder._encode
        monkeypatch.setattr(encoder, "_encode", lambda texts, prompt: seen.extend(texts) or inner(texts, prompt))
        a, b, c = encoder.encode(["x", "y", "x"])
        assert seen == ["x", "y"]
        assert a is c and a is not b


def test_shared_between_threads():
    with BiEncoder(cache_size=20_000) as encoder, BiEncoder() as alone:
        expected = alone.encode(TEXTS)
        wrong = []

        def work():
            for _ in range(5):
                found = encoder.encode(TEXTS)
                wrong.extend(1 for a, b in zip(found, expected, strict=True) if not np.array_equal(a, b))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert not wrong


def test_close_then_use_again_and_pickle():
    encoder = BiEncoder(window=64, threads=1)
    before = encoder.encode(["one"])[0]
    encoder.close()
    encoder.close()
    np.testing.assert_array_equal(encoder.encode(["one"])[0], before)
    copy = pickle.loads(pickle.dumps(encoder))  # noqa: S301 - our own bytes
    assert (copy.window, copy.threads) == (64, 1)
    np.testing.assert_array_equal(copy.encode(["one"])[0], before)


def test_nothing_to_encode(encoder):
    assert encoder.encode([]) == []


@pytest.mark.parametrize("texts", ["a string", [None], ["fine", 3]])
def test_texts_must_be_strings(encoder, texts):
    with pytest.raises(InvalidInput, match=r"^(the texts must be|text . is not) "):
        encoder.encode(texts)


@pytest.mark.parametrize("bad", [{"window": 2}, {"stride": 0}, {"threads": 0}, {"cache_size": -1}, {"batch_tokens": 0}])
def test_arguments_out_of_range(bad):
    with pytest.raises(InvalidInput, match=next(iter(bad))):
        BiEncoder(**bad)


def test_unknown_kind(encoder):
    with pytest.raises(InvalidInput, match="kind of text"):
        encoder.encode(["x"], kind="document")


# Folders of other models. The model is tiny and its vectors can be worked out by hand:
# state of token t = table[t] + sum of table over the tokens that the mask lets through.

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "red", "green", "blue", "query", ":"]
TABLE = np.random.default_rng(7).normal(size=(len(WORDS), 5)).astype(np.float32)


def write_model(folder: Path, model: str = "onnx/model.onnx", *, types: bool = True) -> Path:
    onnx = pytest.importorskip("onnx", reason="onnx writes the tiny model")
    from onnx import helper as h
    from onnx import numpy_helper
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    names = ["input_ids", "attention_mask", *(["token_type_ids"] if types else [])]
    nodes = [
        h.make_node("Gather", ["table", "input_ids"], ["rows"]),
        h.make_node("Cast", ["attention_mask"], ["mask"], to=1),
        h.make_node("Unsqueeze", ["mask", "two"], ["mask3"]),
        h.make_node("Mul", ["rows", "mask3"], ["kept"]),
        h.make_node("ReduceSum", ["kept", "one"], ["total"], keepdims=1),
        h.make_node("Add", ["rows", "total"], ["last_hidden_state"]),
    ]
    graph = h.make_graph(
        nodes,
        "tiny",
        [h.make_tensor_value_info(n, 7, ["batch", "tokens"]) for n in names],
        [h.make_tensor_value_info("last_hidden_state", 1, ["batch", "tokens", 5])],
        [
            numpy_helper.from_array(TABLE, "table"),
            numpy_helper.from_array(np.array([1]), "one"),
            numpy_helper.from_array(np.array([2]), "two"),
        ],
    )
    file = folder / model
    file.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8), file)
    tokenizer = Tokenizer(models.WordLevel({w: i for i, w in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def write_json(file: Path, value: object) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(value), "utf-8")


def expected(words: str, pooling: str) -> np.ndarray:
    rows = TABLE[[WORDS.index(w) for w in ["[CLS]", *words.split(), "[SEP]"]]]
    states = rows + rows.sum(0)
    vector = states[0] if pooling == "cls" else states.mean(0)
    return vector / np.linalg.norm(vector)


@pytest.mark.parametrize("model", ["onnx/model.onnx", "model.onnx", "onnx/model_quantized.onnx"])
@pytest.mark.parametrize("types", [True, False])
def test_any_folder_in_sentence_transformers_layout(tmp_path, model, types):
    with BiEncoder(write_model(tmp_path, model, types=types)) as encoder:
        found = encoder.encode(["red green blue", "red"])  # one padded batch
        np.testing.assert_allclose(found[0][0], expected("red green blue", "mean"), atol=1e-6)
        np.testing.assert_allclose(found[1][0], expected("red", "mean"), atol=1e-6)


@pytest.mark.parametrize(
    "config", [{"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, {"pooling_mode": "cls"}]
)
def test_cls_pooling(tmp_path, config):
    write_json(write_model(tmp_path) / "1_Pooling" / "config.json", config)
    with BiEncoder(tmp_path) as encoder:
        for words, found in zip(["red blue", "green"], encoder.encode(["red blue", "green"]), strict=True):
            np.testing.assert_allclose(found[0], expected(words, "cls"), atol=1e-6)


def test_prompts_and_longest_input(tmp_path):
    write_model(tmp_path)
    write_json(tmp_path / "config_sentence_transformers.json", {"prompts": {"query": "query : ", "document": ""}})
    write_json(tmp_path / "sentence_bert_config.json", {"max_seq_length": 8})
    with BiEncoder(tmp_path) as encoder:
        assert encoder.window == 8
        np.testing.assert_allclose(
            encoder.encode(["red"], kind="query")[0][0], expected("query : red", "mean"), atol=1e-6
        )
        np.testing.assert_allclose(encoder.encode(["red"])[0][0], expected("red", "mean"), atol=1e-6)
        windowed = encoder.encode(["red green blue red green blue red"], kind="query")[0]
        np.testing.assert_allclose(windowed[0], expected("query : red green blue red", "mean"), atol=1e-6)
        np.testing.assert_allclose(windowed[-1], expected("query : red green blue red", "mean"), atol=1e-6)
        assert len(windowed) == 2


def test_missing_files_are_named(tmp_path):
    with pytest.raises(InvalidInput, match=r"no encoder folder at .*nowhere"):
        BiEncoder(tmp_path / "nowhere")
    with pytest.raises(InvalidInput, match="no ONNX model"):
        BiEncoder(tmp_path)
    (tmp_path / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(InvalidInput, match=r"no tokenizer\.json"):
        BiEncoder(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{}", "utf-8")
    with pytest.raises(RuntimeUnavailable, match="cannot load the encoder"):
        BiEncoder(tmp_path).encode(["x"])


def test_unusable_configs_are_named(tmp_path):
    write_json(write_model(tmp_path) / "1_Pooling" / "config.json", {"pooling_mode_max_tokens": True})
    with pytest.raises(InvalidInput, match=r"pooling.*mean or cls.*max"):
        BiEncoder(tmp_path)
    (tmp_path / "1_Pooling" / "config.json").write_text("{", "utf-8")
    with pytest.raises(InvalidInput, match=r"config\.json is not JSON"):
        BiEncoder(tmp_path)


def test_the_shipped_folder_says_where_it_comes_from():
    about = json.loads((SHIPPED / "encoder.json").read_text("utf-8"))
    assert about["licence"] == "Apache-2.0"
    assert about["source_sha256"] == "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
    assert "Apache License" in (SHIPPED / "NOTICE").read_text("utf-8")
    assert (SHIPPED / "model.onnx").stat().st_size < 25e6


@pytest.mark.parametrize(
    ("held", "said"),
    [
        (None, "is not a file"),  # a pipe, which would be waited for
        ("[" * 200_000, "nested too deeply"),
        ('{"max_tokens": 1e999}', "a number too large to read"),
        ('{"max_tokens": NaN}', "not a JSON number"),
        ('{"max_tokens": "many"}', "max_tokens is not a count"),
        ('{"batch_tokens": -1}', "batch_tokens is not a count"),
        ("\xff", "is not JSON"),
    ],
)
def test_a_folder_that_says_nonsense_of_itself_is_an_input_error(tmp_path, held, said):
    for name in ("model.onnx", "tokenizer.json"):
        (tmp_path / name).symlink_to(SHIPPED / name)
    if held is None:
        os.mkfifo(tmp_path / "encoder.json")
    else:
        (tmp_path / "encoder.json").write_text(held, "latin-1")
    with pytest.raises(InvalidInput, match=said):
        BiEncoder(tmp_path).encode(["a"])
