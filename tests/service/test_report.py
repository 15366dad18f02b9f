"""``POST /v1/report``: a row in, a page to keep out."""

from __future__ import annotations

import httpx
import pytest

from intrinsics_core.runtimes import Scripted
from intrinsics_core.service.app import create_app
from tests.service.running import in_thread

ASKED = {"role": "user", "content": "Who built the tide mill?"}
SAID = {"role": "assistant", "content": "Ada Brink built the tide mill in 1911. <b>She painted it gold.</b>"}
DOCUMENTS = [
    {"id": "fog", "text": "Fog is common in May."},
    {"id": "mill", "text": "The tide mill was built in 1911 by the engineer Ada Brink."},
]


def test_everything_about_an_answer_as_a_page(http):
    told = http.post("/v1/report", json={"messages": [ASKED, SAID], "documents": DOCUMENTS})
    assert told.headers["content-type"] == "text/html; charset=utf-8"
    assert told.headers["content-disposition"] == 'attachment; filename="report.html"'
    page = told.text
    for words in ("Who built the tide mill?", "answerable", "unfaithful", "mill, characters 0–58", "certainty"):
        assert words in page
    assert "Order after reranking: mill, fog" in page
    assert "&lt;b&gt;She painted it gold.&lt;/b&gt;" in page and "<b>She" not in page
    assert "default-src &#39;none&#39;" in page or "default-src 'none'" in page


def test_a_question_alone_has_no_answer_in_its_report(http):
    page = http.post("/v1/report", json={"messages": [ASKED], "documents": DOCUMENTS, "runtime": "fast"}).text
    assert "Answerability gate" in page and "Answer, with citations" not in page
    assert "Judged by the runtime fast." in page


def test_an_answer_without_a_question_is_judged(http):
    page = http.post("/v1/report", json={"messages": [SAID], "documents": DOCUMENTS}).text
    assert "unfaithful" in page and "no question" in page


@pytest.mark.parametrize("documents", [[], [{"id": "a", "text": "Ada."}, {"id": "a", "text": "Fog."}], ["\ud800", ""]])
def test_documents_of_any_kind(http, documents):
    import json

    body = json.dumps({"messages": [ASKED, SAID], "documents": documents})
    assert http.post("/v1/report", content=body).status_code == 200


@pytest.mark.parametrize(
    ("row", "status", "words"),
    [({}, 400, "messages"), ({"messages": [ASKED]}, 400, "documents"),
     ({"messages": 1, "documents": []}, 400, "messages"),
     ({"messages": [ASKED], "documents": [], "runtime": "slow"}, 404, "slow"),
     ({"messages": [ASKED], "documents": [], "runtime": 1}, 400, "runtime"),
     ({"messages": [ASKED], "documents": ["x"] * 1001}, 413, "too many")],
)  # fmt: skip
def test_a_row_that_cannot_be_used_is_a_problem(http, row, status, words):
    told = http.post("/v1/report", json=row)
    assert (told.status_code, told.headers["content-type"]) == (status, "application/problem+json")
    assert words in told.json()["detail"]


def test_a_part_that_fails_costs_no_other_and_the_report_names_it():
    def judge(request):
        if request.intrinsic != "audit":
            return "I would rather not."
        sentence = {"id": "r0", "reason": "It says so.", "faithfulness": "faithful", "sources": ["c1"]}
        return {"answerability": "answerable", "confidence": 0.9, "sentences": [sentence], "answers_question": "yes",
                "correct": "yes", "certainty": 0.85}  # fmt: skip

    row = {
        "messages": [ASKED, {"role": "assistant", "content": "Ada Brink built it. It is gold."}],
        "documents": DOCUMENTS,
    }
    with in_thread(create_app(Scripted(judge))) as url:
        page = httpx.post(f"{url}/v1/report", json=row, timeout=60, trust_env=False).text
    assert "No ranking: MalformedReply" in page and "It says so." in page
    assert "No verdict on: “It is gold.”" in page


def test_where_nothing_could_be_judged_there_is_no_report():
    nowhere = {"kind": "server", "base_url": "http://127.0.0.1:9/v1", "max_retries": 0}
    with in_thread(create_app(nowhere)) as url:
        told = httpx.post(
            f"{url}/v1/report", json={"messages": [ASKED], "documents": DOCUMENTS}, timeout=60, trust_env=False
        )
    assert (told.status_code, told.json()["title"]) == (503, "RuntimeUnavailable")


def test_a_field_that_a_report_does_not_read_is_refused(http):
    for field, meant in (("runtme", "runtime"), ("on_error", None), ("document", "documents")):
        told = http.post("/v1/report", json={"messages": [ASKED, SAID], "documents": DOCUMENTS, field: "fast"})
        assert told.status_code == 400 and f"'{field}' is an unknown field" in told.text
        assert meant is None or f"did you mean '{meant}'?" in told.text
    asked = {"id": 7, "messages": [ASKED], "documents": DOCUMENTS, "runtime": "fast"}
    assert http.post("/v1/report", json=asked).status_code == 200
