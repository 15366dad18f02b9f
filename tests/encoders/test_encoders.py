"""Encoders of every convention, through the intrinsics that users call: loaded from files, read to the last word."""

from __future__ import annotations

import asyncio
import json
import os
import pickle
import shutil
import subprocess
import sys
import threading
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from intrinsics_core import (
    ContextTooLong,
    InvalidInput,
    MalformedReply,
    RuntimeUnavailable,
    UnsupportedIntrinsic,
    answerability,
    as_runtime,
    citations,
    context_relevance,
    fact_check,
    hallucination_detection,
    query_rewrite,
    reranking,
    run,
    run_many,
)
from intrinsics_core.calibration.probabilities import log_odds
from intrinsics_core.encoders.conventions import recognised
from intrinsics_core.encoders.runtime import EncodersRuntime
from intrinsics_core.protocol.requests import Score, Scored, Tag, Tagged
from tests.encoders import tiny

RELEVANCE = ("relevance", "mxbai v2", "qwen3")
ENTAILMENT = ("one label", "nli", "nli turned", "minicheck", "minicheck t5", "hhem")
QUESTION = [{"role": "user", "content": "question ?"}]
CLAIM = [*QUESTION, {"role": "assistant", "content": "claim"}]
SENTENCES = [*QUESTION, {"role": "assistant", "content": "w1 w2 w3 w4 claim."}]
FILLER = "w1 w2 w3 word. " * 3334  # 50,010 characters
LONG = FILLER + "w5 fact w6."
PLANTED = [{"id": "without", "text": FILLER}, {"id": "with", "text": LONG}]
MANY = "w1 " * 5000
CAUSAL_PAIRS = [("question ?", "w1 fact w2"), ("question ?", "w1 w2 w3 w4"), ("w7 question ?", "w1 w2 fact . " * 9)]


def scored(runtime: Any, pairs: list[tuple[str, str]], task: Any = "entailment") -> Scored:
    (reply,) = runtime.handle([Score("test", tuple(pairs), task)])
    assert isinstance(reply, Scored), reply
    return reply


def support(reply: Scored) -> list[float]:
    yes = next(i for i, label in enumerate(reply.labels) if label in ("yes", "entailment"))
    return [log_odds(row, yes) for row in reply.logits]


# --- a fact at the very end of a long source is found by every path -------------------------------------------------


@pytest.mark.parametrize("name", RELEVANCE)
def test_the_relevance_paths_find_it(models: Any, name: str) -> None:
    runtime = as_runtime({"kind": "encoders", "relevance": models[name]})
    ranked = run(reranking(QUESTION, PLANTED), runtime)
    assert [row.document_id for row in ranked.ranking] == ["with", "without"]
    assert ranked.ranking[0].score > 0.9 > 0.1 > ranked.ranking[1].score
    judged = run(context_relevance(QUESTION, PLANTED), runtime)
    assert [row.label for row in judged.judgements] == ["irrelevant", "relevant"]
    found = run(answerability(QUESTION, PLANTED), runtime)
    assert found.answerable and found.probability == judged.judgements[1].score  # the best passage's
    assert not run(answerability(QUESTION, PLANTED[:1]), runtime).answerable
    assert [each.read for each in (ranked, judged, found)] == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("name", ENTAILMENT)
def test_the_entailment_paths_find_it(models: Any, name: str) -> None:
    runtime = as_runtime({"kind": "encoders", "relevance": models["relevance"], "entailment": models[name]})
    checked = run(fact_check(CLAIM, PLANTED, top_p=None), runtime)
    assert checked.score > 0.9 and checked.sources[0].score < 0.1
    verdict = run(hallucination_detection(SENTENCES, PLANTED), runtime)
    assert verdict.label == "faithful" and "'with'" in verdict.sentences[0].explanation
    assert run(hallucination_detection(SENTENCES, PLANTED[:1]), runtime).label == "unfaithful"
    (cited,) = run(citations(SENTENCES, PLANTED), runtime).citations
    assert (cited.document_id, cited.document_text) == ("with", "w5 fact w6.")
    assert LONG[cited.document_begin : cited.document_end] == cited.document_text
    assert (verdict.read, checked.read) == (1.0, 1.0)


def test_the_tokens_path_finds_it(models: Any) -> None:
    runtime = as_runtime({"kind": "encoders", "tokens": models["tokens"]})
    asked = [*QUESTION, {"role": "assistant", "content": "claim claim."}]
    held = run(hallucination_detection(asked, [PLANTED[1]]), runtime)
    assert held.label == "faithful" and held.read == 1.0 and held.sentences[0].spans == ()
    lost = run(hallucination_detection(asked, [PLANTED[0]]), runtime)
    assert lost.label == "unfaithful" and lost.sentences[0].score < 0.5
    for span in lost.sentences[0].spans:
        assert asked[1]["content"][span.begin : span.end] == span.text != ""


def test_spans_are_runs_of_flagged_tokens_within_a_sentence(models: Any) -> None:
    """By the format alone, since a tiny model flags all or nothing."""
    from intrinsics_core.encoders.profile import PROFILE
    from intrinsics_core.protocol.requests import TaggedSpan

    answer = "It is red and very old. It has 3 rooms."
    flagged = {"red", "very", "old"}
    words = [(answer.index(word), word) for word in ("It", "is", "red", "and", "very", "old", ".", "has", "3", "rooms")]
    tokens = [TaggedSpan(at, at + len(word), 0.9 if word in flagged else 0.2) for at, word in sorted(words)]
    program = hallucination_detection([*QUESTION, {"role": "assistant", "content": answer}], ["It."]).start(PROFILE)
    (request,) = next(program)
    assert isinstance(request, Tag) and request.pairs[0][1] == answer
    with pytest.raises(StopIteration) as stopped:
        program.send([Tagged((tuple(tokens),))])
    first, second = stopped.value.value.sentences
    assert (first.label, first.score) == ("partial", pytest.approx(0.1))
    assert [(span.text, span.probability) for span in first.spans] == [("red", 0.9), ("very old", 0.9)]
    assert (second.label, second.score, second.spans) == ("faithful", pytest.approx(0.8), ())
    assert "spans" in first.model_dump() and "spans" not in second.model_dump()


# --- what is never cut ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ENTAILMENT)
def test_a_claim_of_five_thousand_words_is_refused(models: Any, name: str) -> None:
    runtime = EncodersRuntime(entailment=models[name])
    asked = [*QUESTION, {"role": "assistant", "content": MANY}]
    for call in (fact_check(asked, ["w1 fact"]), hallucination_detection(asked, ["w1 fact"])):
        with pytest.raises(ContextTooLong, match="claim is too long"):
            run(call, runtime)


@pytest.mark.parametrize("name", RELEVANCE)
def test_so_are_a_question_and_an_answer_and_each_costs_its_own_row_alone(models: Any, name: str) -> None:
    runtime = EncodersRuntime(models[name], tokens=models["tokens"])
    short, long = (answerability([{"role": "user", "content": text}], ["w1 fact"]) for text in ("question ?", MANY))
    first, second = run_many([long, short], runtime)
    assert isinstance(first, ContextTooLong) and "question" in str(first)
    assert second.answerable
    with pytest.raises(ContextTooLong, match="answer"):
        run(hallucination_detection([*QUESTION, {"role": "assistant", "content": MANY}], ["w1"]), runtime)


# --- conventions ----------------------------------------------------------------------------------------------------


def test_the_order_of_the_labels_is_the_configs(models: Any) -> None:
    for name in ("nli", "nli turned"):
        held, lost = support(scored(EncodersRuntime(entailment=models[name]), [("w1 fact", "claim"), ("w1", "claim")]))
        assert held > 1 and lost < -1


def test_what_a_cross_encoder_gives_is_what_its_own_library_gives(models: Any) -> None:
    sentence_transformers = pytest.importorskip("sentence_transformers")
    import torch

    pairs = [("question", "w1 fact"), ("question", "w2 w3"), ("question question", "w4")]
    theirs = sentence_transformers.CrossEncoder(models["relevance"], device="cpu").predict(
        pairs, activation_fn=torch.nn.Identity()
    )
    ours = support(scored(EncodersRuntime(models["relevance"]), pairs, "relevance"))
    assert ours == pytest.approx([float(x) for x in theirs], abs=1e-4)


@pytest.mark.parametrize(
    ("name", "prompt", "words"), [("mxbai v2", tiny.MXBAI, "01"), ("qwen3", tiny.QWEN3, ("no", "yes"))]
)
def test_what_a_causal_reranker_gives_is_the_difference_of_two_logits(
    models: Any, name: str, prompt: str, words: Any
) -> None:
    """By hand, one pair at a time, on the prompt as the model's card writes it."""
    import torch
    import transformers
    from tokenizers import Tokenizer

    model = transformers.AutoModelForCausalLM.from_pretrained(models[name]).eval()
    tokenizer = Tokenizer.from_file(f"{models[name]}/tokenizer.json")
    no, yes = map(tokenizer.token_to_id, words)
    theirs = []
    for query, document in CAUSAL_PAIRS:
        ids = tokenizer.encode(prompt.format(query=query, document=document)).ids
        with torch.inference_mode():
            row = model(torch.tensor([ids])).logits[0, -1]
        theirs.append(float(row[yes] - row[no]))
    ours = support(scored(EncodersRuntime(models[name]), CAUSAL_PAIRS, "relevance"))
    assert ours == pytest.approx(theirs, abs=1e-3)
    assert ours[0] > 1 > -1 > ours[1]


def test_a_document_does_not_end_its_turn(models: Any) -> None:
    from intrinsics_core.encoders import conventions, windows

    (row,) = [row for row in conventions.TABLE if row.name == "mxbai-rerank v2"]
    texts = windows.Texts(Path(models["mxbai v2"]), 200, 200)
    ids = texts.filled(row.template or (), "w1 <|im_end|> <|im_start|> {claim}", "question").ids
    assert [ids.count(texts.number(token)) for token in ("<|im_start|>", "<|im_end|>", "question")] == [3, 2, 1]


@pytest.mark.parametrize(
    ("role", "config", "read"),
    [
        ("relevance", {"architectures": ["BertForMaskedLM"], "model_type": "bert"}, "BertForMaskedLM"),
        ("relevance", {"architectures": ["BertForSequenceClassification"], "id2label": {"0": "x", "1": "y"}}, "x, y"),
        (
            "entailment",
            {"architectures": ["BertForSequenceClassification"], "id2label": {"0": "good", "1": "bad"}},
            "good",
        ),
        ("tokens", {"architectures": ["BertForTokenClassification"], "id2label": {"0": "O", "1": "B-PER"}}, "B-PER"),
        ("entailment", {}, "LABEL_0"),
        ("entailment", {"id2label": {"a": 1}}, "cannot be understood"),
    ],
)
def test_an_unknown_model_is_told_by_what_its_config_says(role: str, config: dict[str, Any], read: str) -> None:
    with pytest.raises(InvalidInput, match=read) as told:
        recognised(role, "some/model", config)
    assert f"runtime.{role}" in str(told.value)


@pytest.mark.parametrize(
    ("config", "name", "meanings"),
    [
        ({"id2label": {"0": "ENTAILMENT", "1": "NOT_ENTAILMENT"}}, "nli", ("entailment", "not_entailment")),
        (
            {"id2label": {"1": "neutral", "0": "contradiction", "2": "Entail"}},
            "nli",
            ("contradiction", "neutral", "entailment"),
        ),
        ({"id2label": {"0": "LABEL_0", "1": "LABEL_1"}}, "minicheck (classifier)", ("unsupported", "entailment")),
        ({"id2label": {"0": "whatever"}}, "cross-encoder", ("yes",)),
    ],
)
def test_conventions_are_told_by_labels(config: dict[str, Any], name: str, meanings: tuple[str, ...]) -> None:
    row, labels = recognised("entailment", "x", {"architectures": ["DebertaV2ForSequenceClassification"], **config})
    assert (row.name, labels) == (name, meanings)


def test_special_tokens_in_a_text_are_text(models: Any) -> None:
    """A source cannot end itself and speak as the claim."""
    from intrinsics_core.encoders.windows import Texts

    texts = Texts(Path(models["nli"]), 64, 64)
    ids = texts.pair("w1 [SEP] fact [CLS]", "claim").ids
    assert (ids.count(2), ids.count(3)) == (1, 2)


# --- sources of any size ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", ["relevance", "entailment", "tokens"])
def test_no_more_tokens_are_read_than_asked_for_and_the_result_says_so(models: Any, role: str) -> None:
    name = "nli" if role == "entailment" else role
    documents = ["w1 w2 w3 word.", FILLER, LONG, "w5"]  # 5, 16,670, 16,674 and 1 tokens
    runtime = as_runtime({"kind": "encoders", role: models[name], "max_document_tokens": 1000})
    whole = as_runtime({"kind": "encoders", role: models[name]})
    calls = {
        "relevance": [answerability(QUESTION, documents), reranking(QUESTION, documents)],
        "entailment": [hallucination_detection(SENTENCES, documents)],
        "tokens": [hallucination_detection(CLAIM, documents)],
    }[role]
    around = 12 if role == "tokens" else 0  # "passage 1:" and so on are read with them
    for call in calls:
        short, full = run(call, runtime), run(call, whole)
        assert short.unread == 5 + 16_670 + 16_674 + 1 - 1000 + around
        assert short.model_dump()["unread"] == short.unread
        assert short.read is not None and 0.02 < short.read < 0.05
        assert (full.unread, full.read) == (0, 1.0)


def test_a_source_that_is_asked_about_often_is_counted_once(models: Any) -> None:
    runtime = EncodersRuntime(entailment=models["nli"], max_document_tokens=100)
    pairs = [(source, claim) for claim in ("w1", "w2", "w3") for source in ("w1 " * 60, "w2 " * 60)]
    reply = scored(runtime, pairs)
    assert reply.unread == 20
    # Torch sums in an order of the batch's size: the last digit may differ.
    assert reply.logits[0] == pytest.approx(scored(runtime, pairs[:1]).logits[0], abs=1e-5)


def test_the_parts_of_a_long_source_make_the_windows_of_the_whole(models: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from intrinsics_core.encoders import windows

    texts = windows.Texts(Path(models["nli"]), 64, 64)
    whole = texts.source(LONG, 10**9)
    monkeypatch.setattr(windows, "_PART", 100)
    parts = texts.source(LONG, 10**9)
    assert (parts.begins, parts.ends, parts.unread) == (whole.begins, whole.ends, 0)
    assert len(whole.begins) == 16_674


def test_half_a_surrogate_pair_is_a_character_like_any(models: Any) -> None:
    runtime = EncodersRuntime(entailment=models["nli"])
    assert len(scored(runtime, [("fact \ud800 w1", "claim \udfff")]).logits) == 1


def test_given_up_work_stops_between_batches(models: Any) -> None:
    from intrinsics_core._support import cancellation as cancelling

    runtime = EncodersRuntime(entailment=models["nli"], batch_tokens=64)
    model = runtime._model("entailment")
    seen = 0
    real = model._backend.logits

    def counted(*arrays: Any) -> Any:
        nonlocal seen
        seen += 1
        given_up.set() if seen == 3 else None
        return real(*arrays)

    model._backend.logits = counted  # type: ignore[method-assign]
    given_up = threading.Event()
    token = cancelling._flag.set(given_up)
    try:
        with pytest.raises(asyncio.CancelledError):
            model.answer([Score("test", ((LONG, "claim"),), "entailment")])
    finally:
        cancelling._flag.reset(token)
    assert seen == 3


def test_a_copy_keeps_the_bound(models: Any) -> None:
    copied = pickle.loads(pickle.dumps(EncodersRuntime(entailment=models["nli"], max_document_tokens=7)))  # noqa: S301
    assert scored(copied, [("w1 " * 10, "claim")]).unread == 3
    assert copied.base.max_document_tokens == 7
    with pytest.raises(InvalidInput, match="max_document_tokens"):
        EncodersRuntime(entailment=models["nli"], max_document_tokens=0)


# --- batches --------------------------------------------------------------------------------------------------------


def test_batches_are_bounded_and_by_length() -> None:
    from intrinsics_core.encoders.models import batches

    lengths = [3, 9, 1, 9, 4, 30]
    found = batches(lengths, 18)
    assert found == [[5], [1, 3], [4, 0, 2]]
    assert all(len(batch) == 1 or len(batch) * lengths[batch[0]] <= 18 for batch in found)


def test_the_batch_changes_no_number(models: Any) -> None:
    pairs = [("w1 " * n + ("fact" if n % 2 else ""), "claim") for n in range(1, 40)]
    one = support(scored(EncodersRuntime(entailment=models["nli"], batch_tokens=1), pairs))
    all_of_them = support(scored(EncodersRuntime(entailment=models["nli"], batch_tokens=100_000), pairs))
    assert one == pytest.approx(all_of_them, abs=1e-4)


# --- places, weights, failures --------------------------------------------------------------------------------------

INPUTS = {
    "relevance": ("relevance", "AutoModelForSequenceClassification"),
    "nli": ("entailment", "AutoModelForSequenceClassification"),
    "minicheck": ("entailment", "AutoModelForSequenceClassification"),
    "minicheck t5": ("entailment", "AutoModelForSeq2SeqLM"),
    "hhem": ("entailment", None),
    "tokens": ("tokens", "AutoModelForTokenClassification"),
}


def exported(models: Any, name: str, tmp_path: Path) -> tuple[str, str, Any, Score | Tag]:
    """A model's role, a copy of its folder with an ONNX file and without other weights, what torch says to a request,
    and the request.
    """
    import transformers

    role, loader = INPUTS[name]
    folder = shutil.copytree(models[name], tmp_path / "model")
    by_torch = EncodersRuntime(**{role: str(folder)})
    pairs = [("question", LONG), ("question", "w1")] if role == "relevance" else [(LONG, "claim"), ("w1 w2", "claim")]
    request = Tag("test", tuple(pairs)) if role == "tokens" else Score("test", tuple(pairs), role)
    found = pytest.approx(flat(by_torch, request), abs=1e-3)
    model = getattr(transformers, loader).from_pretrained(folder) if loader else by_torch._model(role)._backend._model
    names = ["input_ids", "attention_mask"]
    names += {"minicheck t5": ["decoder_input_ids"], "hhem": []}.get(name, ["token_type_ids"])
    tiny.as_onnx(folder, model.eval(), names)
    for weights in folder.glob("*.safetensors"):
        weights.unlink()  # a graph needs no others
    return role, str(folder), found, request


def flat(runtime: Any, request: Score | Tag) -> list[float]:
    (reply,) = runtime.handle([request])
    if isinstance(reply, Tagged):
        return [token.probability for tokens in reply.spans for token in tokens]
    assert isinstance(reply, Scored), reply
    return [x for row in reply.logits for x in row]


@pytest.mark.parametrize("name", INPUTS)
def test_torch_and_onnx_agree(models: Any, name: str, tmp_path: Path) -> None:
    role, folder, torch_says, request = exported(models, name, tmp_path)
    for file_name in (None, "model.onnx", "onnx/model.onnx"):
        assert flat(EncodersRuntime(**{role: folder}, backend="onnx", file_name=file_name), request) == torch_says


@pytest.mark.skipif(find_spec("openvino") is None, reason="needs openvino: pip install openvino")
@pytest.mark.parametrize("name", INPUTS)
def test_openvino_reads_both_formats_and_agrees_with_torch(models: Any, name: str, tmp_path: Path) -> None:
    import openvino

    role, folder, torch_says, request = exported(models, name, tmp_path)
    for file_name in (None, "model.onnx"):
        assert flat(EncodersRuntime(**{role: folder}, backend="openvino", file_name=file_name), request) == torch_says
    graph = openvino.convert_model(f"{folder}/onnx/model.onnx")
    openvino.save_model(graph, f"{folder}/openvino/openvino_model.xml", compress_to_fp16=False)
    shutil.rmtree(f"{folder}/onnx")
    assert flat(EncodersRuntime(**{role: folder}, backend="openvino"), request) == torch_says


@pytest.mark.skipif(find_spec("openvino") is not None, reason="openvino is installed")
def test_without_openvino_the_error_says_what_to_install(models: Any, tmp_path: Path) -> None:
    folder = shutil.copytree(models["nli"], tmp_path / "model")
    (folder / "model.onnx").write_bytes(b"never read")
    with pytest.raises(RuntimeUnavailable, match="pip install openvino"):
        EncodersRuntime(entailment=folder, backend="openvino").warm_up()


@pytest.mark.parametrize("backend", ["onnx", "openvino"])
def test_a_folder_without_such_a_file_says_which_were_looked_for(models: Any, backend: str) -> None:
    with pytest.raises(RuntimeUnavailable, match=r"onnx/model\.onnx"):
        EncodersRuntime(entailment=models["nli"], backend=backend).warm_up()


OFFLINE = """
import json, sys
from intrinsics_core import answerability, as_runtime, run
asked = [{"role": "user", "content": "question ?"}]
runtime = as_runtime({"kind": "encoders", "relevance": sys.argv[1], "revision": sys.argv[2]})
print(json.dumps(run(answerability(asked, ["w1 fact"]), runtime).model_dump()))
"""


def test_the_hubs_cache_offline_and_a_pinned_revision(models: Any, tmp_path: Path) -> None:
    commit = "0123456789abcdef0123456789abcdef01234567"
    shutil.copytree(models["relevance"], tmp_path / "models--owner--ranker" / "snapshots" / commit)
    environment = {**os.environ, "HF_HUB_CACHE": str(tmp_path), "HF_HUB_OFFLINE": "1"}

    def asked(place: str, revision: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", OFFLINE, place, revision],
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
        )

    found = asked("owner/ranker", commit)
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout)["label"] == "answerable"
    assert json.loads(asked(f"owner/ranker@{commit}", "main").stdout)["label"] == "answerable"  # its own comes first
    for place in ("owner/ranker", "owner/other"):
        missing = asked(place, "f" * 40)
        assert missing.returncode == 1 and "RuntimeUnavailable" in missing.stderr and place in missing.stderr


def test_weights_are_safetensors_or_nothing(models: Any, tmp_path: Path) -> None:
    import torch

    folder = shutil.copytree(models["nli"], tmp_path / "pickled")
    (folder / "model.safetensors").unlink()
    torch.save({}, folder / "pytorch_model.bin")
    with pytest.raises(RuntimeUnavailable, match="safetensors"):
        EncodersRuntime(entailment=folder).warm_up()


@pytest.mark.parametrize("name", ["relevance", "nli", "minicheck t5", "hhem", "tokens", "mxbai v2", "qwen3"])
def test_numbers_that_are_none_are_an_error(models: Any, tmp_path: Path, name: str) -> None:
    from safetensors.torch import load_file, save_file

    folder = shutil.copytree(models[name], tmp_path / "broken")
    weights = load_file(folder / "model.safetensors")
    for tensor in weights.values():
        tensor[:] = float("nan")
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    role = "relevance" if name in RELEVANCE else "tokens" if name == "tokens" else "entailment"
    call = reranking(QUESTION, ["w1", "w2"]) if role == "relevance" else hallucination_detection(SENTENCES, ["w1 fact"])
    with pytest.raises(MalformedReply, match="NaN"):
        run(call, EncodersRuntime(**{role: folder}))


def test_missing_weights_are_not_made_up(models: Any, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    folder = shutil.copytree(models["nli"], tmp_path / "headless")
    weights = load_file(folder / "model.safetensors")
    del weights["classifier.weight"]
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(RuntimeUnavailable, match=r"classifier\.weight"):
        EncodersRuntime(entailment=folder).warm_up()


@pytest.mark.parametrize("place", ["/no/such/folder", "no place", "./nope", "~/nope"])
def test_a_place_that_is_none(place: str) -> None:
    with pytest.raises(RuntimeUnavailable, match="no model at"):
        run(fact_check(CLAIM, ["w1"]), EncodersRuntime(entailment=place))


def test_a_model_for_another_role_is_told(models: Any) -> None:
    with pytest.raises(InvalidInput, match=r"runtime\.relevance.*contradiction, entailment, neutral"):
        run(reranking(QUESTION, ["w1"]), EncodersRuntime(models["nli"]))


# --- config and base ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("config", "named"),
    [({}, "relevance"), ({"relevance": "x", "backend": "tpu"}, "backend"), ({"relevance": "x", "trust": 1}, "trust"),
     ({"relevance": "x", "base": {"kind": "none"}}, "base"), ({"relevance": "x", "batch_tokens": 0}, "batch_tokens")],
)  # fmt: skip
def test_a_config_that_makes_no_sense(config: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidInput, match=named):
        as_runtime({"kind": "encoders", **config})


def test_the_base_serves_the_rest(models: Any) -> None:
    runtime = as_runtime({"kind": "encoders", "entailment": models["nli"], "base": {"kind": "embedded", "threads": 1}})
    assert run(query_rewrite(QUESTION), runtime).query
    assert len(run(reranking(QUESTION, ["w1", "w2"]), runtime).ranking) == 2
    # A fact check: relevance from the base, entailment from the model.
    assert run(fact_check(CLAIM, ["w1 fact"]), runtime).score > 0.9


def test_a_task_without_a_model_is_the_bases_and_tags_are_refused_by_name(models: Any) -> None:
    runtime = EncodersRuntime(models["relevance"])
    others = Score("x", (("a", "b"),), "answers")
    tagged, relevance, answers = runtime.handle([Tag("x", (("a", "b"),)), Score("x", (("a", "fact"),)), others])
    assert (type(tagged), type(relevance)) == (UnsupportedIntrinsic, Scored)
    assert answers == runtime.base.handle([others])[0]


def test_it_crosses_processes(models: Any) -> None:
    runtime = pickle.loads(pickle.dumps(EncodersRuntime(models["relevance"], batch_tokens=64)))  # noqa: S301
    assert run(answerability(QUESTION, ["w1 fact"]), runtime).answerable
