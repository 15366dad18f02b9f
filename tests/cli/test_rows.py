"""Rows: no bytes make a crash, and whatever comes out is one line of valid JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intrinsics_core import IntrinsicsError, answerability
from intrinsics_core.protocol.call import Call
from intrinsics_core.protocol.errors import MalformedReply
from intrinsics_core.protocol.results import Answerability, QueryRewrite
from intrinsics_core.running import rows

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["user", "assistant"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
SHAPED = st.fixed_dictionaries(
    {},
    optional={
        "id": JSON,
        "messages": JSON | st.lists(st.fixed_dictionaries({}, optional={"role": JSON, "content": JSON}), max_size=3),
        "documents": JSON | st.lists(st.fixed_dictionaries({}, optional={"id": JSON, "text": JSON}), max_size=3),
    },
)


def one_line(line: bytes) -> Any:
    assert line.endswith(b"\n") and len(line.decode("utf-8").splitlines()) == 1
    return json.loads(line, parse_constant=pytest.fail)


@given(
    st.binary()
    | SHAPED.map(lambda row: json.dumps(row).encode())
    | SHAPED.map(lambda row: json.dumps(row).encode()[:-1])
)
def test_any_bytes_are_a_call_or_an_error(line: bytes) -> None:
    row = rows.parse(line, 7, answerability)
    assert isinstance(row.call, Call | IntrinsicsError)
    if isinstance(row.call, IntrinsicsError):
        told = one_line(rows.encode(row.id, row.call))
        assert list(told) == ["id", "error"] and told["error"]["message"].count("line 7: ") == 1


@given(JSON, st.text(), st.text())
def test_what_comes_out_is_one_line_of_json_with_the_id_that_came_in(identity: Any, said: str, raw: str) -> None:
    told = one_line(rows.encode(identity, MalformedReply(said, raw=raw)))
    assert told["error"] == {"type": "MalformedReply", "message": str(MalformedReply(said)), "raw": raw}
    try:
        known = json.loads(json.dumps(identity, allow_nan=False))
    except ValueError:
        known = None
    assert told["id"] == known


def test_results_as_they_are_dumped() -> None:
    degraded = Answerability(label="answerable", probability=None, degraded="why\u2028not")
    assert one_line(rows.encode("é", degraded)) == {
        "id": "é",
        "result": {"label": "answerable", "probability": None, "degraded": "why\u2028not", "schema_version": 1},
    }
    assert rows.encode("é", degraded).startswith('{"id": "é"'.encode())
    told = {"query": "b", "original": "a", "changed": True}
    for more, form in ({}, "b"), ({"retrieval_query": "b b"}, "b b"):
        rewrite = QueryRewrite(**told, **more)
        assert one_line(rows.encode(None, rewrite))["result"] == told | {"retrieval_query": form, "schema_version": 1}


def test_rows_are_read_one_at_a_time() -> None:
    def lines() -> Any:
        yield b'{"messages": []}\n'
        raise AssertionError("read ahead")

    assert next(rows.read(lines(), answerability)).id is None


def test_skipping_counts_rows_and_not_lines() -> None:
    lines = [b"\xef\xbb\xbf{}\n", b"\n", b"broken\n", b'{"id": 3}\n']
    assert [row.id for row in rows.read(lines, answerability, skip=2)] == [3]
