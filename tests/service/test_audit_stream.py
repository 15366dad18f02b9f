"""An answer judged while it is written, over plain requests."""

from __future__ import annotations

import json

from intrinsics_core import StreamChecker, audit, run
from intrinsics_core.service.app import create_app
from intrinsics_core.service.limits import Limits
from tests.service.running import in_thread

MESSAGES = [{"role": "user", "content": "Who built the tide mill?"}]
DOCUMENTS = [{"id": "mill", "text": "The tide mill was built in 1911 by the engineer Ada Brink."}]
PIECES = ["Ada Brink built the ", "tide mill in 1911. She ", "painted it gold. ", "It stands."]
PATH = "/v1/audit/stream"


def lines(answer):
    assert answer.status_code == 200, answer.text
    return [json.loads(line) for line in answer.text.splitlines()]


def opened(http, **more):
    return http.post(PATH, json={"messages": MESSAGES, "documents": DOCUMENTS, **more})


def test_a_line_for_each_sentence_as_it_closes_and_the_audit_at_last(http):
    first = opened(http)
    assert first.status_code == 201
    feed = first.headers["location"]
    checker = StreamChecker(MESSAGES, DOCUMENTS)
    for piece in PIECES:
        told = lines(http.post(feed, json={"text": piece}))
        assert told == [{"sentence": one.model_dump(mode="json")} for one in checker.feed(piece)]
    *left, last = lines(http.post(feed, json={"last": True}))
    whole = [*MESSAGES, {"role": "assistant", "content": "".join(PIECES)}]
    found = run(audit(whole, DOCUMENTS))
    assert last == {"audit": found.model_dump(mode="json")}
    assert left == [{"sentence": found.sentences[-1].model_dump(mode="json")}]
    assert http.post(feed, json={"text": "more"}).status_code == 404


def test_sessions_do_not_mix_and_can_be_given_up(http):
    one, two = opened(http).headers["location"], opened(http, runtime="fast").headers["location"]
    lines(http.post(one, json={"text": "Ada Brink built it. "}))
    assert lines(http.post(two, json={"text": "It is", "last": True}))[-1]["audit"]["sentences"][0]["text"] == "It is"
    assert http.delete(one).status_code == 204
    assert http.delete(one).status_code == 404


def test_bad_openings_and_pieces(http):
    assert http.post(PATH, json={"messages": MESSAGES}).status_code == 400
    for wrong in ({"messages": []}, {"documents": [1]}, {"on_error": "never"}, {"messages": [1]}):
        assert opened(http, **wrong).status_code == (201 if wrong.get("messages") == [] else 400)
    feed = opened(http).headers["location"]
    assert http.post(feed, json={"text": 1}).status_code == 400
    assert http.post(f"{PATH}/unknown", json={"text": "x"}).status_code == 404
    assert lines(http.post(feed, json={"last": True}))[0]["audit"]["sentences"] == []


def test_a_bounded_number_is_open_and_an_answer_has_an_end():
    import httpx

    app = create_app(limits=Limits(sessions=1, tokens=50, idle=600))
    with in_thread(app) as url, httpx.Client(base_url=url, timeout=120, trust_env=False) as http:
        feed = opened(http).headers["location"]
        told = opened(http)
        assert (told.status_code, told.headers["retry-after"]) == (503, "1")
        assert http.post(feed, json={"text": "word " * 60}).status_code == 413
        http.delete(feed)
        assert opened(http).status_code == 201


def test_one_that_hears_nothing_is_forgotten():
    import httpx

    app = create_app(limits=Limits(sessions=1, idle=0.0))
    with in_thread(app) as url, httpx.Client(base_url=url, timeout=120, trust_env=False) as http:
        feed = opened(http).headers["location"]
        assert http.post(feed, json={"text": "x"}).status_code == 404
        assert opened(http).status_code == 201
