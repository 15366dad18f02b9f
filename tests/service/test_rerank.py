"""Rankings in the shapes of Cohere and Jina: the same as the library's own."""

from __future__ import annotations

import pytest

from intrinsics_core import reranking, run
from tests.scripted import Scripted
from tests.service.running import in_thread

QUERY = "Who built the tide mill?"
DOCUMENTS = ["Fog is common in May.", "Ada Brink built the tide mill in 1911.", "The mill ground flour."]
SHAPES = ["/v1/rerank", "/v2/rerank"]


@pytest.mark.parametrize("path", SHAPES)
def test_the_ranking_is_the_librarys(http, path):
    told = http.post(path, json={"query": QUERY, "documents": DOCUMENTS}).json()
    own = run(reranking([{"role": "user", "content": QUERY}], DOCUMENTS))
    assert [(row["index"], row["relevance_score"]) for row in told["results"]] == [
        (row.index, pytest.approx(row.score)) for row in own.ranking
    ]
    assert told["results"][0]["index"] == 1
    assert all(set(row) == {"index", "relevance_score"} for row in told["results"])
    assert told["model"] == "default"
    assert "warnings" not in told["meta"]


def test_documents_are_texts_or_objects_and_come_back_as_they_were(http):
    given = [DOCUMENTS[0], {"text": DOCUMENTS[1], "url": "mill.html", "n": 3}]
    told = http.post("/v1/rerank", json={"query": QUERY, "documents": given, "return_documents": True}).json()
    assert {row["index"]: row["document"] for row in told["results"]} == {0: {"text": given[0]}, 1: given[1]}


@pytest.mark.parametrize("path", SHAPES)
def test_the_title_of_an_object_is_read(http, path):
    given = [("Globex annual report", "four"), ("Initech annual report", "twelve")]
    texts = [{"title": title, "text": f"Revenue rose by {rate} per cent."} for title, rate in given]
    hidden = [{"text": one["text"], "metadata": {"title": one["title"]}} for one in texts]
    odd = [one | {"title": 3, "metadata": "x"} for one in texts]
    query = "How did Initech's revenue develop?"
    ranking = run(reranking([{"role": "user", "content": query}], texts)).ranking
    own = [(row.index, pytest.approx(row.score)) for row in ranking]
    assert own[0][0] == 1
    for documents in (texts, hidden):
        told = http.post(path, json={"query": query, "documents": documents}).json()["results"]
        assert [(row["index"], row["relevance_score"]) for row in told] == own
    assert len(http.post(path, json={"query": query, "documents": odd}).json()["results"]) == 2


def test_a_ranking_of_a_language_model_is_told_apart_and_what_it_left_out_too():
    import httpx

    from intrinsics_core.service.app import create_app

    with in_thread(create_app(Scripted(lambda request: {"ranking": ["d1"]}))) as url:
        told = httpx.post(f"{url}/v1/rerank", json={"query": QUERY, "documents": DOCUMENTS}, trust_env=False).json()
    assert [row["index"] for row in told["results"]] == [1, 0, 2]
    assert told["meta"]["warnings"] == [
        "2 of 3 documents were not ranked and keep their order",
        "relevance_score tells the place in the ranking and is no probability",
    ]


@pytest.mark.parametrize(("top", "left"), [(1, 1), (2, 2), (99, 3), (None, 3)])
def test_top_n(http, top, left):
    told = http.post("/v2/rerank", json={"query": QUERY, "documents": DOCUMENTS, "top_n": top}).json()
    assert len(told["results"]) == left


def test_no_documents_are_an_empty_ranking(http):
    assert http.post("/v2/rerank", json={"query": QUERY, "documents": []}).json()["results"] == []


def test_unknown_fields_are_ignored(http):
    asked = {"query": QUERY, "documents": DOCUMENTS, "rank_fields": ["text"], "max_tokens_per_doc": 4096, "x": [1]}
    assert len(http.post("/v2/rerank", json=asked).json()["results"]) == 3


def test_a_runtime_is_picked_by_name_and_another_services_name_is_told(http):
    asked = {"query": QUERY, "documents": DOCUMENTS}
    fast, default, other = (
        http.post("/v1/rerank", json=asked | {"model": name}).json() for name in ("fast", "default", "rerank-v3.5")
    )
    assert (fast["model"], default["model"], other["model"]) == ("fast", "default", "default")
    assert fast["results"] != default["results"] == other["results"]
    assert "rerank-v3.5" in other["meta"]["warnings"][0]


@pytest.mark.parametrize(
    "body",
    [{}, {"query": QUERY}, {"documents": []}, {"query": 1, "documents": []}, {"query": QUERY, "documents": "x"},
     {"query": QUERY, "documents": [1]}, {"query": QUERY, "documents": [{"title": "x"}]},
     {"query": QUERY, "documents": DOCUMENTS, "top_n": 0}, {"query": QUERY, "documents": DOCUMENTS, "top_n": "1"},
     {"query": "  ", "documents": DOCUMENTS}, [], "x", 1, None],
)  # fmt: skip
def test_what_cannot_be_ranked_is_refused_with_a_type(http, body):
    told = http.post("/v1/rerank", json=body)
    assert (told.status_code, told.headers["content-type"]) == (400, "application/problem+json")
    assert told.json()["title"] == "InvalidInput"
    assert told.json()["type"] == "urn:rag-intrinsics:error:InvalidInput"


def test_the_content_type_does_not_matter(http):
    body = b'{"query": "fog", "documents": ["Fog."]}'
    for kind in ("application/x-www-form-urlencoded", "text/plain", "", "application/json; charset=utf-8"):
        assert http.post("/v1/rerank", content=body, headers={"content-type": kind}).status_code == 200


def test_what_does_not_fit_is_told_in_our_own_words(http):
    for body, says in (
        (b'{"query": "Who?"}', "documents is missing; expected a value"),
        (b'{"query": ["Who?"], "documents": ["Ada."]}', "query does not fit; expected text"),
        (b"{", "the body is not JSON; expected a JSON object"),
        (b"[]", "the body does not fit; expected an object"),
        # A document is a text or an object: what is told is of the one that it nearly is.
        (
            b'{"query": "Who?", "documents": ["", {"content": "Fog."}]}',
            "documents.1.text is missing; expected a value",
        ),
        (b'{"query": "Who?", "documents": [{"text": null}]}', "documents.0.text does not fit; expected text"),
        (b'{"query": "Who?", "documents": ["Ada.", 1]}', "documents.1 does not fit; expected text or an object"),
        (b'{"query": "Who?", "documents": [["Ada."]]}', "documents.0 does not fit; expected text or an object"),
    ):
        told = http.post("/v1/rerank", content=body, headers={"content-type": "application/json"})
        assert (told.status_code, told.json()["detail"]) == (400, says)
