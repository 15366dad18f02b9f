"""An answer judged while it is written, over plain requests."""

from __future__ import annotations

import json
from contextlib import contextmanager

import pytest

from intrinsics_core import RuntimeUnavailable, StreamChecker, as_runtime, audit, run
from intrinsics_core.runtimes.base import BlockingRuntime
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


# --- pieces that are sent again ---------------------------------------------------------------------------------------

SAID = "Ada Brink built the tide mill in 1911. She painted it gold. "


class Flaky(BlockingRuntime):
    """The embedded runtime, which is down for its first requests."""

    def __init__(self, down: int) -> None:
        self.below = as_runtime({"kind": "embedded", "reader": False})
        self.profile, self.down = self.below.profile, down

    def handle(self, requests):
        self.down -= 1
        return [RuntimeUnavailable("busy")] * len(requests) if self.down >= 0 else self.below.handle(requests)


@contextmanager
def flaky(down=0, **limits):
    import httpx

    app = create_app(Flaky(down), limits=Limits(**limits))
    with in_thread(app) as url, httpx.Client(base_url=url, timeout=120, trust_env=False) as http:
        yield http, opened(http).headers["location"]


def ended(told):
    """What was said, and the sentences that were told."""
    *sentences, last = told
    whole = last["audit"]["sentences"]
    assert [line["sentence"]["text"] for line in sentences] == [one["text"] for one in whole]
    return [one["text"] for one in whole]


def test_a_last_piece_that_found_no_place_can_be_sent_again():
    with flaky(waiting=0) as (http, feed):
        for _ in range(3):
            told = http.post(feed, json={"text": SAID, "last": True})
            assert (told.status_code, told.headers["retry-after"]) == (503, "1")
        assert http.delete(feed).status_code == 204


@pytest.mark.parametrize("down", [0, 1, 2])
def test_a_last_piece_that_could_not_be_judged_can_be_sent_again(down):
    with flaky(down) as (http, feed):
        for _ in range(down):
            assert http.post(feed, json={"text": SAID, "last": True}).status_code == 503
        assert len(ended(lines(http.post(feed, json={"text": SAID, "last": True})))) == 2
        assert http.post(feed, json={"last": True}).status_code == 404


def test_a_piece_with_its_place_counts_once():
    with flaky(1) as (http, feed):
        assert http.post(feed, json={"text": SAID, "at": 0}).status_code == 503
        told = lines(http.post(feed, json={"text": SAID + "It stands ", "at": 0}))
        assert lines(http.post(feed, json={"text": "It stands ", "at": len(SAID)})) == []
        told += lines(http.post(feed, json={"text": "still.", "at": len(SAID) + 10, "last": True}))
        assert len(ended(told)) == 3


def test_the_answer_to_a_piece_can_be_asked_for_again():
    """It got lost on its way: the piece counts once, and its lines are told again."""
    with flaky() as (http, feed):
        first = {"text": SAID + "It ", "at": 0}
        told = lines(http.post(feed, json=first))
        assert len(told) == 2 and lines(http.post(feed, json=first)) == told
        last = {"text": "stands.", "at": len(SAID) + 3, "last": True}
        end = lines(http.post(feed, json=last))
        assert lines(http.post(feed, json=last)) == end
        assert len(ended(told + end)) == 3
        for other in ({"last": True}, {"text": "stands.", "last": True}, {**last, "text": "falls."}):
            assert http.post(feed, json=other).status_code == 404


def test_a_piece_that_is_sent_again_is_judged_at_once():
    with flaky(2) as (http, feed):
        piece = {"text": SAID + "It ", "at": 0}
        assert [http.post(feed, json=piece).status_code for _ in range(2)] == [503, 503]
        told = lines(http.post(feed, json=piece))
        assert len(told) == 2
        assert len(ended(told + lines(http.post(feed, json={"text": "stands.", "last": True})))) == 3


@pytest.mark.parametrize("down", [1, 2, 5])
def test_words_go_on_while_the_judge_is_down_and_each_sentence_is_told_once(down):
    with flaky(down) as (http, feed):
        told = []
        for word in (SAID * 3).split():
            answer = http.post(feed, json={"text": f"{word} "})
            told += lines(answer) if answer.status_code == 200 else []
        assert told
        assert len(ended(told + lines(http.post(feed, json={"last": True})))) == 6


@pytest.mark.parametrize(
    ("piece", "says"),
    [({"text": "x", "at": 99}, "at is larger than the answer is long; expected at most 4; got 99"),
     ({"text": "Otto", "at": 0}, "text differs from what was sent at this place before; expected the same text again, "
      "or that text and what follows it; got 'Otto' at 0"),
     ({"at": -1}, "at does not fit"), ({"at": "end"}, "at does not fit")],
)  # fmt: skip
def test_a_piece_at_a_wrong_place_is_refused(http, piece, says):
    feed = opened(http).headers["location"]
    lines(http.post(feed, json={"text": "Ada "}))
    refused = http.post(feed, json=piece)
    assert refused.status_code == 400 and says in refused.json()["detail"]
    assert ended(lines(http.post(feed, json={"text": "Brink did.", "last": True}))) == ["Ada Brink did."]


def test_a_piece_that_is_too_long_is_not_in_the_answer():
    with flaky(tokens=100) as (http, feed):
        assert http.post(feed, json={"text": "x " * 500}).status_code == 413
        assert len(ended(lines(http.post(feed, json={"text": SAID, "last": True})))) == 2


def test_a_field_that_is_not_known_is_refused(http):
    told = opened(http, on_eror="fallback")
    assert told.status_code == 400 and "did you mean 'on_error'?" in told.text
    feed = opened(http).headers["location"]
    for field, meant in (("txt", "text"), ("lst", "last"), ("final", None)):
        told = http.post(feed, json={"text": "Ada Brink did.", field: "x"})
        assert told.status_code == 400 and f"'{field}' is an unknown field" in told.text
        assert meant is None or f"did you mean '{meant}'?" in told.text
    assert ended(lines(http.post(feed, json={"text": "Ada did.", "last": True}))) == ["Ada did."]
