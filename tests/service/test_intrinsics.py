"""A row of the command line in, its JSON out."""

from __future__ import annotations

import json

import pytest

from intrinsics_core import INTRINSICS, run
from intrinsics_core.cli import app as command

ROW = {
    "id": 7,
    "messages": [
        {"role": "user", "content": "Who built the tide mill?"},
        {"role": "assistant", "content": "Ada Brink built the tide mill in 1911. She painted it gold."},
    ],
    "documents": [{"id": "mill", "text": "The tide mill was built in 1911 by the engineer Ada Brink."}],
}
QUESTION = ROW | {"messages": ROW["messages"][:1]}
NEEDS_MODEL = {"hyde", "self-consistency"}


@pytest.mark.parametrize("name", [name for name in INTRINSICS if name not in NEEDS_MODEL])
def test_the_same_as_the_command_line(http, tmp_path, name):
    from typer.testing import CliRunner

    for row in (ROW, QUESTION):
        told = http.post(f"/v1/intrinsics/{name}", json=row)
        (tmp_path / "in.jsonl").write_text(json.dumps(row))
        files = ["-i", str(tmp_path / "in.jsonl"), "-o", str(tmp_path / "out.jsonl"), "--overwrite"]
        CliRunner().invoke(command, ["run", name, *files])
        written = json.loads((tmp_path / "out.jsonl").read_text())
        if "error" in written:
            assert told.status_code == 400
            assert told.json()["title"] == written["error"]["type"]
            assert told.json()["detail"] in written["error"]["message"].replace("line 1: ", "")
            assert told.json()["id"] == 7
        else:
            assert told.json() == written


def test_underscores_are_hyphens(http):
    assert http.post("/v1/intrinsics/context_relevance", json=QUESTION).status_code == 200


@pytest.mark.parametrize(("name", "meant"), [("answerabilty", "'answerability'"), ("rerank", "'reranking'")])
def test_an_unknown_one_is_told_with_the_nearest_name(http, name, meant):
    told = http.post(f"/v1/intrinsics/{name}", json=ROW)
    assert told.status_code == 404
    assert f"did you mean {meant}?" in told.json()["detail"]


def test_options_are_those_of_the_intrinsic(http):
    checked = http.post("/v1/intrinsics/fact-check", json=ROW | {"options": {"combine": "min", "top_k": 1}}).json()
    own = run(INTRINSICS["fact-check"](ROW["messages"], ROW["documents"], combine="min", top_k=1))
    assert checked["result"] == own.model_dump(mode="json")
    for options, says in (({"mode": "x"}, "names an unknown option"), ({"top_k": "many"}, "the value of"),
                          ({"top_p": 7}, "top_p"), ([], "an object")):  # fmt: skip
        told = http.post("/v1/intrinsics/fact-check", json=ROW | {"options": options})
        assert told.status_code == 400
        assert says in told.json()["detail"]


def test_a_fallback_is_chosen_as_there(http):
    told = http.post("/v1/intrinsics/answerability", json=QUESTION | {"on_error": "closed"})
    assert told.json()["result"]["label"] == "answerable"
    told = http.post("/v1/intrinsics/answerability", json=QUESTION | {"on_error": "never"})
    assert (told.status_code, "one of raise" in told.json()["expected"]) == (400, True)


def test_what_the_runtime_does_not_serve_is_told(http):
    told = http.post("/v1/intrinsics/hyde", json=QUESTION)
    assert (told.status_code, told.json()["title"]) == (400, "UnsupportedIntrinsic")


def test_a_runtime_by_its_name_and_never_by_a_config(http):
    assert http.post("/v1/intrinsics/answerability", json=QUESTION | {"runtime": "fast"}).status_code == 200
    told = http.post("/v1/intrinsics/answerability", json=QUESTION | {"runtime": "fats"})
    assert (told.status_code, "did you mean 'fast'?" in told.json()["detail"]) == (404, True)
    for runtime in ({"kind": "server", "base_url": "http://127.0.0.1:1"}, "/etc/passwd", "http://127.0.0.1:1"):
        told = http.post("/v1/intrinsics/answerability", json=QUESTION | {"runtime": runtime})
        assert told.status_code in (400, 404)


@pytest.mark.parametrize(
    ("body", "says"),
    [(b"", "not JSON"), (b"{", "not JSON"), (b"[]", "not a JSON object"), (b"\xff", "not UTF-8"), (b"{}", "'messages'"),
     (b"[" * 100_000, "nested too deeply"), (b'{"messages": NaN}', "not a JSON number"),
     (b'{"messages": 1}', "messages"),
     (b'{"messages": [{"role": "user", "content": "?"}]}', "'documents'"),
     (b'{"messages": [], "option": {}}', "'option' is an unknown field (did you mean 'options'?)")],
)  # fmt: skip
def test_what_is_no_row(http, body, says):
    told = http.post("/v1/intrinsics/answerability", content=body)
    assert (told.status_code, told.json()["title"]) == (400, "InvalidInput")
    assert says in told.json()["detail"]


def test_a_byte_order_mark_in_front_is_no_part_of_a_row(http):
    """As files that Windows programs write have it: the command line reads them."""
    own = http.post("/v1/intrinsics/answerability", json=QUESTION).json()
    marked = b"\xef\xbb\xbf" + json.dumps(QUESTION).encode()
    assert http.post("/v1/intrinsics/answerability", content=marked).json() == own
    assert http.post("/v1/report", content=marked).status_code == 200
    within = json.dumps(QUESTION | {"id": "\ufeffseven"}, ensure_ascii=False).encode()
    assert http.post("/v1/intrinsics/answerability", content=within).json()["id"] == "\ufeffseven"
    for twice in (b"\xef\xbb\xbf" + marked, b"\xef\xbb\xbf", b"\xff\xfe{}"):
        assert http.post("/v1/intrinsics/answerability", content=twice).status_code == 400


def test_odd_texts_and_ids_come_back(http):
    for identity in ("\ud800", None, 1.5, [1, {"a": "\u2028"}]):
        body = json.dumps(QUESTION | {"id": identity, "documents": ["\ud800 \u2028 \x00"]})
        told = http.post("/v1/intrinsics/reranking", content=body.encode())
        assert told.status_code == 200
        assert told.json()["id"] == identity


def test_the_listing_has_them_all(http):
    assert [row["name"] for row in http.get("/v1/intrinsics").json()["intrinsics"]] == list(INTRINSICS)
