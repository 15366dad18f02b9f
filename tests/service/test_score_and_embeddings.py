"""Scores as vLLM has them and vectors as OpenAI has them: those of the models in the wheel."""

from __future__ import annotations

import base64
import struct

import pytest

from intrinsics_core import as_runtime, context_relevance, fact_check, run
from intrinsics_core.protocol.requests import Score

QUESTION, PASSAGES = "Who built the tide mill?", ["Fog is common in May.", "Ada Brink built the tide mill in 1911."]
ROW = [{"role": "user", "content": QUESTION}, {"role": "assistant", "content": "Ada Brink built the tide mill."}]


@pytest.mark.parametrize("task", ["relevance", "entailment"])
def test_logits_and_probabilities_are_the_cross_encoders(http, task):
    asked = {"model": f"default/{task}", "text_1": QUESTION, "text_2": PASSAGES}
    logits = http.post("/v1/score", json=asked | {"use_activation": False}).json()["data"]
    (own,) = as_runtime(None).handle([Score("score", tuple((QUESTION, p) for p in PASSAGES), task)])
    assert [row["score"] for row in logits] == [pytest.approx(row[0]) for row in own.logits]
    told = http.post("/v1/score", json=asked).json()
    assert [row["index"] for row in told["data"]] == [0, 1]
    assert all(0 <= row["score"] <= 1 for row in told["data"])
    assert told["model"] == f"default/{task}"


def test_one_with_many_or_two_lists(http):
    def scores(**texts):
        return [row["score"] for row in http.post("/v1/score", json=texts).json()["data"]]

    many = scores(text_1=QUESTION, text_2=PASSAGES)
    assert many == scores(text_1=[QUESTION] * 2, text_2=PASSAGES) == scores(queries=QUESTION, documents=PASSAGES)
    assert scores(text_1=QUESTION, text_2=PASSAGES[1]) == many[1:]
    assert scores(text_1=QUESTION, text_2=[]) == []
    assert http.post("/v1/score", json={"text_1": [QUESTION] * 3, "text_2": PASSAGES}).status_code == 400


@pytest.mark.parametrize("name", ["defalt", "default/embedding", "fast/relevance", "x/relevance"])
def test_a_model_that_is_not_here(http, name):
    told = http.post("/v1/score", json={"model": name, "text_1": "a", "text_2": "b"})
    assert told.status_code == 404
    assert "default/relevance" in told.json()["expected"]


def test_the_models_are_listed(http):
    names = [row["id"] for row in http.get("/v1/models").json()["data"]]
    assert names == ["default", "default/relevance", "default/entailment", "default/embedding", "fast",
                     "fast/embedding"]  # fmt: skip


def test_our_own_encoders_runtime_against_it(service):
    """The shipped models by way of the service judge as cross-encoders on any other server would."""
    config = {"kind": "encoders", "base_url": f"{service}/v1", "relevance": "default/relevance",
              "entailment": "default/entailment"}  # fmt: skip
    with as_runtime(config) as runtime:
        labels = [j.label for j in run(context_relevance(ROW[:1], PASSAGES), runtime).judgements]
        checked = run(fact_check(ROW, PASSAGES), runtime)
    assert labels == ["irrelevant", "relevant"]
    assert checked.score > 0.5


def test_vectors_are_the_bi_encoders(http):
    own = as_runtime(None).embed(PASSAGES)
    told = http.post("/v1/embeddings", json={"model": "default/embedding", "input": PASSAGES}).json()
    assert [row["embedding"] for row in told["data"]] == [pytest.approx(vector, abs=1e-6) for vector in own]
    alone = http.post("/v1/embeddings", json={"input": PASSAGES[0], "encoding_format": "base64"}).json()["data"][0]
    packed = base64.b64decode(alone["embedding"])
    assert struct.unpack(f"<{len(packed) // 4}f", packed) == pytest.approx(own[0], abs=1e-6)


@pytest.mark.parametrize(
    "asked",
    [{"input": []}, {"input": [1, 2]}, {"input": [[1], [2]]}, {"input": None}, {}, {"input": "x", "dimensions": 12},
     {"input": "x", "encoding_format": "hex"}],
)  # fmt: skip
def test_what_has_no_vector(http, asked):
    assert http.post("/v1/embeddings", json=asked).status_code == 400


@pytest.mark.parametrize("name", ["text-embedding-3-small", "BAAI/bge-reranker-v2-m3", "rerank-v3.5"])
def test_another_services_name_is_the_first_runtimes_model_on_every_route(http, name):
    for path, asked, model in (
        ("/v1/embeddings", {"input": "x"}, "default/embedding"),
        ("/v1/score", {"text_1": "a", "text_2": "b"}, "default/relevance"),
        ("/v1/rerank", {"query": "a", "documents": ["b"]}, "default"),
    ):
        assert http.post(path, json=asked | {"model": name}).json()["model"] == model
        wrong = http.post(path, json=asked | {"model": "defualt"})
        assert wrong.status_code == 404 and wrong.json()["error"]["message"] == wrong.json()["detail"]


def test_the_shapes_of_tei_and_of_vllm_without_a_version(http):
    told = http.post("/rerank", json={"query": QUESTION, "texts": PASSAGES, "return_text": True}).json()
    ranked = http.post("/rerank", json={"query": QUESTION, "documents": PASSAGES}).json()["results"]
    assert [(row["index"], row["score"]) for row in told] == [(r["index"], r["relevance_score"]) for r in ranked]
    assert [row["text"] for row in told] == [PASSAGES[row["index"]] for row in told]
    raw = http.post("/rerank", json={"query": QUESTION, "texts": PASSAGES, "raw_scores": True}).json()
    assert [row["index"] for row in raw] == [row["index"] for row in told] and raw[0]["score"] != told[0]["score"]
    vectors = http.post("/v1/embeddings", json={"input": PASSAGES}).json()
    assert http.post("/embed", json={"inputs": PASSAGES}).json() == [row["embedding"] for row in vectors["data"]]
    assert vectors["usage"]["total_tokens"] > 2 * len(PASSAGES)
    asked = {"text_1": QUESTION, "text_2": PASSAGES}
    assert http.post("/score", json=asked).json()["data"] == http.post("/v1/score", json=asked).json()["data"]


@pytest.mark.parametrize(
    ("path", "asked", "says"),
    [
        ("/v1/score", {"text_1": 3, "text_2": "b"}, "text_1 does not fit; expected text or a list"),
        ("/v1/score", {"queries": ["a", 3], "documents": "b"}, "queries.1 does not fit; expected text"),
        ("/v1/score", {"text_1": "a"}, "text_2 is missing; expected a value"),
        ("/v1/embeddings", {"input": {"text": "a"}}, "input does not fit; expected text or a list"),
        ("/v1/embeddings", {"input": ["a", None]}, "input.1 does not fit; expected text"),
    ],
)
def test_what_does_not_fit_is_named_as_it_was_given(http, path, asked, says):
    told = http.post(path, json=asked)
    assert (told.status_code, told.json()["detail"]) == (400, says)
