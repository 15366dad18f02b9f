"""What no client should send is refused, one by one, and the service lives on."""

from __future__ import annotations

import pytest

from tests.service.malformed import broken_heads, is_refused, malformed, status_of_raw

ASKED = {"query": "Who?", "documents": ["Ada."]}


def check(http, seeds):
    for seed in seeds:
        method, path, headers, body = malformed(seed)
        told = http.request(method, path, headers=headers, content=body)
        assert is_refused(told.status_code, told.content), (seed, method, path, body[:300], told.status_code, told.text)
    assert http.post("/v1/rerank", json=ASKED).status_code == 200


def test_a_hundred(http):
    check(http, range(100))


@pytest.mark.slow
def test_a_thousand(http):
    check(http, range(100, 1_100))


@pytest.mark.parametrize("content", list(broken_heads()), ids=lambda content: repr(content[:40]))
def test_heads_that_are_none_or_odd_do_no_harm(http, service, content):
    # A long head that arrives in one piece is answered as any other; in several it is refused.
    status = status_of_raw(service, content)
    assert status is None or 200 <= status < 500
    assert http.get("/health").status_code == 200
