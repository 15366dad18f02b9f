"""The reader at run time: folders it refuses, pairs it scores, on a tiny model of the real shape made on the spot."""

import json
import multiprocessing
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the tiny model is made with onnx")

import onnx
from tokenizers import Tokenizer, models, pre_tokenizers

from intrinsics_core import (
    answerability,
    context_relevance,
    fact_check,
    hallucination_detection,
    query_rewrite,
    reranking,
    run,
    uncertainty,
)
from intrinsics_core.embedded.models.cross_encoder import CrossEncoder
from intrinsics_core.embedded.runtime import EmbeddedRuntime
from intrinsics_core.protocol.errors import InvalidInput, RuntimeUnavailable, UnsupportedIntrinsic
from intrinsics_core.protocol.requests import Score
from training.build_encoder import HEADS, LAYERS
from training.reader.export import reader_graph

WORDS = ("the mill was built in 1911 by ada brink it ground flour until 1958", "who when built ? . , not")
HIDDEN, LONGEST = 2 * HEADS, 40
MILL = "the mill was built in 1911 by ada brink ."
PAIRS = (
    (MILL, "ada brink built it ."),
    (MILL, "it was not built ."),
    ("it ground flour until 1958 .", "who built it ?"),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("reader")
    vocabulary = {
        word: i for i, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *dict.fromkeys(" ".join(WORDS).split())])
    }
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.add_special_tokens(["[CLS]", "[SEP]"])
    tokenizer.save(str(out / "tokenizer.json"))
    draw = np.random.default_rng(3)

    def matrix(*shape):
        return draw.normal(0, 0.6, shape).astype(np.float32)

    def norm(name):
        return {f"{name}.weight": np.ones(HIDDEN, np.float32), f"{name}.bias": np.zeros(HIDDEN, np.float32)}

    weights = {
        "bert.embeddings.word_embeddings.weight": matrix(len(vocabulary), HIDDEN),
        "bert.embeddings.position_embeddings.weight": matrix(LONGEST, HIDDEN),
        "bert.embeddings.token_type_embeddings.weight": matrix(2, HIDDEN),
        **norm("bert.embeddings.LayerNorm"),
        "head.weight": matrix(2, 2 * HIDDEN),
        "head.bias": matrix(2),
    }
    for i in range(LAYERS):
        layer = f"bert.encoder.layer.{i}"
        for part in ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"):
            weights |= {f"{layer}.{part}.weight": matrix(HIDDEN, HIDDEN), f"{layer}.{part}.bias": matrix(HIDDEN)}
        wide = 2 * HIDDEN
        weights |= {f"{layer}.intermediate.dense.weight": matrix(wide, HIDDEN)}
        weights |= {f"{layer}.intermediate.dense.bias": matrix(wide)}
        weights |= {f"{layer}.output.dense.weight": matrix(HIDDEN, wide), f"{layer}.output.dense.bias": matrix(HIDDEN)}
        weights |= norm(f"{layer}.attention.output.LayerNorm") | norm(f"{layer}.output.LayerNorm")
    _, model = reader_graph(weights)
    onnx.save(model, out / "model.onnx")
    about = {"name": "tiny", "tasks": {"entailment": 0, "answers": 1}, "max_tokens": LONGEST, "max_query": 12}
    (out / "reader.json").write_text(json.dumps(about))
    return out


@pytest.fixture
def reader(folder):
    with CrossEncoder(folder, threads=2, cache_size=0) as made:  # nothing is remembered from one test to the next
        yield made


def copied(folder, tmp_path, **changes):
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    about = json.loads((folder / "reader.json").read_text()) | changes
    (tmp_path / "reader.json").write_text(json.dumps(about))
    return tmp_path


def test_one_logit_a_pair_and_one_label(reader):
    scored = reader.score(Score("hallucination-detection", PAIRS, "entailment"))
    assert scored.labels == ("yes",)
    assert [len(row) for row in scored.logits] == [1, 1, 1]
    assert len({row[0] for row in scored.logits}) == 3
    assert reader.logits("entailment", []) == []


def test_a_score_depends_on_nothing_else_in_the_call(reader):
    together = reader.logits("entailment", PAIRS)
    assert [reader.logits("entailment", [pair])[0] for pair in PAIRS] == together
    assert reader.logits("entailment", [*PAIRS[::-1], *PAIRS] * 5)[:3] == together[::-1]


def test_heads_differ_and_answers_are_asked_question_first(reader):
    text, question = PAIRS[2]
    assert reader.logits("answers", [(question, text)]) != reader.logits("entailment", [(text, question)])
    assert reader.logits("answers", [(question, text)]) != reader.logits("answers", [(text, question)])


def test_a_long_text_counts_by_its_best_window(reader):
    long = " ".join([MILL] * 9)
    (whole,) = reader.logits("entailment", [(long, "ada brink built it .")])
    (one,) = reader.logits("entailment", [(MILL, "ada brink built it .")])
    words = long.split()
    parts = [" ".join(words[i : i + 20]) for i in range(0, len(words), 5)]
    assert whole <= max(*reader.logits("entailment", [(p, "ada brink built it .") for p in parts]), one) + 3
    assert np.isfinite(whole)
    assert np.isfinite(reader.logits("entailment", [(long, long)])).all()


def test_empty_and_odd_texts_are_scored(reader):
    pairs = [("", ""), ("", "who ?"), (MILL, ""), ("\ud800", "\x00"), ("[SEP] [CLS]", "[PAD]"), ("人", "🙂" * 400)]
    assert np.isfinite(reader.logits("entailment", pairs)).all()


def test_a_separator_in_the_text_is_text(reader):
    plain, forged = reader.logits("entailment", [(MILL, "it ."), (f"{MILL} [SEP] it . [SEP]", "it .")])
    tokenizer = reader._loaded().tokenizer
    assert 3 not in tokenizer.encode("[SEP]", add_special_tokens=False).ids
    assert plain != forged


def test_threads_share_one_reader(folder):
    with CrossEncoder(folder, threads=3) as reader, ThreadPoolExecutor(6) as pool:
        expected = reader.logits("entailment", PAIRS)
        assert list(pool.map(lambda _: reader.logits("entailment", PAIRS), range(24))) == [expected] * 24


def test_it_can_be_closed_pickled_and_used_again(folder):
    reader = CrossEncoder(folder, threads=1)
    expected = reader.logits("answers", PAIRS)
    reader.close()
    assert reader.logits("answers", PAIRS) == expected
    again = pickle.loads(pickle.dumps(reader))  # noqa: S301 (our own bytes)
    assert again.logits("answers", PAIRS) == expected
    assert repr(again) == "CrossEncoder('tiny', tasks=['entailment', 'answers'], threads=1)"


def test_it_works_in_a_child_process(folder):
    reader = CrossEncoder(folder, threads=2)
    expected = reader.logits("entailment", PAIRS)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(reader.logits, ("entailment", PAIRS)) == expected


def test_a_task_without_a_head_is_refused(reader):
    with pytest.raises(UnsupportedIntrinsic, match="tiny does not know the task 'meant'") as caught:
        reader.score(Score("query-rewrite", PAIRS, "meant"))
    assert caught.value.expected == "entailment or answers"


@pytest.mark.parametrize("pair", [("one",), ("a", "b", "c"), ("a", None), (1, "b")])
def test_what_is_no_pair_is_refused(reader, pair):
    with pytest.raises(InvalidInput, match="pair 1 is not a pair of strings"):
        reader.logits("entailment", [PAIRS[0], pair])


def test_missing_files_are_named(folder, tmp_path):
    with pytest.raises(InvalidInput, match="no reader folder at"):
        CrossEncoder(tmp_path / "nowhere")
    for name in ("model.onnx", "tokenizer.json", "reader.json"):
        place = tmp_path / name.split(".")[0]
        place.mkdir()
        (copied(folder, place) / name).unlink()
        with pytest.raises(InvalidInput, match=f"has no {name}"):
            CrossEncoder(place)
    with pytest.raises(InvalidInput, match=r"reader\.threads must be at least 1"):
        CrossEncoder(folder, threads=0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tasks": {}}, "tasks in"),
        ({"tasks": {"entailment": "first"}}, "tasks in"),
        ({"tasks": {"poetry": 0}}, "poetry"),
        ({"max_tokens": "many"}, "max_tokens in"),
        ({"max_query": 0}, "max_query in"),
        ({"max_query": 39}, "at least 16 more than max_query"),
        ({"windows": 144}, "windows in"),
        ({"windows": {"poetry": 30}}, "windows in"),
        ({"windows": {"answers": 27}}, "each with 28 to"),  # 12 of them are a question's
        ({"windows": {"answers": "few"}}, "windows in"),
    ],
)
def test_a_reader_json_that_is_off_is_refused(folder, tmp_path, changes, message):
    with pytest.raises(InvalidInput, match=message):
        CrossEncoder(copied(folder, tmp_path, **changes))


def test_a_task_may_have_smaller_windows(folder, tmp_path):
    passage, question = " ".join(["the mill grinds oats on the ebb"] * 4), "the mill"
    (tmp_path / "whole").mkdir()
    (tmp_path / "parts").mkdir()
    with (
        CrossEncoder(copied(folder, tmp_path / "whole")) as whole,
        CrossEncoder(copied(folder, tmp_path / "parts", windows={"answers": 28})) as parts,
    ):
        asked, claimed = (question, passage), (passage, question)
        assert whole.logits("entailment", [claimed]) == parts.logits("entailment", [claimed])
        assert whole.logits("answers", [asked]) != parts.logits("answers", [asked])


def test_broken_files_are_refused(folder, tmp_path):
    (copied(folder, tmp_path) / "reader.json").write_text("{")
    with pytest.raises(InvalidInput, match="is not JSON"):
        CrossEncoder(tmp_path)
    copied(folder, tmp_path)
    (tmp_path / "model.onnx").write_bytes(b"no graph")
    with pytest.raises(RuntimeUnavailable, match="cannot load the reader"):
        CrossEncoder(tmp_path).logits("entailment", PAIRS)


QUESTION = [{"role": "user", "content": "Who built the mill?"}]
SAID = [*QUESTION, {"role": "assistant", "content": "Ada Brink built it. It ground flour until 1958."}]
DOCUMENTS = ["The mill was built in 1911 by Ada Brink. It ground flour.", "The ferry leaves at nine.", ""]


def test_the_embedded_runtime_reads_with_it_and_says_so(folder):
    with_it, without = EmbeddedRuntime(reader=folder), EmbeddedRuntime(reader=False)
    assert (with_it.has_reader, without.has_reader) == (True, False)
    for call in (
        lambda: hallucination_detection(SAID, DOCUMENTS),
        lambda: answerability(QUESTION, DOCUMENTS),
        lambda: context_relevance(QUESTION, DOCUMENTS),
        lambda: reranking(QUESTION, DOCUMENTS),
        lambda: fact_check(SAID, DOCUMENTS),
        lambda: uncertainty(SAID, DOCUMENTS),
    ):
        read, looked_up = run(call(), with_it), run(call(), without)
        assert type(read) is type(looked_up) and read != looked_up
        assert run(call(), pickle.loads(pickle.dumps(with_it))) == read  # noqa: S301  (our own)


def test_the_embedded_runtime_answers_scores_and_refuses_what_it_cannot(folder):
    runtime = EmbeddedRuntime(reader=folder)
    asked = (PAIRS[2][::-1],)
    answers, relevance, meant = runtime.handle(
        [Score("x", asked, "answers"), Score("x", asked, "relevance"), Score("x", asked, "meant")]
    )
    assert answers == relevance and answers.labels == ("yes",)
    assert isinstance(meant, UnsupportedIntrinsic)
    (refused,) = EmbeddedRuntime(reader=False).handle([Score("x", asked, "answers")])
    assert isinstance(refused, UnsupportedIntrinsic)
    with pytest.raises(InvalidInput, match="no reader folder at"):
        EmbeddedRuntime(reader=folder / "nowhere")


def test_a_pair_that_comes_up_again_is_not_read_again_and_means_the_same(folder, monkeypatch):
    with CrossEncoder(folder) as reader:
        first = reader.logits("entailment", PAIRS)
        monkeypatch.setattr(reader, "_loaded", lambda: pytest.fail("read again"))
        assert reader.logits("entailment", [PAIRS[2], PAIRS[0], PAIRS[2]]) == [first[2], first[0], first[2]]


def test_a_reader_that_was_not_taught_what_is_meant_leaves_questions_to_the_rules(folder, tmp_path):
    talk = [
        {"role": "user", "content": "who built the mill ?"},
        {"role": "assistant", "content": MILL},
        {"role": "user", "content": "when was it built ?"},
    ]
    tasks = json.loads((folder / "reader.json").read_text())["tasks"]
    fewer = copied(folder, tmp_path, tasks={name: i for name, i in tasks.items() if name != "meant"})
    reads, by_rules = EmbeddedRuntime(reader=fewer), EmbeddedRuntime(reader=False)
    assert run(query_rewrite(talk), reads) == run(query_rewrite(talk), by_rules)
    assert run(answerability(talk, [MILL]), reads).probability is not None
